// User input for a board: pointer, touch, keys, clipboard, text fields and files. Loaded with the rest of the module. It takes no key, no
// wheel turn and no focus that the reader did not give it.

import * as exchange from './exchange.js';
import {script} from './files.js';
import {install} from './installed.js';
import {keep} from './keep.js';
import {decimalSign, languageFor} from './language.js';
import {link} from './link.js';
import {mirror} from './mirror.js';
import {plainContext} from './plain-context.js';
import {copyReport, keepMessages, offerReport} from './report.js';
import {languageOf} from './values.js';
import {boards} from './watch.js';
import {english, message, saidBy} from './message.js';

const MODIFIER = {shift: 1, control: 2, alt: 4};
const modifiersOf = (e) => (e.shiftKey ? MODIFIER.shift : 0) | (e.ctrlKey || e.metaKey ? MODIFIER.control : 0) |
  (e.altKey ? MODIFIER.alt : 0);
const SEARCH_KEYS = /^(Arrow(Up|Down)|Page(Up|Down))$/;  // lead through what was found
const isFind = (e) => (e.ctrlKey || e.metaKey) && !e.shiftKey && !e.altKey && e.key.toLowerCase() === 'k';
const ageOf = (e) => Math.max(0, performance.now() - e.timeStamp);
const WHEEL_PER_E = 200;  // pixels of the wheel that enlarge by e
const MOVED = 0, DOWN = 1, UP = 2, LEFT = 3;
// As in src/views/finger.h: milliseconds after which a pressed finger holds, and pixels that a tapping finger may move.
const RESTS = 300, TREMBLE = 8;
// How a text field ended: app::Entry.
const COMMIT = 0, CANCEL = 1, LEAVE = 2, NEXT = 3, PREVIOUS = 4, TYPING = 5;
// Apple's decimal keyboard has no minus sign, so the ordinary keyboard is used.
const LACKS_MINUS = /^(iPhone|iPad|Mac)/.test(globalThis.navigator?.platform) && navigator.maxTouchPoints > 0;

