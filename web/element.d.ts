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
  | 'x' | 'w_q' | 'w_k' | 'w_v' | 'w_o' | 'q' | 'k' | 'v' | 'x_kv' | 'w_a' | 'u_a' | 'v_a' | 'bias' | 'b_q' | 'b_k' | 'b_v' | 'b_o' | 'x_v' | 'sink'
  | 'positions' | 'x_positioned' | 'x_kv_positioned' | 'q_rotated' | 'k_rotated'
  | 'raw' | 'scores' | 'softcapped' | 'biased' | 'masked' | 'exponentials' | 'row_max' | 'row_sum' | 'weights' | 'head_output' | 'concat' | 'output';

/** The block around the layer and the two levels of hierarchical attention; as the options block_… and segment_… say. */
export type StageName =
  | 'block:attention' | 'block:dropout_1' | 'block:residual_1' | 'block:norm_1' | 'block:hidden_raw' | 'block:hidden'
  | 'block:feed_forward' | 'block:dropout_2' | 'block:residual_2' | 'block:norm_2' | 'token_weights' | 'segment_weights'
  /** Of the classes of the whole document: before and after softmax. */
  | 'class_scores' | 'class_probabilities'
  /** 1 where a number is kept by dropout, else 0. */
  | 'block:drop_mask_1' | 'block:drop_mask_2';

/** What the block and hierarchical attention would learn: as their seeds make it, until somebody changes it. */
export type ParameterName =
  | 'gamma_1' | 'delta_1' | 'w_1' | 'b_1' | 'w_2' | 'b_2' | 'gamma_2' | 'delta_2'
  | 'token_w' | 'token_b' | 'token_query' | 'segment_w' | 'segment_b' | 'segment_query' | 'class_w' | 'class_b'
  | 'memory_w' | 'memory_u' | 'memory_b' | 'memory_w_a' | 'memory_u_a' | 'memory_v_a' | 'decoder_u' | 'decoder_c';

/** The experiments, as their controls stand on the screen. */
export type ExperimentName =
  /**
   * Two heads, of q·k and of q·k ÷ √d_k; rows of [d_k, μ, σ, mean, d·μ², deviation, predicted deviation, largest of 16
   * weights, entropy in bits]: one for the d_k on the screen, and one for every power of two up to 1024.
   */
  | 'spread:table' | 'spread:curve'
  /**
   * Two heads as above; a row for the d_k on the screen and one for every power of two: [d_k, μ and σ of the keys, ‖∂w/∂s‖ of
   * softmax: median and mean over the queries, ‖∂w/∂q‖: the same].
   */
  | 'spread:saturation'
  /** The histogram of the scores, two heads as above; rows of [middle of the bin, count]. */
  | 'spread:counts'
  /** Weights and outputs of the fully connected layer and of attention once a token has moved. */
  | 'weights:fixed' | 'weights:following' | 'weights:connected' | 'weights:attended'
  /** Rows of [tokens between, what is left of the first in a recurrent network, its weight if its score leads, 1/n]. */
  | 'reach:curve'
  /** Rows of [tokens between, and of a change of the first state what is left in the last one, in the sum of attention, in an even sum]. */
  | 'reach:gradients'
  /** The recurrent network that reads the sentence: h; i, f, g, o side by side, and c, of an LSTM. */
  | 'memory:states' | 'memory:gates' | 'memory:cells'
  /** Weights of attention over h; the fixed context and that of attention. */
  | 'memory:weights' | 'memory:contexts'
  /** Rows of [tokens after it, ‖∂fixed context/∂word‖, ‖∂context of attention/∂word‖]. */
  | 'memory:gradients'
  /** The decoder that attends anew for each word: a row of weights over h for each word, its context, and its next state. */
  | 'decoder:weights' | 'decoder:contexts' | 'decoder:states'
  /**
   * This layer and what it is compared with, rows of [tokens, parameters, multiply-adds, tanh, bytes of weights, of the cache, of
   * the scores, sequential steps]; and two heads of the same at powers of ten up to a million.
   */
  | 'cost:table' | 'cost:curve'
  /** [1, steps, 3]: rows of [step, loss of its batch, the last loss on what is held out]; of long runs not every step. */
  | 'train:loss'
  /** The weights of an attention of the run, from 1, on the chosen sentence: [heads, queries, keys]. */
  | `train:weights:${number}`;

