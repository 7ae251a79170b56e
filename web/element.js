// <attention-playground>: the public interface. What it does is done by the wasm module behind web/canvas.js; here are
// loading, attributes, methods and events. With the attribute `page` it is the page: it fills the window, always takes the
// wheel, and opens the preset that the address names (?preset=…).
import {DISPOSED, Failure, Playground} from './canvas.js';

// ---------------------------------------------------------------- the module, fetched and compiled once for all elements

// Modules of one function that only engines with these instructions accept: a splatted zero, then i8x16.popcnt; three
// splatted zeros, then f32x4.relaxed_madd.
const bytesOf = (...code) => new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0,
  10, code.length + 4, 1, code.length + 2, 0, ...code, 11]);
const ZERO = [65, 0, 253, 15];
const hasSimd = () => WebAssembly.validate(bytesOf(...ZERO, 253, 98));
const hasRelaxedSimd = () => WebAssembly.validate(bytesOf(...ZERO, ...ZERO, ...ZERO, 253, 133, 2));

let loading;
const load = () => loading ??= fetchModule().catch((error) => {
  loading = undefined;  // the next element tries again
  throw error;
});

async function fetchModule() {
  if (typeof WebAssembly !== 'object' || !hasSimd()) {
    throw new Failure('no-simd', 'This browser cannot run WebAssembly SIMD, which the playground computes with; please update it (Chrome 91, Firefox 89, Safari 16.4 or newer).');
  }
  const name = hasRelaxedSimd() ? 'playground-relaxed' : 'playground';
  try {
    const [module, {default: create}] = await Promise.all([
      compile(new URL(`./${name}.wasm`, import.meta.url)),
      import(`./${name}.js`),
    ]);
    return {module, create};
  } catch (error) {
    throw new Failure('load', `The playground could not be loaded (${error.message}); please reload the page.`);
  }
}

