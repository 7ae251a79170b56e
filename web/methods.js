// The methods of the element. Each takes a board (a Playground with the whole module) and the arguments of the page's script.
import {code, figure, formats, write} from './exchange.js';
import {DISPOSED, listOf, nameOf, refusal, short, textOf, wrong} from './values.js';
import {observe, on} from './watch.js';

const MOST_NUMBERS = 2 ** 22, MOST_AXES = 8;

export const methods = {
  getState(board) { return JSON.parse(board.ask('state')); },

  setState(board, state, options) {
    if (typeof state !== 'string' && (typeof state !== 'object' || state === null)) throw wrong('state', 'an object or a text', state);
    if (options !== undefined && (typeof options !== 'object' || options === null)) throw wrong('options', 'an object', options);
    const {undoable = true} = options ?? {};
    if (typeof undoable !== 'boolean') throw wrong('undoable', 'true or false', undoable);
    board.ask('set_state', short('state', typeof state === 'string' ? state : textOf('state', state, 'an object or a text'), board.maxText), undoable ? 1 : 0);
  },

  reset(board) { board.run('reset'); },
  undo(board) { return board.run('undo') !== 0; },
  redo(board) { return board.run('redo') !== 0; },

  getTensor(board, name) { return tensorOf(board, nameOf('name', name)); },

  setTensor(board, name, data, shape) {
    nameOf('name', name);
    if (!Array.isArray(data) && (!ArrayBuffer.isView(data) || data instanceof DataView)) throw wrong('data', 'an array of numbers', data);
    if (shape !== undefined && !Array.isArray(shape)) throw wrong('shape', 'an array of whole numbers', shape);
    const numbers = listOf('data', data, MOST_NUMBERS, 'a number', (value) => typeof value === 'number');
    const sizes = shape === undefined ? tensorOf(board, name).shape : listOf('shape', shape, MOST_AXES, 'a whole number', Number.isInteger);
    sizes.forEach((size, axis) => {
      if (size < 0 || size > MOST_NUMBERS) throw refusal(RangeError, `shape[${axis}]`, `must be a whole number from 0 to ${MOST_NUMBERS}, not ${size}`);
    });
    setTensor(board, name, numbers, sizes);
  },

  get(board, option) { return JSON.parse(board.ask('get', nameOf('option', option))); },

  set(board, option, value) {
    nameOf('option', option);
    const wanted = 'a finite number, a boolean, a text or a list';
    if (typeof value === 'number' && !Number.isFinite(value)) throw wrong(option, wanted, value);
    const json = textOf(option, value, wanted);
    board.ask('set', option, short(option, json, board.maxText));
  },

  /** Exports the layer: as a file {format, tensor}, where some formats hold all tensors and others one; as a figure {format:
   * 'svg' | 'png', what: 'weights' | 'heads' | 'arcs' | 'board', style: 'print' | 'light' | 'dark', scale, head, with, colors, width, range, tokens, pool, title}; without a
   * style, {format: 'png', what: 'board'} is the board as on the screen. */
  async toBlob(board, options) {
    if (typeof options !== 'object' || options === null) throw wrong('options', 'an object with format', options);
    const {format = 'json', tensor} = options;
    if (format === 'svg' || format === 'png') return figure(board, options);
    const known = formats(board), {type, isOne} = known.get(format) ?? {};
    if (!type) throw wrong('format', `${[...known.keys(), 'svg'].map((name) => `'${name}'`).join(', ')} or 'png'`, format);
    const only = tensor === undefined ? isOne ? 'weights' : '' : nameOf('tensor', tensor);
    if (format === 'json' && !only) return new Blob([board.ask('state')], {type});
    return write(board, `attention.${format}`, only);
  },

  /** The layer as a program in 'numpy', 'torch' or 'jax', or as formulas in 'latex'. */
  toCode: (board, language) => code(board, nameOf('language', language)),

  locate(board, name, head = 0, row = 0, col = 0) {
    return onPage(board, JSON.parse(board.ask('locate', nameOf('name', name), ...cellOf({head, row, col}))));
  },

  /** All named parts on the screen with their positions: [{name, head, row, col, rect}, …]. For tours and tests. */
  items(board) {
    return JSON.parse(board.ask('items')).map(({x, y, width, height, ...item}) => ({...item, rect: onPage(board, [x, y, width, height])}));
  },

  explain(board, name, head = 0, row = 0, col = 0) {
    return JSON.parse(board.ask('explain', nameOf('name', name), ...cellOf({head, row, col})));
  },

  /** ∂(that cell)/∂(every cell of the input `wrt`). */
  gradient(board, target, wrt) {
    if (typeof target !== 'object' || target === null) throw wrong('target', 'an object with tensor, head, row and col', target);
    const {tensor, head = 0, row = 0, col = 0} = target;
    return tensorOf(board, nameOf('tensor', tensor), 'gradient', ...cellOf({head, row, col}), nameOf('wrt', wrt));
  },

  /** Trains `steps` more steps of the run described by the options train_…; resolves to its results. */
  train(board, steps) {
    if (!Number.isInteger(steps) || steps < 1 || steps > 1e6) throw wrong('steps', 'a whole number from 1 to 1000000', steps);
    board.ask('train', steps);
    const {host} = board.root, ends = new AbortController();
    return new Promise((resolve, reject) => {
      host.addEventListener('train', ({detail: {isDone, sliceMs, ...found}}) => isDone && resolve(found), {signal: ends.signal});
      host.addEventListener('error', ({detail: {message, field}}) => field?.startsWith('train_') && reject(Object.assign(new RangeError(message), {field})), {signal: ends.signal});
    }).finally(() => ends.abort());
  },

  /** Restarts the run. */
  resetTraining(board) { board.run('reset_training'); },

  observe,
  on,

  stats(board) {
    return {
      frames: board.run('frames'),
      frameMs: board.run('frame_ms'),
      kernel: board.ask('kernel'),
      heapBytes: board.wasm?.HEAPU8.length ?? 0,
      uploads: board.run('uploads'),
      vertices: board.run('vertices'),
      contexts: board.contexts,
      heads: {pictured: board.run('heads', 0), whole: board.run('heads', 1)},
    };
  },
};

