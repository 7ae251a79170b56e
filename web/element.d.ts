/** The state text as an object; opaque but for `version`. Keep it, put it back with setState(). */
export interface PlaygroundState {
  version: 1;
  [field: string]: unknown;
}

export interface PlaygroundTensor {
  data: Float32Array;
  /** [heads, rows, columns]; a matrix that all heads share has one head. */
  shape: [number, number, number];
}

export type TensorName =
  | 'x' | 'w_q' | 'w_k' | 'w_v' | 'w_o' | 'q' | 'k' | 'v' | 'x_kv' | 'w_a' | 'u_a' | 'v_a' | 'bias'
  | 'positions' | 'x_positioned' | 'x_kv_positioned' | 'q_rotated' | 'k_rotated'
  | 'raw' | 'scores' | 'softcapped' | 'biased' | 'masked' | 'exponentials' | 'row_max' | 'row_sum' | 'weights' | 'head_output' | 'concat' | 'output';

/** The block around the layer and the two levels of hierarchical attention; as the options block_… and segment_… say. */
export type StageName =
  | 'block:attention' | 'block:dropout_1' | 'block:residual_1' | 'block:norm_1' | 'block:hidden_raw' | 'block:hidden'
  | 'block:feed_forward' | 'block:dropout_2' | 'block:residual_2' | 'block:norm_2' | 'token_weights' | 'segment_weights';

/** What the block and hierarchical attention would learn: as their seeds make it, until somebody changes it. */
export type ParameterName =
  | 'gamma_1' | 'delta_1' | 'w_1' | 'b_1' | 'w_2' | 'b_2' | 'gamma_2' | 'delta_2'
  | 'token_w' | 'token_b' | 'token_query' | 'segment_w' | 'segment_b' | 'segment_query';

/** The experiments, as their controls stand on the screen. */
export type ExperimentName =
  /**
   * Two heads, of q·k and of q·k ÷ √d_k; rows of [d_k, μ, σ, mean, d·μ², deviation, predicted deviation, largest of 16
   * weights, entropy in bits]: one for the d_k on the screen, and one for every power of two up to 1024.
   */
  | 'spread:table' | 'spread:curve'
  /** The histogram of the scores, two heads as above; rows of [middle of the bin, count]. */
  | 'spread:counts'
  /** Weights and outputs of the fully connected layer and of attention once a token has moved. */
  | 'weights:fixed' | 'weights:following' | 'weights:connected' | 'weights:attended'
  /** Rows of [tokens between, what is left of the first in a recurrent network, its weight if its score leads, 1/n]. */
  | 'reach:curve';

export type OptionName =
  | 'mode' | 'tokens' | 'labels' | 'heads' | 'd_k' | 'model_dim' | 'causal' | 'scale' | 'temperature'
  | 'focus_head' | 'decimals' | 'theme' | 'seed'
  | 'score' | 'softcap' | 'normalizer' | 'position' | 'causal_offset' | 'window_left' | 'window_right' | 'prefix'
  | 'key_length' | 'pattern' | 'pattern_local' | 'pattern_dilation' | 'pattern_stride' | 'pattern_block'
  | 'pattern_global' | 'pattern_random' | 'pattern_seed' | 'mask_after_softmax' | 'kv_heads' | 'd_v' | 'cross'
  | 'key_tokens' | 'key_labels' | 'hidden_heads' | 'average_heads' | 'whole_projections' | 'zoom' | 'present' | 'step' | 'batch' | 'batch_item' | 'same_word'
  | 'block_residual' | 'block_norm' | 'block_activation' | 'block_hidden' | 'block_dropout' | 'block_epsilon' | 'block_seed'
  | 'segment_by' | 'segment_tokens' | 'segment_seed' | 'experiment' | 'weight_scale';

export type OptionValue = boolean | number | string | string[] | number[];

export interface PlaygroundExplanation {
  text: string;
  terms: {label: string; text: string; value: number}[];
}

export interface PlaygroundItem {
  name: string;
  head?: number;
  row?: number;
  col?: number;
  kind?: string;
  rect: DOMRect;
}

export interface PlaygroundStats {
  /** Drawn since the start; stands still while nothing changes. */
  frames: number;
  /** Median CPU time of the last frames, in milliseconds. */
  frameMs: number;
  kernel: 'wasm-relaxed' | 'wasm-simd128' | (string & {});
  heapBytes: number;
  /** Matrix cells sent to the GPU since the start, four bytes each: what an edit has touched, and no more. */
  uploads: number;
  /** In the frame that was drawn last. */
  vertices: number;
}

/** A refused value: a TypeError, RangeError or SyntaxError with the name of the field that was wrong. */
export interface RefusedError extends Error {
  field: string;
}

export interface PlaygroundErrorDetail {
  type: 'load' | 'no-simd' | 'webgl' | 'contextlost' | 'state' | 'crash';
  message: string;
}

/** Events do not bubble; listen on the element itself. */
export interface PlaygroundEventMap {
  ready: CustomEvent<Record<string, never>>;
  /** While a value is dragged. */
  input: CustomEvent<Record<string, unknown>>;
  /** When an edit is done. */
  change: CustomEvent<Record<string, unknown>>;
  /** Null when nothing is selected any more. */
  select: CustomEvent<Record<string, unknown> | null>;
  error: CustomEvent<PlaygroundErrorDetail>;
}

/** `<attention-playground preset state hide lock theme wheel page>` */
export class AttentionPlayground extends HTMLElement {
  preset: string;
  /** State text that it starts with, or takes at once when it is changed later. */
  state: string;
  /** Comma-separated: header, panel, heads, arcs, inspector, import, export. */
  hide: string;
  /** Comma-separated names of options and tensors that the reader cannot change. */
  lock: string;
  theme: 'auto' | 'light' | 'dark';
  /** When the wheel scrolls inside the playground: once it has the focus (the default), always, or never. */
  wheel: 'focus' | 'always' | 'never';

  /** Resolves when the first frame is drawn; rejects with the sentence that the page shows. */
  readonly ready: Promise<AttentionPlayground>;
  getState(): PlaygroundState;
  setState(state: PlaygroundState | string, options?: {undoable?: boolean}): void;
  /** Back to the very start, as one step that can be undone. */
  reset(): void;
  undo(): boolean;
  redo(): boolean;
  getTensor(name: TensorName | StageName | ParameterName | ExperimentName): PlaygroundTensor;
  setTensor(name: TensorName | ParameterName, data: ArrayLike<number>, shape?: number[]): void;
  get(option: OptionName): OptionValue;
  set(option: OptionName, value: OptionValue): void;
  /**
   * Where a cell, or a control by its name, is in the window, like getBoundingClientRect(). A cell of a StageName or a
   * ParameterName is where its page of the experiments is open.
   */
  locate(name: string, head?: number, row?: number, col?: number): DOMRect;
  items(): PlaygroundItem[];
  explain(name: TensorName | StageName, head?: number, row?: number, col?: number): PlaygroundExplanation;
  stats(): PlaygroundStats;
  /** Frees the graphics context and the memory, for good. */
  dispose(): void;

  addEventListener<K extends keyof PlaygroundEventMap>(
    type: K, listener: (this: AttentionPlayground, event: PlaygroundEventMap[K]) => unknown, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

declare global {
  interface HTMLElementTagNameMap {
    'attention-playground': AttentionPlayground;
  }
}
