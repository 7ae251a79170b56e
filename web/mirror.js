// The board as text, tables and native controls, for assistive technology, for the browser's search in the page, and for browsers without
// WebGL. It is created from what the module records of a frame (src/app/mirror.h), in a root of its own beside the canvas, and updated
// while nothing is drawn.

import {Announcements} from './mirror-announcements.js';
import {Controls} from './mirror-controls.js';
import {MirrorInput} from './mirror-input.js';
import {capital, make, set} from './mirror-nodes.js';
import {Tables} from './mirror-tables.js';
import {label, read} from './noted.js';

const QUIET = 400, SOON = 40;  // milliseconds until it is updated: without a frame if nobody seems to use it, and otherwise
const LATEST = 2000;  // milliseconds until it is updated where frames go on without end, as while a model learns
const CELLS_AT_ONCE = 1024;  // are written in a task, unless the focus is in it: a large table, which takes some 20 ms with its layout

const PARTS = {side: 'Controls', help: 'Keys and pointer', notice: 'Message', coach: 'First steps', header: 'Header', page: 'Page', inspector: 'Arithmetic on the card', arcs: 'Who attends to whom', brief: 'Arithmetic in short', board: 'On the board', menu: 'Menu'};

const CLOSES_HELP = 'help-close';

// Nobody sees this: without the styles below, styles of large tables are computed in a third of the time.
const HIDDEN = `
  :host { position: absolute; inset: 0; overflow: hidden; contain: strict; pointer-events: none; clip-path: inset(50%); direction: ltr; text-align: left; }
  [role=switch]::after { content: ": " attr(data-state); }
`;
const PLAIN = `
  :host { direction: ltr; text-align: left; container-type: inline-size; overflow: auto; height: 100%; box-sizing: border-box; padding: 12px 16px;
    background: Canvas; color: CanvasText; font: clamp(15px, var(--attention-size, 0.9375rem), 37px)/1.5 var(--attention-font, system-ui, sans-serif); }
  :host > div { display: grid; grid-template-columns: minmax(16em, 20em) minmax(0, 1fr); gap: 0 24px; align-items: start; }
  :host > div > *, :host > div > .header { grid-column: 2; }
  :host > div > p, :host > div > .header { grid-column: 1 / -1; }
  :host > div > .side { grid-column: 1; grid-row: 4 / span 20; display: flex; flex-direction: column; align-items: flex-start; }
  .board, .page { display: flex; flex-wrap: wrap; gap: 0 28px; align-items: flex-start; }
  .board > div, .board > p, .page > p { flex-basis: 100%; }
  @container (max-width: 50em) { :host > div { display: block; } }
  td:first-child { border: 0; }
  [role=group] { margin: 0 0 14px; }
  [role=heading] { font-weight: 600; margin-top: 8px; }
  p { margin: 2px 0; }
  p > button { padding: 0 3px; margin: 0; }
  table { border-collapse: collapse; margin: 4px 0 14px; }
  caption { text-align: left; font-weight: 600; padding: 2px 0; }
  th { font-weight: 500; padding: 3px 8px; text-align: right; }
  td { border: 1px solid color-mix(in srgb, CanvasText 35%, Canvas); padding: 3px 8px; text-align: right; font-variant-numeric: tabular-nums; min-width: 3.5em; position: relative; }
  td[aria-readonly=false] { border-color: #0072b2; }
  td[aria-selected=true] { outline: 2px solid CanvasText; outline-offset: -2px; font-weight: 600; }
  td input { position: absolute; inset: 0; width: 100%; box-sizing: border-box; font: inherit; text-align: right; }
  button, input { font: inherit; margin: 2px 4px 2px 0; }
  button { padding: 2px 10px; }
  :focus-visible { outline: 3px solid #0072b2; outline-offset: 1px; }
  [aria-checked=true], [aria-expanded=true] { font-weight: 700; }
  [role=switch]::after { content: ": " attr(data-state); }
  .row { display: inline-flex; flex-wrap: wrap; align-items: center; gap: 4px; margin-right: 14px; }
  .row input { width: 7em; }
  @media (forced-colors: active) { td[aria-selected=true] { outline-color: Highlight; } }
`;
const sheets = {};

