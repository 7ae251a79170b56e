// `import type {} from 'attention-playground/jsx'` lets <attention-playground …> be written in JSX (React 18 and 19), and in the templates of
// Vue and Svelte, with all attributes of HTML. Each of these three may be missing: what would be added to it is left out then.
// @ts-ignore: React may be missing
import type {ClassAttributes, HTMLAttributes as ReactAttributes} from 'react';
// @ts-ignore: Svelte may be missing
import type {HTMLAttributes as SvelteAttributes} from 'svelte/elements';
// @ts-ignore: Vue may be missing
import type {HTMLAttributes as VueAttributes, PublicProps} from 'vue';
import type {AttentionPlayground, PlaygroundAttributes, PlaygroundEvents} from './element.js';

type Own<Attributes> = Omit<Attributes, keyof PlaygroundAttributes> & PlaygroundAttributes;

/** Of the second names alone: React and Svelte have a meaning of their own for some of the first, such as onchange. */
type Listeners = {[Name in keyof PlaygroundEvents as `onattention-${Name}`]?: ((event: PlaygroundEvents[Name]) => void) | undefined};

type InReact = Own<ReactAttributes<AttentionPlayground>> & ClassAttributes<AttentionPlayground> & Listeners & {class?: string | undefined};
type InSvelte = Own<SvelteAttributes<AttentionPlayground>> & Listeners;
/** Of both names: @change and @attention-change. */
type VueListeners = {[Name in keyof PlaygroundEvents as `on${'' | 'Attention'}${Capitalize<Name>}`]?: ((event: PlaygroundEvents[Name]) => void) | undefined};
type InVue = Omit<Own<VueAttributes & PublicProps>, keyof VueListeners> & VueListeners;

declare global {
  namespace JSX {
    interface IntrinsicElements {
      'attention-playground': InReact;
    }
  }
}

// @ts-ignore: React may be missing
declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'attention-playground': InReact;
    }
  }
}

// @ts-ignore: Svelte may be missing
declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'attention-playground': InSvelte;
  }
}

// @ts-ignore: Vue may be missing
declare module 'vue' {
  interface GlobalComponents {
    'attention-playground': new () => {$props: InVue; $el: AttentionPlayground};
  }
}
