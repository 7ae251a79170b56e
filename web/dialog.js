// The Share dialog: a link to the board with its QR code, and code that embeds it with a preview; and the dialog with the licences of what
// others made. Loaded when one is first opened.
import {storage} from './canvas.js';
import {inline, script} from './files.js';
import {homeIfKnown, languageOf} from './values.js';

const SIZES = {'In a text': [640, 440], 'Wide': [960, 600], 'On a slide': [1280, 720], 'On a phone': [390, 700], 'Own size': null};
const THEMES = {auto: 'As the page', light: 'Light', dark: 'Dark'};
const VIEWS = {layer: 'Layer', block: 'Block', segments: 'Segments', train: 'Train'};
const PARTS = {header: 'Header', panel: 'Controls', heads: 'Heads', arcs: 'Arcs', inspector: 'Arithmetic', stepper: 'Stepper', import: 'Open', export: 'Save'};
const LOCKS = ['all', 'causal', 'd_k', 'heads', 'k', 'labels', 'mask', 'normalizer', 'paste', 'pattern', 'position', 'presets', 'q', 'reset', 'scale', 'score', 'temperature', 'tokens', 'v'];

import {CodeTab, FigureTab, styles} from './figures.js';
import {message} from './message.js';

const STYLES = `
  dialog { box-sizing: border-box; width: min(1024px, 100vw - 16px); height: min(836px, 100dvh - 16px); padding: 0; border: 1px solid transparent; border-radius: 10px; direction: ltr; text-align: left;
    container-type: inline-size;
    /* As large as the words of the board, and as those that the reader's browser has. */
    font: calc(clamp(14px, var(--attention-size, max(14px, 0.875rem)), 35px) * 27 / 28)/1.45 Inter, system-ui, sans-serif; --panel: light-dark(#fff, #1e2127); --text: light-dark(#1f2328, #e6e7ea); --muted: light-dark(#59626d, #a3a9b3);
    --border: light-dark(#d9dadd, #3a3e47); --back: light-dark(#f7f7f5, #16181d); --ink: light-dark(#1f2328, #e6e7ea); --ink-text: light-dark(#fff, #16181d);
    --tag: light-dark(#7b3fa0, #c9a3e8); --name: light-dark(#0060a0, #7fb8ea); --value: light-dark(#00724f, #6fcfa6); color: var(--text); background: var(--panel); box-shadow: 0 12px 48px #0004; overflow: hidden; }
  dialog[open] { display: grid; grid-template-rows: auto auto 1fr; }
  dialog.notices[open] { grid-template-rows: auto 1fr; }
  dialog::backdrop { background: #0008; }
  header, .tabs { margin: 0 24px; }
  header { display: flex; align-items: center; justify-content: space-between; padding: 14px 0 10px; }
  h2 { font-size: 1.185em; margin: 0; font-weight: 600; }
  h3 { font-size: 0.89em; margin: 0 0 8px; font-weight: 600; }
  .tabs, .segments { display: flex; flex-wrap: wrap; border: 1px solid var(--border); border-radius: 6px; }
  .tabs > *, .segments > * { flex: 1; min-width: max-content; border: 0; background: none; min-height: 2.07em; padding: 0 4px; color: inherit; border-radius: 5px; }
  .tabs > :hover, .segments > :hover { background: var(--back); }
  [aria-selected=true], .segments > [aria-checked=true] { background: var(--ink) !important; color: var(--ink-text); font-weight: 500; }
  button, select, input { font: inherit; color: inherit; }
  button, select, input:not([type=checkbox]) { box-sizing: border-box; min-height: 2.07em; background: var(--panel); border: 1px solid var(--border); border-radius: 5px; padding: 0 10px; }
  button { cursor: pointer; }
  button.main { background: var(--ink); color: var(--ink-text); border-color: var(--ink); font-weight: 600; }
  button.close { width: 2.2em; padding: 0; display: grid; place-items: center; }
  button:focus-visible, select:focus-visible, input:focus-visible, pre:focus-visible { outline: 2px solid #0072b2; outline-offset: 2px; }
  input[type=checkbox] { width: 1.185em; height: 1.185em; flex: none; margin: 0 8px 0 0; accent-color: var(--ink); }
  label.tick { display: flex; align-items: center; min-height: 1.93em; }
  .body { display: grid; grid-template-columns: 24.9em minmax(0, 1fr); min-height: 0; margin-top: 4px; }
  .body[hidden] { display: none; }
  .options, .shown { overflow: auto; padding: 8px 24px 16px; }
  .shown { padding-right: 20px; }
  .options { border-right: 1px solid var(--border); display: flex; flex-direction: column; gap: 16px; }
  .line { display: flex; gap: 8px; align-items: center; flex-wrap: wrap; }
  .line select { flex: 1 1 8em; min-width: 0; }
  input[type=number] { width: 4.15em; padding: 0 6px; appearance: textfield; }
  label.from { display: flex; align-items: center; gap: 8px; }
  label.from:has(:disabled), input:disabled { color: var(--muted); }
  .ticks { display: grid; grid-template-columns: 1fr 1fr; }
  .chip { font: 0.89em ui-monospace, monospace; border-radius: 14px; background: var(--back); }
  .note { color: var(--muted); font-size: 0.89em; margin: 0; }
  .options hr { width: 100%; border: 0; border-top: 1px solid var(--border); margin: 0; }
  .stage { border: 1px solid var(--border); border-radius: 8px; overflow: hidden; background: var(--back); position: relative; }
  .stage > div { transform-origin: 0 0; }
  .code { display: flex; align-items: center; justify-content: space-between; gap: 8px; margin: 8px 0 5px; }
  .code span { color: var(--muted); font-size: 0.89em; }
  pre { margin: 0; padding: 6px 11px; border: 1px solid var(--border); border-radius: 6px; background: var(--back); font: 0.89em/1.5 'JetBrains Mono', ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; max-height: calc(12em + 14px); box-sizing: border-box; overflow: auto; }
  pre.link { word-break: break-all; }
  pre i { font-style: normal; color: var(--tag); } pre b { font-weight: 400; color: var(--name); } pre u { text-decoration: none; color: var(--value); }
  .qr { width: 264px; max-width: 100%; aspect-ratio: 1; background: #fff; border-radius: 8px; border: 1px solid var(--border); display: block; }
  .both { display: flex; gap: 24px; flex-wrap: wrap; margin-top: 20px; align-items: flex-start; }
  .both > div { flex: 1 1 min(16em, 100%); }
  @media (max-width: 759px) { dialog { width: 100vw; height: 100dvh; max-width: none; max-height: none; border-radius: 0; } }
  @container (max-width: 56em) {
    header, .tabs { margin-inline: 16px; }
    .body { grid-template-columns: minmax(0, 1fr); overflow: auto; }
    .options, .shown { overflow: visible; padding-inline: 16px; border: 0; }
    .options { gap: 14px; padding-bottom: 4px; }
    .link .shown { order: -1; }
  }
  @media (max-width: 759px) and (max-height: 500px) { header { padding: 8px 0; } }
  @media (pointer: coarse) {
    button, select, input:not([type=checkbox], [type=radio]), .tabs > *, .segments > *, label.tick, label.choice, label.from { min-height: 44px; min-width: 44px; }
  }
  @media (forced-colors: active) { dialog { border-color: CanvasText; } [aria-selected=true], .segments > [aria-checked=true] { forced-color-adjust: none; background: Highlight !important; color: HighlightText; } }
`;
let sheet;

