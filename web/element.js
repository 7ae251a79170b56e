// <attention-playground>: the public interface. The work is done by the WebAssembly module behind web/canvas.js; this file has loading,
// attributes, methods and events. With the attribute `page` the element is the page itself: it fills the window, always uses the wheel, and
// opens the preset named in the address (?preset=…).
import {Failure, Playground, storage} from './canvas.js';
import {inline, script} from './files.js';
import {DISPOSED, LONGEST_LIST, LONGEST_NAME, languageOf, listOf, nameOf, textOf, wrong} from './values.js';
import {message, saidBy} from './message.js';

// ---------------------------------------------------------------- the module, fetched and compiled once for all elements

// Modules with a single function that validate only in engines with certain instructions: a splatted zero, then i8x16.popcnt; three
// splatted zeros, then f32x4.relaxed_madd.
const bytesOf = (...code) => new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0,
  10, code.length + 4, 1, code.length + 2, 0, ...code, 11]);
const ZERO = [65, 0, 253, 15];
const hasSimd = () => WebAssembly.validate(bytesOf(...ZERO, 253, 98));
const hasRelaxedSimd = () => WebAssembly.validate(bytesOf(...ZERO, ...ZERO, ...ZERO, 253, 133, 2));

// Written in full, so that bundlers recognise them.
const address = {
  'playground.wasm': () => new URL('./playground.wasm', import.meta.url),
  'playground.rest.wasm': () => new URL('./playground.rest.wasm', import.meta.url),
  'playground-relaxed.wasm': () => new URL('./playground-relaxed.wasm', import.meta.url),
  'playground-relaxed.rest.wasm': () => new URL('./playground-relaxed.rest.wasm', import.meta.url),
};
const glue = {playground: () => import('./playground.js'), 'playground-relaxed': () => import('./playground-relaxed.js')};

/** Runs an action once for all callers; after an error, the next caller runs it again. */
function once(action) {
  let outcome;
  const forget = () => { outcome = undefined; };
  return Object.assign(() => outcome ??= action().catch((error) => {
    forget();
    throw error;
  }), {forget});
}

function kindOfModule() {
  if (typeof WebAssembly !== 'object' || !hasSimd()) {
    throw new Failure('no-simd', 'This browser cannot run WebAssembly SIMD, which the playground computes with; please update it (Chrome 91, Firefox 89, Safari 16.4 or newer).');
  }
  return inline.get('kind') ?? (hasRelaxedSimd() ? 'playground-relaxed' : 'playground');
}

/** Loads what draws the initial board; everything else is the rest. */
const loadFirst = once(async () => {
  const name = kindOfModule();
  const [module, {default: create}] = await inTime((signal) => Promise.all([compile(`${name}.wasm`, signal), script(`${name}.js`, glue[name])]));
  return {module, create};
});
const loadRest = once(async () => {
  const name = kindOfModule();
  const [rest, {extend}] = await inTime((signal) => Promise.all([compile(`${name}.rest.wasm`, signal), script('later.js', () => import('./later.js'))]));
  extend(Playground);
  return rest;
});

const PATIENCE = 45_000;  // milliseconds for what is loaded in one go

async function inTime(load) {
  if (!inline.has('kind') && location.protocol === 'file:' && import.meta.url.startsWith('file:')) {
    throw new Failure('load', 'Browsers load WebAssembly only from a web server, and not from a file; please start one in the folder of the playground, or open the playground’s address.');
  }
  const stop = new AbortController();
  let timer;
  const outOfTime = new Promise((resolve, reject) => timer = setTimeout(() => {
    reject(new Error(`nothing arrived within ${PATIENCE / 1000} seconds`));
    stop.abort();
  }, PATIENCE));
  try {
    return await Promise.race([load(stop.signal), outOfTime]);
  } catch (error) {
    throw new Failure('load', `The playground could not be loaded (${error.message}); please reload the page.`);
  } finally {
    clearTimeout(timer);
  }
}

const loadGuide = once(() => script('guide.js', () => import('./guide.js')).catch(() => {
  throw new Error('The lessons could not be fetched: perhaps there is no connection. Please try again.');
}));
const loadShare = once(() => script('share.js', () => import('./share.js')));

