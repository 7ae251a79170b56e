// attention-playground/core: scaled dot-product attention in WebAssembly, without a screen. For pages, workers and Node 18+.
// The types, and what every option means, are in core.d.ts. The C++ side is src/attention/kernels_binding.cpp.

// (module (func (drop (f32x4.relaxed_madd (v128.const 0 …) (v128.const 0 …) (v128.const 0 …)))) and the same with f32x4.add.
const zero = [0xfd, 12, ...Array(16).fill(0)];
const moduleOf = (...code) => new Uint8Array([
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, code.length + 5, 1, code.length + 3, 0, ...code, 0x1a, 0x0b]);
const probes = {
  'wasm-relaxed': moduleOf(...zero, ...zero, ...zero, 0xfd, 0x85, 0x02),
  'wasm-simd128': moduleOf(...zero, ...zero, 0xfd, 0xe4, 0x01),
};
const files = {'wasm-relaxed': 'core-relaxed.wasm', 'wasm-simd128': 'core.wasm'};

// The builds, fastest first. V8's compiler before Turboshaft (Node 23, Chrome 129 and older) spills the registers of the relaxed
// build, which then is the slower one. It cannot be asked for; Math.f16round is a little younger.
const ranked = () => 'f16round' in Math ? ['wasm-relaxed', 'wasm-simd128'] : ['wasm-simd128'];

// The words of a call, in the order of struct Forward in kernels.h; the last of them are not for us.
const CALL = Object.fromEntries([
  'heads', 'kvHeads', 'queryCount', 'keyCount', 'headDim', 'valueDim', 'q', 'qHead', 'qRow', 'k', 'kHead', 'kRow', 'v', 'vHead', 'vRow',
  'scale', 'softcap', 'temperature', 'causal', 'causalOffset', 'windowLeft', 'windowRight', 'keyLength', 'blocked', 'blockedHead',
  'blockedRow', 'bias', 'biasHead', 'biasRow', 'out', 'outHead', 'outRow', 'weights', 'weightsHead', 'weightsRow',
].map((name, word) => [name, word]));
const CALL_WORDS = 56;

const OPTIONS = new Set([
  'q', 'k', 'v', 'heads', 'kvHeads', 'queryCount', 'keyCount', 'headDim', 'valueDim', 'layout', 'causal', 'causalOffset', 'windowLeft',
  'windowRight', 'keyLength', 'scale', 'softcap', 'temperature', 'mask', 'weights', 'out']);

const MAX = 0x7fffffff, LONGEST_LIST = 2 ** 27;

// What an array is, however its length or buffer was redefined.
const fact = (name) => Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Float32Array.prototype), name).get;
const lengthOf = fact('length'), bufferOf = fact('buffer'), offsetOf = fact('byteOffset');
const setIn = Float32Array.prototype.set;
const isFloats = (array) => ArrayBuffer.isView(array) && array instanceof Float32Array;

// A value in the words of an error: its text may be long, or throw.
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
  // A server that does not know the type application/wasm rules out streaming only.
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

function flag(name, value) {
  if (value !== undefined && typeof value !== 'boolean') throw new TypeError(`${name} must be true or false`);
  return value === true;
}

function apart(output, input) {
  if (input.pointer < output.pointer + 4 * output.length && output.pointer < input.pointer + 4 * input.length) {
    throw new RangeError(`${output.name} overlaps ${input.name}`);
  }
}