const SAID = new Set(['textContent', 'aria-label']);

/** Creates elements with translated text: `t` translates it. */
const maker = (t) => (tag, properties = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    const given = SAID.has(name) ? t(value) : value;
    if (name in node && !name.includes('-')) node[name] = given;
    else node.setAttribute(name, given);
  }
  node.append(...children.flat().map((child) => typeof child === 'string' ? t(child) : child));
  return node;
};
const plain = maker((words) => words);

/** Highlights HTML: tags, names and values in their colours. */
function colored(html) {
  const out = [];
  for (const [all, tag, name, value] of html.matchAll(/(<\/?[\w-]+|\/?>)|([\w-]+(?==))|("[^"]*")|[^<>"\w]+|\w+|./gs)) {
    out.push(tag ? plain('i', {textContent: tag}) : name ? plain('b', {textContent: name}) : value ? plain('u', {textContent: value}) : all);
  }
  return out;
}

/** A QR code as a square of modules; null if it cannot be created. */
async function qrCode(text, words) {
  try {
    const {encode} = await import('uqr');
    const {size, data} = encode(text, {ecc: 'L', border: 4});
    const path = data.flatMap((row, y) => row.flatMap((dark, x) => dark ? `M${x} ${y}h1v1h-1z` : [])).join('');
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg'), squares = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    for (const [name, value] of Object.entries({viewBox: `0 0 ${size} ${size}`, class: 'qr', role: 'img', 'aria-label': words, 'shape-rendering': 'crispEdges'})) svg.setAttribute(name, value);
    squares.setAttribute('d', path);
    svg.append(squares);
    return svg;
  } catch {
    return null;  // too long for a QR code, or the package was not built in
  }
}