async function compile(name, signal) {
  if (inline.has(name)) return WebAssembly.compile(await inline.get(name)());
  const response = await fetch(address[name](), {credentials: 'same-origin', signal}).catch(() => { throw new Error(`${name} did not arrive`); });
  if (!response.ok) throw new Error(`status ${response.status} for ${name}`);
  const isWasm = response.headers.get('Content-Type')?.startsWith('application/wasm');
  try {
    return await (isWasm ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer()));
  } catch (error) {
    throw new Error(error instanceof WebAssembly.CompileError ? `${name} is damaged, or is another file` : `${name} broke off`);
  }
}

// ---------------------------------------------------------------- looks

// Created by a script, so that pages with style-src 'self' need no exception.
const STYLES = `
  :host { display: block; position: relative; overflow: hidden; height: 440px; min-width: 200px; min-height: 120px;
    background: light-dark(#f7f7f5, #16181d); color: light-dark(#1f2328, #e6e7ea);
    font: var(--attention-size, 14px)/1.5 var(--attention-font, system-ui, sans-serif); }
  :host([hidden]) { display: none; }
  :host([page]) { position: fixed; inset: 0; height: auto; }
  :host([theme=light]) { color-scheme: light; }
  :host([theme=dark]) { color-scheme: dark; }
  canvas { font: inherit; caret-color: var(--attention-accent, #0072b2); column-rule-color: light-dark(#fff, #000);
    transition: font-size 1ms, font-family 1ms allow-discrete, caret-color 1ms, column-rule-color 1ms; position: absolute; inset: 0; width: 100%; height: 100%; display: block; touch-action: pan-y pinch-zoom;
    user-select: none; -webkit-user-select: none; -webkit-touch-callout: none; -webkit-tap-highlight-color: transparent; }
  canvas:focus { outline: none; }
  canvas:focus-visible:not(.pointed) { outline: 2px solid var(--attention-accent, #0072b2); outline-offset: -2px; }
  input { position: absolute; box-sizing: border-box; margin: 0; padding: 0 4px; border: 2px solid var(--attention-accent, #0072b2);
    border-radius: 4px; font: calc(14px * var(--zoom))/1 var(--attention-font, system-ui, sans-serif); z-index: 1;
    min-width: calc(56px * var(--zoom)); }
  input:focus { outline: none; }
  input[aria-invalid] { border-color: #b3261e; }
  input.number { font-family: ui-monospace, monospace; padding: 0 2px; }
  input.centered { text-align: center; }
  input.light { background: #fff; color: #1f2328; color-scheme: light; }
  input.dark { background: #22252c; color: #e6e7ea; color-scheme: dark; }
  input.search { padding: 0; border: 0; font-size: calc(var(--size) * var(--zoom)); background: none; }
  @media (pointer: coarse) { input, input.search { font-size: calc(16px * var(--zoom)); } }
  .message { position: absolute; inset: 0; display: grid; place-items: center; place-content: center; gap: 12px; padding: 24px;
    text-align: center; overflow: auto; isolation: isolate; }
  .message > [hidden] { display: none; }
  .poster { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: contain; object-position: top; z-index: -1; }
  p, .poster ~ slot::slotted(*) { margin: 0; max-width: 60ch; padding: 6px 12px; border-radius: 6px; background: light-dark(#f7f7f5, #16181d); }
  button { font: inherit; padding: 4px 16px; }
  progress { width: min(240px, 60%); height: 6px; accent-color: var(--attention-accent, #7b52ab); animation: appear 0.6s step-end; }
  @keyframes appear { from { visibility: hidden; } }
  .message[hidden] { display: none; }
  .drop { pointer-events: none; border: 3px dashed var(--attention-accent, #0072b2); font-weight: 600;
    background: light-dark(#ffffffd9, #16181dd9); }
`;
let sheet;

// ---------------------------------------------------------------- the element

// Options that the page's address may contain.
const ASKED = ['preset', 'view', 'show', 'hide', 'lock', 'theme', 'wheel', 'lesson', 'step', 'fit', 'lang'];
const linkedState = () => /^#s=(.+)/s.exec(location.hash)?.[1] ?? null;
const ATTRIBUTES = ['preset', 'state', 'src', 'view', 'lesson', 'hide', 'lock', 'show', 'theme', 'wheel', 'loading', 'poster', 'fit'];
const EMBED = ['hide', 'lock', 'show', 'fit'], CHECKED = ['hide', 'lock', 'show', 'theme', 'wheel', 'loading'];
const DAMAGED = 'The files of the playground do not fit together, or one arrived damaged; please reload the page. If that does not help, its author has to publish all files of one version.';
// The module starts with this preset.
const FIRST_PRESET = 'i-saw-a-saw';

