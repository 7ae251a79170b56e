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

export interface ForwardOptions {
  /** Queries [heads, queryCount, headDim], row-major; as `layout: 'packed'` [queryCount, heads × headDim]. */
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
  /** Keys from this one on are padding. Default `keyCount`. */
  keyLength?: number;
  /** Factor of the scores. Default 1 / √headDim. */
  scale?: number;
  /** Scores become softcap × tanh(score / softcap); 0, the default: they do not. */
  softcap?: number;
  /** Divides the masked scores; more than 0. Default 1. */
  temperature?: number;
  /**
   * One value a key, [keyCount], [queryCount, keyCount] or [heads, queryCount, keyCount].
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
   * softmax(mask(q·kᵀ × scale) / temperature) · v. A TypeError or RangeError names the argument that is wrong, and nothing was
   * written then: numbers that are not finite, shapes that do not fit, arrays that were freed, more than there is memory for.
   */
  forward(options: ForwardOptions): ForwardResult;
}

/** Loads the fastest build that this engine can run. Each call makes an instance of its own. */
export function loadAttention(options?: LoadOptions): Promise<Attention>;