/** Groups of buttons of which one is selected. */
const segmentsBy = (make) => (title, choices, chosen, choose) => {
  const all = make('div', {className: 'segments', role: 'radiogroup', 'aria-label': title});
  const pick = (key) => { for (const button of all.children) { const on = button.dataset.key === key; button.setAttribute('aria-checked', on); button.tabIndex = on ? 0 : -1; } };
  for (const [key, words] of Object.entries(choices)) {
    const button = make('button', {type: 'button', role: 'radio', textContent: words});
    button.dataset.key = key;
    button.addEventListener('click', () => { pick(key); choose(key); });
    all.append(button);
  }
  all.addEventListener('keydown', (e) => {
    const by = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[e.key];
    if (!by) return;
    const list = [...all.children], next = list.at((list.indexOf(e.target) + by) % list.length);
    e.preventDefault();
    next.focus();
    next.click();
  });
  pick(chosen);
  return all;
};

/** A dialog in front of a board, with a title and a button that closes it. */
class Frame {
  constructor(board, name, title) {
    this.board = board;
    const make = this.make = maker((words) => this.t(words));
    if (!sheet) (sheet = new CSSStyleSheet()).replaceSync(STYLES + styles);
    this.place = board.root.appendChild(make('div'));
    this.place.lang = board.language ?? 'en';
    const root = this.place.attachShadow({mode: 'open'});  // keeps styles meant for what is in front of the canvas from applying here
    root.adoptedStyleSheets = [sheet];
    this.node = make('dialog', {'aria-labelledby': `${name}-title`, className: name});
    this.node.style.colorScheme = board.run('is_dark') ? 'dark' : 'light';
    const close = make('button', {type: 'button', className: 'close', 'aria-label': 'Close', textContent: '✕'});
    close.addEventListener('click', () => this.node.close());
    this.node.append(make('header', {}, make('h2', {id: `${name}-title`, textContent: title}), close));
    this.node.addEventListener('close', () => this.end());
    // Typing in the dialog must not reach the board.
    for (const type of ['keydown', 'keyup', 'input', 'change', 'copy', 'paste', 'cut']) this.node.addEventListener(type, (e) => e.stopPropagation());
    this.node.addEventListener('click', (e) => { if (e.target === this.node) this.node.close(); });
    board.ends.signal.addEventListener('abort', () => this.place.remove());
    root.append(this.node);
  }

  /** The translation of a text into the language of the board. */
  t(words) { return this.board.word(words); }

  end() {
    this.place.remove();
    this.board.sharing = null;
    // The browser has returned the focus to what opened the dialog, if that still exists.
    if (!this.board.root.activeElement) this.board.canvas.focus({preventScroll: true});
  }
}

/** The notices of what others made in the playground; their first line names its version. */
export async function readNotices() {
  if (inline.has('NOTICES.txt')) return new TextDecoder().decode(await inline.get('NOTICES.txt')());
  // Written in full, so that bundlers recognise it.
  const response = await fetch(new URL('./NOTICES.txt', import.meta.url), {credentials: 'same-origin'});
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.text();
}