export class Mirror {
  /** `isPlain`: it replaces the canvas, and is visible. */
  constructor(board, isPlain) {
    Object.assign(this, {board, isPlain, isUsed: isPlain, staleSince: null, last: new Map(), ends: new AbortController()});
    const kind = isPlain ? 'plain' : 'hidden';
    if (!sheets[kind]) (sheets[kind] = new CSSStyleSheet()).replaceSync(isPlain ? PLAIN : HIDDEN);
    this.host = make('div', {class: kind});
    this.root = this.host.attachShadow({mode: 'closed'});
    this.root.adoptedStyleSheets = [sheets[kind]];
    this.live = make('p', {role: 'status'});
    this.all = make('div', {role: 'group', 'aria-label': this.t('Attention playground, in words'), lang: board.language ?? 'en'}, this.live);
    if (isPlain) this.all.prepend(make('p', {}, this.t(board.whyPlain)));
    this.root.append(this.all);
    this.parts = new Map();
    board.root.append(this.host);
    this.ring = board.root.appendChild(make('div', {hidden: ''}));
    Object.assign(this.ring.style, {position: 'absolute', outline: '3px solid #0072b2', borderRadius: '6px', pointerEvents: 'none'});
    const {signal} = this.ends, {canvas} = board;
    board.ends.signal.addEventListener('abort', () => this.end(), {signal});
    for (const type of ['input', 'change', 'select', 'answer', 'passed', 'step', 'error', 'train']) {
      board.root.host.addEventListener(type, (e) => this.hear(type, e.detail), {signal});
    }
    canvas.addEventListener('focus', () => { if (!canvas.classList.contains('pointed')) this.use(); }, {signal});
    this.root.addEventListener('focusin', (e) => this.entered(e));
    this.root.addEventListener('focusout', (e) => this.left(e));
    this.root.addEventListener('keydown', (e) => this.key(e));
    this.root.addEventListener('click', (e) => this.click(e));
    for (const type of ['keydown', 'keyup', 'input', 'change', 'copy', 'cut', 'paste', 'click']) this.host.addEventListener(type, (e) => e.stopPropagation());
    this.update();
  }

  /** The translation of a text into the language of the page. */
  t(words) { return this.board.word(words); }

  end() {
    this.ends.abort();
    clearTimeout(this.timer);
    clearTimeout(this.rest);
    this.host.remove();
    this.ring.remove();
  }

  /** It is in use, or keys are: from now on it is updated soon. */
  use() {
    this.isUsed = true;
    if (this.staleSince !== null) this.later();
  }

  /** Moves the focus from the canvas to the mirror, for a key. */
  begin() {
    this.isUsed = true;
    this.update();
    if (this.help()) this.opener = 'help';
    (this.front()?.node ?? this.all).querySelector('button, input')?.focus();
  }

  /** To be called after a frame was drawn or something was heard: anything may have changed. */
  stale() {
    this.staleSince ??= performance.now();
    if (this.isUsed && this.timer) return;
    clearTimeout(this.timer);
    this.later();
  }

  later() {
    this.timer = setTimeout(() => {
      this.timer = 0;
      const {board} = this;
      if (this.staleSince !== null && board.alive) this.update('', 0, !this.isUsed);
    }, this.isUsed ? SOON : Math.max(0, Math.min(QUIET, this.staleSince + LATEST - performance.now())));
  }

  /** Brings it up to date. `isApart`: to find what there is, and to show it, are two tasks, between which input is answered. */
  update(press = '', step = 0, isApart = false) {
    const {board} = this;
    clearTimeout(this.rest);
    this.staleSince = null;
    if (!board.isWhole || board.nested > 5) return;
    let found;
    board.answer('mirror', [press, step], (reply) => {
      found = read(reply);
      for (const m of found.matrices) m.numbers = this.numbersOf(m);  // before the memory changes
    });
    if (!board.alive) return;
    if (isApart) this.rest = setTimeout(() => this.take(found));
    else this.take(found);
  }

  /** Shows what was found. Large tables, and many new controls, come one after the other, so that neither input nor training waits for all of them. */
  take(found) {
    const {board} = this, notice = this.found?.notice;
    if (!board.alive) return;
    found.shown ??= new Set();
    Object.assign(this, {found, room: this.isIn || this.isPlain ? Infinity : CELLS_AT_ONCE, isPart: false});
    if (this.isPlain) this.host.style.colorScheme = board.run('is_dark') ? 'dark' : 'light';
    this.takeLabels();
    this.explain();
    const {activeElement} = this.root, at = [...this.nodes()].indexOf(activeElement);
    this.show(found.named ??= label(found));
    if (at >= 0 && !this.root.activeElement && !board.field) this.keepFocus(activeElement.item?.name, at);
    this.noteExplained();
    this.sayNotice(notice);
    if (this.isPart) this.rest = setTimeout(() => this.take(found), SOON);
  }

  /** What tokens are called; only if that has changed, because a long sequence has a megabyte of it. */
  takeLabels() {
    const {board} = this, whose = board.run('whose');
    if (whose === this.whose) return;
    const options = JSON.parse(board.ask('get', 'cross')) ? ['labels', 'key_labels'] : ['labels'];  // keys are the last
    const labels = options.map((option) => JSON.parse(board.ask('get', option)));
    Object.assign(this, {whose, labels, names: new Set(labels.flat()), sentences: labels.map((words) => words.join(' '))});
  }

  /** The focused element was removed, for example a button that closes its panel: focuses the one with its name, or the one at its index. */
  keepFocus(name, at) {
    const all = [...this.nodes()];
    (all.find(({item}) => name && item?.name === name) ?? all[Math.min(at, all.length - 1)])?.focus();
  }

  /** A number in English, for a sentence that is translated as a whole. */
  digits(value) {
    return (Math.abs(value) < 1e7 ? value.toFixed(this.found.decimals) : value.toPrecision(4)).replace('-', '−');
  }