export type OptionName =
  | 'mode' | 'tokens' | 'labels' | 'heads' | 'd_k' | 'model_dim' | 'causal' | 'scale' | 'temperature'
  | 'focus_head' | 'decimals' | 'theme' | 'seed'
  | 'score' | 'softcap' | 'normalizer' | 'position' | 'causal_offset' | 'window_left' | 'window_right' | 'prefix'
  | 'key_length' | 'pattern' | 'pattern_local' | 'pattern_dilation' | 'pattern_stride' | 'pattern_block'
  | 'pattern_global' | 'pattern_random' | 'pattern_seed' | 'mask_after_softmax' | 'kv_heads' | 'd_v' | 'cross'
  | 'key_tokens' | 'key_labels' | 'hidden_heads' | 'average_heads' | 'whole_projections' | 'zoom' | 'present' | 'step' | 'batch' | 'batch_item' | 'same_word'
  | 'block_residual' | 'block_norm' | 'block_activation' | 'block_hidden' | 'block_dropout' | 'block_epsilon' | 'block_seed'
  | 'segment_by' | 'segment_tokens' | 'segment_seed' | 'experiment' | 'weight_scale'
  | 'view' | 'block_dropout_kind' | 'block_dropout_seed' | 'gradient'
  | 'spread_dim' | 'spread_mean' | 'spread_deviation' | 'spread_scaled' | 'spread_seed'
  | 'memory_cell' | 'memory_units' | 'memory_seed' | 'cost_tokens' | 'cost_compare' | 'cost_window'
  | 'spread_same' | 'spread_key_mean' | 'spread_key_deviation' | 'spread_draws'
  | 'dense_token' | 'dense_amount' | 'dense_moved' | 'dense_seed'
  | 'reach_tokens' | 'reach_recurrent' | 'reach_input' | 'reach_lead' | 'reach_seed' | 'reach_forget'
  | 'train_task' | 'train_layers' | 'train_heads' | 'train_d_model' | 'train_feed_forward' | 'train_layer_norm' | 'train_residual' | 'train_causal'
  | 'train_position' | 'train_score' | 'train_normalizer' | 'train_optimizer' | 'train_rate' | 'train_batch' | 'train_dropout' | 'train_seed'
  | 'train_sentences' | 'train_running' | 'stepper'
  | 'rotary_pairs' | 'rotary_base' | 'rotary_dims' | 'rotary_scaling' | 'rotary_factor' | 'position_ids' | 'projection_bias' | 'output_projection' | 'd_out' | 'additive_dim' | 'd_q' | 'separate_values' | 'softmax_sink'
  | 'column_names' | 'patch_columns' | 'column_layout' | 'batch_of' | 'layer' | 'color_map' | 'memory_words' | 'segment_classes'
  | 'model_find' | 'model_targets'
  | 'card' | 'pin' | 'value_norms' | 'weight_by';

// made: examples
/** The examples. */
export type PresetName =
  | 'i-saw-a-saw' | 'pronoun' | 'previous-token' | 'look-up' | 'uniform' | 'saturated' | 'additive' | 'general' | 'cosine' | 'alignment'
  | 'local-window' | 'longformer' | 'bigbird' | 'block' | 'sparsemax' | 'grouped-query' | 'multi-query' | 'sinusoidal' | 'target-outputs' | 'rotary'
  | 'alibi' | 'decoder' | 'transformer-block' | 'image-patches' | 'speech' | 'caption' | 'summary' | 'time-series' | 'generation'
  | 'recurrent-decoder' | 'segments' | 'mask-after-softmax';
// end