/** The dialog that shows them. */
class Notices extends Frame {
  constructor(board) {
    super(board, 'notices', 'Third-party licences');
    const {make} = this;
    this.text = make('pre', {className: 'program', tabIndex: 0, role: 'region', 'aria-label': 'Third-party licences'});
    this.node.append(make('div', {className: 'shown filled'}, this.text));
    this.node.showModal();
    this.text.focus();
    this.show();
  }

  async show() {
    try {
      Object.assign(this.text, {textContent: await readNotices(), lang: 'en'});
    } catch {
      this.text.textContent = this.t('The licences could not be fetched: perhaps there is no connection. Please try again.');
    }
  }
}

class Dialog extends Frame {
  constructor(board) {
    super(board, 'share', 'Share');
    const {make} = this;
    this.segments = segmentsBy(make);
    this.host = board.root.host;
    const {host} = this, view = host.get('view');
    this.asked = {theme: 'auto', view: view in VIEWS ? view : 'layer', size: 'In a text', width: 640, height: 440, lock: listed(host.lock), lesson: '', step: 0, fit: Boolean(host.fit), own: false};
    this.hidden = new Set([...listed(host.hide)]);
    this.isPage = host.hasAttribute('page') && !/\/embed\.html$/.test(location.pathname);
    this.more = {figure: new FigureTab(this, make, this.segments), code: new CodeTab(this, make, this.segments)};
    // Without an address of the pages there is nothing that a link or an embedding could name.
    const isPublished = homeIfKnown() !== null, hasLink = isPublished || this.isPage;
    const names = {...hasLink && {link: 'Link'}, ...isPublished && {embed: 'Embed'}, figure: 'Figure', code: 'Code'}, [first] = Object.keys(names);
    this.bodies = {...hasLink && {link: this.linkBody()}, ...isPublished && {embed: this.embedBody()}, figure: this.more.figure.node, code: this.more.code.node};
    this.node.append(this.tabs(names), ...Object.values(this.bodies));
    this.node.showModal();
    this.open(first);
    this.tab[first].focus();
  }

  tabs(names) {
    const {make} = this;
    const list = make('div', {className: 'tabs', role: 'tablist'});
    this.tab = {};
    for (const [key, words] of Object.entries(names)) {
      const tab = this.tab[key] = make('button', {type: 'button', role: 'tab', id: `share-${key}`, textContent: words});
      tab.addEventListener('click', () => this.open(key));
      list.append(tab);
      Object.assign(this.bodies[key], {role: 'tabpanel'}).setAttribute('aria-labelledby', `share-${key}`);
    }
    list.addEventListener('keydown', (e) => {
      const by = {ArrowRight: 1, ArrowLeft: -1}[e.key], all = Object.keys(names);
      if (!by) return;
      const key = all.at((all.findIndex((name) => this.tab[name] === e.target) + by) % all.length);
      this.open(key);
      this.tab[key].focus();
    });
    return list;
  }

  open(key) {
    for (const [name, body] of Object.entries(this.bodies)) {
      body.hidden = name !== key;
      this.tab[name].setAttribute('aria-selected', name === key);
      this.tab[name].tabIndex = name === key ? 0 : -1;
    }
    this.shown = key;
    this.update();
  }

  copyButton(text, words = 'Copy') {
    const {make} = this;
    const button = make('button', {type: 'button', textContent: words});
    button.addEventListener('click', async () => {
      button.textContent = this.t(await this.board.copy(text()) ? 'Copied' : 'Not copied');
      this.node.addEventListener('focusout', () => { button.textContent = this.t(words); }, {once: true});
    });
    return button;
  }

  // ------------------------------------------------------------ a link

