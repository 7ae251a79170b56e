// One playground on one canvas: passes the browser's events to the WebAssembly module, and does here what the module asks for. It takes no
// key, no wheel turn and no focus that the reader did not give it. It holds no state of the playground.

import {DISPOSED} from './values.js';
import {english, failure, message, saidBy} from './message.js';

// In the order of ImGuiMouseCursor_, which starts at -1 with "none".
const CURSORS = ['none', 'default', 'text', 'move', 'ns-resize', 'ew-resize', 'nesw-resize', 'nwse-resize', 'pointer', 'not-allowed'];
const ERRORS = {type: TypeError, syntax: SyntaxError};
// The first letter is one of a right-to-left script (Hebrew, Arabic …).
const RIGHT_TO_LEFT = /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
// Calls that neither draw nor take input: they do not request a new context if the context was lost.
const KEEPS_CONTEXT = /^(context|wake|resize|notify|embed|focus|frames|max)/;
const UTF8 = new TextEncoder();
const MOST_NESTED = 10;  // limit for listeners that call back, whose listeners call back …; twice as many would overflow the stack
const DARK = globalThis.matchMedia?.('(prefers-color-scheme: dark)');
const MOST_ENLARGED = 4;

/** Browser storage, for progress in lessons and whether the Guide was closed; with 'session', that of the tab. Null if it is disabled. */
export function storage(kind = 'local') {
  try {
    return globalThis[`${kind}Storage`];
  } catch {
    return null;
  }
}
const REMEMBERED = 'attention-playground';

/** An error that ends the playground; `type` is that of the error event. */
export class Failure extends Error {
  constructor(type, message) {
    super(message);
    this.type = type;
  }
}

const MORE = 1, DRAWN = 2, TRAINS = 4, COMPUTES = 8, LATER = 16;  // flags returned for a frame; from LATER on, the milliseconds until it wants to be woken
const CONTEXT = {alpha: false, depth: false, stencil: false, antialias: false, powerPreference: 'low-power'};

const inPage = () => document.createElement('canvas').getContext('webgl2', CONTEXT);
const apart = () => globalThis.OffscreenCanvas && new OffscreenCanvas(1, 1).getContext('webgl2', CONTEXT);

/** Assigning a canvas the size that it has would clear it too, and a frame that looks like the last one is not drawn again. */
function setSize(canvas, width, height) {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}

/** The one graphics context with which all boards of a page draw, one after the other; each shows a copy. A browser allows about 16
 * contexts per page, and drops the least recently used ones. */
const graphics = {
  boards: new Set(),
  gl: null,

  /** The context, created again if it was lost; null if the browser does not provide one. */
  context() {
    if (this.gl && !this.gl.isContextLost()) return this.gl;
    const gl = this.make ? this.make() : this.choose();
    if (!gl || gl.isContextLost()) return null;
    const {gl: before} = this, {canvas} = gl;
    this.gl = gl;
    // The content of all boards was lost with the context, even if the browser still shows it, so each is drawn again.
    if (before) this.boards.forEach((board) => board.contextLost());
    const listen = (type, method) => canvas.addEventListener(type, (e) => {
      e.preventDefault();
      if (gl === this.gl) this.boards.forEach((board) => board[method]());
    });
    listen('webglcontextlost', 'contextLost');
    listen('webglcontextrestored', 'contextRestored');
    return gl;
  },

  /** Safari gives WebGL 2 only to canvases of a document; and where it was disabled by the user or an administrator, Chromium reports that only
   * for these. */
  choose() {
    const probe = inPage(), gl = probe && apart();
    if (gl) probe.getExtension('WEBGL_lose_context')?.loseContext();
    if (probe) this.make = gl ? apart : inPage;
    return gl ?? probe;
  },

  /** Copies what was drawn to a board, by transferring the bitmap if the browser supports that. */
  present(shown) {
    const {canvas} = this.gl;
    if (shown?.transferFromImageBitmap) shown.transferFromImageBitmap(canvas.transferToImageBitmap());
    else shown?.drawImage(canvas, 0, 0);
  },

  /** Removes a board; the context is released with the last one. */
  leave(board) {
    if (!this.boards.delete(board) || this.boards.size) return;
    this.gl?.getExtension('WEBGL_lose_context')?.loseContext();
    this.gl = null;
  },
};

