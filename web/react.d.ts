import type {ForwardRefExoticComponent, HTMLAttributes, RefAttributes} from 'react';
import type {AttentionPlayground as Element, PlaygroundAttributes, PlaygroundEvents} from './element.js';

/** Also one that takes a wider or narrower event, as React's own. */
type Handler<Event> = {bivariant(event: Event): void}['bivariant'];
type Handlers = {[Name in keyof PlaygroundEvents as `on${Capitalize<Name>}`]?: Handler<PlaygroundEvents[Name]> | undefined};

/** All attributes of the element and of HTML. `children` are shown while the board loads, and when it cannot be shown. */
export interface AttentionPlaygroundProps extends Omit<HTMLAttributes<Element>, keyof Handlers | keyof PlaygroundAttributes>, PlaygroundAttributes, Handlers {}

export const AttentionPlayground: ForwardRefExoticComponent<AttentionPlaygroundProps & RefAttributes<Element>>;
