// `import type {} from 'attention-playground/jsx'` lets <attention-playground …> be written in JSX (React 18 and 19, Preact) and in
// the templates of Vue and Svelte.
import type {AttentionPlayground, PlaygroundAttributes} from './element.js';

type Props = PlaygroundAttributes & {
  id?: string;
  class?: string;
  className?: string;
  slot?: string;
  style?: any;
  children?: any;
  key?: any;
  ref?: any;
};

declare global {
  namespace JSX {
    interface IntrinsicElements {
      'attention-playground': Props;
    }
  }
}

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'attention-playground': Props;
    }
  }
}

declare module 'vue' {
  interface GlobalComponents {
    'attention-playground': new () => {$props: Props; $el: AttentionPlayground};
  }
}

declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'attention-playground': Props;
  }
}
