// Types of attention-playground/core.

/** The build in use. */
export type Kernel = 'wasm-relaxed' | 'wasm-simd128';

/** Arrays from `alloc` are used where they are; others are copied. */
export type Numbers = Float32Array | Float64Array | readonly number[];

export interface LoadOptions {
  /** Forces one build; otherwise the fastest that this engine can run. */
  kernel?: Kernel;
  /** The bytes, or the compiled module, of that build's .wasm file, where it is not to be fetched from beside core.js. */
  wasm?: BufferSource | WebAssembly.Module;
}

// made: mechanisms
export type Score = 'dot' | 'scaled' | 'general' | 'additive' | 'cosine';
export type Normalizer = 'softmax' | 'sparsemax' | 'entmax15' | 'sigmoid' | 'relu' | 'hardmax' | 'none';
// end

export interface ForwardOptions {
  /** Entries that go through the same layer: every tensor but `wA`, `uA`, `vA`, `sink` and a shared mask has them in front. Default 1. */
  batch?: number;
  /** How a query and a key become one number. Default 'scaled', q·k × scale; 'general' takes `wA`, 'additive' `wA`, `uA` and `vA`. */
  score?: Score;
  /** How a row of scores becomes a row of weights. Default 'softmax'. */
  normalizer?: Normalizer;
  /** Positional encoding: q and k are rotated, or distance lowers the scores. Default 'none'. */
  position?: 'none' | 'rotary' | 'alibi';
  /** Which columns are turned together: 2i and 2i + 1, the default, or i and i + r/2 as Llama has it. */
  rotaryPairs?: 'adjacent' | 'half';
  /** Default 10000. */
  rotaryBase?: number;
  /** The first so many columns are turned; 0, the default: all. */
  rotaryDims?: number;
  /** Longer texts: positions ÷ factor, or a larger base. Default 'none'. */
  rotaryScaling?: 'none' | 'linear' | 'ntk';
  rotaryFactor?: number;
  /** What stands for the positions 0, 1, 2 … of the keys, and of the queries among them; a short list counts on from its last. */
  positionIds?: readonly number[] | Int32Array | Uint32Array;
  /** The first so many keys are seen whatever `causal` says. Default 0. */
  prefix?: number;
  /** A common mistake: rows no longer sum to 1. Default false. */
  maskAfterSoftmax?: boolean;
  /**
   * W_a [heads, queryDim, headDim] of 'general', qᵀ·W_a·k; of 'additive' W_a [heads, units, queryDim], U_a [heads, units, headDim] and
   * v_a [heads, units].
   */
  wA?: Numbers;
  uA?: Numbers;
  vA?: Numbers;
  /** A score of each head that takes part in the sum of every row of softmax alone, as in gpt-oss; 0 is softmax-1. It is ÷ temperature, as scores are. */
  sink?: Numbers;
  /** Queries [heads, queryCount, queryDim], row-major; as `layout: 'packed'` [queryCount, heads × queryDim]. */
  q: Numbers;
  /** Keys [kvHeads, keyCount, headDim]; packed [keyCount, kvHeads × headDim]. */
  k: Numbers;
  /** Values [kvHeads, keyCount, valueDim]; packed [keyCount, kvHeads × valueDim]. */
  v: Numbers;
  /** Query heads. Default 1. */
  heads?: number;
  /** Key heads, a divisor of `heads`: query head h reads key head ⌊h / (heads / kvHeads)⌋. Default `heads`. */
  kvHeads?: number;
  queryCount: number;
  /** Default `queryCount`. */
  keyCount?: number;
  headDim: number;
  /** Columns of q; other than `headDim` with 'general' and 'additive' alone. Default `headDim`. */
  queryDim?: number;
  /** Default `headDim`. */
  valueDim?: number;
  /** Default 'split'. */
  layout?: 'split' | 'packed';
  /** Key j is seen by query i when j ≤ i + causalOffset. Default false. */
  causal?: boolean;
  /** Keys that were cached before the first query. Default 0. */
  causalOffset?: number;
  /** Keys seen before (after) position i + causalOffset; -1, the default: all. */
  windowLeft?: number;
  windowRight?: number;
  /** Keys from this one on are padding, one number or one for each entry of the batch. Default `keyCount`. */
  keyLength?: number | readonly number[];
  /** Factor of the score 'scaled'. Default 1 / √headDim. */
  scale?: number;
  /** Scores become softcap × tanh(score / softcap); 0, the default: they do not. */
  softcap?: number;
  /** Divides the masked scores; more than 0. Default 1. */
  temperature?: number;
  /**
   * One value a key, [keyCount], [queryCount, keyCount], [heads, queryCount, keyCount] or [batch, heads, queryCount, keyCount].
   * Booleans or a Uint8Array: true (not 0) may be seen. Numbers: added to the scores, -Infinity masks.
   */
  mask?: readonly boolean[] | Uint8Array | Numbers;
  /** Also return the weights [heads, queryCount, keyCount], in the array given if it is one. Default false. */
  weights?: boolean | Float32Array;
  /** Where the output goes, in the shape of `q` with valueDim. Without it a new array is made. */
  out?: Float32Array;
}

