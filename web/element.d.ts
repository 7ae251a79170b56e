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

// made: options
/** What is open: the board of the layer, or one of the pages. */
export type ViewName = 'layer' | 'block' | 'segments' | 'spread' | 'dense' | 'memory' | 'cost' | 'train' | 'model';
export interface PlaygroundOptions {
  /** Edit Q, K and V, or X and the weights that make them. */
  mode: 'qkv' | 'x';
  /** How many tokens there are. 1 to 131072. */
  tokens: number;
  /** The tokens; a sentence is split into words. */
  labels: string | string[];
  /** How many heads look in parallel, each in columns of its own; must divide the width. 1 to 64. */
  heads: number;
  /** Columns of Q and K per head, and of V while d_v is the same. 1 to 512. */
  d_k: number;
  /** Columns of X. 1 to 1024. */
  model_dim: number;
  /** A token sees itself and those before it. */
  causal: boolean;
  /** Divide scores by the square root of d_k, or multiply them by a number. 0.0001 to 10000. */
  scale: boolean | number;
  /** Scores are divided by it before softmax: low is sharp, high is even. 0.000001 to 1000000. */
  temperature: number;
  /** The head on the board, from 0. 0 to 63. */
  focus_head: number;
  /** Digits after the point. 0 to 6. */
  decimals: number;
  /** Light, dark, or as the page. */
  theme: 'auto' | 'light' | 'dark';
  /** Of random numbers; the same seed gives the same. 0 to 4294967295. */
  seed: number;
  /** How a query and a key become one number. */
  score: 'dot' | 'scaled' | 'general' | 'additive' | 'cosine';
  /** Soft cap c: scores become c tanh(s/c), so they stay within plus or minus c; 0 switches it off. 0 to 1000. */
  softcap: number;
  /** How a row of scores becomes a row of weights. */
  normalizer: 'softmax' | 'sparsemax' | 'entmax15' | 'sigmoid' | 'relu' | 'hardmax' | 'none';
  /** Positional encoding: how the layer learns the order of the tokens. */
  position: 'none' | 'sinusoidal' | 'rotary' | 'alibi';
  /** Keys that were cached before the first query. 0 to 131072. */
  causal_offset: number;
  /** Keys before its own that a query sees; -1: all. -1 to 131072. */
  window_left: number;
  /** Keys after its own that a query sees; -1: all. -1 to 131072. */
  window_right: number;
  /** The first n keys are seen by every query, even those before them. 0 to 131072. */
  prefix: number;
  /** Keys from this index on are padding, which no query sees; -1: none. -1 to 131072. */
  key_length: number;
  /** Which scores are computed. */
  pattern: 'none' | 'local' | 'dilated' | 'strided' | 'block' | 'global' | 'random' | 'longformer' | 'bigbird' | 'custom';
  /** Local attention: keys fewer than this many steps away are seen; 0: off. 0 to 131072. */
  pattern_local: number;
  /** Dilation: the distance between two keys of local attention. 1 to 131072. */
  pattern_dilation: number;
  /** Stride: a query sees every n-th key, counted from its own; 0: off. 0 to 131072. */
  pattern_stride: number;
  /** Block size: tokens of the same block see each other; 0: off. 0 to 131072. */
  pattern_block: number;
  /** Global tokens: the first n see all tokens and are seen by all. 0 to 131072. */
  pattern_global: number;
  /** Random keys that each query sees. 0 to 131072. */
  pattern_random: number;
  /** Seed of the random keys. 0 to 4294967295. */
  pattern_seed: number;
  /** A common mistake: rows no longer sum to 1. */
  mask_after_softmax: boolean;
  /** Heads of K and V, each shared by heads of Q; must divide them. 1 to 64. */
  kv_heads: number;
  /** Columns of V per head. 1 to 512. */
  d_v: number;
  /** Keys and values are of another sequence. */
  cross: boolean;
  /** How many tokens the other sequence has. 1 to 131072. */
  key_tokens: number;
  /** The tokens of the other sequence. */
  key_labels: string | string[];
  /** Heads that are left out, from 0. */
  hidden_heads: number[];
  /** Show the mean of the heads' weights. */
  average_heads: boolean;
  /** How large everything is drawn, 1 to 2.5; 0: as the window allows. 0 to 2.5. */
  zoom: number;
  /** Show only the title, the board and the selection. */
  present: boolean;
  /** Show the W of all heads as one matrix each. */
  whole_projections: boolean;
  /** Tokens that a decoder has produced so far; 0: not step by step. 0 to 131072. */
  step: number;
  /** Sequences that go through the same layer. 1 to 64. */
  batch: number;
  /** The sequence on the board, from 0. 0 to 63. */
  batch_item: number;
  /** The block adds its input to what each of its parts gives. */
  block_residual: boolean;
  /** Where the block normalises: after each part, or before. */
  block_norm: 'none' | 'post' | 'pre';
  /** What a hidden unit does with its sum. */
  block_activation: 'relu' | 'gelu' | 'tanh';
  /** Hidden units of the feed-forward network, as a multiple of the width. 1 to 8. */
  block_hidden: number;
  /** Dropout rate in the block. 0 to 0.9. */
  block_dropout: number;
  /** Added to the variance, so that a row of equal numbers does not divide by 0. 1e-12 to 1. */
  block_epsilon: number;
  /** Seed of the block's weights and of its dropout. 0 to 4294967295. */
  block_seed: number;
  /** Where segments of tokens end. */
  segment_by: 'tokens' | 'punctuation';
  /** Tokens in each segment. 1 to 4096. */
  segment_tokens: number;
  /** Seed of the queries that weigh tokens and segments. 0 to 4294967295. */
  segment_seed: number;
  /** The older name of view. */
  experiment: 'none' | 'spread' | 'weights' | 'reach' | 'block' | 'segments';
  /** How weights map to colours: linear, by square root, relative to their row, or automatic (square root from 64 keys on, fourth root beyond 1,024). */
  weight_scale: 'linear' | 'sqrt' | 'row' | 'auto';
  /** What is open: the layer, the block around it, segments, an experiment, or all heads of a model. */
  view: ViewName;
  /** Inverted dropout divides what is kept by 1 - p; plain leaves it, and inference multiplies by 1 - p. */
  block_dropout_kind: 'inverted' | 'plain';
  /** Of what the block drops; -1: that of its weights. -1 to 4294967295. */
  block_dropout_seed: number;
  /** Components of the drawn queries and keys. 1 to 1024. */
  spread_dim: number;
  /** Mean of these components; of the queries alone where keys have their own. -10 to 10. */
  spread_mean: number;
  /** Standard deviation of these components; of the queries alone where keys have their own. 0 to 10. */
  spread_deviation: number;
  /** Show scores divided by the square root of d_k in front. */
  spread_scaled: boolean;
  /** Of these draws. 0 to 4294967295. */
  spread_seed: number;
  /** The token whose input moves, from 0. 0 to 4095. */
  dense_token: number;
  /** Standard deviation of what is added to its numbers. 0 to 10. */
  dense_amount: number;
  /** What changes of the token: its value, its query and key, or all three. */
  dense_moved: 'values' | 'queries_keys' | 'all';
  /** Of what is added. 0 to 4294967295. */
  dense_seed: number;
  /** Tokens that the recurrent network reads. 2 to 256. */
  reach_tokens: number;
  /** Singular values of its recurrent matrix. 0 to 4. */
  reach_recurrent: number;
  /** Standard deviation of what each token adds to a unit. 0 to 10. */
  reach_input: number;
  /** How much higher the score of the first token is than all others. -30 to 30. */
  reach_lead: number;
  /** Of the recurrent matrix and of what is added. 0 to 4294967295. */
  reach_seed: number;
  /** Bias of the forget gate of the LSTM beside it. -10 to 10. */
  reach_forget: number;
  /** Equal words get equal rows; rows that differ are drawn again. */
  same_word: boolean;
  /** Show what would raise the selected value, cell by cell. */
  gradient: boolean;
  /** Keys are drawn with the mean and the deviation of queries. */
  spread_same: boolean;
  /** Mean of the components of keys, where it is their own. -10 to 10. */
  spread_key_mean: number;
  /** Standard deviation of the components of keys, where it is their own. 0 to 10. */
  spread_key_deviation: number;
  /** Queries that are drawn, each with 16 keys. 1 to 512. */
  spread_draws: number;
  /** The recurrent network that reads the sentence: tanh, or an LSTM with its gates. */
  memory_cell: 'tanh' | 'lstm';
  /** Units of the recurrent network. 1 to 16. */
  memory_units: number;
  /** Seed of the recurrent network's weights. 0 to 4294967295. */
  memory_seed: number;
  /** Tokens that the cost is counted for; 0: those of the layer. 0 to 1000000. */
  cost_tokens: number;
  /** What the cost of the layer is compared with. */
  cost_compare: 'score' | 'heads' | 'window' | 'recurrent';
  /** Keys that a query sees in the window that it is compared with. 1 to 1000000. */
  cost_window: number;
  /** The task; choosing one also sets options that learn it well. */
  train_task: 'tags' | 'previous' | 'induction' | 'reverse' | 'most_frequent' | 'sort' | 'translate';
  /** Layers of the model. 1 to 4. */
  train_layers: number;
  /** Heads of each layer; must divide the width of the model. 1 to 8. */
  train_heads: number;
  /** Width of the model: numbers per token. 1 to 256. */
  train_d_model: number;
  /** Each attention layer is followed by a feed-forward network. */
  train_feed_forward: boolean;
  /** Layer normalisation before each part of the model. */
  train_layer_norm: boolean;
  /** A residual connection around each part of the model. */
  train_residual: boolean;
  /** A token of the model sees itself and those before it. */
  train_causal: boolean;
  /** Positional encoding: how the layer learns the order of the tokens. */
  train_position: 'none' | 'sinusoidal' | 'rotary' | 'alibi' | 'learned';
  /** How a query and a key become one number. */
  train_score: 'dot' | 'scaled' | 'general' | 'additive' | 'cosine';
  /** How a row of scores becomes a row of weights. */
  train_normalizer: 'softmax' | 'sparsemax' | 'entmax15' | 'sigmoid' | 'relu' | 'hardmax' | 'none';
  /** The optimiser: how gradients become steps. */
  train_optimizer: 'sgd' | 'momentum' | 'adam';
  /** The learning rate; it can be changed during a run. 0.000001 to 1000. */
  train_rate: number;
  /** Sequences a step learns from. 1 to 256. */
  train_batch: number;
  /** Dropout rate while the model learns. 0 to 0.9. */
  train_dropout: number;
  /** Seed of the weights, the batches and what is held out. 0 to 4294967295. */
  train_seed: number;
  /** Your own sentences for the tasks tags and translate, one per line. */
  train_sentences: string;
  /** Training is running, a little between frames. */
  train_running: boolean;
  /** How many steps from the selected row to its output are shown; 0: all at once. 0 to 24. */
  stepper: number;
  /** What the card below the matrices shows. */
  card: 'arcs' | 'plane' | 'values' | 'changes' | 'loops';
  /** A board to compare with, as a state text; true pins this one. */
  pin: string;
  /** Arcs and bars show the length of weight times value. */
  value_norms: boolean;
  /** Whether dragging a weight changes its query or its key, as little as possible. */
  weight_by: 'query' | 'key';
  /** Columns that are rotated together: neighbours, or i and i + r/2 as in Llama. */
  rotary_pairs: 'adjacent' | 'half';
  /** Base of the angles: the i-th pair of columns turns by base^(-2i/r) per position. 1.001 to 1000000000. */
  rotary_base: number;
  /** How many columns are rotated, from the first; an even number; 0: all. 0 to 512. */
  rotary_dims: number;
  /** For longer texts: positions divided by the factor, or a larger base (NTK-aware). */
  rotary_scaling: 'none' | 'linear' | 'ntk';
  /** How many times longer texts may be. 0.01 to 1000. */
  rotary_factor: number;
  /** Each row has one more score, a sink, in its sum alone, as in gpt-oss; with 0 it is softmax-1. */
  softmax_sink: boolean;
  /** Values are projected from an X of their own. */
  separate_values: boolean;
  /** Hidden units of the additive score; 0: as many as d_k. 0 to 512. */
  additive_dim: number;
  /** Columns of Q per head, for the scores general and additive; 0: as many as K has. 0 to 512. */
  d_q: number;
  /** W_O joins the heads; without it the output is the heads side by side. */
  output_projection: boolean;
  /** Columns of W_O and of the output; 0: as many as X. 0 to 1024. */
  d_out: number;
  /** The projections have biases: b_q, b_k, b_v and b_o. */
  projection_bias: boolean;
  /** Positions used instead of 0, 1, 2 ...; a short list is continued from its last: [100] is an offset. */
  position_ids: number[];
  /** What the columns of Q and K are called, head after head, as a list or between commas. */
  column_names: string | string[];
  /** Keys are patches of a picture, so many in a row, and rows of X are their pixels; 0: they are not. 0 to 131072. */
  patch_columns: number;
  /** Tokens are columns, and O = V softmax(K^T Q); the numbers stay the same. */
  column_layout: boolean;
  /** What the items of the batch are: sequences, or layers of a model. */
  batch_of: 'sequences' | 'layers';
  /** The layer of the model on the board, from 0. 0 to 63. */
  layer: number;
  /** Colours of cells: those of the theme, cividis for weights, or shades of grey. */
  color_map: 'own' | 'cividis' | 'grey';
  /** Words that the recurrent decoder writes, each with a look of its own at the sentence. 1 to 16. */
  memory_words: number;
  /** What the classes of the whole document are called, as a list or between commas. */
  segment_classes: string | string[];
  /** The word that heads of the page Model are measured by. */
  model_find: string;
  /** What should have been predicted: one class for this token, or one for each, - for none. */
  model_targets: string;
  /** The first NaN or infinity of the file, and how many; such rows are 0 here, and hidden. */
  not_finite: string;
}
// end
export type OptionName = keyof PlaygroundOptions;

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
  /** Of the layer, or on the page Model of all layers: how many heads have a picture, of some of their rows at least, and how many are computed. */
  heads: {pictured: number; whole: number};
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
