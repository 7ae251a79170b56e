import type {GlobalComponents} from 'vue';
import type {SvelteHTMLElements} from 'svelte/elements';
import type {} from 'attention-playground/jsx';

type InVue = InstanceType<GlobalComponents['attention-playground']>['$props'];
type InSvelte = SvelteHTMLElements['attention-playground'];

export const vue: InVue = {preset: 'uniform', theme: 'dark', fit: true};
export const svelte: InSvelte = {preset: 'uniform', theme: 'dark', fit: true};
// @ts-expect-error: there is no such theme
export const vueWrong: InVue = {theme: 'pink'};
// @ts-expect-error: there is no such theme
export const svelteWrong: InSvelte = {theme: 'pink'};