// made: formats
/** The formats of files, by the endings of their names. */
export type FormatName =
  | 'json' | 'npy' | 'npz' | 'safetensors' | 'csv' | 'tsv';
// end

/** What is open: the board of the layer, or one of the pages. */
export type ViewName = 'layer' | 'block' | 'segments' | 'spread' | 'dense' | 'memory' | 'cost' | 'train' | 'model';

/** The parts around the matrices that can be laid out by themselves. */
export type PartName = 'header' | 'panel' | 'heads' | 'arcs' | 'plane' | 'values' | 'changes' | 'loops' | 'inspector';

/** A matrix or a part that `show` lays out. */
export type ShownName = PartName | TensorName | StageName | ParameterName | Exclude<ExperimentName, `train:${string}`>;

/** One or several, separated by commas, of which TypeScript checks the first: "q,k,weights". */
export type ShownText = '' | ShownName | `${ShownName},${string}`;

export type ShownNames = ShownText | readonly ShownName[];

export type OptionValue = boolean | number | string | string[] | number[];

export interface PlaygroundExplanation {
  text: string;
  terms: {label: string; text: string; value: number}[];
  /** The step that makes the cell, as nested loops in pseudocode; there is none for an input. */
  loops?: string[];
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
  /** Graphics contexts that all boards of the page hold together: they share one. */
  contexts: number;
}

/** A refused value: a TypeError, RangeError or SyntaxError with the name of the field that was wrong. */
export interface RefusedError extends Error {
  field: string;
}

export interface PlaygroundErrorDetail {
  type: 'load' | 'no-simd' | 'webgl' | 'contextlost' | 'state' | 'crash';
  message: string;
  /** What was refused, where it has a name: an option, a tensor, a place in a file. */
  field?: string;
}

/** Of `input` and `change`: who changed what. */
export interface PlaygroundChangeDetail {
  source: 'user' | 'script' | 'lesson' | 'training';
  /** If it was not an edit: the whole state was replaced. */
  action?: 'undo' | 'redo' | 'reset' | 'open';
  /** What was edited: a tensor, a parameter, an option, labels, or the painted mask. */
  name?: TensorName | ParameterName | OptionName | 'mask';
  /** The same, for an option. */
  option?: OptionName;
  head?: number;
  /** The cell, or the first one of a block; of labels, the token. */
  row?: number;
  col?: number;
  /** For a block of several cells. */
  rows?: number;
  cols?: number;
  /** For one cell, label or option. At the end of a drag: the values at its start and end. */
  before?: OptionValue;
  after?: OptionValue;
}

/** For `step`, `answer` and `passed`: the lesson's id, and the step, counted from 0. */
export interface PlaygroundStepDetail {
  lesson: string;
  step: number;
}

/** A lesson as lessons/schema.json describes it. */
export interface PlaygroundLesson {
  lesson: 1;
  [field: string]: unknown;
}

/** Where the selection is. */
export interface PlaygroundSelectDetail {
  name: TensorName;
  head: number;
  row: number;
  col: number;
}

/** The events by their first names. */
export interface PlaygroundEvents {
  ready: CustomEvent<Record<string, never>>;
  /** While a value is dragged. */
  input: CustomEvent<PlaygroundChangeDetail>;
  /** When an edit is done. */
  change: CustomEvent<PlaygroundChangeDetail>;
  /** Null when the selection was cleared. */
  select: CustomEvent<PlaygroundSelectDetail | null>;
  /** A step of a lesson was opened. */
  step: CustomEvent<PlaygroundStepDetail & {steps: number; title: string}>;
  /** A prediction was made. */
  answer: CustomEvent<PlaygroundStepDetail & {choice: number; right: boolean}>;
  /** A step was passed; `all`: and with it the whole lesson. For a puzzle also its par, and the edits that the reader needed. */
  passed: CustomEvent<PlaygroundStepDetail & {all: boolean; par?: number; edits?: number}>;
  error: CustomEvent<PlaygroundErrorDetail>;
  /** With the attribute `fit`: the element's height in CSS pixels, whenever it changes. */
  fit: CustomEvent<{height: number}>;
  /** Once per frame while training runs. `sliceMs`: how many milliseconds of training followed the frame. */
  train: CustomEvent<TrainResult & {sliceMs: number; isDone: boolean}>;
}

