// <attention-playground>: the public interface. What it does is done by the wasm module behind web/canvas.js; here are
// loading, attributes, methods and events. With the attribute `page` it is the page: it fills the window, always takes the
// wheel, and opens the preset that the address names (?preset=…).
import {Failure, Playground} from './canvas.js';

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
    this[property] = value;
  }

  /** A move within the page comes as leaving and entering in one go; only who stays away is shut down. */
  disconnectedCallback() {
    setTimeout(() => {
      if (this.isConnected || this.#disposed) return;
      this.#kept = this.#playground?.alive ? this.#playground.ask('state') : this.#kept;
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
      this.#open();
      this.#message.hidden = true;
      playground.listen();
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
    if (asked) this.#playground.attempt('open_preset', asked, 0);
    if (this.#kept) this.#playground.ask('set_state', this.#kept, 1);
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

  #setEmbed() { this.#playground.run('embed', this.hide, this.lock); }

  /** Attributes come from the page's author: when one is wrong the board stays and says so. */
  #apply(attribute) {
    const value = this.getAttribute(attribute);
    if (value === null && attribute !== 'theme') return;
    if (attribute === 'preset') this.#playground.attempt('open_preset', value, 0);
    if (attribute === 'state') this.#playground.attempt('set_state', value, 0);
    if (attribute === 'theme') this.#playground.attempt('set', 'theme', JSON.stringify(value || 'auto'));
  }

  get preset() { return this.getAttribute('preset') ?? ''; }
  set preset(value) { this.setAttribute('preset', value); }
  get state() { return this.getAttribute('state') ?? ''; }
  set state(value) { this.setAttribute('state', typeof value === 'string' ? value : textOf(value)); }
  get hide() { return this.getAttribute('hide') ?? ''; }
  set hide(value) { this.setAttribute('hide', value); }
  get lock() { return this.getAttribute('lock') ?? ''; }
  set lock(value) { this.setAttribute('lock', value); }
  get theme() { return this.getAttribute('theme') ?? 'auto'; }
  set theme(value) { this.setAttribute('theme', value); }
  get wheel() { return this.getAttribute('wheel') ?? 'focus'; }
  set wheel(value) { this.setAttribute('wheel', value); }

  // ------------------------------------------------------------ methods

  get #board() {
    if (this.#playground?.alive && this.#message.hidden) return this.#playground;
    throw new Error(this.#disposed ? 'This playground was disposed of.' : 'The playground is not ready; await its `ready` first.');
  }

  getState() { return JSON.parse(this.#board.ask('state')); }

  setState(state, {undoable = true} = {}) {
    if (typeof state !== 'string' && (typeof state !== 'object' || state === null)) throw wrong('state', 'an object or a text', state);
    this.#board.ask('set_state', typeof state === 'string' ? state : textOf(state), undoable ? 1 : 0);
  }

  reset() { this.#board.run('reset'); }
  undo() { return this.#board.run('undo') !== 0; }
  redo() { return this.#board.run('redo') !== 0; }

  getTensor(name) { return this.#board.tensor(String(name)); }

  setTensor(name, data, shape = this.getTensor(name).shape) {
    if (!Array.isArray(data) && (!ArrayBuffer.isView(data) || !('length' in data))) throw wrong('data', 'an array of numbers', data);
    if (!Array.isArray(shape) || !shape.every(Number.isInteger)) throw wrong('shape', 'an array of whole numbers', shape);
    const odd = Array.prototype.findIndex.call(data, (value) => typeof value !== 'number');
    if (odd >= 0) throw wrong(`data[${odd}]`, 'a number', data[odd]);
    this.#board.setTensor(String(name), data, shape);
  }

  get(option) { return JSON.parse(this.#board.ask('get', String(option))); }

  set(option, value) {
    const json = typeof value === 'number' && !Number.isFinite(value) ? undefined : JSON.stringify(value);
    if (json === undefined) throw wrong(String(option), 'a finite number, a boolean, a text or a list', value);
    this.#board.ask('set', String(option), json);
  }

  locate(name, head = 0, row = 0, col = 0) { return this.#onPage(JSON.parse(this.#board.ask('locate', String(name), ...cellOf({head, row, col})))); }

  /** Every named thing that is to be seen, with its place: [{name, head, row, col, rect}, …]. For tours and tests. */
  items() {
    return JSON.parse(this.#board.ask('items')).map(({x, y, width, height, ...item}) => ({...item, rect: this.#onPage([x, y, width, height])}));
  }

  #onPage([x, y, width, height]) {
    const {canvas} = this.#board;
    const box = canvas.getBoundingClientRect();
    const scale = box.width / canvas.clientWidth || 1;
    return new DOMRect(box.left + x * scale, box.top + y * scale, width * scale, height * scale);
  }

  explain(name, head = 0, row = 0, col = 0) { return JSON.parse(this.#board.ask('explain', String(name), ...cellOf({head, row, col}))); }

  stats() {
    const board = this.#board;
    return {
      frames: board.run('frames'),
      frameMs: board.run('frame_ms'),
      kernel: board.ask('kernel'),
      heapBytes: board.wasm.HEAPU8.length,
    };
  }

  /** Frees the graphics context and the memory, for good. */
  dispose() {
    this.#disposed = true;
    this.#shutDown();
    this.#message.hidden = true;
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
      if (hasFiles(e)) this.#playground.openFiles(e.dataTransfer.files);
    }, {signal});
  }
}

/** JSON that keeps the sign of -0, which JSON.stringify() drops: a matrix comes back bit for bit. */
function textOf(state) {
  const mark = '\u{F0000}-0';
  return JSON.stringify(state, (_, value) => Object.is(value, -0) ? mark : value).replaceAll(`"${mark}"`, '-0.0');
}

function wrong(field, wanted, value) {
  const shown = value === null || typeof value === 'number' ? String(value) : `a value of type ${typeof value}`;
  return Object.assign(new TypeError(`${field} must be ${wanted}, not ${shown}.`), {field});
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
