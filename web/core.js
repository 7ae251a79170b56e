// attention-playground/core: the attention layer in WebAssembly, without a screen, for pages, workers and Node 18+. Types, and the meaning
// of every option, are in core.d.ts. The C++ side is src/attention/kernels/kernels_binding.cpp, and for scores, normalisers and positions
// other than the default steps/core_binding.cpp.

// (module (func (drop (f32x4.relaxed_madd (v128.const 0 …) (v128.const 0 …) (v128.const 0 …)))) and the same with f32x4.add.
const zero = [0xfd, 12, ...Array(16).fill(0)];
const moduleOf = (...code) => new Uint8Array([
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, code.length + 5, 1, code.length + 3, 0, ...code, 0x1a, 0x0b]);
const probes = {
  'wasm-relaxed': moduleOf(...zero, ...zero, ...zero, 0xfd, 0x85, 0x02),
  'wasm-simd128': moduleOf(...zero, ...zero, 0xfd, 0xe4, 0x01),
};
const files = {'wasm-relaxed': 'core-relaxed.wasm', 'wasm-simd128': 'core.wasm'};

// The builds, fastest first. V8's compiler before Turboshaft (Node 23, Chrome 129 and older) spills registers in the relaxed build, which
// makes it the slower one. The version cannot be queried; Math.f16round is slightly newer.
const ranked = () => 'f16round' in Math ? ['wasm-relaxed', 'wasm-simd128'] : ['wasm-simd128'];

// Which word of a call, and of a layer's options, is which: said by the module. A matrix has three: address, strides of heads and rows.
const CALL = {}, LAYER = {};
const CHOICES = {
  score: [], normalizer: [],  // named by the module
  position: ['none', 'sinusoidal', 'rotary', 'alibi'], rotaryPairs: ['adjacent', 'half'], rotaryScaling: ['none', 'linear', 'ntk'],
};
const SCORE_WEIGHTS = {};  // of each score, the names of its parameters
const PARAMETERS = ['wA', 'uA', 'vA', 'sink'];  // which all entries of a batch share
const gradientOf = (name) => `d${name[0].toUpperCase()}${name.slice(1)}`;

// Options that the kernels alone do not support; a call without any of these can be cached.
const LAYER_OPTIONS = ['batch', 'score', 'normalizer', 'position', 'rotaryPairs', 'rotaryDims', 'rotaryScaling', 'rotaryBase', 'rotaryFactor', 'positionIds',
  'prefix', 'maskAfterSoftmax', 'wA', 'uA', 'vA', 'sink', 'queryDim'];
const OPTIONS = new Set([...LAYER_OPTIONS,
  'q', 'k', 'v', 'heads', 'kvHeads', 'queryCount', 'keyCount', 'headDim', 'valueDim', 'layout', 'causal', 'causalOffset', 'windowLeft',
  'windowRight', 'keyLength', 'scale', 'softcap', 'temperature', 'mask', 'weights', 'out']);
const BACKWARD_OPTIONS = new Set([...OPTIONS, 'dOutput', 'dWeights', 'dQ', 'dK', 'dV']);
for (const name of ['weights', 'out']) BACKWARD_OPTIONS.delete(name);

const MAX = 0x7fffffff, LONGEST_LIST = 2 ** 27;

// The properties of a typed array, even if its own length or buffer was redefined.
const fact = (name) => Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Float32Array.prototype), name).get;
const lengthOf = fact('length'), bufferOf = fact('buffer'), offsetOf = fact('byteOffset');
const setIn = Float32Array.prototype.set;
const isFloats = (array) => ArrayBuffer.isView(array) && array instanceof Float32Array;

// A value for an error message; its text may be long, or throw.
const shown = (value) => typeof value === 'string' ? value.slice(0, 40) :
  (typeof value === 'object' && value !== null) || typeof value === 'function' ? `a value of type ${typeof value}` : String(value);

