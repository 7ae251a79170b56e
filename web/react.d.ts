import type {CSSProperties, ForwardRefExoticComponent, ReactNode, RefAttributes} from 'react';
import type {AttentionPlayground as Element, PlaygroundAttributes, PlaygroundEventMap} from './element.js';

export interface AttentionPlaygroundProps extends PlaygroundAttributes {
  id?: string;
  className?: string;
  style?: CSSProperties;
  /** What is shown while the board loads, and when it cannot be shown. */
  children?: ReactNode;
  onReady?(event: PlaygroundEventMap['ready']): void;
  onInput?(event: PlaygroundEventMap['input']): void;
  onChange?(event: PlaygroundEventMap['change']): void;
  onSelect?(event: PlaygroundEventMap['select']): void;
  onError?(event: PlaygroundEventMap['error']): void;
  onTrain?(event: CustomEvent): void;
  onStep?(event: CustomEvent): void;
  onAnswer?(event: CustomEvent): void;
  onPassed?(event: CustomEvent): void;
  onFit?(event: PlaygroundEventMap['fit']): void;
}

export const AttentionPlayground: ForwardRefExoticComponent<AttentionPlaygroundProps & RefAttributes<Element>>;