const CHOICES = {theme: ['auto', 'light', 'dark'], wheel: ['focus', 'always', 'never'], loading: ['lazy', 'eager']};
const NO_WEBGL = {
  half: 'The graphics driver of this computer has WebGL 1 only, and not WebGL 2, so the playground draws no pictures: its board is here as tables.',
  off: 'This browser has WebGL 2 switched off or blocked, so the playground draws no pictures: its board is here as tables.',
};
const FORCED = globalThis.matchMedia?.('(forced-colors: active)');
const whenIdle = globalThis.requestIdleCallback ? (work) => requestIdleCallback(work, {timeout: 3000}) : (work) => setTimeout(work, 1000);
const DROP_TEXT = 'Drop a file with Q, K and V, or with a saved state';
const LEAST_SCALE = 0.8, MOST_SCALE = 2.5;  // limits for the scale of text
// One number a line, with decimal commas, where these are the notation: elsewhere a comma separates two numbers.
const DECIMAL_COMMAS = /^\s*[-−]?\d*,\d+(?:\s*\n\s*[-−]?\d*,\d+)*\s*$/;
// Text printed by NumPy, PyTorch or Python; anything else that is pasted is cells.
const PRINTED = /^\s*(?:[[{(]|[A-Za-z_][\w.]*\s*[=:]?\s*(?:[[{(]|[A-Za-z_][\w.]*\())/;

/** Every browser that runs the module knows WebGL 2. */
function whyNoPictures() {
  const half = document.createElement('canvas').getContext('webgl');
  half?.getExtension('WEBGL_lose_context')?.loseContext();
  return half ? NO_WEBGL.half : NO_WEBGL.off;
}

const LANGUAGE_MISSING = 'The words of this language could not be fetched: perhaps there is no connection. They are asked for again when it is back.';

/** The methods of a Playground that need the whole module. */
export class InputHandlers {
  /** Starts taking input. */
  listen() {
    boards.set(this.root.host, this);
    this.kernel = this.ask('kernel');
    keepMessages(this);
    this.listenToPointer();
    this.listenToTouch();
    this.listenToKeys();
    this.listenToClipboard();
    this.listenToFiles();
    if (this.isFocused()) this.run('focus', 1);
    this.takeColors();
    FORCED.addEventListener('change', () => this.alive && this.takeColors(), {signal: this.ends.signal});
    this.takeLooks();
    // There is no event for changed styles, except for the end of a transition.
    this.canvas.addEventListener('transitionend', () => this.alive && this.takeLooks(), {signal: this.ends.signal});
    document.fonts?.addEventListener('loadingdone', () => this.alive && this.family && this.takeLooks(true), {signal: this.ends.signal});
    // There is no event for transforms either, so it is measured when the board comes into view or under the pointer, and when the window
    // changes.
    const measure = () => this.alive && this.measure();
    const nears = new IntersectionObserver(measure);
    nears.observe(this.canvas);
    this.canvas.addEventListener('pointerenter', measure, {signal: this.ends.signal});
    addEventListener('resize', measure, {signal: this.ends.signal});
    this.ends.signal.addEventListener('abort', () => nears.disconnect());
    for (const type of ['beforeprint', 'afterprint']) addEventListener(type, () => this.print(type === 'beforeprint'), {signal: this.ends.signal});
    // The page may be translated, or change its language, while it is open.
    const words = new MutationObserver(() => this.alive && this.speak());
    for (const place of [document, this.root.host]) words.observe(place, {attributes: true, attributeFilter: ['lang'], subtree: place === document});
    this.ends.signal.addEventListener('abort', () => words.disconnect());
    if (this.isPlain) this.openMirror();
  }

  // ------------------------------------------------------------ language

  /** Adapts to the page's language: fetches its table, and redraws all text. */
  async speak() {
    const wanted = languageOf(this.root.host);
    if (wanted === (this.wanted ?? '')) return;
    this.wanted = wanted;
    const language = await languageFor(wanted);
    if (!this.alive || this.wanted !== wanted) return;
    if (language === undefined) {
      this.wanted = this.language;
      this.run('notify', LANGUAGE_MISSING, 1);
      addEventListener('online', () => this.alive && this.speak(), {once: true, signal: this.ends.signal});
      return;
    }
    if (this.language === language?.tag) return;
    this.language = language?.tag;
    this.decimal = language ? decimalSign(language.tag) : '.';
    this.table = language?.words ?? '';
    this.run('words', this.table);
    this.describe();
    if (!this.mirror) return;
    this.mirror.end();
    this.mirror = null;
    this.openMirror();
  }

  /** The translation of a text of the interface; the text itself if there is none. */
  word(words) { return this.language && words ? this.ask('word', words) : english(words); }

  describe() {
    this.canvas.setAttribute('aria-label', this.word('Attention playground'));
    this.canvas.setAttribute('aria-description', this.word('Press F10 for all controls and tables, Escape to come back, ? for the keys.'));
  }

  /** Applies the page's styles: --attention-font, --attention-size and --attention-accent. */
  takeLooks(anew = false) {
    const {fontFamily, fontSize, caretColor} = getComputedStyle(this.canvas), given = getComputedStyle(this.root.host);
    const has = (name) => given.getPropertyValue(`--attention-${name}`).trim() !== '';
    this.family = has('font') ? fontFamily : undefined;
    const scale = Math.min(Math.max(parseFloat(fontSize) / 14, LEAST_SCALE), MOST_SCALE);
    const looks = [this.family ? 1 : 0, has('size') ? scale : 1, has('accent') ? this.numberOf(caretColor) : -1];
    const said = String([looks, this.family]);
    if (!anew && said === (this.looks ?? '0,1,-1,')) return;
    this.looks = said;
    this.run('looks', ...looks);
  }

  /** Any CSS colour as 0xRRGGBB. */
  numberOf(color) {
    const pen = this.pen('', 1, 400);
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = color;
    pen.fillRect(0, 0, 1, 1);
    const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
    return red * 65536 + green * 256 + blue;
  }

  /** The board is printed in light colours, even if it is not in view. */
  print(prints) {
    const {onScreen} = this;
    Object.assign(this, {prints, onScreen: true});
    this.run('wake');
    this.draw();
    this.onScreen = onScreen;
  }

  /** With the attribute `fit`, the element gets the height that the board needs at its width; the page around an iframe is notified too. */
  fit() {
    const {host} = this.root;
    const height = host.fit ? this.run('fit', this.canvas.clientWidth) : 0;
    if (height === (this.fitted ?? 0)) return;
    this.fitted = height;
    if (!this.fitSheet) this.root.adoptedStyleSheets = [...this.root.adoptedStyleSheets, this.fitSheet = new CSSStyleSheet()];
    this.fitSheet.replaceSync(height ? `:host(:not([page])) { height: ${height}px !important; }` : '');
    if (height) this.on.event('fit', {height});
  }

  /** Applies the colours that the reader forces on all pages. */
  takeColors() {
    if (!FORCED.matches && !this.isForced) return;
    const {canvas} = this, {color} = canvas.style;
    const colors = ['Canvas', 'CanvasText', 'Highlight', 'HighlightText'].map((name) => {
      canvas.style.color = name;
      const [red, green, blue] = getComputedStyle(canvas).color.match(/[\d.]+/g);
      return red * 65536 + green * 256 + +blue;
    });
    canvas.style.color = color;
    this.run('colors', FORCED.matches ? 1 : 0, ...colors);
    this.isForced = FORCED.matches;
  }

  /** After a fault, while the board is still there. */
  report(error) { offerReport(this, error); }

  /** At any other time, by Help. */
  copyReport() { return copyReport(this); }

  /** Restores the page's own board, and saves it from now on; see web/keep.js for the result. */
  recall() {
    install(this);
    return keep(this);
  }

  // ------------------------------------------------------------ as text

  /** Shows the board as text, tables and controls, beside the canvas or in its place. */
  openMirror() {
    if (this.isWhole) this.mirror ??= mirror(this, this.isPlain);
    return this.mirror;
  }

  /** For browsers that cannot draw: the module computes, and the mirror is the board. */
  openTables() {
    this.openContext(plainContext());
    this.isPlain = true;
    this.canvas.tabIndex = -1;
    this.canvas.ariaHidden = 'true';
    Object.assign(this.canvas.style, {opacity: 0, pointerEvents: 'none'});  // it still determines whether the board is in view
    this.measure = () => {
      this.pixels = [1440, 900];  // a size with room for all parts
      this.run('resize', ...this.pixels, 1);
      this.draw();
    };
    this.whyPlain = whyNoPictures();
    this.on.event('error', {type: 'webgl', message: this.whyPlain});
  }

  /** Called after each frame. Creates the mirror when there is nothing else to do. */
  drawn() {
    this.fit();
    if (!this.alive) return;  // a listener of the page disposed of it
    if (this.mirror) this.mirror.stale();
    else if (this.isWhole) this.soon ??= whenIdle(() => this.openMirror());
  }

  // ------------------------------------------------------------ pointer

  /** The pointer in logical pixels of the canvas, also if the page scales it, possibly with different factors. */
  point(e) {
    const {left, top, width, height} = this.canvas.getBoundingClientRect(), {clientWidth, clientHeight} = this.canvas;
    return [(e.clientX - left) * (clientWidth / width || 1), (e.clientY - top) * (clientHeight / height || 1)];
  }

  pointer(what, e, clicks = 0) {
    this.run('pointer', what, ...this.point(e), e.pointerType === 'touch' ? 1 : 0, modifiersOf(e), clicks, ageOf(e));
  }

  /** Counts taps, because browsers only count clicks. */
  countTaps({timeStamp, clientX, clientY}) {
    const {last} = this;
    const goesOn = last && timeStamp - last.timeStamp < 350 && Math.hypot(clientX - last.clientX, clientY - last.clientY) < 24;
    this.last = {timeStamp, clientX, clientY, count: goesOn ? last.count + 1 : 1};
    return this.last.count;
  }

  isFocused() {
    const {activeElement} = this.root;
    return activeElement != null && (activeElement === this.canvas || activeElement === this.field);
  }

  mayScroll() { return this.on.wheelAlways() || this.isFocused(); }

  listenToPointer() {
    const {canvas, ends: {signal}} = this;
    let awaitsMouse = false;
    const listen = (type, handler) => canvas.addEventListener(type, (e) => e.isPrimary && handler(e), {signal});
    listen('pointermove', (e) => {
      if (this.tap && this.isFar(e)) clearTimeout(this.resting);
      if (e.pointerType !== 'touch' || !(this.tap || this.fingers > 1)) this.pointer(MOVED, e);
    });
    const press = (e) => {
      canvas.classList.add('pointed');  // suppresses the focus ring until a key is used
      canvas.focus({preventScroll: true});
      if (!this.alive) return;  // a listener of the page disposed of it
      // The text in the field was refused, so the press only tried to leave it, and that failed.
      if (this.field) return this.field.focus({preventScroll: true});
      awaitsMouse = e.pointerType === 'mouse';
      if (!awaitsMouse) this.pointer(DOWN, e, this.countTaps(e));
    };
    // A finger held on a board in a page is meant for the board.
    const hold = () => {
      const {tap} = this;
      this.tap = null;
      if (canvas.matches(':active')) canvas.setPointerCapture(tap.pointerId);
      press(tap);
    };
    canvas.addEventListener('contextmenu', (e) => e.pointerType === 'touch' && e.preventDefault(), {signal});
    listen('pointerdown', (e) => {
      if (e.button !== 0) return;
      this.wasFocused = this.mayScroll();
      this.began = {x: e.clientX, y: e.clientY};
      // The first touch of an embedded board may be a tap, or the beginning of scrolling the page.
      this.tap = e.pointerType === 'touch' && !this.wasFocused ? e : null;
      clearTimeout(this.resting);
      if (this.tap) return this.resting = setTimeout(() => this.tap && this.alive && hold(), RESTS);
      canvas.setPointerCapture(e.pointerId);
      press(e);
    });
    listen('pointerup', (e) => {
      const {tap} = this;
      this.tap = null;
      if (e.button !== 0 || (tap && this.isFar(e))) return;
      if (tap) press(tap);
      if (this.alive) this.pointer(UP, e);
    });
    const leave = (e) => {
      clearTimeout(this.resting);
      if (!this.tap) this.pointer(LEFT, e);
      this.tap = null;
    };
    listen('pointercancel', leave);
    listen('pointerleave', (e) => canvas.hasPointerCapture(e.pointerId) || leave(e));
    canvas.addEventListener('mousedown', (e) => {
      if (e.button !== 0) return;
      e.preventDefault();  // prevents the browser from focusing and scrolling there, and from starting a text selection
      // This event follows pointerdown, and contains the click count.
      if (awaitsMouse) this.pointer(DOWN, e, e.detail);
      awaitsMouse = false;
    }, {signal});
    const wheel = (e) => this.wheel(e);
    const listenToWheel = () => canvas.addEventListener('wheel', wheel, {signal, passive: false});
    // Attached only while it may be used, because with a listener the browser cannot scroll the page immediately.
    canvas.addEventListener('focus', listenToWheel, {signal});
    canvas.addEventListener('blur', () => this.on.wheelAlways() || canvas.removeEventListener('wheel', wheel), {signal});
    this.wheelMayHaveChanged = () => {
      if (this.mayScroll()) listenToWheel();
      else canvas.removeEventListener('wheel', wheel);
    };
    this.wheelMayHaveChanged();
  }

  /** Turned with Ctrl, which is also how browsers report a pinch on a trackpad, the wheel enlarges the focused board; turned sideways, it
   * moves the enlarged one. */
  wheel(e) {
    if (this.on.wheelNever() || !this.mayScroll()) return;
    const unit = e.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : e.deltaMode === WheelEvent.DOM_DELTA_PAGE ? this.canvas.clientHeight : 1;
    const at = this.point(e), across = e.deltaX * unit, down = e.deltaY * unit;
    const isUsed = e.ctrlKey ? this.run('pinch', ...at, Math.exp(-down / WHEEL_PER_E), 0, 0)
      : Math.abs(across) > Math.abs(down) ? this.run('pinch', ...at, 1, -across, 0) : this.run('wheel', ...at, down);
    if (isUsed) e.preventDefault();
  }

  /** The middle of two fingers, and how far apart they are. */
  spread(touches) {
    const [[x1, y1], [x2, y2]] = [this.point(touches[0]), this.point(touches[1] ?? touches[0])];
    return {x: (x1 + x2) / 2, y: (y1 + y2) / 2, far: Math.max(Math.hypot(x2 - x1, y2 - y1), 1)};
  }

  /** A vertical swipe scrolls the focused board if that can scroll, and otherwise the page (touch-action: pan-y); a finger that holds a
   * number scrolls neither. That is decided before the browser starts to scroll, at the first movement; if it were decided at the first
   * touch, a second finger could no longer zoom the page. Two fingers enlarge the focused board, elsewhere the page. */
  listenToTouch() {
    const {canvas, ends: {signal}} = this;
    const options = {signal, passive: false};
    let began = null, isOurs = false, pinched = null;
    canvas.addEventListener('touchstart', (e) => {
      this.fingers = e.touches.length;
      began = this.fingers === 1 && this.wasFocused ? this.point(e.touches[0]) : null;
      pinched = this.fingers === 2 && this.wasFocused ? this.spread(e.touches) : null;
      isOurs = false;
      if (this.fingers === 1) return;
      this.tap = null;
      clearTimeout(this.resting);
      this.run('pointer', LEFT, 0, 0, 1, 0, 0, 0);
    }, options);
    canvas.addEventListener('touchmove', (e) => {
      if (pinched && e.touches.length === 2) {
        const before = pinched, {x, y, far} = pinched = this.spread(e.touches);
        if (this.run('pinch', x, y, far / before.far, x - before.x, y - before.y)) e.preventDefault();
      }
      if (this.fingers > 1) return;
      const [, y] = this.point(e.touches[0]);
      isOurs ||= !this.tap && this.run('holds', ageOf(e)) !== 0;
      if (began && y !== began[1]) {
        isOurs ||= this.run('scrolls', ...began, began[1] - y) !== 0;
        began = null;
      }
      if (isOurs && e.cancelable) e.preventDefault();
    }, options);
  }

  isFar({clientX, clientY}) { return Math.hypot(clientX - this.began.x, clientY - this.began.y) > TREMBLE; }

  // ------------------------------------------------------------ keys and clipboard

  listenToKeys() {
    const {canvas, ends: {signal}} = this;
    const held = new Map();
    canvas.addEventListener('keydown', (e) => {
      canvas.classList.remove('pointed');
      const isClipboard = (e.ctrlKey || e.metaKey) && /^[cxv]$/i.test(e.key);
      if (e.isComposing || e.key === 'Tab' || isClipboard) return;
      if (e.key === 'F10' && !modifiersOf(e)) {
        e.preventDefault();
        return this.openMirror()?.begin();
      }
      const repeats = e.repeat && e.key.length > 1 && held.has(e.code);  // arrow keys and others are repeated by Dear ImGui
      if (!repeats && !this.run('key', 1, e.key, modifiersOf(e))) return;
      held.set(e.code, e.key);
      e.preventDefault();
      e.stopPropagation();
    }, {signal});
    // On a page of its own also while nothing has the focus; in another page these keys are the host's.
    document.addEventListener('keydown', (e) => {
      const isIdle = this.root.host.getAttribute('page') === '' && document.activeElement === document.body;
      const isOurs = isFind(e) || (/^\S$/u.test(e.key) && !(modifiersOf(e) & ~MODIFIER.shift));
      if (!isOurs || !isIdle || e.isComposing || e.defaultPrevented) return;
      e.preventDefault();
      canvas.focus({preventScroll: true});
      for (const down of [1, 0]) this.run('key', down, e.key, modifiersOf(e));
    }, {signal});
    canvas.setAttribute('aria-keyshortcuts', 'F10 Control+K');
    this.describe();
    canvas.addEventListener('keyup', (e) => {
      const key = held.get(e.code);  // as it was pressed: Shift may have been released since
      if (held.delete(e.code)) this.run('key', 0, key, modifiersOf(e));
    }, {signal});
    // A field whose text was refused is still open, and gets the focus.
    canvas.addEventListener('focus', () => this.field?.focus({preventScroll: true}), {signal});
    // A text field that opens takes the focus while C++ is on the stack, which is notified afterwards.
    const tell = (focused) => this.alive && this.run('focus', focused);
    const tellLater = (focused) => this.depth > 0 ? queueMicrotask(() => tell(focused)) : tell(focused);
    canvas.addEventListener('focus', () => tellLater(1), {signal});
    canvas.addEventListener('blur', () => tellLater(0), {signal});
  }

  /** Firefox and Safari send these events to the page's body, or to the element, when the canvas has the focus. */
  listenToClipboard() {
    const {canvas, ends: {signal}} = this;
    let last;  // an event may pass the canvas and the document
    const listen = (type, handler) => {
      const take = (e) => {
        const isOurs = e.composedPath()[0] === canvas || (e.isTrusted && this.root.activeElement === canvas);
        if (!isOurs || e === last || e.defaultPrevented) return;
        last = e;
        handler(e);
      };
      for (const place of [canvas, document]) place.addEventListener(type, take, {signal});
    };
    const copy = (e) => {
      const text = this.call('copy', [], (some) => some && this.reply());
      if (!text) return;
      e.clipboardData.setData('text/plain', text);
      e.preventDefault();
      if (e.type === 'cut') this.run('clear_cells');
    };
    listen('copy', copy);
    listen('cut', copy);
    // Nothing on the page is selected, so the browser first asks whether there is something to cut or copy.
    const yes = (e) => e.preventDefault();
    listen('beforecopy', yes);
    listen('beforecut', yes);
    listen('paste', (e) => {
      const {clipboardData} = e, text = clipboardData.getData('text/plain');
      // A copied file comes with its name as text, and copied cells of some spreadsheets with a picture of them as a file.
      const files = [...clipboardData.files].filter(({name}) => !text || exchange.formatOf(this, name));
      if (!text && !files.length) return;
      e.preventDefault();
      if (files.length) this.openFiles(files);
      else if (!this.fits(text, 'The clipboard')) return;
      else if (PRINTED.test(text)) exchange.paste(this, text);
      else this.run('paste', this.decimal === ',' && DECIMAL_COMMAS.test(text) ? text.replaceAll(',', '.') : text);  // the board shows any error itself
    });
  }

  /** Copies text for a button: by a copy event of our own, which needs no permission, or by the clipboard API if that fails. Returns
   * whether it was copied. */
  async copy(text) {
    const set = (e) => {
      e.clipboardData.setData('text/plain', text);
      e.preventDefault();
      e.stopImmediatePropagation();
    };
    document.addEventListener('copy', set, {capture: true});
    const done = document.execCommand('copy');
    document.removeEventListener('copy', set, {capture: true});
    if (done) return true;
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch (error) {
      this.tell(message`The browser did not let the text be copied: ${error.message}`);
      return false;
    }
  }

  // ------------------------------------------------------------ typing

  /** A native text field in front of the cell, so that phone keyboards, input methods, the clipboard and the browser's undo work in it. */
  beginText({x, y, width, height, zoom, text, name, numeric, centered, selectAll, dark, isCell, wrong, searches}) {
    this.closeField();
    this.searchedFrom = searches && this.mirror?.isIn ? this.mirror : null;
    const field = this.field = document.createElement('input');
    field.type = 'text';
    field.value = text;
    field.inputMode = numeric && !LACKS_MINUS ? 'decimal' : 'text';
    field.autocomplete = 'off';
    field.spellcheck = false;
    field.setAttribute('autocapitalize', 'off');
    field.setAttribute('enterkeyhint', 'done');
    field.setAttribute('aria-label', this.word(name));
    if (searches) {
      field.inputMode = 'search';
      field.placeholder = this.word(name);
      field.style.setProperty('--size', `${searches}px`);
      field.addEventListener('input', () => this.field === field && this.run('end_text', TYPING, this.fits(field.value, 'What was typed') ? field.value : ''));
    }
    field.dir = numeric ? 'ltr' : 'auto';  // regardless of the direction of the page
    field.className = `${numeric ? 'number' : ''} ${centered ? 'centered' : ''} ${searches ? 'search' : ''} ${dark ? 'dark' : 'light'}`;
    if (wrong) {
      field.setAttribute('aria-invalid', 'true');
      field.title = this.word(wrong);
    }
    Object.assign(field.style, {left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px`});
    field.style.setProperty('--zoom', zoom);
    this.root.append(field);
    // A field that is shown again after the reader has left the board does not take the focus back.
    if (!this.isLeft) field.focus({preventScroll: true});
    if (selectAll) field.select();
    else field.setSelectionRange(text.length, text.length);
    field.addEventListener('keydown', (e) => this.keyInField(e, isCell, searches));
    field.addEventListener('blur', (e) => {
      if (this.field !== field) return;
      // In the tables, what a search has found is read and pressed while its field stays.
      if (searches && e.relatedTarget !== this.canvas && this.root.contains(e.relatedTarget)) return;
      this.isLeft = e.relatedTarget !== this.canvas;
      this.endText(LEAVE);
      this.isLeft = false;
    });
    // Native events of this field would leave the element and look like its own.
    for (const type of ['keyup', 'keypress', 'beforeinput', 'input', 'change', 'copy', 'cut', 'paste']) {
      field.addEventListener(type, (e) => e.stopPropagation());
    }
  }

  keyInField(e, isCell, searches) {
    if (e.isComposing) return;
    if (searches && (SEARCH_KEYS.test(e.key) || isFind(e))) {
      e.preventDefault();
      for (const down of isFind(e) ? [] : [1, 0]) this.run('key', down, e.key, 0);
    }
    const tabs = isCell && e.key === 'Tab';
    if (e.key !== 'Tab') e.stopPropagation();
    if (!tabs && e.key !== 'Enter' && e.key !== 'Escape') return;
    if (!tabs) e.preventDefault();
    this.endText(tabs ? e.shiftKey ? PREVIOUS : NEXT : e.key === 'Enter' ? COMMIT : CANCEL);
    if (!this.field && this.searchedFrom && e.key === 'Escape') this.searchedFrom.back();
    else if (!this.field) this.canvas.focus({preventScroll: true});  // from where Tab leaves the board
    else if (tabs) e.preventDefault(), e.stopPropagation();
  }

  /** When this returns, refused text is in a new field, and so is the next cell. */
  endText(how) {
    const {field} = this;
    this.field = null;
    if (field && this.alive) this.run('end_text', how, this.fits(field.value, 'What was typed') ? field.value : '');
    field?.remove();
  }

  dropText() {
    const hadFocus = this.field && this.root.activeElement === this.field;
    this.closeField();
    if (hadFocus) this.canvas.focus({preventScroll: true});
  }

  /** Removing a focused field blurs it, so it is unset first. */
  closeField() {
    const {field} = this;
    this.field = null;
    field?.remove();
  }

  // ------------------------------------------------------------ files

  /** Reports misspelt names in an attribute in the console, once. */
  checkNames(attribute, list) {
    const said = this.said ??= new Set(), choices = CHOICES[attribute];
    let sentences = [];
    if (choices) sentences = choices.includes(list) ? [] : [`${attribute}: there is no "${list.slice(0, 99)}"; use ${choices.join(', ')}.`];
    else this.answer('misspelt', [attribute, list], (reply) => sentences = reply.split('\n').filter(Boolean));
    for (const sentence of sentences) {
      if (!said.has(sentence)) console.warn(`<attention-playground> ${sentence}`);
      said.add(sentence);
    }
  }

  listenToFiles() {
    const {root: {host}, ends: {signal}} = this;
    const drop = this.root.appendChild(document.createElement('div'));
    drop.className = 'message drop';
    drop.hidden = true;
    signal.addEventListener('abort', () => drop.remove());
    const hasFiles = (e) => e.dataTransfer?.types.includes('Files');
    const over = (shown) => (e) => {
      if (!hasFiles(e)) return;
      e.preventDefault();
      e.dataTransfer.dropEffect = 'copy';
      drop.textContent = `${this.word(DROP_TEXT)} (${this.endings().join(', ')})`;
      drop.hidden = !shown;
    };
    host.addEventListener('dragenter', over(true), {signal});
    host.addEventListener('dragover', over(true), {signal});
    host.addEventListener('dragleave', over(false), {signal});
    host.addEventListener('drop', (e) => {
      over(false)(e);
      if (hasFiles(e)) this.openFiles(e.dataTransfer.files);
    }, {signal});
  }

  /** Opens the dialog with links to the board and code that embeds it. */
  async share() {
    const dialog = await script('dialog.js', () => import('./dialog.js')).catch(() => null);
    if (!this.alive) return;
    if (dialog) return dialog.open(this);
    const address = await link(this.root.host, this.ask('state')).catch(() => null);  // it may not be known where the pages are
    if (!this.alive) return;
    if (address === null) return this.say('The dialog could not be fetched: perhaps there is no connection. Please try again.');
    if (await this.copy(address)) this.say('The dialog could not be fetched: perhaps there is no connection. A link to this board is on the clipboard; press Share to try again.');
  }

  /** Shows the notices of what others made in the playground. */
  async showNotices() {
    const dialog = await script('dialog.js', () => import('./dialog.js')).catch(() => null);
    if (!this.alive) return;
    if (dialog) dialog.showNotices(this);
    else this.run('notify', 'The licences could not be fetched: perhaps there is no connection. Please try again.', 0);
  }

  endings() { return [...exchange.formats(this).keys()].map((name) => `.${name}`); }

  pickFile() {
    const chooser = document.createElement('input');
    chooser.type = 'file';
    chooser.accept = this.endings().join();
    chooser.addEventListener('change', () => this.openFiles(chooser.files), {once: true});
    chooser.click();
  }

  /** Saves a file. For a state `bytes` is its content; for other names all tensors are written, or for a table the one that it is named
   * after. `asks`: lets the user choose the place if the browser supports it; later saves without asking go there. */
  async saveFile(name, bytes, asks) {
    const isState = name.endsWith('.json');
    try {
      if (asks && globalThis.showSaveFilePicker) {
        const types = [...exchange.formats(this)].map(([ending, {type}]) => ({accept: {[type]: [`.${ending}`]}}));
        const handle = await showSaveFilePicker({suggestedName: name, types});
        if (handle.name.endsWith('.json')) this.savesTo = handle;
        return await this.saveTo(handle, bytes);
      }
      if (isState && this.savesTo) return await this.saveTo(this.savesTo, bytes);
      const {type, isOne} = exchange.formatOf(this, name);
      const blob = isState ? new Blob([bytes], {type}) : await exchange.write(this, name, isOne ? name.replace(/\.\w+$/, '') : '');
      const link = document.createElement('a');
      link.href = URL.createObjectURL(blob);
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
      return this.say(`Saved with your downloads as ${name}.`);
    } catch (error) {
      return error.name !== 'AbortError' && this.tell(message`${name} could not be saved: ${saidBy(error)}`);
    }
  }

  /** Written completely or not at all: the browser replaces the file when the stream is closed. */
  async saveTo(handle, bytes) {
    const {name} = handle;
    const content = /\.json$/i.test(name) ? bytes : await exchange.write(this, name, exchange.formatOf(this, name)?.isOne ? 'weights' : '');
    const file = await handle.createWritable();
    await file.write(content);
    await file.close();
    return this.say(`Saved to ${name}.`);
  }

  say(sentence) { return this.alive && this.run('notify', sentence, 0); }
  choose(choices) { exchange.choose(this, choices); }

  async openFiles(files) {
    if (files.length === 0) return;
    if (files.length > 1) return this.tell('Drop one file at a time: a state, or one with all tensors, such as an .npz.');
    await exchange.open(this, files[0], files[0].name.slice(0, 200));
  }

  /** For src="…". */
  openSource(address) { return exchange.fetchFile(this, address); }
}