async function compiled(file, wasm) {
  if (wasm instanceof WebAssembly.Module) return wasm;
  if (wasm !== undefined) return WebAssembly.compile(wasm).catch((error) => { throw new TypeError(`wasm must hold ${file}: ${error.message}`); });
  const url = new URL(file, import.meta.url);
  if (url.protocol === 'file:' && globalThis.process?.versions?.node) {
    const {readFile} = await import(/* webpackIgnore: true */ /* @vite-ignore */ 'node:fs/promises');
    return WebAssembly.compile(await readFile(url));
  }
  const response = await fetch(url, {credentials: 'same-origin'});
  if (!response.ok) throw new Error(`${file} could not be loaded: ${response.status} ${response.statusText}`);
  // A server that does not know the type application/wasm only prevents streaming.
  const typed = response.headers.get('content-type')?.startsWith('application/wasm');
  return typed ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

export async function loadAttention(options = {}) {
  if (options === null || typeof options !== 'object') throw new TypeError('options must be an object');
  for (const name of Object.keys(options)) {
    if (name !== 'kernel' && name !== 'wasm') throw new TypeError(`${name} is not an option of loadAttention; there are kernel and wasm`);
  }
  const {kernel, wasm} = options;
  if (kernel !== undefined && (typeof kernel !== 'string' || !Object.hasOwn(files, kernel))) {
    throw new RangeError(`kernel must be 'wasm-relaxed' or 'wasm-simd128', not ${shown(kernel)}`);
  }
  const chosen = (kernel === undefined ? ranked() : [kernel]).find((name) => WebAssembly.validate(probes[name]));
  if (!chosen) throw new RangeError(`kernel: this engine cannot run ${kernel ?? 'SIMD in WebAssembly'}`);
  const instantiated = WebAssembly.instantiate(await compiled(files[chosen], wasm), {env: {emscripten_notify_memory_growth() {}}});
  const {exports} = wasm === undefined ? await instantiated :
    await instantiated.catch((error) => { throw new TypeError(`wasm must hold ${files[chosen]}: ${error.message}`); });
  if (typeof exports.callBytes !== 'function') throw new TypeError(`wasm must hold ${files[chosen]}; this is another module`);
  return new Attention(chosen, exports);
}

function count(name, value, fallback, least = 1) {
  if (value === undefined) value = fallback;
  if (value === undefined) throw new TypeError(`${name} is missing`);
  if (typeof value !== 'number') throw new TypeError(`${name} must be a number`);
  if (!Number.isInteger(value) || value < least || value > MAX) {
    throw new RangeError(`${name} must be a whole number from ${least} to ${MAX}, not ${value}`);
  }
  return value;
}

function real(name, value, fallback) {
  if (value === undefined) return fallback;
  if (typeof value !== 'number') throw new TypeError(`${name} must be a number`);
  if (!Number.isFinite(Math.fround(value))) throw new RangeError(`${name} must be a finite number, not ${value}`);
  return value;
}

function choice(name, value, fallback) {
  if (value === undefined) return fallback;
  if (CHOICES[name].includes(value)) return value;
  throw new RangeError(`${name} must be ${CHOICES[name].map((word) => `'${word}'`).join(', ')}, not ${shown(value)}`);
}

function flag(name, value) {
  if (value !== undefined && typeof value !== 'boolean') throw new TypeError(`${name} must be true or false`);
  return value === true;
}

function apart(output, input) {
  if (input.pointer < output.pointer + 4 * output.length && output.pointer < input.pointer + 4 * input.length) {
    throw new RangeError(`${output.name} overlaps ${input.name}`);
  }
}

// The same check for two output arrays of the caller that may be outside WebAssembly memory.
function aside(one, other) {
  if (!one.to || !other.to || bufferOf.call(one.to) !== bufferOf.call(other.to)) return;
  const span = ({name, to}) => ({name, pointer: offsetOf.call(to), length: lengthOf.call(to)});
  apart(span(one), span(other));
}

// Copies a list, reading each item once. Lists may contain anything; null, to which JSON converts NaN, would otherwise count as 0.
function itemsOf(name, list, length, copy, type) {
  for (let i = 0; i < length; ++i) {
    const item = list[i];
    type ??= typeof item === 'boolean' ? 'boolean' : 'number';  // a mask has the type of its first item
    if (typeof item !== type) {
      throw new RangeError(`${name}[${i}] is ${shown(item)}; it must be ${type === 'boolean' ? 'true or false' : 'a finite number'}`);
    }
    copy[i] = item;
  }
  return copy;
}

const isNumbers = (array) => ArrayBuffer.isView(array) && !(array instanceof DataView) && typeof array[0] !== 'bigint';

function fits(name, given, length, product) {
  if (given !== length) throw new RangeError(`${name} has ${given} numbers, and ${product} is ${length}`);
}

// Converts a list to an array; a typed array is returned as it is.
function listed(name, list, length, product) {
  if (list === undefined || list === null) throw new TypeError(`${name} is missing`);
  if (isNumbers(list)) return list;
  if (!Array.isArray(list)) throw new TypeError(`${name} must be a Float32Array or an array of numbers`);
  const given = list.length;
  fits(name, typeof given === 'number' ? given : NaN, length, product);
  if (length > LONGEST_LIST) throw new RangeError(`${name} is a list of ${length} numbers; so many take a Float32Array`);
  return itemsOf(name, list, length, new Float32Array(length), 'number');
}

function listedMask(mask, shapes) {
  if (isNumbers(mask)) return mask;
  if (!Array.isArray(mask)) throw new TypeError('mask must be an array of booleans, a Uint8Array or a Float32Array');
  const {length} = mask;
  fitsMask(typeof length === 'number' ? length : NaN, shapes);
  if (length > LONGEST_LIST) throw new RangeError(`mask is a list of ${length} values; so many take a Uint8Array or a Float32Array`);
  const items = itemsOf('mask', mask, length, []);
  return (typeof items[0] === 'boolean' ? Uint8Array : Float32Array).from(items);
}

function fitsMask(length, shapes) {
  if (shapes.includes(length)) return;
  if (shapes[3] !== shapes[2]) {
    throw new RangeError(`mask has ${length} values; it takes keyCount (${shapes[0]}), queryCount × keyCount (${shapes[1]}), ` +
      `heads × queryCount × keyCount (${shapes[2]}) or batch × heads × queryCount × keyCount (${shapes[3]})`);
  }
  throw new RangeError(`mask has ${length} values; it takes keyCount (${shapes[0]}), queryCount × keyCount (${shapes[1]}) or ` +
    `heads × queryCount × keyCount (${shapes[2]})`);
}

// Is a call equal to one with the options `a`, of which `names` were given, with the same arrays?
function same(a, b, names) {
  let n = 0;
  for (const name in b) if (name !== names[n++]) return false;
  return n === names.length && a.q === b.q && a.k === b.k && a.v === b.v && a.out === b.out && a.heads === b.heads &&
    a.kvHeads === b.kvHeads && a.queryCount === b.queryCount && a.keyCount === b.keyCount && a.headDim === b.headDim &&
    a.valueDim === b.valueDim && a.layout === b.layout && a.causal === b.causal && a.causalOffset === b.causalOffset &&
    a.windowLeft === b.windowLeft && a.windowRight === b.windowRight && a.keyLength === b.keyLength && a.scale === b.scale &&
    a.softcap === b.softcap && a.temperature === b.temperature && a.mask === b.mask && a.weights === b.weights && a.batch === b.batch &&
    a.score === b.score && a.normalizer === b.normalizer && a.position === b.position && a.rotaryPairs === b.rotaryPairs &&
    a.rotaryDims === b.rotaryDims && a.rotaryScaling === b.rotaryScaling && a.rotaryBase === b.rotaryBase &&
    a.rotaryFactor === b.rotaryFactor && a.positionIds === b.positionIds && a.prefix === b.prefix &&
    a.maskAfterSoftmax === b.maskAfterSoftmax && a.wA === b.wA && a.uA === b.uA && a.vA === b.vA && a.sink === b.sink;
}

// Reads and checks the sizes and options of a call.
function settingsOf(options) {
  const heads = count('heads', options.heads, 1);
  const kvHeads = count('kvHeads', options.kvHeads, heads);
  if (heads % kvHeads !== 0) throw new RangeError(`heads must be a multiple of kvHeads: ${heads} is none of ${kvHeads}`);
  const headDim = count('headDim', options.headDim);
  const valueDim = count('valueDim', options.valueDim, headDim), queryDim = count('queryDim', options.queryDim, headDim);
  const queryCount = count('queryCount', options.queryCount);
  const keyCount = count('keyCount', options.keyCount, queryCount);
  const layout = options.layout ?? 'split';
  if (layout !== 'split' && layout !== 'packed') throw new RangeError(`layout must be 'split' or 'packed', not ${shown(layout)}`);
  const packed = layout === 'packed';
  const causal = flag('causal', options.causal);
  const causalOffset = count('causalOffset', options.causalOffset, 0, -MAX);
  const windowLeft = count('windowLeft', options.windowLeft, -1, -1);
  const windowRight = count('windowRight', options.windowRight, -1, -1);
  const batch = count('batch', options.batch, 1);
  const keyLengths = keyLengthsOf(options.keyLength, keyCount, batch, options.batch !== undefined);
  const layer = layerOf(options, {heads, queryDim, headDim, keyCount, queryCount, causalOffset});
  if (options.scale !== undefined && layer.score !== 'scaled') throw new RangeError(`scale goes with the score 'scaled', not '${layer.score}'`);
  const scale = layer.score === 'dot' ? 1 : real('scale', options.scale, 1 / Math.sqrt(headDim));
  const softcap = real('softcap', options.softcap, 0);
  if (softcap < 0) throw new RangeError(`softcap must be 0 (none) or more, not ${softcap}`);
  const temperature = real('temperature', options.temperature, 1);
  if (!(temperature >= 1e-6 && temperature <= 1e6)) throw new RangeError(`temperature must be 1e-6 to 1e6, not ${temperature}`);
  const lengths = {
    q: batch * heads * queryCount * queryDim, k: batch * kvHeads * keyCount * headDim, v: batch * kvHeads * keyCount * valueDim,
    output: batch * heads * queryCount * valueDim, weights: batch * heads * queryCount * keyCount, ...layer.lengths,
  };
  const masks = [keyCount, queryCount * keyCount, heads * queryCount * keyCount, batch * heads * queryCount * keyCount];
  return {heads, kvHeads, queryCount, keyCount, queryDim, headDim, valueDim, packed, causal, causalOffset, windowLeft, windowRight, keyLength: keyLengths[0],
    scale, softcap, temperature, lengths, products: productsOf(layer.score, queryDim !== headDim), masks, batch, keyLengths, layer};
}

// One key length for all items of a batch, or a list with one for each.
function keyLengthsOf(given, keyCount, batch, isBatch) {
  const isList = isBatch && (Array.isArray(given) || isNumbers(given));
  if (isList && given.length !== batch) throw new RangeError(`keyLength has ${given.length} numbers, and the batch has ${batch} entries`);
  return Array.from({length: batch}, (_, i) => {
    const length = count(isList ? `keyLength[${i}]` : 'keyLength', isList ? given[i] : given, keyCount, 0);
    if (length > keyCount) throw new RangeError(`${isList ? `keyLength[${i}]` : 'keyLength'} must be at most keyCount (${keyCount}), not ${length}`);
    return length;
  });
}

// The options of a layer beyond the kernels: `isUsual` if all are default, `weights` the names of its score's parameters.
function layerOf(options, {heads, queryDim, headDim, keyCount, queryCount, causalOffset}) {
  const score = choice('score', options.score, 'scaled'), normalizer = choice('normalizer', options.normalizer, 'softmax');
  const position = choice('position', options.position, 'none');
  const rotaryPairs = choice('rotaryPairs', options.rotaryPairs, 'adjacent'), rotaryScaling = choice('rotaryScaling', options.rotaryScaling, 'none');
  const rotaryBase = real('rotaryBase', options.rotaryBase, 10000), rotaryFactor = real('rotaryFactor', options.rotaryFactor, 1);
  if (!(Math.fround(rotaryBase) > 1)) throw new RangeError(`rotaryBase must be more than 1, not ${rotaryBase}`);
  if (!(Math.fround(rotaryFactor) > 0)) throw new RangeError(`rotaryFactor must be more than 0, not ${rotaryFactor}`);
  const rotaryDims = count('rotaryDims', options.rotaryDims, 0, 0), prefix = count('prefix', options.prefix, 0, 0);
  if (prefix > keyCount) throw new RangeError(`prefix must be at most keyCount (${keyCount}), not ${prefix}`);
  const maskAfterSoftmax = flag('maskAfterSoftmax', options.maskAfterSoftmax);
  if (maskAfterSoftmax && normalizer !== 'softmax') throw new RangeError(`maskAfterSoftmax needs the normalizer 'softmax', not '${normalizer}'`);
  if (position === 'sinusoidal') throw new RangeError("position must be 'none', 'rotary' or 'alibi': sinusoids are added to x, and there is q");
  const turned = rotaryDims > 0 && rotaryDims < headDim ? rotaryDims : headDim;
  if (position === 'rotary') {
    if (score === 'additive') throw new RangeError("position 'rotary' turns dot products, and the additive score has none");
    if (queryDim !== headDim) throw new RangeError(`queryDim must be headDim (${headDim}) with rotary positions, not ${queryDim}`);
    if (turned % 2) throw new RangeError(`${rotaryDims % 2 ? 'rotaryDims' : 'headDim'} must be even: rotary positions turn columns in pairs, and there are ${turned}`);
    if (causalOffset < 0) throw new RangeError(`causalOffset must be 0 or more with rotary positions, not ${causalOffset}`);
    if (causalOffset + queryCount > 2 ** 24) throw new RangeError(`causalOffset: positions beyond ${2 ** 24} are too many`);
  }
  if (queryDim !== headDim && !SCORE_WEIGHTS[score].length) {
    throw new RangeError(`queryDim must be headDim (${headDim}) with the score '${score}', not ${queryDim}; 'general' and 'additive' compare different widths`);
  }
  const ids = options.positionIds === undefined ? [] : options.positionIds;
  if (!Array.isArray(ids) && !isNumbers(ids)) throw new TypeError('positionIds must be an array of whole numbers');
  const {length} = ids;
  if (!Number.isInteger(length) || length < 0 || length > 2 ** 20) throw new RangeError(`positionIds has ${shown(length)} numbers; use at most ${2 ** 20}`);
  const positionIds = Array.from({length}, (_, i) => {
    const id = count(`positionIds[${i}]`, ids[i], undefined, 0);
    if (id > 1e6) throw new RangeError(`positionIds[${i}] must be at most 1000000, not ${id}`);
    return id;
  });
  const hasSink = (options.sink ?? null) !== null;
  if (hasSink && normalizer !== 'softmax') throw new RangeError(`sink needs the normalizer 'softmax', not '${normalizer}'`);
  const weights = hasSink ? [...SCORE_WEIGHTS[score], 'sink'] : SCORE_WEIGHTS[score];
  for (const name of ['wA', 'uA', 'vA']) {
    if ((options[name] ?? null) !== null && !weights.includes(name)) throw new RangeError(`${name}: the score '${score}' has no such weights`);
  }
  // The length of vA determines the number of hidden units.
  const vA = options.vA, units = weights.includes('vA') && (Array.isArray(vA) || isNumbers(vA)) ? Math.max(1, Math.floor(vA.length / heads)) : headDim;
  const lengths = weights.length ? {wA: heads * queryDim * (weights.includes('vA') ? units : headDim), uA: heads * units * headDim, vA: heads * units, sink: heads} : {};
  const isUsual = (score === 'scaled' || score === 'dot') && normalizer === 'softmax' && position === 'none' && prefix === 0 && !maskAfterSoftmax && !hasSink;
  return {score, normalizer, position, rotaryPairs, rotaryScaling, rotaryBase, rotaryFactor, rotaryDims, prefix, maskAfterSoftmax, positionIds, weights, units,
    queryDim, lengths, isUsual};
}

const LIKE = {q: 'q', k: 'k', v: 'v', dOutput: 'output', dWeights: 'weights', wA: 'wA', uA: 'uA', vA: 'vA', sink: 'sink'};
const PRODUCTS = {
  q: 'heads × queryCount × headDim', k: 'kvHeads × keyCount × headDim', v: 'kvHeads × keyCount × valueDim',
  output: 'heads × queryCount × valueDim', weights: 'heads × queryCount × keyCount',
  wA: 'heads × units × headDim', uA: 'heads × units × headDim', vA: 'heads × units', sink: 'heads',
};
// The products by which errors explain a length.
const productsOf = (score, isWider) => !isWider ? PRODUCTS :
  {...PRODUCTS, q: 'heads × queryCount × queryDim', wA: score === 'general' ? 'heads × queryDim × headDim' : 'heads × units × queryDim'};

class Attention {
  #wasm;
  #forward;        // wasm.forward: the exports of a module are a slow object to look something up in
  #workspace;
  #call;           // address of the words of a call
  #layer;          // address of the words of a layer
  #words;          // views of them, created again after memory has grown
  #reals;
  #made = new WeakMap();   // array from alloc or renew -> {pointer, length, array: the latest view, freed}
  #live = new Map();       // pointer -> bytes
  #last = null;            // {options, names, result} of the last call, if no array had to be copied, so that its words are still valid

  constructor(kernel, wasm) {
    this.kernel = kernel;
    Object.defineProperty(this, 'kernel', {writable: false});
    this.#wasm = wasm, this.#forward = wasm.forward;
    wasm._initialize();
    this.#workspace = wasm.workspace();
    this.#call = wasm.call() >>> 0;
    if (!wasm.callWords || !wasm.layerWords) throw new Error('core.js and its .wasm are of different versions');
    this.#layer = wasm.layer() >>> 0;
    const text = (address) => {
      const bytes = new Uint8Array(wasm.memory.buffer, address);
      return String.fromCharCode(...bytes.subarray(0, bytes.indexOf(0)));
    };
    const names = (address) => text(address).trim().split(' ');
    for (const [words, address] of [[CALL, wasm.callWords()], [LAYER, wasm.layerWords()]]) {
      const pairs = new Uint32Array(wasm.memory.buffer, address);
      for (let i = 0; pairs[i] !== 0; i += 2) words[text(pairs[i])] = pairs[i + 1];
    }
    CHOICES.score = names(wasm.scores()), CHOICES.normalizer = names(wasm.normalizers());
    CHOICES.score.forEach((name, i) => { SCORE_WEIGHTS[name] = ['wA', 'uA', 'vA'].slice(0, wasm.scoreWeights(i)); });
    this.#view();
  }

  #view() {
    if (this.#words?.length) return;  // views from before the memory has grown are empty
    const {memory: {buffer}, callBytes} = this.#wasm, count = callBytes() / 4;
    this.#words = new Int32Array(buffer, this.#call, count);
    this.#reals = new Float32Array(buffer, this.#call, count);
  }

  #take(name, bytes) {
    const pointer = bytes > 0xfffeffff ? 0 : this.#wasm.alloc(bytes) >>> 0;
    if (!pointer) throw new RangeError(`${name}: there is no memory for ${bytes} bytes more`);
    return pointer;
  }

  alloc(length) {
    length = count('length', length, undefined, 0);
    const pointer = this.#take('length', Math.max(length, 1) * 4);
    const array = new Float32Array(this.#wasm.memory.buffer, pointer, length).fill(0);
    this.#made.set(array, {pointer, length, array, freed: false});
    this.#live.set(pointer, Math.max(length, 1) * 4);
    return array;
  }

  free(array) {
    const made = this.#madeOf(array);
    made.freed = true;
    this.#last = null;
    this.#live.delete(made.pointer);
    this.#wasm.free(made.pointer);
  }

  renew(array) {
    const made = this.#madeOf(array);
    if (bufferOf.call(made.array) !== this.#wasm.memory.buffer) {
      made.array = new Float32Array(this.#wasm.memory.buffer, made.pointer, made.length);
      this.#made.set(made.array, made);
    }
    return made.array;
  }

  #madeOf(array) {
    const made = this.#made.get(array);
    if (!made || made.freed) throw new TypeError('array was not made by alloc, or has been freed');
    return made;
  }

  // The position of an array in WebAssembly memory, {pointer, length}; null if it is elsewhere.
  #place(name, array) {
    if (!isFloats(array)) return null;
    const made = this.#made.get(array);
    if (made?.freed) throw new TypeError(`${name} has been freed`);
    if (made) return made;
    const length = lengthOf.call(array);
    if (bufferOf.call(array) !== this.#wasm.memory.buffer) {
      if (length === 0) throw new TypeError(`${name} is empty: it was freed, or lies in memory that has grown since (see renew)`);
      return null;
    }
    const begin = offsetOf.call(array), end = begin + 4 * length;
    for (const [pointer, bytes] of this.#live) if (begin >= pointer && end <= pointer + bytes) return {pointer: begin, length};
    throw new TypeError(`${name} has been freed`);
  }

  forward(given) {
    if (given === null || typeof given !== 'object') throw new TypeError('forward takes an object of options');
    const last = this.#last;
    if (last !== null && this.#words.length && same(last.options, given, last.names) && last === this.#last &&
        this.#forward(this.#workspace, this.#call, 0) === 0) {
      return {...last.result};
    }
    const options = {  // each is read once from here on, inherited ones too, so that what is cached is what was computed; by name, which is ten times as fast as in a loop
      q: given.q, k: given.k, v: given.v, heads: given.heads, kvHeads: given.kvHeads, queryCount: given.queryCount, keyCount: given.keyCount,
      headDim: given.headDim, valueDim: given.valueDim, layout: given.layout, causal: given.causal, causalOffset: given.causalOffset,
      windowLeft: given.windowLeft, windowRight: given.windowRight, keyLength: given.keyLength, scale: given.scale, softcap: given.softcap,
      temperature: given.temperature, mask: given.mask, weights: given.weights, out: given.out, batch: given.batch, score: given.score,
      normalizer: given.normalizer, position: given.position, rotaryPairs: given.rotaryPairs, rotaryDims: given.rotaryDims,
      rotaryScaling: given.rotaryScaling, rotaryBase: given.rotaryBase, rotaryFactor: given.rotaryFactor, positionIds: given.positionIds,
      prefix: given.prefix, maskAfterSoftmax: given.maskAfterSoftmax, wA: given.wA, uA: given.uA, vA: given.vA, sink: given.sink,
      queryDim: given.queryDim,
    };
    this.#last = null;
    const names = [];
    for (const name in given) {
      if (!OPTIONS.has(name)) throw new TypeError(`${name} is not an option of forward`);
      names.push(name);
    }
    const settings = settingsOf(options), {lengths, masks: shapes, layer} = settings, {queryCount, keyCount} = settings;
    const {out, weights = false, mask} = options;
    if (typeof weights !== 'boolean' && !isFloats(weights)) throw new TypeError('weights must be true, false or a Float32Array to write to');
    if (out !== undefined && !isFloats(out)) throw new TypeError('out must be a Float32Array');
    if (out && isFloats(weights) && bufferOf.call(weights) === bufferOf.call(out)) {
      const span = (name, array) => ({name, pointer: offsetOf.call(array), length: lengthOf.call(array)});
      apart(span('weights', weights), span('out', out));
    }

    const temporary = [];
    try {
      // First everything that may run code of the caller, then everything that may grow the memory, then the numbers.
      const inputs = this.#lists(options, settings, ['q', 'k', 'v', ...layer.weights]);
      const masked = mask === undefined || mask === null ? null : listedMask(mask, shapes);
      const all = this.#inputs(inputs, settings, temporary), [q, k, v] = all;
      const o = this.#output('out', out, lengths.output, PRODUCTS.output, temporary);
      const w = weights === false ? null :
        this.#output('weights', weights === true ? undefined : weights, lengths.weights, PRODUCTS.weights, temporary);
      const m = masked && this.#mask(masked, shapes, queryCount, keyCount, temporary);
      for (const input of all) this.#copy(input), apart(o, input);
      if (w) for (const input of [...all, o]) apart(w, input);
      if (m && !m.blocked) {
        apart(o, m);
        if (w) apart(w, m);
      }

      this.#say(settings, q, k, v, m);
      this.#put('out', o, settings, 'output');
      this.#put('weights', w, settings, 'weights');
      this.#run('forward', settings, all, temporary);
      const result = {output: this.#result(o)};
      if (w) result.weights = this.#result(w);
      if (!temporary.length && !m && LAYER_OPTIONS.every((name) => options[name] === undefined)) this.#last = {options, names, result};
      return {...result};
    } finally {
      for (const pointer of temporary) this.#wasm.free(pointer);
    }
  }

  // ∂L/∂q, ∂L/∂k and ∂L/∂v from ∂L/∂output, ∂L/∂weights, or both.
  backward(given) {
    if (given === null || typeof given !== 'object') throw new TypeError('backward takes an object of options');
    this.#last = null;
    const options = {};
    for (const name of BACKWARD_OPTIONS) options[name] = given[name];  // each is read once
    for (const name in given) if (!BACKWARD_OPTIONS.has(name)) throw new TypeError(`${name} is not an option of backward`);
    const settings = settingsOf(options), {lengths, products, masks, layer} = settings, {mask} = options;
    const names = ['q', 'k', 'v', 'dOutput', 'dWeights'].filter((name) => name.length === 1 || (options[name] ?? null) !== null);
    if (names.length === 3) throw new TypeError('dOutput is missing; give dOutput, dWeights, or both');
    names.push(...layer.weights);
    for (const name of ['dQ', 'dK', 'dV']) {
      if (options[name] !== undefined && !isFloats(options[name])) throw new TypeError(`${name} must be a Float32Array to write to`);
    }
    const temporary = [];
    try {
      const lists = this.#lists(options, settings, names);
      const masked = mask === undefined || mask === null ? null : listedMask(mask, masks);
      const inputs = this.#inputs(lists, settings, temporary);
      const outputs = ['q', 'k', 'v'].map((name) => this.#output(`d${name.toUpperCase()}`, options[`d${name.toUpperCase()}`], lengths[name],
        products[name], temporary));
      const ofWeights = layer.weights.map((name) => this.#output(gradientOf(name), undefined, lengths[name], products[name], temporary));
      const m = masked && this.#mask(masked, masks, settings.queryCount, settings.keyCount, temporary);
      for (const input of inputs) this.#copy(input);
      outputs.forEach((output, i) => {
        for (const other of [...inputs, ...outputs.slice(0, i), ...(m && !m.blocked ? [m] : [])]) apart(output, other);
        for (let j = 0; j < i; ++j) aside(output, outputs[j]);
      });

      const of = (name) => inputs[names.indexOf(name)];
      this.#say(settings, of('q'), of('k'), of('v'), m);
      this.#put('dOutput', of('dOutput'), settings, 'output');
      this.#put('dWeights', of('dWeights'), settings, 'weights');
      ['q', 'k', 'v'].forEach((name, i) => this.#put(`d${name.toUpperCase()}`, outputs[i], settings, name));
      const made = this.#run('backward', settings, inputs, temporary, ofWeights);
      const [dQ, dK, dV] = outputs.map((output) => this.#result(output));
      return {dQ, dK, dV, ...made};
    } finally {
      for (const pointer of temporary) this.#wasm.free(pointer);
    }
  }

  // Makes one call for each item of the batch. The words hold the addresses of the arrays. Gradients of the parameters, which all
  // items share, are summed and returned.
  #run(what, settings, inputs, temporary, ofWeights = []) {
    const {batch, keyLengths, layer, lengths} = settings, words = this.#words, first = words.slice();
    if (!layer.isUsual) {
      for (const input of inputs) this.#finite(input);
      if (layer.maskAfterSoftmax && first[CALL.blocked] && first[CALL.blockedHead]) throw new RangeError('mask: with maskAfterSoftmax one mask is for all heads');
      this.#sayLayer(settings, inputs, ofWeights, temporary);
    }
    const sums = {};
    for (let entry = 0; entry < batch; ++entry) {
      this.#view();
      const now = this.#words;
      const move = (name, length) => { now[CALL[name]] = first[CALL[name]] && first[CALL[name]] + 4 * length / batch * entry; };
      for (const [name, like] of [['q', 'q'], ['k', 'k'], ['v', 'v'], ['out', 'output'], ['weights', 'weights'], ['dOutput', 'output'], ['dWeights', 'weights'],
        ['dQ', 'q'], ['dK', 'k'], ['dV', 'v']]) move(name, lengths[like]);
      if (settings.masksApart) {
        const cells = settings.heads * settings.queryCount * settings.keyCount;
        now[CALL.blocked] = first[CALL.blocked] && first[CALL.blocked] + cells * entry;
        now[CALL.bias] = first[CALL.bias] && first[CALL.bias] + 4 * cells * entry;
      }
      now[CALL.keyLength] = keyLengths[entry];
      this.#once(what, layer, inputs);
      for (const output of ofWeights) {
        const numbers = this.#result(output);
        sums[output.name] = entry === 0 ? numbers : sums[output.name].map((sum, i) => sum + numbers[i]);
      }
    }
    return sums;
  }

  #once(what, layer, inputs) {
    let status;
    if (!layer.isUsual) {
      status = this.#wasm[what === 'forward' ? 'layerForward' : 'layerBackward'](this.#call, this.#layer);
    } else {
      status = this.#wasm[what](this.#workspace, this.#call, 0);
      if (status === 2) {
        for (const input of inputs) this.#finite(input);
        status = this.#wasm[what](this.#workspace, this.#call, 1);
      }
    }
    if (status) throw new RangeError('keyCount: there is no memory left to work in');
  }

  // Writes the options of a layer beyond the kernels.
  #sayLayer({layer}, inputs, ofWeights, temporary) {
    const {positionIds} = layer;
    let ids = 0;
    if (positionIds.length) {
      ids = this.#take('positionIds', positionIds.length * 4);
      temporary.push(ids);
      new Float32Array(this.#wasm.memory.buffer, ids, positionIds.length).set(positionIds);
    }
    const {memory: {buffer}, layerBytes} = this.#wasm, count = layerBytes() / 4;
    const words = new Int32Array(buffer, this.#layer, count), reals = new Float32Array(buffer, this.#layer, count);
    for (const name in CHOICES) words[LAYER[name]] = CHOICES[name].indexOf(layer[name]);
    reals[LAYER.rotaryBase] = layer.rotaryBase, reals[LAYER.rotaryFactor] = layer.rotaryFactor;
    words[LAYER.rotaryDims] = layer.rotaryDims, words[LAYER.prefix] = layer.prefix, words[LAYER.maskAfterSoftmax] = layer.maskAfterSoftmax ? 1 : 0;
    words[LAYER.positionIds] = ids, words[LAYER.idCount] = positionIds.length, words[LAYER.units] = layer.units;
    words[LAYER.queryDim] = layer.queryDim;
    for (const name of PARAMETERS) {
      words[LAYER[name]] = inputs.find((input) => input.name === name)?.pointer ?? 0;
      words[LAYER[gradientOf(name)]] = ofWeights.find((output) => output.name === gradientOf(name))?.pointer ?? 0;
    }
  }

  #lists(options, {lengths, products}, names) {
    return names.map((name) => {
      const like = LIKE[name];
      return [name, listed(name, options[name], lengths[like], products[like])];
    });
  }

  #inputs(lists, {lengths, products}, temporary) {
    return lists.map(([name, list]) => this.#input(name, list, lengths[LIKE[name]], products[LIKE[name]], temporary));
  }

  // Writes sizes, options and inputs to the words of the call.
  #say(settings, q, k, v, m) {
    this.#last = null;  // a list whose items call back may have made a call in the meantime
    this.#view();
    const words = this.#words, reals = this.#reals;
    for (const name of ['heads', 'kvHeads', 'queryCount', 'keyCount', 'headDim', 'valueDim', 'causalOffset', 'windowLeft', 'windowRight', 'keyLength']) {
      words[CALL[name]] = settings[name];
    }
    words[CALL.causal] = settings.causal ? 1 : 0;
    for (const name of ['scale', 'softcap', 'temperature']) reals[CALL[name]] = settings[name];
    this.#put('q', q, settings, 'q');
    this.#put('k', k, settings, 'k');
    this.#put('v', v, settings, 'v');
    words[CALL.blocked] = m?.blocked ? m.pointer : 0;
    words[CALL.bias] = m && !m.blocked ? m.pointer : 0;
    words[CALL.blockedHead] = words[CALL.bias + 1] = m ? m.headStride : 0;
    words[CALL.blockedRow] = words[CALL.bias + 2] = m ? m.rowStride : 0;
    settings.masksApart = Boolean(m?.apart);
  }

  // Writes a tensor and its strides, which are like those of q, k, v, the output or the weights.
  #put(name, tensor, {heads, kvHeads, queryCount, keyCount, queryDim, headDim, valueDim, packed}, like) {
    const word = CALL[name], words = this.#words;
    const [among, rows, dim] = {
      q: [heads, queryCount, queryDim], k: [kvHeads, keyCount, headDim], v: [kvHeads, keyCount, valueDim], output: [heads, queryCount, valueDim],
      weights: [heads, queryCount, keyCount],
    }[like];
    const isPacked = packed && like !== 'weights';
    words[word] = tensor ? tensor.pointer : 0;
    words[word + 1] = isPacked ? dim : rows * dim;
    words[word + 2] = isPacked ? among * dim : dim;
  }

  // An input: already in WebAssembly memory, or still to be copied.
  #input(name, array, length, product, temporary) {
    const place = this.#place(name, array);
    fits(name, place ? place.length : lengthOf.call(array), length, product);
    if (place) return {name, pointer: place.pointer, length};
    const pointer = this.#take(name, length * 4);
    temporary.push(pointer);
    return {name, pointer, length, from: array};
  }

  #copy({name, pointer, length, from}) {
    if (!from) return;
    if (lengthOf.call(from) !== length) throw new TypeError(`${name} lies in memory that has grown since`);
    setIn.call(new Float32Array(this.#wasm.memory.buffer, pointer, length), from);
  }

  #finite({name, pointer, length}) {
    const bad = this.#wasm.notFinite(pointer, length);
    if (bad >= 0) {
      const value = new Float32Array(this.#wasm.memory.buffer, pointer, length)[bad];
      throw new RangeError(`${name}[${bad}] is ${value}; it must be a finite number`);
    }
  }

  #output(name, array, length, product, temporary) {
    if (length * 4 > 0xfffeffff) throw new RangeError(`${name}: ${product} is ${length}, more than there is memory for`);
    if (array !== undefined) {
      const place = this.#place(name, array);
      fits(name, place ? place.length : lengthOf.call(array), length, product);
      if (place) return {name, pointer: place.pointer, length, to: array, inPlace: true};
    }
    const pointer = this.#take(name, length * 4);
    temporary.push(pointer);
    return {name, pointer, length, to: array};
  }

  #result({pointer, length, to, inPlace}) {
    if (inPlace) {
      if (lengthOf.call(to) === length) return to;  // views from before the memory has grown are empty
      return this.#made.has(to) ? this.renew(to) : new Float32Array(this.#wasm.memory.buffer, pointer, length);
    }
    const numbers = new Float32Array(this.#wasm.memory.buffer, pointer, length);
    if (!to) return numbers.slice();
    setIn.call(to, numbers);
    return to;
  }

  // A boolean mask is converted to bytes (1 = blocked), a numeric one is added to the scores.
  #mask(mask, shapes, queryCount, keyCount, temporary) {
    const place = this.#place('mask', mask);
    const length = place ? place.length : lengthOf.call(mask);
    fitsMask(length, shapes);
    const rowStride = length === shapes[0] && queryCount > 1 ? 0 : keyCount;
    const apart = length === shapes[3] && length !== shapes[2];  // one mask per item of the batch
    const headStride = apart || length === shapes[2] ? queryCount * keyCount : 0;
    if (mask instanceof Uint8Array) {
      const pointer = this.#take('mask', length);
      temporary.push(pointer);
      if (lengthOf.call(mask) !== length) throw new TypeError('mask lies in memory that has grown since');
      const bytes = new Uint8Array(this.#wasm.memory.buffer, pointer, length);
      for (let i = 0; i < length; ++i) bytes[i] = mask[i] ? 0 : 1;
      return {name: 'mask', blocked: true, pointer, length, headStride, rowStride, apart};
    }
    let pointer = place?.pointer;
    if (!place) {
      pointer = this.#take('mask', length * 4);
      temporary.push(pointer);
    }
    const numbers = new Float32Array(this.#wasm.memory.buffer, pointer, length);
    if (!place) this.#copy({name: 'mask', pointer, length, from: mask});
    for (let i = 0; i < length; ++i) {
      if (!(numbers[i] < Infinity)) throw new RangeError(`mask[${i}] is ${numbers[i]}; it must be a finite number or -Infinity`);
    }
    return {name: 'mask', blocked: false, pointer, length, headStride, rowStride, apart};
  }
}