  linkBody() {
    const {make, segments} = this;
    this.address = make('pre', {className: 'link', tabIndex: 0, 'aria-label': 'Link'});
    this.long = make('p', {className: 'note'});
    this.code = make('div');
    const copy = this.copyButton(() => this.address.textContent, 'Copy link');
    copy.className = 'main';
    const about = make('div', {}, make('p', {className: 'note', textContent: 'The link is the board: all of its numbers and options stand in it, and nothing is sent anywhere. Opening it works for as long as this page does, and copying it works offline.'}), this.long);
    if (this.isPage) about.append(this.followTick());
    return make('div', {className: 'body link'},
      make('div', {className: 'options'}, this.field('View', segments('View', VIEWS, this.asked.view, (view) => this.ask({view}))),
        this.field('Theme', segments('Theme', THEMES, this.asked.theme, (theme) => this.ask({theme}))), this.field('Guide', this.lessonChoice()), make('hr'), about),
      make('div', {className: 'shown'}, make('div', {className: 'code'}, make('div', {}, make('strong', {textContent: 'Link'}), ' ', make('span', {textContent: 'opens this board as it is now'})), copy), this.address, make('div', {className: 'both'}, this.code)));
  }

  /** A switch that keeps the address bar in sync with the board for as long as the page is open. */
  followTick() {
    const {make} = this;
    const {host} = this, tick = make('input', {type: 'checkbox', checked: Boolean(host.follows)});
    tick.addEventListener('change', () => {
      host.follows?.abort();
      host.follows = null;
      if (!tick.checked) return;
      const ends = host.follows = new AbortController();
      let timer;
      const write = async () => history.replaceState(history.state, '', await host.link());
      host.addEventListener('change', () => { clearTimeout(timer); timer = setTimeout(() => ends.signal.aborted || write().catch(() => {}), 300); }, {signal: ends.signal});
      write().catch(() => {});
    });
    return make('label', {className: 'tick'}, tick, 'Keep the address bar up to date');
  }

  // ------------------------------------------------------------ code

  embedBody() {
    const {make, segments} = this;
    this.stage = make('div', {className: 'stage'});
    this.pre = {element: make('pre', {tabIndex: 0, 'aria-label': 'Code of the element'}), iframe: make('pre', {tabIndex: 0, 'aria-label': 'Code of the iframe'})};
    const code = (kind, words, about) => [make('div', {className: 'code'}, make('div', {}, make('strong', {textContent: words}), ' ', make('span', {textContent: about})), this.copyButton(() => this.pre[kind].textContent)), this.pre[kind]];
    const shown = make('div', {className: 'shown'}, this.stage, code('element', 'Element', 'draws in your page, without a frame'), code('iframe', 'iframe', 'where a page may not load scripts; the address is one line'));
    shown.querySelector('button').className = 'main';
    const own = make('input', {type: 'checkbox'});
    own.addEventListener('change', () => this.ask({own: own.checked}));
    return make('div', {className: 'body'}, make('div', {className: 'options'},
      this.field('Size', this.sizeChoice()), this.field('Theme', segments('Theme', THEMES, 'auto', (theme) => this.ask({theme}))),
      this.field('View', segments('View', VIEWS, this.asked.view, (view) => this.ask({view}))), this.field('Show', this.partTicks()),
      this.field('Locked for readers', this.locks = make('div', {className: 'line'})), this.field('Guide', this.lessonChoice()), make('hr'),
      make('p', {className: 'note', textContent: 'Readers start from the example. Tick this to let them start from the numbers that stand on your board.'}),
      make('label', {className: 'tick'}, own, 'Start from my numbers')), shown);
  }

  field(title, ...content) { const {make} = this; return make('section', {'aria-label': title}, make('h3', {textContent: title}), ...content); }