/**
 * Each event comes under two names, first as `change`, then as `attention-change`. The second is the name of no native event, for frameworks
 * that treat native names in their own way: Svelte 5 listens for some of them only at the root of the page. Events do not bubble; listen on
 * the element itself.
 */
export interface PlaygroundEventMap extends PlaygroundEvents, SecondNames {}
type SecondNames = {[Name in keyof PlaygroundEvents as `attention-${Name}`]: PlaygroundEvents[Name]};

/** The progress of a run: its last step on its batch, and the model on the held-out sentences. */
export interface TrainResult {
  step: number;
  loss: number;
  accuracy: number;
  /** Its loss is null if it is not finite, just before a run with too large a rate stops. */
  heldOut: {loss: number | null; accuracy: number};
  gradientNorm: number;
}

/** What a gradient may be taken with respect to: an input of the layer, and q, k and v even if they are computed from x. */
export type InputName = 'x' | 'w_q' | 'w_k' | 'w_v' | 'w_o' | 'q' | 'k' | 'v' | 'x_kv' | 'w_a' | 'u_a' | 'v_a' | 'bias';

/** A cell to follow; row and column by number, counted from 0, or by token. */
export interface PlaygroundTarget {
  tensor: TensorName | StageName | ParameterName;
  head?: number;
  row?: number | string;
  col?: number | string;
}

export interface PlaygroundObservation extends PlaygroundTarget {
  /** Undefined when the cell no longer exists. */
  value: number | undefined;
  before: number | undefined;
}

/** What should hold. `at` is [head, row, column]; null stands for all of them, row and column may be tokens. */
export type PlaygroundCheck =
  | {tensor: TensorName | StageName | ParameterName; at?: (number | string | null)[]; min?: number; max?: number; near?: number | number[];
      /** How far from `near` and `like` it may be; 0.005 unless given. */
      within?: number; like?: {tensor: TensorName | StageName | ParameterName; at?: number[]}; argmax?: number;
      /** What is computed from the cells first; `change`: since the check was set up. */
      of?: 'each' | 'sum' | 'mean' | 'norm' | 'entropy' | 'change'; change?: 'up' | 'down' | 'same'}
  | {option: OptionName; is?: OptionValue; min?: number; max?: number}
  /** Cells and options that differ from the board as it was when the check was set up. */
  | {edits: true | Record<string, never>; min?: number; max?: number};

export interface PlaygroundVerdict {
  value: OptionValue | number[];
  holds: boolean;
}

/** Its attributes. */
export interface PlaygroundAttributes {
  preset?: PresetName | '' | undefined;
  state?: string | PlaygroundState | undefined;
  src?: string | undefined;
  view?: ViewName | undefined;
  lesson?: string | undefined;
  step?: number | string | undefined;
  lang?: string | undefined;
  show?: ShownNames | undefined;
  hide?: string | readonly string[] | undefined;
  lock?: string | readonly string[] | undefined;
  theme?: 'auto' | 'light' | 'dark' | undefined;
  wheel?: 'focus' | 'always' | 'never' | undefined;
  loading?: 'lazy' | 'eager' | undefined;
  poster?: string | undefined;
  fit?: boolean | '' | undefined;
  page?: boolean | '' | undefined;
}

export interface PlaygroundLinkOptions {
  preset?: PresetName | undefined;
  view?: ViewName | undefined;
  show?: ShownNames | undefined;
  hide?: string | readonly string[] | undefined;
  lock?: string | readonly string[] | undefined;
  theme?: 'auto' | 'light' | 'dark' | undefined;
  lesson?: string | undefined;
  /** Of that lesson, from 0. */
  step?: number | undefined;
  wheel?: 'focus' | 'always' | 'never' | undefined;
  /** The language of the interface: "de", "zh". */
  lang?: string | undefined;
  /** As high as the board needs. */
  fit?: boolean | undefined;
}