async function compile(url) {
  const response = await fetch(url, {credentials: 'same-origin'});
  if (!response.ok) throw new Error(`status ${response.status} for ${url.pathname.split('/').pop()}`);
  const isWasm = response.headers.get('Content-Type')?.startsWith('application/wasm');
  return isWasm ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

// ---------------------------------------------------------------- looks

// Made by script, so a page with style-src 'self' needs no exception for it.
const STYLES = new CSSStyleSheet();
STYLES.replaceSync(`
  :host { display: block; position: relative; overflow: hidden; height: 440px; color-scheme: light dark;
    background: light-dark(#f7f7f5, #16181d); color: light-dark(#1f2328, #e6e7ea);
    font: 14px/1.5 system-ui, sans-serif; }
  :host([hidden]) { display: none; }
  :host([page]) { position: fixed; inset: 0; height: auto; }
  :host([theme=light]) { color-scheme: light; }
  :host([theme=dark]) { color-scheme: dark; }
  canvas { position: absolute; inset: 0; width: 100%; height: 100%; display: block; touch-action: pan-y;
    user-select: none; -webkit-user-select: none; -webkit-touch-callout: none; -webkit-tap-highlight-color: transparent; }
  canvas:focus { outline: none; }
  canvas:focus-visible:not(.pointed) { outline: 2px solid #0072b2; outline-offset: -2px; }
  input { position: absolute; box-sizing: border-box; margin: 0; padding: 0 4px; border: 2px solid #0072b2;
    border-radius: 4px; font: 14px/1 system-ui, sans-serif; z-index: 1; min-width: 56px; }
  input:focus { outline: none; }
  input[aria-invalid] { border-color: #b3261e; }
  input.number { font-family: ui-monospace, monospace; padding: 0 2px; }
  input.centered { text-align: center; }
  input.light { background: #fff; color: #1f2328; color-scheme: light; }
  input.dark { background: #22252c; color: #e6e7ea; color-scheme: dark; }
  @media (pointer: coarse) { input { font-size: 16px; } }
  .message { position: absolute; inset: 0; display: grid; place-items: center; padding: 24px; text-align: center; }
  .message[hidden] { display: none; }
  .drop { pointer-events: none; border: 3px dashed #0072b2; font-weight: 600;
    background: light-dark(#ffffffd9, #16181dd9); }
`);

const DROP_TEXT = 'Drop a JSON file with Q, K and V, or with a saved state';

// ---------------------------------------------------------------- the element

// Beyond these nothing fits, so nothing is read, copied or printed: C++ has the exact limits.
const LONGEST_NAME = 999, LONGEST_LIST = 9999, MOST_NUMBERS = 2 ** 22, MOST_AXES = 8, MOST_VALUES = 2 ** 24;

const ATTRIBUTES = ['preset', 'state', 'hide', 'lock', 'theme', 'wheel'];

class AttentionPlayground extends HTMLElement {
  static observedAttributes = ATTRIBUTES;

  #root = this.attachShadow({mode: 'open'});
  #message = this.#panel('message');
  #playground = null;  // while it is on the page
  #kept = null;        // the state text of one that was taken off the page
  #starting = null;
  #disposed = false;

  constructor() {
    super();
    this.#root.adoptedStyleSheets = [STYLES];
    this.#message.append(document.createElement('slot'));
    this.#newReady();
  }

  #panel(className) {
    const panel = this.#root.appendChild(document.createElement('div'));
    panel.className = className;
    return panel;
  }

  #newReady() {
    this.ready = new Promise((resolve, reject) => this.#starting = {resolve, reject, begun: false, ended: false});
    this.ready.catch(() => {});  // the page shows it and the error event tells it; awaiting is a choice
  }

  // ------------------------------------------------------------ on and off the page

  connectedCallback() {
    ATTRIBUTES.forEach((property) => this.#takeEarly(property));
    if (this.#disposed || this.#playground || this.#starting.begun) return;
    this.#starting.begun = true;
    this.#start();
  }

  /** A property that was set before the element was defined hides the accessor; it is set again through it. */
  #takeEarly(property) {
    if (!Object.hasOwn(this, property)) return;
    const value = this[property];
    delete this[property];
    try {
      this[property] = value;
    } catch (error) {
      reportError(error);  // the others, and the start, do not depend on it
    }
  }

  /** A move within the page comes as leaving and entering in one go; only who stays away is shut down. */
  disconnectedCallback() {
    setTimeout(() => {
      if (this.isConnected || this.#disposed) return;
      this.#kept = this.#playground?.alive ? this.#playground.ask('state') : this.#kept;
      if (this.#disposed) return;  // by a listener
      this.#shutDown();
      if (this.#starting.ended) this.#newReady();
      this.#starting.begun = false;
    });
  }

  #shutDown() {
    this.#dropEnds?.abort();
    this.#playground?.dispose();
    this.#playground = null;
  }

  async #start() {
    const starting = this.#starting;
    const playground = this.#playground = new Playground(this.#root, 'Attention playground', this.#listeners());
    try {
      playground.openContext();
      const {module, create} = await load();
      if (playground === this.#playground) await playground.start(create, module);
      if (playground !== this.#playground) return;
      this.#message.hidden = true;
      this.#open();
      if (playground !== this.#playground) return;  // a listener disposed of it
      playground.listen();
      if (playground !== this.#playground) return;
      this.#listenToFiles();
      starting.resolve(this);
      starting.ended = true;
      this.#send('ready', {});
    } catch (error) {
      if (playground !== this.#playground) return;
      starting.reject(error);
      starting.ended = true;
      this.#fail(error.type ?? 'crash', error.message);
    }
  }

  /** What the attributes say, then what was there before the element was taken off the page: reset() still goes back. */
  #open() {
    this.#setEmbed();
    ['preset', 'state', 'theme'].forEach((attribute) => this.#apply(attribute));
    const asked = this.hasAttribute('page') && new URLSearchParams(location.search).get('preset');
    if (asked && this.#fits('preset', asked)) this.#playground.attempt('open_preset', asked, 0);
    if (this.#kept) this.#playground?.ask('set_state', this.#kept, 1);
    this.#kept = null;
  }

  /** Nothing can be drawn any more: a sentence in the page takes the place of the board. */
  #fail(type, message) {
    this.#shutDown();
    this.#message.textContent = message;
    this.#message.setAttribute('role', 'alert');
    this.#message.hidden = false;
    this.#send('error', {type, message});
  }

  #listeners() {
    return {
      event: (type, detail) => this.#send(type, detail),
      crash: (error) => this.#fail('crash', `The playground stopped because of a fault in it (${error.message}); please reload the page.`),
      contextLost: () => this.#send('error', {type: 'contextlost', message: 'The browser took the graphics context away; the board is drawn again as soon as it gives it back.'}),
      toggleFullscreen: () => this.#toggleFullscreen(),
      wheelAlways: () => this.wheel === 'always' || this.hasAttribute('page'),
      wheelNever: () => this.wheel === 'never',
    };
  }

  #toggleFullscreen() {
    const change = document.fullscreenElement ? document.exitFullscreen() : this.requestFullscreen?.();
    change?.catch((error) => this.#playground?.tell(`The browser did not allow full screen: ${error.message}`));
  }

  /** Events do not bubble: a form around the element must not take its numbers for its own. */
  #send(type, detail) { this.dispatchEvent(new CustomEvent(type, {detail})); }

  // ------------------------------------------------------------ attributes

  attributeChangedCallback(attribute, before, now) {
    if (before === now || !this.#playground?.alive || this.#message.hidden === false) return;
    if (attribute === 'wheel') this.#playground.wheelMayHaveChanged();
    else if (attribute === 'hide' || attribute === 'lock') this.#setEmbed();
    else this.#apply(attribute);
  }

  #setEmbed() {
    const {hide, lock} = this;
    if (this.#fits('hide', hide) && this.#fits('lock', lock)) this.#playground.run('embed', hide, lock);
  }

  /** Attributes come from the page's author: when one is wrong the board stays and says so. */
  #apply(attribute) {
    const value = this.getAttribute(attribute);
    if ((value === null && attribute !== 'theme') || !this.#fits(attribute, value)) return;
    if (attribute === 'preset') this.#playground.attempt('open_preset', value, 0);
    if (attribute === 'state') this.#playground.attempt('set_state', value, 0);
    if (attribute === 'theme') this.#playground.attempt('set', 'theme', JSON.stringify(value || 'auto'));
  }

  /** Not when a listener disposed of the playground. */
  #fits(attribute, value) { return this.#playground?.fits(value, attribute, attribute === 'state' ? undefined : LONGEST_LIST); }

  /** As the web platform does where an attribute need not be there: null and undefined take it away. */
  #reflect(attribute, value) {
    if (value === undefined || value === null) this.removeAttribute(attribute);
    else this.setAttribute(attribute, attributeText(attribute, value));
  }

  get preset() { return this.getAttribute('preset') ?? ''; }
  set preset(value) { this.#reflect('preset', value); }
  get state() { return this.getAttribute('state') ?? ''; }
  set state(value) { this.#reflect('state', value); }
  get hide() { return this.getAttribute('hide') ?? ''; }
  set hide(value) { this.#reflect('hide', value); }
  get lock() { return this.getAttribute('lock') ?? ''; }
  set lock(value) { this.#reflect('lock', value); }
  get theme() { return this.getAttribute('theme') ?? 'auto'; }
  set theme(value) { this.#reflect('theme', value); }
  get wheel() { return this.getAttribute('wheel') ?? 'focus'; }
  set wheel(value) { this.#reflect('wheel', value); }

  // ------------------------------------------------------------ methods

  get #board() {
    if (this.#playground?.alive && this.#message.hidden) return this.#playground;
    throw new Error(this.#disposed ? DISPOSED : 'The playground is not ready; await its `ready` first.');
  }

  getState() { return JSON.parse(this.#board.ask('state')); }

  setState(state, options) {
    const board = this.#board;
    if (typeof state !== 'string' && (typeof state !== 'object' || state === null)) throw wrong('state', 'an object or a text', state);
    if (options !== undefined && (typeof options !== 'object' || options === null)) throw wrong('options', 'an object', options);
    const {undoable = true} = options ?? {};
    if (typeof undoable !== 'boolean') throw wrong('undoable', 'true or false', undoable);
    board.ask('set_state', short('state', typeof state === 'string' ? state : textOf('state', state, 'an object or a text'), board.maxText), undoable ? 1 : 0);
  }

  reset() { this.#board.run('reset'); }
  undo() { return this.#board.run('undo') !== 0; }
  redo() { return this.#board.run('redo') !== 0; }

  getTensor(name) { return this.#board.tensor(nameOf('name', name)); }

  setTensor(name, data, shape) {
    const board = this.#board;
    nameOf('name', name);
    if (!Array.isArray(data) && (!ArrayBuffer.isView(data) || data instanceof DataView)) throw wrong('data', 'an array of numbers', data);
    if (shape !== undefined && !Array.isArray(shape)) throw wrong('shape', 'an array of whole numbers', shape);
    const numbers = listOf('data', data, MOST_NUMBERS, 'a number', (value) => typeof value === 'number');
    const sizes = shape === undefined ? board.tensor(name).shape : listOf('shape', shape, MOST_AXES, 'a whole number', Number.isInteger);
    sizes.forEach((size, axis) => {
      if (size < 0 || size > MOST_NUMBERS) throw refusal(RangeError, `shape[${axis}]`, `must be a whole number from 0 to ${MOST_NUMBERS}, not ${size}`);
    });
    board.setTensor(name, numbers, sizes);
  }

  get(option) { return JSON.parse(this.#board.ask('get', nameOf('option', option))); }

  set(option, value) {
    const board = this.#board;
    nameOf('option', option);
    const wanted = 'a finite number, a boolean, a text or a list';
    if (typeof value === 'number' && !Number.isFinite(value)) throw wrong(option, wanted, value);
    const json = textOf(option, value, wanted);
    board.ask('set', option, short(option, json, board.maxText));
  }

  locate(name, head = 0, row = 0, col = 0) {
    const board = this.#board;
    return onPage(board, JSON.parse(board.ask('locate', nameOf('name', name), ...cellOf({head, row, col}))));
  }

  /** Every named thing that is to be seen, with its place: [{name, head, row, col, rect}, …]. For tours and tests. */
  items() {
    const board = this.#board;
    return JSON.parse(board.ask('items')).map(({x, y, width, height, ...item}) => ({...item, rect: onPage(board, [x, y, width, height])}));
  }

  explain(name, head = 0, row = 0, col = 0) {
    return JSON.parse(this.#board.ask('explain', nameOf('name', name), ...cellOf({head, row, col})));
  }

  stats() {
    const board = this.#board;
    return {
      frames: board.run('frames'),
      frameMs: board.run('frame_ms'),
      kernel: board.ask('kernel'),
      heapBytes: board.wasm?.HEAPU8.length ?? 0,
      uploads: board.run('uploads'),
      vertices: board.run('vertices'),
    };
  }

  /** Frees the graphics context and the memory, for good. */
  dispose() {
    this.#disposed = true;
    this.#shutDown();
    this.#message.hidden = true;
    this.#starting.reject(new Error(DISPOSED));
  }

  /** Only by tabbing, clicking or this call does the board get the focus. */
  focus() { this.#board.canvas.focus({preventScroll: true}); }

  // ------------------------------------------------------------ dropped files

  #dropEnds = null;

  #listenToFiles() {
    const drop = this.#panel('message drop');
    drop.hidden = true;
    drop.textContent = DROP_TEXT;
    this.#dropEnds = new AbortController();
    const {signal} = this.#dropEnds;
    signal.addEventListener('abort', () => drop.remove());
    const hasFiles = (e) => e.dataTransfer?.types.includes('Files');
    const over = (shown) => (e) => {
      if (!hasFiles(e)) return;
      e.preventDefault();
      e.dataTransfer.dropEffect = 'copy';
      drop.hidden = !shown;
    };
    this.addEventListener('dragenter', over(true), {signal});
    this.addEventListener('dragover', over(true), {signal});
    this.addEventListener('dragleave', over(false), {signal});
    this.addEventListener('drop', (e) => {
      over(false)(e);
      if (hasFiles(e)) this.#playground?.openFiles(e.dataTransfer.files);
    }, {signal});
  }
}

// ---------------------------------------------------------------- what comes from outside: read once, checked, then passed on

const refusal = (Kind, field, sentence) => Object.assign(new Kind(`${field} ${sentence}.`), {field});

function wrong(field, wanted, value) {
  const shown = value === null || typeof value === 'number' ? String(value) : `a value of type ${typeof value}`;
  return refusal(TypeError, field, `must be ${wanted}, not ${shown}`);
}

/** Looked at before anything is done with a text. */
function short(field, text, most) {
  if (text?.length > most) throw refusal(RangeError, field, `is too long: it has ${text.length} characters, and takes at most ${most}`);
  return text;
}

function nameOf(field, name) {
  if (typeof name !== 'string') throw wrong(field, 'a text', name);
  if (short(field, name, LONGEST_NAME).includes('\0')) throw refusal(RangeError, field, 'holds the character NUL, which no name has');
  return name;
}

const viewLength = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), 'length').get;

/** A copy of a list that may be a Proxy, or have getters. */
function listOf(field, list, most, wanted, isRight) {
  const length = ArrayBuffer.isView(list) ? viewLength.call(list) : Number(list.length);
  if (!(length >= 0 && length <= most)) throw refusal(RangeError, field, `is too long: it has ${length} items, and takes at most ${most}`);
  const copy = [];
  for (let i = 0; i < length; i++) {
    copy.push(list[i]);
    if (!isRight(copy[i])) throw wrong(`${field}[${i}]`, wanted, copy[i]);
  }
  return copy;
}

function attributeText(attribute, value) {
  if (attribute === 'state' && typeof value === 'object') return textOf(attribute, value, 'an object or a text');
  if (Array.isArray(value)) return listOf(attribute, value, LONGEST_NAME, 'a text', (item) => typeof item === 'string').join();
  if (/^(object|function|symbol)$/.test(typeof value)) throw wrong(attribute, 'a text', value);
  return String(value);
}

/** JSON that keeps the sign of -0, which JSON.stringify() drops: a matrix comes back bit for bit. */
function textOf(field, object, wanted) {
  const mark = `\u{F0000}${Math.random()}`;  // no text in the object can be it
  let left = MOST_VALUES;
  const counted = (key, value) => {
    left -= Array.isArray(value) ? Math.max(1, value.length) : 1;
    if (!(left >= 0)) throw new RangeError(`more than ${MOST_VALUES} values`);
    return Object.is(value, -0) ? mark : value;
  };
  let text;
  try {
    text = JSON.stringify(object, counted);
  } catch (error) {
    const refused = refusal(error instanceof RangeError ? RangeError : TypeError, field, `cannot be written as JSON: ${String(error?.message).split('\n')[0]}`);
    throw Object.assign(refused, {cause: error});
  }
  if (text === undefined) throw wrong(field, wanted, object);
  return text.replaceAll(`"${mark}"`, '-0.0');
}

/** From pixels of the canvas to the window, also where the page scales it. */
function onPage({canvas}, [x, y, width, height]) {
  const box = canvas.getBoundingClientRect();
  const scale = box.width / canvas.clientWidth || 1;
  return new DOMRect(box.left + x * scale, box.top + y * scale, width * scale, height * scale);
}

/** Head, row and column for C++, which would take a text for an address and 2 ** 32 for 0. */
function cellOf(places) {
  return Object.entries(places).map(([name, value]) => {
    if (!Number.isInteger(value) || value !== (value | 0)) throw wrong(name, 'a whole number', value);
    return value;
  });
}

customElements.define('attention-playground', AttentionPlayground);
export {AttentionPlayground};