  sizeChoice() {
    const {make} = this;
    const choice = make('select', {'aria-label': 'Size'}, Object.keys(SIZES).map((words) => make('option', {value: words, textContent: words})));
    const [width, height] = ['width', 'height'].map((side) => make('input', {type: 'number', min: 200, max: 4000, value: this.asked[side], 'aria-label': side === 'width' ? 'Width in pixels' : 'Height in pixels'}));
    choice.addEventListener('change', () => {
      const size = SIZES[choice.value];
      if (size) [width.value, height.value] = size;
      this.ask({width: +width.value, height: +height.value});
    });
    for (const input of [width, height]) {
      input.addEventListener('input', () => {
        const size = [width, height].map((one) => Math.round(Number(one.value)));
        choice.value = Object.keys(SIZES).find((words) => String(SIZES[words]) === String(size)) ?? 'Own size';
        if (size.every((one) => one >= 120 && one <= 4000)) this.ask({width: size[0], height: size[1]});
      });
    }
    const fit = make('input', {type: 'checkbox', checked: this.asked.fit});
    fit.addEventListener('change', () => this.ask({fit: height.disabled = fit.checked}));
    height.disabled = fit.checked;
    return make('div', {}, make('div', {className: 'line'}, choice, width, '×', height), make('label', {className: 'tick'}, fit, 'As high as the board'));
  }

  partTicks() {
    const {make} = this;
    return make('div', {className: 'ticks'}, Object.entries(PARTS).map(([part, words]) => {
      const tick = make('input', {type: 'checkbox', checked: !this.hidden.has(part)});
      tick.addEventListener('change', () => {
        if (tick.checked) this.hidden.delete(part);
        else this.hidden.add(part);
        this.ask({});
      });
      return make('label', {className: 'tick'}, tick, words);
    }));
  }

  showLocks() {
    const {make} = this;
    const {lock} = this.asked;
    const chips = lock.map((name) => {
      const chip = make('button', {type: 'button', className: 'chip', 'aria-label': `Unlock ${name}`, textContent: `${name} ✕`});
      chip.addEventListener('click', () => this.ask({lock: lock.filter((one) => one !== name)}));
      return chip;
    });
    const add = make('select', {'aria-label': 'Lock another one'}, make('option', {textContent: '+ Add', value: ''}), LOCKS.filter((name) => !lock.includes(name)).map((name) => plain('option', {value: name, textContent: name})));
    add.addEventListener('change', () => this.ask({lock: [...lock, add.value]}));
    this.locks.replaceChildren(...chips, add);
  }

  lessonChoice() {
    const {make} = this;
    const choice = make('select', {'aria-label': 'Lesson'}, make('option', {textContent: 'No lesson', value: ''})), counts = new Map();
    const step = make('input', {type: 'number', min: 1, 'aria-label': 'Step of the lesson'}), from = make('label', {className: 'from'}, make('span', {textContent: 'from step'}), step);
    const show = () => {
      choice.value = this.asked.lesson;
      step.disabled = !choice.value;
      step.max = counts.get(choice.value) ?? 1;
      step.value = this.asked.step + 1;
    };
    script('guide.js', () => import('./guide.js')).then((guide) => guide.list()).then((lessons) => {
      choice.append(...lessons.map(({id, title}) => make('option', {value: id, textContent: title})));
      lessons.forEach(({id, steps}) => counts.set(id, steps ?? 1));
      show();
    }).catch(() => {});  // offline: other lessons cannot be offered
    // The lesson open on the board starts at its present step.
    choice.addEventListener('change', () => {
      this.ask({lesson: choice.value, step: openLesson().lesson === choice.value ? openLesson().step ?? 0 : 0});
      this.guides.forEach((one) => one());
    });
    step.addEventListener('input', () => {
      const at = Math.round(Number(step.value));
      if (at < 1 || at > Number(step.max)) return;
      this.ask({step: at - 1});
      this.guides.forEach((one) => one !== show && one());
    });
    this.guides = [...this.guides ?? [], show];
    show();
    return make('div', {className: 'line'}, choice, from);
  }

  // ------------------------------------------------------------ results

  ask(more) {
    Object.assign(this.asked, more);
    this.update();
  }

  /** The options chosen, without those at their default. */
  options() {
    const {theme, view, lock, lesson, step, fit} = this.asked, out = {};
    if (theme !== 'auto') out.theme = theme;
    if (view !== 'layer') out.view = view;
    if (lesson) out.lesson = lesson;
    if (lesson && step) out.step = step;
    if (this.shown === 'embed' && fit) out.fit = true;
    const lang = languageOf(this.host);
    if (this.board.language) out.lang = lang;
    if (this.shown === 'embed' && lock.length) out.lock = lock;
    if (this.shown === 'embed' && this.hidden.size) out.hide = [...this.hidden];
    return out;
  }