// When pages are rendered on a server, HTMLElement does not exist, and importing this has no effect.
class AttentionPlayground extends (globalThis.HTMLElement ?? Object) {
  static get observedAttributes() { return ATTRIBUTES; }  // not a static field, because for that the bundler would rename private names

  #root = this.attachShadow({mode: 'open'});
  #message = this.#panel('message');
  #parts = Object.fromEntries(Object.entries({poster: 'img', loads: 'progress', alert: 'p', retry: 'button'}).map(([name, tag]) => [name, document.createElement(tag)]));
  #nearby = null;      // an observer that waits until the element comes near the viewport
  #playground = null;  // while the element is connected
  #kept = null;        // the state text of a playground that was disconnected
  #changed = false;    // an attribute has changed since #open(), before the rest of the module was loaded
  #linked = null;      // the state from the address, encoded
  #found = 0;          // what web/keep.js found from an earlier visit
  #readsLinks = false;
  #edited = false;     // since the board was ready; the Guide then opens no lesson by itself
  #whileAway = new Set();  // attributes changed while the element was disconnected
  #starting = null;
  #ready = null;
  #disposed = false;

  constructor() {
    super();
    if (!sheet) (sheet = new CSSStyleSheet()).replaceSync(STYLES);
    this.#root.adoptedStyleSheets = [sheet];
    const {alert, retry, loads} = this.#parts;
    this.#message.append(document.createElement('slot'), loads, alert, retry);
    loads.setAttribute('aria-label', 'Loading the attention playground');
    alert.setAttribute('role', 'alert');
    retry.textContent = 'Retry';
    retry.addEventListener('click', () => this.#retry());
    this.#newReady();
    this.#fall(null);
  }

  #panel(className) {
    const panel = this.#root.appendChild(document.createElement('div'));
    panel.className = className;
    return panel;
  }