function tensorOf(board, name, call = 'tensor', ...values) {
  return board.answer(call, [name, ...values], (reply) => {
    const [address, ...shape] = JSON.parse(reply);
    const count = shape.reduce((a, b) => a * b);
    return {data: board.wasm.HEAPF32.slice(address / 4, address / 4 + count), shape};
  });
}

function setTensor(board, name, data, shape) {
  const {wasm} = board;
  if (!wasm) throw new Error(DISPOSED);
  const bytes = 4 * (data.length + shape.length);
  const address = wasm._malloc(bytes);
  if (!address) throw new RangeError(`There is not enough memory for the ${data.length} numbers of ${name}.`);
  try {
    wasm.HEAPF32.set(data, address / 4);
    wasm.HEAP32.set(shape, address / 4 + data.length);
    board.ask('set_tensor', name, address, data.length, address + 4 * data.length, shape.length);
  } finally {
    wasm._free(address);
  }
}

/** Converts a rectangle from pixels of the canvas to pixels of the window, also if the page scales it. */
function onPage({canvas}, [x, y, width, height]) {
  const box = canvas.getBoundingClientRect();
  const across = box.width / canvas.clientWidth || 1, down = box.height / canvas.clientHeight || 1;
  return new DOMRect(box.left + x * across, box.top + y * down, width * across, height * down);
}

/** Head, row and column as integers for C++, which would interpret a text as an address, and 2 ** 32 as 0. */
function cellOf(places) {
  return Object.entries(places).map(([name, value]) => {
    if (!Number.isInteger(value) || value !== (value | 0)) throw wrong(name, 'a whole number', value);
    return value;
  });
}