  update() {
    const turn = this.turn = (this.turn ?? 0) + 1;
    const isLatest = () => turn === this.turn && this.node.isConnected;
    if (this.more[this.shown]) {
      this.more[this.shown].update(isLatest);
      return;
    }
    const work = this.shown === 'link' ? this.updateLink(isLatest) : this.updateCode(isLatest);
    work.catch((error) => { if (isLatest()) (this.shown === 'link' ? this.address : this.pre.element).textContent = error.message; });
  }

  async updateLink(isLatest) {
    const {make} = this;
    const address = await this.host.link(this.options()), code = await qrCode(address, this.t('QR code of the link'));
    if (!isLatest()) return;
    this.address.textContent = address;
    this.long.textContent = this.t(message`${address.length.toLocaleString('en')} characters.`);
    if (this.host.get('batch_of') === 'layers' && this.host.get('batch') > 1) this.long.textContent += ` ${this.t('It holds the layer on the board alone; save a file to keep all of them.')}`;
    this.code.replaceChildren(code ?? make('p', {className: 'note', textContent: address.length > 2900 ? 'This link is longer than a QR code can hold. Fewer tokens or rounder numbers make it shorter.' : ''}));
    if (code) this.code.append(make('p', {className: 'note', textContent: 'Scan it with a phone to open this board there.'}));
  }

  async updateCode(isLatest) {
    this.showLocks();
    const {width, height, own} = this.asked, options = {...this.options(), width, height, state: own};
    const codes = await Promise.all(['element', 'iframe'].map((kind) => this.host.embedCode({...options, kind})));
    if (!isLatest()) return;
    ['element', 'iframe'].forEach((kind, i) => this.pre[kind].replaceChildren(...colored(codes[i])));
    this.preview(codes[0]);
  }

  /** Shows what the code gives, at 1:1 if it fits. The code is our own, and interpreted as the attributes of one element. */
  preview(code) {
    const {make} = this;
    const source = new DOMParser().parseFromString(code.replace(/ style="[^"]*">/, '>'), 'text/html').querySelector('attention-playground');
    const isNew = !this.shownBoard;
    const board = this.shownBoard ??= document.createElement('attention-playground');
    const wanted = new Map([...source.attributes].filter(({name}) => name !== 'style').map(({name, value}) => [name, value]));
    wanted.set('theme', wanted.get('theme') ?? this.node.style.colorScheme);
    wanted.set('loading', 'eager');
    for (const {name} of [...board.attributes]) if (name !== 'style' && !wanted.has(name)) board.removeAttribute(name);
    for (const [name, value] of wanted) if (board.getAttribute(name) !== value) board.setAttribute(name, value);
    if (isNew) {
      this.stage.append(make('div', {}, board));
      board.addEventListener('fit', ({detail: {height}}) => {
        this.fitted = height;
        this.arrange();
      });
    }
    this.arrange();
  }

  arrange() {
    const board = this.shownBoard, {width, fit} = this.asked, height = (fit && this.fitted) || this.asked.height;
    const room = this.stage.clientWidth || 616, by = Math.min(1, room / width, 440 / height);
    Object.assign(board.style, {width: `${width}px`, height: `${height}px`, minWidth: 0});
    board.parentNode.style.transform = `scale(${by})`;
    Object.assign(this.stage.style, {height: `${Math.round(height * by)}px`, width: by < 1 || width < room ? `${Math.round(width * by)}px` : ''});
  }
}

/** The lesson open in the Guide: {lesson, step}. */
function openLesson() {
  try {
    return JSON.parse(storage()['attention-playground']);
  } catch {
    return {};
  }
}

const listed = (words) => words.split(',').map((one) => one.trim()).filter(Boolean);

/** Opens the dialog for a board, if none is open yet. */
export function open(board) {
  board.sharing ??= new Dialog(board);
}

export function showNotices(board) {
  board.sharing ??= new Notices(board);
}