export interface PlaygroundBlobOptions {
  /** The state, all tensors by their names, one tensor, or a figure. */
  format: FormatName | 'svg' | 'png';
  /** The tensor, for a format that holds one; weights by default. */
  tensor?: string | undefined;
  /** For a figure: weights of one head (the default), all heads, arcs, or the board; as PNG without a style the board looks as on the screen. */
  what?: 'weights' | 'heads' | 'arcs' | 'board' | undefined;
  /** For a figure; the default is print, in shades of grey. */
  style?: 'print' | 'light' | 'dark' | undefined;
  /** Magnification, 0.1 to 20. */
  scale?: number | undefined;
  /** Counted from 0; the focused head by default. */
  head?: number | undefined;
  /** For a figure; labels, numbers, bar and caption by default. */
  with?: ('labels' | 'numbers' | 'bar' | 'caption' | 'sums' | 'clear')[] | undefined;
  /** For the weights; those of the style by default. */
  colors?: 'own' | 'cividis' | 'grey' | undefined;
  /** For a figure: its width with a unit, "3.25in", "83mm", "234pt" or "312px"; text keeps a size that can be read. As wide as its cells need by default. */
  width?: string | undefined;
  /** For a figure: the weights at both ends of the colours; 0 and 1 by default. */
  range?: [number, number] | undefined;
  /** For a figure: only these tokens, from the first, counted from 0, up to but not including the second. */
  tokens?: [number, number] | string | undefined;
  /** For a figure: where cells would be too small to see, several in one, which has their largest weight or their mean. */
  pool?: 'max' | 'mean' | undefined;
  /** For a figure; an empty one is left out. */
  title?: string | undefined;
}

export type PlaygroundLanguage = 'numpy' | 'torch' | 'jax' | 'latex';

export interface PlaygroundEmbedOptions extends PlaygroundLinkOptions {
  /** An element in the page itself (the default), or an iframe for places that allow no scripts. */
  kind?: 'element' | 'iframe' | undefined;
  width?: number | undefined;
  height?: number | undefined;
  title?: string | undefined;
  /** Readers start from the numbers on the board instead of the preset. */
  state?: boolean | undefined;
}

/** `<attention-playground preset state src view lesson step hide lock show theme wheel loading poster fit lang page>` */
export class AttentionPlayground extends HTMLElement {
  /**
   * Where index.html, embed.html and element.js are published, for links and the code that embeds a board: an address that ends in a slash.
   * Where it is not set, beside the element's script; but an application that bundles this package must set it for link() and embedCode(),
   * and Share offers links only then. Lessons and languages are part of a bundle, and otherwise come from here too.
   */
  static home?: string | undefined;
  get preset(): PresetName | '';
  set preset(name: PresetName | '' | null | undefined);
  /** State text to begin with; a later change is shown at once. */
  state: string;
  /** The address of a file to begin with, of any of the formats. */
  src: string;
  /** It keeps its value when the reader opens another page. */
  view: ViewName;
  /** The lesson that is open from the start: its id, or the address of a file such as "my-lesson.json". */
  lesson: string;
  /** Comma-separated: header, views, panel, guide, heads, arcs, plane, values, changes, loops, inspector, import, export. */
  hide: string;
  /**
   * Comma-separated names of options, tensors and actions (undo, reset, presets, drop, paste, mask) that the reader cannot change
   * or do; "all" is all of them. What would change a locked thing by a way around it, such as undo or a file, is refused too.
   */
  lock: string;
  /** Comma-separated tensors and parts that are laid out, and nothing else: "q,k,weights,output", "arcs", "weights,inspector". From 200 × 120. */
  get show(): ShownText;
  set show(names: ShownNames | null | undefined);
  /** "auto": as `color-scheme` of the page has it. It is always printed light. */
  theme: 'auto' | 'light' | 'dark';
  /** When the wheel scrolls inside the playground, and with Ctrl enlarges its board: once it has the focus (the default), always, or never. */
  wheel: 'focus' | 'always' | 'never';
  /** When it loads: when it comes close to the visible part of the page (the default), or at once. Reading `ready` starts it too. */
  loading: 'lazy' | 'eager';
  /** Address of a picture that is shown while it loads, and when it fails. */
  poster: string;
  /**
   * Makes it as high as the board needs at its width, whatever height styles give it, so that nothing scrolls. Views other than the
   * layer keep the height of the styles.
   */
  fit: boolean;