export interface ForwardResult {
  /** `out` if that was given. */
  output: Float32Array;
  /** Where they were asked for. A row with every key masked is 0, and so is its output. */
  weights?: Float32Array;
}

export interface BackwardOptions extends Omit<ForwardOptions, 'weights' | 'out'> {
  /** ∂L/∂output, in the shape of the output. One of this and `dWeights` must be there. */
  dOutput?: Numbers;
  /** ∂L/∂weights, [heads, queryCount, keyCount]. */
  dWeights?: Numbers;
  /** Where the gradients go, in the shapes of `q`, `k` and `v`. Without them new arrays are made. */
  dQ?: Float32Array;
  dK?: Float32Array;
  dV?: Float32Array;
}

/** ∂L/∂q, ∂L/∂k and ∂L/∂v, in the shapes of `q`, `k` and `v`. Masked pairs, and rows with every key masked, have 0. */
export interface BackwardResult {
  dQ: Float32Array;
  dK: Float32Array;
  dV: Float32Array;
  /** Of the weights of the score and of the sink, where there are any: the sum over the batch. */
  dWA?: Float32Array;
  dUA?: Float32Array;
  dVA?: Float32Array;
  dSink?: Float32Array;
}

export interface Attention {
  readonly kernel: Kernel;
  /**
   * `length` zeros in WebAssembly memory. Pass these to `forward` for no copies. When memory grows (in `alloc` or `forward`)
   * JavaScript empties all arrays in it: `renew` gives one back, with the same numbers; `forward` takes them as they are.
   */
  alloc(length: number): Float32Array;
  /** Gives the memory of an array from `alloc` back; using the array afterwards is a TypeError. */
  free(array: Float32Array): void;
  /** The array itself while it is usable, else a new one over the same numbers. */
  renew(array: Float32Array): Float32Array;
  /**
   * softmax(mask(q·kᵀ × scale) / temperature) · v, or what the options make of it: `attn run` computes the same. Layers with another
   * score, normaliser or position than the usual ones keep whole matrices of scores, and are slower. A TypeError or RangeError names the argument that is wrong, and nothing was
   * written then: numbers that are not finite, shapes that do not fit, arrays that were freed, more than there is memory for.
   */
  forward(options: ForwardOptions): ForwardResult;
  /**
   * The gradients of a number L by q, k and v, from those by the output, the weights, or both (vector-Jacobian product of
   * `forward` with the same options). Refusals as in `forward`.
   */
  backward(options: BackwardOptions): BackwardResult;
}

/** Loads the fastest build that this engine can run. Each call makes an instance of its own. */
export function loadAttention(options?: LoadOptions): Promise<Attention>;