// A copy of a list, each item read once. Lists may hold anything: null, which is what JSON makes of NaN, would count as 0.
function itemsOf(name, list, length, copy, type) {
  for (let i = 0; i < length; ++i) {
    const item = list[i];
    type ??= typeof item === 'boolean' ? 'boolean' : 'number';  // a mask is what its first item is
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

// A list becomes an array of its own; a typed array stays what it is.
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
  throw new RangeError(`mask has ${length} values; it takes keyCount (${shapes[0]}), queryCount × keyCount (${shapes[1]}) or ` +
    `heads × queryCount × keyCount (${shapes[2]})`);
}

// Do two calls ask for the same, with the same arrays?
function same(a, b, names, given) {
  let n = 0;
  for (const name in given) if (name !== names[n++]) return false;
  return n === names.length && a.q === b.q && a.k === b.k && a.v === b.v && a.out === b.out && a.heads === b.heads &&
    a.kvHeads === b.kvHeads && a.queryCount === b.queryCount && a.keyCount === b.keyCount && a.headDim === b.headDim &&
    a.valueDim === b.valueDim && a.layout === b.layout && a.causal === b.causal && a.causalOffset === b.causalOffset &&
    a.windowLeft === b.windowLeft && a.windowRight === b.windowRight && a.keyLength === b.keyLength && a.scale === b.scale &&
    a.softcap === b.softcap && a.temperature === b.temperature && a.mask === b.mask && a.weights === b.weights;
}

class Attention {
  #wasm;
  #workspace;
  #call;           // address of the words of a call
  #words;          // views of them, made anew when memory has grown
  #reals;
  #made = new WeakMap();   // array from alloc or renew -> {pointer, length, array: the latest one over it, freed}
  #live = new Map();       // pointer -> bytes
  #last = null;            // {options, names, result} of the last call, when no array had to be copied: its words still stand

  constructor(kernel, wasm) {
    this.kernel = kernel;
    Object.defineProperty(this, 'kernel', {writable: false});
    this.#wasm = wasm;
    wasm._initialize();
    this.#workspace = wasm.workspace();
    this.#call = wasm.call() >>> 0;
    if (wasm.callBytes() !== 4 * CALL_WORDS) throw new Error('core.js and its .wasm are of different versions');
    this.#view();
  }

  #view() {
    if (this.#words?.length) return;  // memory that has grown leaves its earlier views empty
    this.#words = new Int32Array(this.#wasm.memory.buffer, this.#call, CALL_WORDS);
    this.#reals = new Float32Array(this.#wasm.memory.buffer, this.#call, CALL_WORDS);
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

  // Where an array lies in WebAssembly memory: {pointer, length}; null when it lies elsewhere.
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
    const options = {  // each is read once, inherited ones too: what is remembered is what was computed
      q: given.q, k: given.k, v: given.v, heads: given.heads, kvHeads: given.kvHeads, queryCount: given.queryCount, keyCount: given.keyCount,
      headDim: given.headDim, valueDim: given.valueDim, layout: given.layout, causal: given.causal, causalOffset: given.causalOffset,
      windowLeft: given.windowLeft, windowRight: given.windowRight, keyLength: given.keyLength, scale: given.scale, softcap: given.softcap,
      temperature: given.temperature, mask: given.mask, weights: given.weights, out: given.out,
    };
    const last = this.#last;
    if (last !== null && this.#words.length && same(last.options, options, last.names, given) && last === this.#last &&
        this.#wasm.forward(this.#workspace, this.#call, 0) === 0) {
      return {...last.result};
    }
    this.#last = null;
    const names = [];
    for (const name in given) {
      if (!OPTIONS.has(name)) throw new TypeError(`${name} is not an option of forward`);
      names.push(name);
    }
    const heads = count('heads', options.heads, 1);
    const kvHeads = count('kvHeads', options.kvHeads, heads);
    if (heads % kvHeads !== 0) throw new RangeError(`heads must be a multiple of kvHeads: ${heads} is none of ${kvHeads}`);
    const headDim = count('headDim', options.headDim);
    const valueDim = count('valueDim', options.valueDim, headDim);
    const queryCount = count('queryCount', options.queryCount);
    const keyCount = count('keyCount', options.keyCount, queryCount);
    const layout = options.layout ?? 'split';
    if (layout !== 'split' && layout !== 'packed') throw new RangeError(`layout must be 'split' or 'packed', not ${shown(layout)}`);
    const packed = layout === 'packed';
    const causal = flag('causal', options.causal);
    const causalOffset = count('causalOffset', options.causalOffset, 0, -MAX);
    const windowLeft = count('windowLeft', options.windowLeft, -1, -1);
    const windowRight = count('windowRight', options.windowRight, -1, -1);
    const keyLength = count('keyLength', options.keyLength, keyCount, 0);
    if (keyLength > keyCount) throw new RangeError(`keyLength must be at most keyCount (${keyCount}), not ${keyLength}`);
    const scale = real('scale', options.scale, 1 / Math.sqrt(headDim));
    const softcap = real('softcap', options.softcap, 0);
    if (softcap < 0) throw new RangeError(`softcap must be 0 (none) or more, not ${softcap}`);
    const temperature = real('temperature', options.temperature, 1);
    if (!(Math.fround(temperature) > 0)) throw new RangeError(`temperature must be more than 0, not ${temperature}`);
    const {out, weights = false, mask} = options;
    if (typeof weights !== 'boolean' && !isFloats(weights)) throw new TypeError('weights must be true, false or a Float32Array to write to');
    if (out !== undefined && !isFloats(out)) throw new TypeError('out must be a Float32Array');
    if (out && isFloats(weights) && bufferOf.call(weights) === bufferOf.call(out)) {
      const span = (name, array) => ({name, pointer: offsetOf.call(array), length: lengthOf.call(array)});
      apart(span('weights', weights), span('out', out));
    }

    const outLength = heads * queryCount * valueDim, weightsLength = heads * queryCount * keyCount;
    const temporary = [];
    try {
      // First all that may run code of the caller, then everything that may make memory grow, then the numbers.
      const inputs = {
        q: listed('q', options.q, heads * queryCount * headDim, 'heads × queryCount × headDim'),
        k: listed('k', options.k, kvHeads * keyCount * headDim, 'kvHeads × keyCount × headDim'),
        v: listed('v', options.v, kvHeads * keyCount * valueDim, 'kvHeads × keyCount × valueDim'),
      };
      const shapes = [keyCount, queryCount * keyCount, heads * queryCount * keyCount];
      const masked = mask === undefined || mask === null ? null : listedMask(mask, shapes);
      const q = this.#input('q', inputs.q, heads * queryCount * headDim, 'heads × queryCount × headDim', temporary);
      const k = this.#input('k', inputs.k, kvHeads * keyCount * headDim, 'kvHeads × keyCount × headDim', temporary);
      const v = this.#input('v', inputs.v, kvHeads * keyCount * valueDim, 'kvHeads × keyCount × valueDim', temporary);
      const o = this.#output('out', out, outLength, 'heads × queryCount × valueDim', temporary);
      const w = weights === false ? null :
        this.#output('weights', weights === true ? undefined : weights, weightsLength, 'heads × queryCount × keyCount', temporary);
      const m = masked && this.#mask(masked, shapes, queryCount, keyCount, temporary);
      this.#copy(q), this.#copy(k), this.#copy(v);
      apart(o, q), apart(o, k), apart(o, v);
      if (w) apart(w, q), apart(w, k), apart(w, v), apart(w, o);
      if (m && !m.blocked) {
        apart(o, m);
        if (w) apart(w, m);
      }

      this.#view();
      const words = this.#words, reals = this.#reals;
      words[CALL.heads] = heads;
      words[CALL.kvHeads] = kvHeads;
      words[CALL.queryCount] = queryCount;
      words[CALL.keyCount] = keyCount;
      words[CALL.headDim] = headDim;
      words[CALL.valueDim] = valueDim;
      words[CALL.causal] = causal ? 1 : 0;
      words[CALL.causalOffset] = causalOffset;
      words[CALL.windowLeft] = windowLeft;
      words[CALL.windowRight] = windowRight;
      words[CALL.keyLength] = keyLength;
      reals[CALL.scale] = scale;
      reals[CALL.softcap] = softcap;
      reals[CALL.temperature] = temperature;
      const place = (word, {pointer}, among, rows, dim) => {
        words[word] = pointer;
        words[word + 1] = packed ? dim : rows * dim;
        words[word + 2] = packed ? among * dim : dim;
      };
      place(CALL.q, q, heads, queryCount, headDim);
      place(CALL.k, k, kvHeads, keyCount, headDim);
      place(CALL.v, v, kvHeads, keyCount, valueDim);
      place(CALL.out, o, heads, queryCount, valueDim);
      words[CALL.weights] = w ? w.pointer : 0;
      words[CALL.weightsHead] = queryCount * keyCount;
      words[CALL.weightsRow] = keyCount;
      words[CALL.blocked] = m?.blocked ? m.pointer : 0;
      words[CALL.bias] = m && !m.blocked ? m.pointer : 0;
      words[CALL.blockedHead] = words[CALL.biasHead] = m ? m.headStride : 0;
      words[CALL.blockedRow] = words[CALL.biasRow] = m ? m.rowStride : 0;
      let status = this.#wasm.forward(this.#workspace, this.#call, 0);
      if (status === 2) {
        for (const input of [q, k, v]) this.#finite(input);
        status = this.#wasm.forward(this.#workspace, this.#call, 1);
      }
      if (status) throw new RangeError('keyCount: there is no memory left to work in');
      const result = {output: this.#result(o)};
      if (w) result.weights = this.#result(w);
      if (!temporary.length && !m) this.#last = {options, names, result};
      return {...result};
    } finally {
      for (const pointer of temporary) this.#wasm.free(pointer);
    }
  }

  // What is to be read: already in WebAssembly memory, or a copy still to be made.
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
      if (lengthOf.call(to) === length) return to;  // memory that has grown leaves its earlier views empty
      return this.#made.has(to) ? this.renew(to) : new Float32Array(this.#wasm.memory.buffer, pointer, length);
    }
    const numbers = new Float32Array(this.#wasm.memory.buffer, pointer, length);
    if (!to) return numbers.slice();
    setIn.call(to, numbers);
    return to;
  }

  // A mask of truth values becomes bytes (1 = blocked), one of numbers is added to the scores.
  #mask(mask, shapes, queryCount, keyCount, temporary) {
    const place = this.#place('mask', mask);
    const length = place ? place.length : lengthOf.call(mask);
    fitsMask(length, shapes);
    const rowStride = length === shapes[0] && queryCount > 1 ? 0 : keyCount;
    const headStride = length === shapes[2] ? queryCount * keyCount : 0;
    if (mask instanceof Uint8Array) {
      const pointer = this.#take('mask', length);
      temporary.push(pointer);
      if (lengthOf.call(mask) !== length) throw new TypeError('mask lies in memory that has grown since');
      const bytes = new Uint8Array(this.#wasm.memory.buffer, pointer, length);
      for (let i = 0; i < length; ++i) bytes[i] = mask[i] ? 0 : 1;
      return {name: 'mask', blocked: true, pointer, length, headStride, rowStride};
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
    return {name: 'mask', blocked: false, pointer, length, headStride, rowStride};
  }
}