  /** Resolves when the first frame is drawn; rejects with the sentence that the page shows. */
  readonly ready: Promise<AttentionPlayground>;
  getState(): PlaygroundState;
  setState(state: PlaygroundState | string, options?: {undoable?: boolean}): void;
  /**
   * Opens a lesson by its id, by the address of a file, or as an object, at a step counted from 0. Rejects with a RefusedError that
   * names file, step and field; the board stays as it is then.
   */
  openLesson(lesson: string | PlaygroundLesson, step?: number): Promise<void>;
  /** Returns to the initial state, as one undoable step. */
  reset(): void;
  undo(): boolean;
  redo(): boolean;
  /** A copy. Computed numbers may differ in their last bits, by at most 1e-6, between a board that was edited and one opened from a link. */
  getTensor(name: TensorName | StageName | ParameterName | ExperimentName): PlaygroundTensor;
  setTensor(name: TensorName | ParameterName, data: ArrayLike<number>, shape?: number[]): void;
  get(option: OptionName): OptionValue;
  set(option: OptionName, value: OptionValue): void;
  /**
   * The position of a cell, or of a control by its name, in the window, like getBoundingClientRect(). A cell of a StageName or a
   * ParameterName is where its page of the experiments is open.
   */
  locate(name: string, head?: number, row?: number, col?: number): DOMRect;
  items(): PlaygroundItem[];
  explain(name: TensorName | StageName, head?: number, row?: number, col?: number): PlaygroundExplanation;
  /**
   * ∂target/∂cell for every cell of the input `wrt`, in the shape of that input. The target is a cell of any tensor of the layer.
   * Where there is no derivative it follows PyTorch: ReLU has 0 at 0, a hard maximum has 0; masked cells have 0. A RangeError
   * says which part is not in this layer.
   */
  gradient(target: {tensor: TensorName; head?: number; row?: number; col?: number}, wrt: InputName): PlaygroundTensor;
  /** Calls back soon, and whenever the number changes. Returns a function that ends it. */
  observe(target: PlaygroundTarget, callback: (value: number | undefined, observation: PlaygroundObservation) => unknown): () => void;
  /** Calls back each time the check, or all checks of a list, begin to hold. Returns a function that ends it. */
  on(check: PlaygroundCheck | PlaygroundCheck[], callback: (verdicts: PlaygroundVerdict[]) => unknown): () => void;
  /**
   * The address of the page with this board in it: its state after #s=, whose inputs are kept bit for bit, and the options in the query.
   * Rejects with a RefusedError of the field "home" if the address where the page is published is not known.
   */
  link(options?: PlaygroundLinkOptions): Promise<string>;
  /** HTML that embeds this board in a page. Rejects as link() does. */
  embedCode(options?: PlaygroundEmbedOptions): Promise<string>;
  /**
   * Trains that many more steps of the run described by the options train_…, a few milliseconds after each frame. Rejects with a
   * RangeError if a number became infinite or NaN: the run then returns to its last good step.
   */
  train(steps: number): Promise<TrainResult>;
  /** Restarts the run with the same seed. */
  resetTraining(): void;
  /** The layer as a file, or a figure of it. Rejects with a TypeError or RangeError that names the option. */
  toBlob(options: PlaygroundBlobOptions): Promise<Blob>;
  /** The layer as a program that gives the same numbers, or as formulas with them. */
  toCode(language: PlaygroundLanguage): Promise<string>;
  stats(): PlaygroundStats;
  /** Frees the graphics context and the memory; the element cannot be used afterwards. */
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