export class Playground {
  /**
   * @param root where the canvas and its text field are put
   * @param label of the canvas, for assistive technology
   * @param on {event(type, detail), crash(error), contextLost(), wheelAlways(): boolean, wheelNever(): boolean, toggleFullscreen()}
   */
  constructor(root, label, on) {
    this.on = on;
    this.root = root;
    this.canvas = root.appendChild(document.createElement('canvas'));
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'application');
    this.canvas.setAttribute('aria-label', label);
    this.canvas.style.visibility = 'hidden';  // until something has been drawn
    this.ends = new AbortController();
    this.events = [];
    this.depth = this.nested = 0;
    this.pixels = [0, 0];
    this.onScreen = true;
  }

  /** False if WebGL2 is not available. Called before loading, so that the graphics process starts in parallel. */
  openContext(gl = graphics.context()) {
    if (!gl) return false;
    graphics.gl = gl;
    graphics.boards.add(this);
    this.shown = gl.isPlain ? null : this.canvas.getContext(gl.canvas.transferToImageBitmap ? 'bitmaprenderer' : '2d', {alpha: false});
    return true;
  }

  /** Starts an instance in this canvas. `create` is the factory of the module's first part. Without `rest` it can only draw the initial
   * board: a call that needs more has no effect, nor has any call after it. */
  async start(create, module, rest) {
    let first;
    const wasm = await new Promise((resolve, reject) => create({
      host: this,
      instantiateWasm(imports, done) {
        WebAssembly.instantiate(module, imports).then((instance) => done(first = instance, module)).catch(reject);
        return {};
      },
    }).then(resolve, reject));
    if (rest) await WebAssembly.instantiate(rest, {first: first.exports});
    if (this.ends.signal.aborted) return;
    const gl = graphics.context();  // notifies running boards if the context is a new one
    if (!gl) throw new Failure('webgl', 'The graphics context is gone.');
    Object.assign(this, {wasm, first, isWhole: rest != null, lacks: false});
    this.adopt(gl);
    if (!this.run('start', this.isFirst ? 1 : 0) && !this.lacks && !gl.isContextLost()) throw new Failure('webgl', `The graphics driver refused the playground's drawing program: ${this.reply()}`);
    this.maxText = this.run('max_text');
  }

  adopt(gl) {
    const {GL} = this.wasm;
    Object.assign(this, {gl, isLost: false});
    GL.makeContextCurrent(GL.registerContext(gl, {majorVersion: 2, enableExtensionsByDefault: false}));
  }

  /** Adds the rest of the module, or starts again with all parts if the running instance cannot be continued. Returns whether it started
   * again. */
  async complete(create, module, rest) {
    this.modules = [module, rest];
    const anew = !this.wasm || this.lacks;
    if (anew) await this.start(create, module, rest);
    else await WebAssembly.instantiate(rest, {first: this.first.exports});
    this.isWhole = this.alive;
    return anew;
  }

  /** Starts drawing. The first frame is drawn before this returns, if the canvas has a size. */
  show() {
    if (!this.sizes) this.listenToSurroundings();
    this.pixels = [0, 0];
    this.measure();
    this.canvas.style.visibility = this.lacks ? 'hidden' : '';
  }

  dispose() {
    this.ends.abort();
    this.events.length = 0;
    cancelAnimationFrame(this.scheduled);
    this.sizes?.disconnect();
    this.visibility?.disconnect();
    this.closeField?.();
    this.canvas.remove();
    this.freeGraphics();
    graphics.leave(this);
    this.gl = this.wasm = null;
    this.isWhole = false;
  }

  /** Frees this board's objects in the context, which other boards continue to use. */
  freeGraphics() {
    const {gl, wasm} = this;
    for (const [kind, list] of Object.entries({Texture: 'textures', Buffer: 'buffers', VertexArray: 'vaos', Program: 'programs'})) {
      wasm?.GL[list].forEach((one) => one && gl?.[`delete${kind}`](one));
    }
  }

  /** The number of graphics contexts held by all boards of this page. */
  get contexts() { return graphics.gl && !graphics.gl.isContextLost() ? 1 : 0; }

  get alive() { return this.wasm != null && !this.ends.signal.aborted; }

  // ------------------------------------------------------------ calls

  /** Calls playground_<name>; texts are converted to UTF-8 for the duration of the call. Events caused by the call are sent after it, and
   * after `read` has read results from memory, because their listeners may make calls or dispose of the playground. */
  call(name, values, read = (result) => result) {
    const {wasm} = this, texts = [];
    if (!wasm || this.lacks) return undefined;
    if (this.isLost && !KEEPS_CONTEXT.test(name)) this.hasContext();  // otherwise input would wait for a context
    if (this.nested > MOST_NESTED) throw new RangeError('Listeners of this playground change it, and so call each other, without end.');
    this.depth++;
    try {
      const passed = values.map((value) => {
        if (typeof value !== 'string') return value;
        texts.push(this.encode(value));
        return texts.at(-1);
      });
      return read(wasm[`_playground_${name}`](...passed));
    } catch (error) {
      const isFault = error instanceof WebAssembly.RuntimeError;
      this.lacks = isFault && !this.isWhole;
      if (this.lacks) return undefined;  // it called a function of the rest
      if (isFault) this.on.crash(error);
      throw error;
    } finally {
      this.depth--;
      if (!this.lacks) texts.forEach((text) => wasm._free(text));
      this.sendEvents();
    }
  }

  run(name, ...values) { return this.call(name, values); }

  /** A text of n characters has at least n bytes. NUL, which would terminate the C string, is replaced by another character that is equally
   * invalid. */
  encode(text) {
    const {wasm} = this, tooLong = () => new RangeError(`A text of ${text.length} characters is too long; the playground takes less than 166 MB.`);
    if (text.length > this.maxText) throw tooLong();
    const bytes = UTF8.encode(text.replaceAll('\0', '\x01'));
    const address = wasm._malloc(bytes.length + 1);
    if (!address) throw tooLong();
    wasm.HEAPU8.set(bytes, address);
    wasm.HEAPU8[address + bytes.length] = 0;
    return address;
  }

  /** Is this text from outside short enough to be processed? If not, the board reports it. */
  fits(text, what, most = this.maxText) {
    const does = !(text?.length > most);
    if (!does) this.tell(message`${what} is too long: it has ${text.length} characters, and the playground reads up to ${most}.`);
    return does;
  }

  reply() { return this.wasm.UTF8ToString(this.wasm._playground_reply()); }

  /** Like call(), for calls that can fail: returns what `read` makes of the reply, or throws a typed error that names the field. */
  answer(name, values, read) {
    const answer = this.call(name, values, (done) => {
      const reply = this.reply();
      return done ? {value: read(reply)} : JSON.parse(reply);
    });
    if (!answer) throw new Error(DISPOSED);
    if ('value' in answer) return answer.value;
    throw failure(ERRORS[answer.kind] ?? RangeError, answer.said, {field: answer.field});
  }

  ask(name, ...values) { return this.answer(name, values, (reply) => reply); }

  /** Calls listeners while no C++ is on the stack, so that they may call back, or throw. What a listener's own call causes is sent at once;
   * what was waiting before it is not, or other listeners would hear the later event first. */
  sendEvents() {
    if (this.depth > 0) return;
    const due = this.events.splice(0);
    this.nested++;
    try {
      while (due.length && !this.ends.signal.aborted) due.shift()();
    } finally {
      this.nested--;
      this.events.unshift(...due);
    }
  }

  /** Defers a method that runs code of the page, as focus, click and copy do. */
  later(method, ...values) { this.events.push(() => this[method](...values)); }

  // ------------------------------------------------------------ frames

  requestFrame() {
    if (this.scheduled || !this.isVisible()) return;
    this.scheduled = requestAnimationFrame(() => {
      this.scheduled = 0;
      this.draw();
    });
  }

  isVisible() { return this.alive && this.onScreen && !document.hidden && this.pixels[0] > 0; }

  /** Draws a frame. Without a context the picture stays as it is, and is drawn again at the next change, or when the context returns. */
  draw() {
    if (!this.isVisible() || !this.hasContext()) return;
    const [width, height] = this.pixels, {canvas} = this.gl;
    this.isDark = getComputedStyle(this.canvas).columnRuleColor === 'rgb(0, 0, 0)';
    setSize(canvas, width, height);
    const said = this.call('frame', [], (bits) => {
      if (bits & DRAWN) graphics.present(this.shown);
      return bits;
    });
    if (said & MORE) this.requestFrame();
    clearTimeout(this.works);
    if (said & (TRAINS | COMPUTES)) this.works = setTimeout(() => this.workOn(), said & COMPUTES ? 0 : 12);
    clearTimeout(this.wakes);
    if (said >= LATER) this.wakes = setTimeout(() => this.isVisible() && this.run('wake'), Math.floor(said / LATER));
    this.drawn?.();
  }

  /** Until the next frame computes heads, or trains if that is late, in time slices that leave room for input. One follows the other by a
   * message, because browsers let 4 ms pass between timers. */
  workOn() {
    if (!this.scheduled || !this.run('work_on')) return;
    const {port1, port2} = this.works = new MessageChannel();
    port1.onmessage = () => this.works.port1 === port1 && this.workOn();  // else a frame came in between
    port2.postMessage(0);
  }

  /** Recreates all objects if the context is a different one from last time, or has returned. */
  hasContext() {
    const gl = graphics.context();
    if (!gl || (gl === this.gl && !this.isLost)) return gl;
    this.contextLost();  // the event may still be pending
    if (!this.alive) return null;
    this.adopt(gl);
    return this.run('context_restored');
  }

  /** With the context the browser may also drop the canvas's content. */
  contextLost() {
    if (this.isLost) return;
    this.isLost = true;
    this.run('context_lost');
    this.requestFrame();
    this.on.contextLost();
  }

  contextRestored() { this.draw(); }

  /** Sets the canvas to the size of its box in device pixels. If the page scales it by a transform or zoom, uses the number of pixels that it
   * is shown with, with one ratio for both directions. */
  measure(entry = this.entry) {
    const {canvas} = this, seen = canvas.getBoundingClientRect();
    const larger = Math.max(seen.width / canvas.clientWidth || 1, seen.height / canvas.clientHeight || 1);
    const ratio = (devicePixelRatio || 1) * (larger > 1.02 ? Math.min(larger, MOST_ENLARGED) : 1);
    const box = entry?.devicePixelContentBoxSize?.[0];
    // The reported box includes the browser's rounding, but is wrong for an emulated device's pixel ratio.
    const exact = (size, reported) => Math.abs(reported - size * ratio) < 2 ? reported : Math.round(size * ratio);
    const width = exact(canvas.clientWidth, box?.inlineSize), height = exact(canvas.clientHeight, box?.blockSize);
    if (width === this.pixels[0] && height === this.pixels[1] && ratio === this.ratio) return;
    this.ratio = ratio;
    this.resize(width, height, ratio);
  }

  /** Draws immediately, because a new size has cleared the canvas. */
  resize(width, height, ratio) {
    this.pixels = [width, height];
    if (!width || !height) return;
    setSize(this.canvas, width, height);
    this.run('resize', width, height, ratio);
    this.draw();
  }

  listenToSurroundings() {
    const {signal} = this.ends;
    const look = () => this.alive && this.run('wake');
    this.sizes = new ResizeObserver(([entry]) => this.alive && this.measure(this.entry = entry));
    try {
      this.sizes.observe(this.canvas, {box: 'device-pixel-content-box'});
    } catch {
      this.sizes.observe(this.canvas);
      this.listenToRatio();
    }
    this.visibility = new IntersectionObserver((entries) => {
      this.onScreen = entries.at(-1).isIntersecting;
      look();
    });
    this.visibility.observe(this.canvas);
    document.addEventListener('visibilitychange', look, {signal});
    DARK.addEventListener('change', look, {signal});
    this.canvas.addEventListener('transitionend', look, {signal});  // for example of the colour scheme
  }

  /** For browsers that do not report device-pixel boxes: a media query for the present ratio changes only once, so it is created again each
   * time. */
  listenToRatio() {
    matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener('change', () => {
      this.measure();
      this.listenToRatio();
    }, {once: true, signal: this.ends.signal});
  }

  // ------------------------------------------------------------ messages

  /** Applies what the page's author specified in an attribute; if that fails, the board shows why. */
  attempt(name, ...values) {
    try {
      this.ask(name, ...values);
    } catch (error) {
      this.tell(saidBy(error));
    }
  }

  /** Shows a message on the page, and sends it to the page's scripts. */
  tell(words, type = 'state') {
    if (!this.alive || this.nested > MOST_NESTED) return;
    this.emit('error', JSON.stringify({type, message: english(words)}));
    this.run('notify', words, 1);
  }

  wantLesson(id, step) { this.on.lesson(id, step); }
  wantLessons() { this.on.lessons(); }
  wantLessonTexts() { this.on.lessonTexts(); }
  wantGlossary() { this.on.glossary(); }
  remembered() { return this.encode(storage()?.[REMEMBERED] ?? ''); }
  remember(text) {
    try {
      localStorage[REMEMBERED] = text;
      return 1;
    } catch {
      return 0;  // full, or disabled
    }
  }

  // ------------------------------------------------------------ text in any script

  /** A canvas context for shaping and drawing a line of text, with the fonts of the reader's system. */
  pen(text, size, weight) {
    const pen = this.drawsText ??= document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    pen.font = `${weight} ${size}px ${this.family ?? 'system-ui,sans-serif'}`;
    pen.direction = RIGHT_TO_LEFT.test(text) ? 'rtl' : 'ltr';
    pen.textAlign = 'left';
    return pen;
  }

  widthOf(text, size, weight) { return this.pen(text, size, weight).measureText(text).width; }

  /** Rasterises a line on a transparent background: {data, box: [left, top, width, height]}, relative to the pen's start. */
  rasterise(text, size, weight, color) {
    const {canvas} = this.pen(text, size, weight);
    const extent = this.drawsText.measureText(text);
    const [left, top, right, bottom] = ['Left', 'Ascent', 'Right', 'Descent'].map((side) => Math.ceil(extent[`actualBoundingBox${side}`]) + 1);
    const width = canvas.width = Math.min(left + right, 4096), height = canvas.height = top + bottom;
    const pen = this.pen(text, size, weight);  // resizing the canvas has reset it
    pen.fillStyle = `#${color.toString(16).padStart(6, 0)}`;
    pen.fillText(text, left, top);
    return {data: pen.getImageData(0, 0, width, height).data, box: [left, top, width, height]};
  }

  // ------------------------------------------------------------ other requests of the module

  setCursor(cursor) { this.canvas.style.cursor = CURSORS[cursor + 1] ?? 'default'; }

  isCoarse() { return matchMedia('(pointer: coarse)').matches; }
  prefersStillness() { return matchMedia('(prefers-reduced-motion: reduce)').matches; }
  /** The page's colour scheme: 1 for dark; −1 for printing, which is always light. */
  prefersDark() { return this.prints ? -1 : this.isDark ? 1 : 0; }

  toggleFullscreen() { this.on.toggleFullscreen(); }

  emit(type, detail) { this.events.push(() => this.on.event(type, JSON.parse(detail || '{}'))); }
}