  #newReady() {
    this.#ready = new Promise((resolve, reject) => this.#starting = {resolve, reject, begun: false});
    this.#ready.catch(() => {});  // errors are shown and sent as an event; awaiting `ready` is optional
  }

  // ------------------------------------------------------------ on and off the page

  connectedCallback() {
    ATTRIBUTES.forEach((property) => this.#takeEarly(property));
    if (this.#playground?.isWhole) this.#playground.speak();  // it may have moved to a place with another language
    if (this.#disposed || this.#starting.begun) return;
    if (this.hasAttribute('page')) this.#readAddress();
    this.#showPoster();
    if (this.loading === 'eager' || this.hasAttribute('page') || this.#isNear()) return this.#begin();
    this.#nearby ??= new IntersectionObserver((entries) => entries.at(-1).isIntersecting && this.#begin(), {rootMargin: '50%'});
    this.#nearby.observe(this);
  }

  /** Reads the options of the page's address; elements embedded in other pages ignore it. */
  #readAddress() {
    const query = new URLSearchParams(location.search);
    for (const name of ASKED) {
      const value = query.get(name);
      if (value !== null && value.length <= LONGEST_LIST) this.setAttribute(name, value);
    }
    if (this.#readsLinks) return;
    this.#readsLinks = true;
    this.#linked = linkedState();
    addEventListener('hashchange', () => this.#openLink(linkedState(), 1));
  }

  /** Opens the state of a link; for a damaged one it shows an error, and the board is kept. */
  async #openLink(packed, undoable) {
    const playground = this.#playground;
    if (packed === null || !playground?.isWhole) return;
    try {
      const text = await (await loadShare()).unpack(packed);
      if (playground.alive && this.#fits('state', text)) playground.ask('set_state', text, undoable);
    } catch (error) {
      if (playground.alive) playground.tell(saidBy(error));
    }
  }

  /** Asking for it starts loading, however far down the page the element is. */
  get ready() {
    if (this.isConnected && !this.#disposed) this.#begin();
    return this.#ready;
  }

  #isNear() {
    const {top, bottom, width} = this.getBoundingClientRect();
    return width > 0 && top < innerHeight * 1.5 && bottom > innerHeight * -0.5;
  }

  #begin() {
    this.#nearby?.disconnect();
    if (this.#starting.begun) return;
    this.#starting.begun = true;
    this.#start();
  }

  #retry() {
    [loadFirst, loadRest].forEach(({forget}) => forget());
    this.#fall(null);
    this.#newReady();
    this.#begin();
  }

  /** A picture shown until there is a board, or if there will be none. */
  #showPoster() {
    const {poster} = this.#parts, address = this.getAttribute('poster');
    poster.alt = '';
    if (address === null) return poster.remove();
    poster.className = 'poster';
    poster.src = address;
    this.#message.prepend(poster);
  }

  /** What is shown in place of the board: while loading, the author's content and a progress bar; after an error, also a message and a
   * Retry button. */
  #fall(sentence) {
    const {loads, alert, retry} = this.#parts;
    loads.hidden = sentence !== null;
    alert.hidden = retry.hidden = sentence === null;
    alert.textContent = sentence;
    this.#message.hidden = false;
  }

  /** A property that was set before the element was defined hides the accessor; removes it, and sets it again through the accessor. */
  #takeEarly(property) {
    if (!Object.hasOwn(this, property)) return;
    const value = this[property];
    delete this[property];
    try {
      this[property] = value;
    } catch (error) {
      reportError(error);  // the other attributes, and the start, do not depend on it
    }
  }

  /** A move within the page is a disconnection followed by a connection; shuts down only if the element stays disconnected. */
  disconnectedCallback() {
    this.#nearby?.disconnect();
    setTimeout(() => {
      if (this.isConnected || this.#disposed || !this.#starting.begun) return;
      this.#kept = this.#playground?.isWhole ? this.#playground.ask('state') : this.#kept;
      if (this.#disposed) return;  // by a listener
      this.#shutDown();
      this.#starting.reject(new Error('The playground was taken off the page before it was ready.'));
      this.#newReady();
      this.#fall(null);
    });
  }

  #shutDown() {
    this.#playground?.dispose();
    this.#playground = null;
  }

  async #start() {
    const starting = this.#starting;
    const playground = this.#playground = new Playground(this.#root, 'Attention playground', this.#listeners());
    try {
      // Requested first: while the files arrive, the browser starts its graphics process, for which openContext() waits.
      const first = loadFirst();
      first.catch(() => {});  // awaited below, unless something else fails before
      if (!playground.openContext()) {
        await loadRest();
        playground.openTables();
      }
      // On a slow connection the initial board is drawn before the rest arrives; for any other board everything is fetched at once.
      const isPlain = this.#isPlain() && !this.#isBack(), isFirst = playground.isFirst = this.#isFirst();
      const [{module, create}] = await Promise.all([first, isPlain || loadRest()]);
      if (playground !== this.#playground) return;
      if (isPlain && this.#isPlain()) {
        await playground.start(create, module);
        if (playground !== this.#playground) return;
        this.#open();
        if (this.#isGuided()) playground.run('guide', 1);
        playground.show();
        this.#message.hidden = !playground.lacks;
      }
      const rest = await loadRest();
      if (playground !== this.#playground) return;
      const anew = await playground.complete(create, module, rest);
      if (playground !== this.#playground) return;
      this.#message.hidden = true;
      await playground.speak();
      if (playground !== this.#playground) return;
      if (anew || this.#changed) this.#open();
      this.#found = this.#isPage() ? await playground.recall() : 0;
      const linked = this.#linked;
      if (linked !== null && this.#found !== 1) await this.#openLink(linked, this.#found);
      this.#linked = null;
      if (playground !== this.#playground) return;  // a listener disposed of it
      playground.listen();
      playground.show();
      if (playground !== this.#playground) return;
      this.#edited = false;
      starting.resolve(this);
      this.#send('ready', {});
      if (playground === this.#playground && (linked === null || this.hasAttribute('lesson'))) this.#beginCoach(isFirst), this.#beginLesson();
    } catch (error) {
      if (playground !== this.#playground) return;
      this.#fail(error.type ?? 'load', error.type ? error.message : DAMAGED, error);
    }
  }

  /** Is the initial board all that must be shown? Parts may be hidden or locked. */
  #isFirstBoard() {
    const preset = this.getAttribute('preset') ?? FIRST_PRESET;
    return preset === FIRST_PRESET && this.theme === 'auto' && this.view === 'layer' && !this.hasAttribute('state') && !this.hasAttribute('src') && !this.hasAttribute('show') && this.#kept === null && this.#linked === null;
  }

  /** Can it be drawn before the rest has arrived? The words of other languages, and the page's own looks, come with the rest. */
  #isPlain() { return this.#isFirstBoard() && /^(en\b|$)/i.test(languageOf(this)) && !this.#hasLooks(); }

  /** Was this tab here before, so that its board must be restored? */
  #isBack() { return this.#isPage() && storage('session')?.['attention-playground-tab']; }

  /** Do the page's styles set a font, size or colour? The code for that is in the rest. */
  #hasLooks() { return ['font', 'size', 'accent'].some((name) => getComputedStyle(this).getPropertyValue(`--attention-${name}`)); }

  /** Applies the attributes, then what was there before the element was disconnected, so that reset() returns to the attributes. */
  #open() {
    this.#changed = false;
    this.#setEmbed();
    if (!this.#playground?.isWhole) return;  // everything else has its initial value
    const away = this.#whileAway;
    this.#whileAway = new Set();
    if (away.has('preset') || away.has('state')) this.#kept = null;  // the attributes ask for another board
    ['preset', 'state', 'src', 'theme'].forEach((attribute) => this.#apply(attribute));
    this.#apply('view');
    if (this.#kept) this.#playground?.ask('set_state', this.#kept, 1);
    if (this.#kept) ['theme', 'view'].forEach((attribute) => away.has(attribute) && this.#apply(attribute));
    this.#kept = null;
    CHECKED.forEach((attribute) => this.#checkNames(attribute));
  }

  /** Is a lesson open at the start? The author's; on the page itself the one that the reader left open. */
  #isGuided() { return this.hasAttribute('lesson') ? !this.#hidesGuide() : this.#stored().startsWith('{"open":true'); }

  #hidesGuide() { return this.hide.split(',').some((part) => part.trim() === 'guide'); }

  /** What the Guide remembers: "" at a first visit, and "-" where a lesson or a board is asked for, or this is no page of its own. */
  #stored() {
    const isAsked = !this.#isPage() || !this.#isFirstBoard() || this.hasAttribute('preset') || this.hasAttribute('lesson');
    return isAsked || this.#hidesGuide() ? '-' : storage()?.['attention-playground'] ?? '';
  }

  /** A first visit has a board of its own, which stays for as long as the column beside it is closed. */
  #isFirst() { return /^$|"closed":true/.test(this.#stored()); }

  /** The first steps, until they were done or skipped once, if nothing has changed the board since it was opened. */
  #beginCoach(isFirst) {
    if (isFirst && !this.#edited && !this.#stored().includes('"coached":true')) this.#playground.run('begin_coach');
  }

  #beginLesson() {
    if (this.#isGuided()) this.#guide((guide, playground) => guide.begin(playground, this.getAttribute('lesson'), this.getAttribute('step'), this.#found === 1, () => this.#edited));
  }

  /** Calls a function of web/guide.js, which is fetched with the first lesson. */
  async #lessons(action) {
    const board = this.#board, guide = await loadGuide();
    if (board === this.#playground) return action(guide, board);
  }

  /** The same for a reader, who is told if it cannot be fetched. */
  #guide(action) { return this.#lessons(action).catch((error) => this.#playground?.run('fail_lesson', saidBy(error))); }

  /** Is this the page itself, and not the page for an iframe, which is embedded too? */
  #isPage() { return (this.getAttribute('page') ?? 'embed') !== 'embed'; }

  /** Drawing is no longer possible: a message replaces the board. */
  #fail(type, message, cause) {
    this.#shutDown();
    this.#starting.reject(Object.assign(new Failure(type, message), {cause}));
    this.#fall(message);
    this.#send('error', {type, message});
  }

  #listeners() {
    return {
      event: (type, detail) => this.#send(type, detail),
      crash: (error) => {
        this.#playground?.report?.(error);
        this.#fail('crash', `The playground stopped because of a fault in it (${error.message}); please reload the page.`);
      },
      contextLost: () => this.#send('error', {type: 'contextlost', message: 'The browser took the graphics context away; the board is drawn again as soon as it gives one back.'}),
      lesson: (id, step) => this.#guide((guide, board) => guide.bring(board, id, step)),
      lessons: () => this.#guide((guide, board) => guide.bringList(board)),
      lessonTexts: () => this.#guide((guide, board) => guide.bringTexts(board)),
      glossary: () => this.#guide((guide, board) => guide.bringGlossary(board)),
      toggleFullscreen: () => this.#toggleFullscreen(),
      wheelAlways: () => this.wheel === 'always' || this.#isPage(),
      wheelNever: () => this.wheel === 'never',
    };
  }

  #toggleFullscreen() {
    const change = document.fullscreenElement ? document.exitFullscreen() : this.requestFullscreen?.();
    change?.catch((error) => this.#playground?.tell(message`The browser did not allow full screen: ${error.message}`));
  }

  /** Events do not bubble, so that a form around the element does not mistake them for its own. Each has a second name, which no native event
   * has: frameworks such as Svelte listen for some of the native names only at the root of the page. */
  #send(type, detail) {
    this.#edited ||= type === 'input' || type === 'change';
    for (const name of [type, `attention-${type}`]) this.dispatchEvent(new CustomEvent(name, {detail}));
  }

  // ------------------------------------------------------------ attributes

  attributeChangedCallback(attribute, before, now) {
    if (before === now) return;
    if (attribute === 'poster') this.#showPoster();
    if (attribute === 'loading' && now === 'eager' && this.isConnected) this.#begin();
    if (!this.#playground && this.#kept !== null) this.#whileAway.add(attribute);
    if (!this.#playground?.alive || this.#message.hidden === false) return;
    this.#changed ||= !this.#playground.isWhole;
    if (this.#changed) return;
    if (attribute === 'wheel') this.#playground.wheelMayHaveChanged();
    else if (attribute === 'lesson') this.#beginLesson();
    else if (EMBED.includes(attribute)) this.#setEmbed();
    else this.#apply(attribute);
    this.#checkNames(attribute);
  }

  #setEmbed() {
    const {hide, lock, show} = this;
    if (this.#fits('hide', hide) && this.#fits('lock', lock) && this.#fits('show', show)) this.#playground.run('embed', hide, lock, show, +this.fit);
  }

  #checkNames(attribute) {
    const value = this.getAttribute(attribute);
    if (value && CHECKED.includes(attribute) && this.#playground?.isWhole && value.length < LONGEST_LIST) this.#playground.checkNames(attribute, value);
  }

  /** Applies an attribute. Attributes come from the page's author: if one is wrong, the board is kept and shows an error. */
  #apply(attribute) {
    const value = this.getAttribute(attribute);
    if ((value === null && attribute !== 'theme') || !this.#fits(attribute, value)) return;
    if (attribute === 'preset') this.#playground.attempt('open_preset', value, 0);
    if (attribute === 'state') this.#playground.attempt('set_state', value, 0);
    if (attribute === 'src') this.#playground.openSource(value);
    if (attribute === 'theme') this.#set('theme', value || 'auto');
    if (attribute === 'view') this.#set('view', value);
  }

  #set(option, value) {
    if (this.#fits(option, value)) this.#playground.attempt('set', option, JSON.stringify(value));
  }

  /** Is the value short enough? False also if a listener has disposed of the playground. */
  #fits(attribute, value) { return this.#playground?.fits(value, attribute, attribute === 'state' ? undefined : LONGEST_LIST); }

  /** As on the web platform, null and undefined remove an optional attribute. */
  #reflect(attribute, value) {
    if (value === undefined || value === null) this.removeAttribute(attribute);
    else this.setAttribute(attribute, attributeText(attribute, value));
  }

  get preset() { return this.getAttribute('preset') ?? ''; }
  set preset(value) { this.#reflect('preset', value); }
  get state() { return this.getAttribute('state') ?? ''; }
  set state(value) { this.#reflect('state', value); }
  get src() { return this.getAttribute('src') ?? ''; }
  set src(value) { this.#reflect('src', value); }
  get view() { return this.getAttribute('view') ?? 'layer'; }
  set view(value) { this.#reflect('view', value); }
  get lesson() { return this.getAttribute('lesson') ?? ''; }
  set lesson(value) { this.#reflect('lesson', value); }
  get hide() { return this.getAttribute('hide') ?? ''; }
  set hide(value) { this.#reflect('hide', value); }
  get lock() { return this.getAttribute('lock') ?? ''; }
  set lock(value) { this.#reflect('lock', value); }
  get show() { return this.getAttribute('show') ?? ''; }
  set show(value) { this.#reflect('show', value); }
  get theme() { return this.getAttribute('theme') ?? 'auto'; }
  set theme(value) { this.#reflect('theme', value); }
  get loading() { return this.getAttribute('loading') ?? 'lazy'; }
  set loading(value) { this.#reflect('loading', value); }
  get poster() { return this.getAttribute('poster') ?? ''; }
  set poster(value) { this.#reflect('poster', value); }
  get fit() { return this.hasAttribute('fit'); }
  set fit(value) { this.toggleAttribute('fit', value === '' || Boolean(value)); }  // fit="" of a template, which may set the property
  get wheel() { return this.getAttribute('wheel') ?? 'focus'; }
  set wheel(value) { this.#reflect('wheel', value); }

  // ------------------------------------------------------------ methods

  get #board() {
    if (this.#playground?.isWhole && this.#message.hidden) return this.#playground;
    throw new Error(this.#disposed ? DISPOSED : 'The playground is not ready; await its `ready` first.');
  }

  /** The address of the page with this board: its state, and the given options. */
  async link(options) { return (await loadShare()).link(this, this.#board.ask('state'), options); }
  /** HTML that embeds this board in another page. */
  async embedCode(options) { return (await loadShare()).embedCode(this.#board.ask('state'), options); }

  async openLesson(lesson, step = 0) {
    if (!Number.isInteger(step)) throw wrong('step', 'a whole number', step);
    const isText = typeof lesson === 'string', given = isText ? nameOf('lesson', lesson) : textOf('lesson', lesson, 'an object or a text');
    await this.#lessons((guide, board) => isText ? guide.open(board, given, step) : guide.openText(board, given, step));
  }

  #do(name, values) { return this.#board.methods[name](this.#board, ...values); }

  getState(...values) { return this.#do('getState', values); }
  setState(...values) { return this.#do('setState', values); }
  reset(...values) { return this.#do('reset', values); }
  undo(...values) { return this.#do('undo', values); }
  redo(...values) { return this.#do('redo', values); }
  getTensor(...values) { return this.#do('getTensor', values); }
  setTensor(...values) { return this.#do('setTensor', values); }
  get(...values) { return this.#do('get', values); }
  set(...values) { return this.#do('set', values); }
  locate(...values) { return this.#do('locate', values); }
  items(...values) { return this.#do('items', values); }
  explain(...values) { return this.#do('explain', values); }
  gradient(...values) { return this.#do('gradient', values); }
  observe(...values) { return this.#do('observe', values); }
  on(...values) { return this.#do('on', values); }
  train(...values) {
    this.#edited = true;
    return this.#do('train', values);
  }
  resetTraining(...values) { return this.#do('resetTraining', values); }
  stats(...values) { return this.#do('stats', values); }
  toBlob(...values) { return this.#do('toBlob', values); }
  async toCode(...values) { return this.#do('toCode', values); }

  /** Frees the graphics context and the memory, permanently. */
  dispose() {
    this.#disposed = true;
    this.#shutDown();
    this.#message.hidden = true;
    this.#starting.reject(new Error(DISPOSED));
  }

  /** The board gets the focus only by Tab, a click, or this call. */
  focus() { this.#board.canvas.focus({preventScroll: true}); }

}

function attributeText(attribute, value) {
  if (attribute === 'state' && typeof value === 'object') return textOf(attribute, value, 'an object or a text');
  if (Array.isArray(value)) return listOf(attribute, value, LONGEST_NAME, 'a text', (item) => typeof item === 'string').join();
  if (/^(object|function|symbol)$/.test(typeof value)) throw wrong(attribute, 'a text', value);
  return String(value);
}

if (globalThis.customElements && !customElements.get('attention-playground')) customElements.define('attention-playground', AttentionPlayground);
export {AttentionPlayground};
