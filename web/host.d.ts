import type {
  AttentionPlayground, PlaygroundCheck, PlaygroundEvents, PlaygroundItem, PlaygroundObservation, PlaygroundTarget, PlaygroundVerdict,
} from './element.js';

type Verb = 'getState' | 'setState' | 'reset' | 'undo' | 'redo' | 'getTensor' | 'setTensor' | 'get' | 'set' | 'explain' | 'gradient' | 'stats' | 'link'
  | 'embedCode' | 'describe' | 'openLesson' | 'train' | 'resetTraining' | 'toBlob' | 'toCode';
type Asked<Method> = Method extends (...args: infer Args) => infer Result ? (...args: Args) => Promise<Awaited<Result>> : never;
type Asking = {[Name in Extract<Verb, keyof AttentionPlayground>]: Asked<AttentionPlayground[Name]>};
type Place = {x: number; y: number; width: number; height: number; top: number; right: number; bottom: number; left: number};
type RemoteEvents = {[Name in keyof PlaygroundEvents]: PlaygroundEvents[Name] extends CustomEvent<infer Detail> ? CustomEvent<Detail> : never};

/** The board in a frame: what the element's methods return, as promises, which reject with the element's errors. */
export interface RemoteBoard extends Asking {
  /** Resolves once the board is drawn. */
  ready(): Promise<null>;
  locate(name: string, head?: number, row?: number, col?: number): Promise<Place>;
  items(): Promise<(Omit<PlaygroundItem, 'rect'> & {rect: Place})[]>;
  observe(target: PlaygroundTarget, callback: (value: number | undefined, observation: PlaygroundObservation) => unknown): Promise<() => Promise<unknown>>;
  on(check: PlaygroundCheck | PlaygroundCheck[], callback: (verdicts: PlaygroundVerdict[]) => unknown): Promise<() => Promise<unknown>>;
  addEventListener<K extends keyof RemoteEvents>(type: K, listener: (event: RemoteEvents[K]) => unknown, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
  removeEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | EventListenerOptions): void;
}

/** Connects to embed.html in a frame, whether it has been loaded or not. With `fit` in its address the frame gets the height of its board.
 * Where the frame goes on to another page, calls go to that one; what the page before had not answered stays open. */
export function connect(frame: HTMLIFrameElement): RemoteBoard;