  /** A number on its own, in the notation of the language. From the size `limit` on it is only a bound (attention::cutOffFrom). */
  written(value, limit = Infinity) {
    if (value === -Infinity) return this.t('masked');
    return (Math.abs(value) < limit ? '' : value > 0 ? '≥ ' : '≤ ') + this.asRead(this.digits(value));
  }

  /** For example with a decimal comma in German. */
  asRead(digits) {
    const {decimal = '.'} = this.board;
    return decimal === '.' ? digits : digits.replace('.', decimal);
  }

  /** The number that a control shows, in the notation of the language. */
  numberIn(words) {
    const {decimal = '.'} = this.board;
    return Number.parseFloat(words.replaceAll(decimal === ',' ? '.' : ',', '').replace(decimal, '.').replace('−', '-'));
  }

  /** The text of an explanation; null if there is none. */
  explain() {
    const e = this.found.explained;
    this.arithmetic = null;
    try {
      if (e) this.arithmetic = JSON.parse(this.board.ask('explain', e.tensor === 'scores' ? 'masked' : e.tensor, e.head, e.row, e.col, 1));
    } catch { /* not of this layer */ }
  }

  part(name, title) {
    let part = this.parts.get(name);
    if (!part) {
      part = {node: make('div', {role: 'group', class: name, 'aria-label': title}), keyed: new Map()};
      this.parts.set(name, part);
      this.all.append(part.node);
    }
    set(part.node, {'aria-label': title});
    Object.assign(part, {wanted: [], inner: new Set()});
    return part;
  }

  /** Puts nodes in order. Existing ones are neither moved nor created again, because moving an element removes its focus. */
  place(part) {
    for (const node of [...part.node.childNodes]) if (!part.wanted.includes(node)) node.remove();
    let at = part.node.firstChild;
    for (const node of part.wanted) {
      if (node === at) at = at.nextSibling;
      else part.node.insertBefore(node, at);
    }
  }

  keyed(part, key, create) {
    const node = part.keyed.get(key) ?? create();
    part.keyed.set(key, node);
    part.wanted.push(node);
    return node;
  }

  show(controls) {
    const {found} = this, used = new Set();
    const order = ['menu', 'coach', 'header', 'page', 'board', 'inspector', 'brief', 'arcs', 'side', 'help', 'notice'];
    // What speaks to newcomers comes first, except where it is seen among the controls.
    if (!this.isPlain) for (const one of [...controls, ...found.words]) if (one.part === 'side' && /##coach/.test(one.place)) one.part = 'coach';
    // The header is drawn from both ends.
    const inPart = (name) => [...controls.filter((c) => c.part === name), ...found.words.filter((w) => w.part === name)].sort((a, b) => name === 'header' ? a.x - b.x : a.order - b.order);
    for (const name of order) {
      const items = inPart(name);
      const isTables = name === 'board' && !found.onPage || name === 'page' && found.onPage;
      if (!items.length && !isTables) continue;
      used.add(name);
      const part = this.part(name, this.t(PARTS[name] ?? capital(name)));
      if (name === 'board') this.boardTables(part);
      if (name === 'page') this.pageTables(part);
      this.items(part, items, name);
      if (name === 'menu') set(part.node, {role: 'menu'});
      this.place(part);
      for (const [key, node] of part.keyed) if (!part.wanted.includes(node) && !part.inner.has(node)) part.keyed.delete(key);
    }
    for (const [name, part] of this.parts) {
      if (used.has(name)) continue;
      part.node.remove();
      this.parts.delete(name);
    }
    const nodes = order.map((name) => this.parts.get(name)?.node).filter(Boolean);
    const help = this.help();
    for (const part of this.parts.values()) set(part.node, {inert: help && part !== help});
    if (used.has('help')) set(this.parts.get('help').node, {role: help ? 'dialog' : 'group', 'aria-modal': help && true});
    let at = this.all.querySelector(':scope > [role=group], :scope > [role=menu]');
    for (const node of nodes) {
      if (node === at) at = at.nextElementSibling;
      else this.all.insertBefore(node, at);
    }
  }

  /** The list of keys, a dialog; the same part may also be a term or what a search has found. */
  help() {
    const part = this.parts.get('help');
    return part?.keyed.has(`control ${CLOSES_HELP}`) ? part : undefined;
  }

  /** What has the focus until it is closed. */
  front() { return this.parts.get('menu') ?? this.help(); }

  nodes() { return this.root.querySelectorAll('button, input, td[tabindex]'); }
}
for (const {prototype} of [Tables, Controls, Announcements, MirrorInput]) {
  const {constructor, ...own} = Object.getOwnPropertyDescriptors(prototype);
  Object.defineProperties(Mirror.prototype, own);
}

/** Creates the mirror of a board; unless `isPlain`, the canvas refers to it. */
export function mirror(board, isPlain = false) {
  const made = new Mirror(board, isPlain);
  made.root.addEventListener('change', (e) => {
    const input = e.target;
    if (!input.item) return;
    if (input.type === 'range') made.slide(input);
    else made.type(input);
  });
  made.root.addEventListener('input', (e) => { if (e.target.type === 'range' && e.target.item) made.slide(e.target); });
  return made;
}
