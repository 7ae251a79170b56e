// One playground on one canvas: what the browser says goes into the wasm module, what the module asks is done here.
// It takes no key, no wheel turn and no focus that the reader did not give it. No state of the playground lives here.

import {DISPOSED} from './values.js';

// In the order of ImGuiMouseCursor_, which begins at -1 with "none".
const CURSORS = ['none', 'default', 'text', 'move', 'ns-resize', 'ew-resize', 'nesw-resize', 'nwse-resize', 'pointer', 'not-allowed'];
const ERRORS = {type: TypeError, syntax: SyntaxError};
// The first letter that has a direction is Hebrew, Arabic or another of that family.
const RIGHT_TO_LEFT = /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
// Calls that neither draw nor take input: for them no context is asked for when it was taken away.
const KEEPS_CONTEXT = /^(context|wake|resize|notify|embed|focus|frames|max)/;
const UTF8 = new TextEncoder();
const MOST_NESTED = 10;  // listeners that call back, whose listeners call back …; twice that fill the stack
const DARK = globalThis.matchMedia?.('(prefers-color-scheme: dark)');
const MOST_ENLARGED = 4;

/** In the browser's storage: what was passed in lessons, and whether the Guide was closed; by tab, in `session`. Null where it is switched off. */
export function storage(kind = 'local') {
  try {
    return globalThis[`${kind}Storage`];
  } catch {
    return null;
  }
}
const REMEMBERED = 'attention-playground';

/** An error that ends the playground, with the `type` of the error event. */
export class Failure extends Error {
  constructor(type, message) {
    super(message);
    this.type = type;
  }
}

const MORE = 1, DRAWN = 2, TRAINS = 4;  // what a frame says
const CONTEXT = {alpha: false, depth: false, stencil: false, antialias: false, powerPreference: 'low-power'};

/** Where a reader or an administrator switched WebGL off, Chromium says so only of canvases in the page. */
function isAllowed() {
  const gl = document.createElement('canvas').getContext('webgl2', CONTEXT);
  gl?.getExtension('WEBGL_lose_context')?.loseContext();
  return gl !== null;
}

/**
 * The one graphics context that all boards of a page draw with, one after the other; each shows a copy. A browser gives a page
 * about 16 of them, for all that it holds, and takes away those that were not used for longest.
 */
const graphics = {
  boards: new Set(),
  gl: null,

  /** The context, made anew where it was taken away; null where the browser gives none. */
  context() {
    if (this.gl && !this.gl.isContextLost()) return this.gl;
    if (!(this.isAllowed ??= isAllowed())) return null;
    const canvas = globalThis.OffscreenCanvas ? new OffscreenCanvas(1, 1) : document.createElement('canvas');
    const gl = canvas.getContext('webgl2', CONTEXT);
    if (!gl || gl.isContextLost()) return null;
    const before = this.gl;
    this.gl = gl;
    // With the lost one went what the boards show, though a browser may go on showing it: each is drawn again.
    if (before) this.boards.forEach((board) => board.contextLost());
    const listen = (type, method) => canvas.addEventListener(type, (e) => {
      e.preventDefault();
      if (gl === this.gl) this.boards.forEach((board) => board[method]());
    });
    listen('webglcontextlost', 'contextLost');
    listen('webglcontextrestored', 'contextRestored');
    return gl;
  },

  /** Copies what was drawn: without a copy where the browser can hand the picture over. */
  present(shown) {
    const {canvas} = this.gl;
    if (shown?.transferFromImageBitmap) shown.transferFromImageBitmap(canvas.transferToImageBitmap());
    else shown?.drawImage(canvas, 0, 0);
  },

  /** With the last board the context goes too. */
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
    this.canvas.style.visibility = 'hidden';  // until something is drawn
    this.ends = new AbortController();
    this.events = [];
    this.depth = this.nested = 0;
    this.pixels = [0, 0];
    this.onScreen = true;
  }

  /** False where WebGL2 is off. Before loading, so that the graphics process starts meanwhile. */
  openContext(gl = graphics.context()) {
    if (!gl) return false;
    graphics.gl = gl;
    graphics.boards.add(this);
    this.shown = gl.isPlain ? null : this.canvas.getContext(gl.canvas.transferToImageBitmap ? 'bitmaprenderer' : '2d', {alpha: false});
    return true;
  }

  /**
   * Starts in this canvas an instance made by `create`, the factory of the module's first part. Without `rest` it can draw the
   * board of the beginning, and no more: a call that wants more has no effect, and from then on none has.
   */
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
    const gl = graphics.context();  // which tells the boards that have begun when it is a new one
    if (!gl) throw new Failure('webgl', 'The graphics context is gone.');
    Object.assign(this, {wasm, first, isWhole: rest != null, lacks: false});
    this.adopt(gl);
    if (!this.run('start') && !this.lacks && !gl.isContextLost()) throw new Failure('webgl', `The graphics driver refused the playground's drawing program: ${this.reply()}`);
    this.maxText = this.run('max_text');
  }

  adopt(gl) {
    const {GL} = this.wasm;
    Object.assign(this, {gl, isLost: false});
    GL.makeContextCurrent(GL.registerContext(gl, {majorVersion: 2, enableExtensionsByDefault: false}));
  }

  /** Adds the rest, or starts with it where nothing was started that could be gone on with; was that so? */
  async complete(create, module, rest) {
    this.modules = [module, rest];
    const anew = !this.wasm || this.lacks;
    if (anew) await this.start(create, module, rest);
    else await WebAssembly.instantiate(rest, {first: this.first.exports});
    this.isWhole = this.alive;
    return anew;
  }

  /** From here on it draws. The first frame is drawn before this returns, where there is room for one. */
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

  /** What this board has in the context that others go on using. */
  freeGraphics() {
    const {gl, wasm} = this;
    for (const [kind, list] of Object.entries({Texture: 'textures', Buffer: 'buffers', VertexArray: 'vaos', Program: 'programs'})) {
      wasm?.GL[list].forEach((one) => one && gl?.[`delete${kind}`](one));
    }
  }

  /** How many graphics contexts all boards of this page hold. */
  get contexts() { return graphics.gl && !graphics.gl.isContextLost() ? 1 : 0; }

  get alive() { return this.wasm != null && !this.ends.signal.aborted; }

  // ------------------------------------------------------------ calls

  /**
   * Calls playground_<name>; texts become UTF-8 for as long as the call takes. Events that it caused are sent after it, and
   * after `read` took what it left in memory: their listeners may call too, or dispose of all.
   */
  call(name, values, read = (result) => result) {
    const {wasm} = this, texts = [];
    if (!wasm || this.lacks) return undefined;
    if (this.isLost && !KEEPS_CONTEXT.test(name)) this.hasContext();  // or input would wait for it
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
      if (this.lacks) return undefined;  // it called into the rest
      if (isFault) this.on.crash(error);
      throw error;
    } finally {
      this.depth--;
      if (!this.lacks) texts.forEach((text) => wasm._free(text));
      this.sendEvents();
    }
  }

  run(name, ...values) { return this.call(name, values); }

  /** A text of n characters has at least n bytes. NUL, which would end it here, becomes a character that is as wrong there. */
  encode(text) {
    const {wasm} = this, tooLong = () => new RangeError(`A text of ${text.length} characters is too long; the playground takes less than 64 MB.`);
    if (text.length > this.maxText) throw tooLong();
    const bytes = UTF8.encode(text.replaceAll('\0', '\x01'));
    const address = wasm._malloc(bytes.length + 1);
    if (!address) throw tooLong();
    wasm.HEAPU8.set(bytes, address);
    wasm.HEAPU8[address + bytes.length] = 0;
    return address;
  }

  /** Is this text from outside short enough to be looked at? When it is not, the board says so. */
  fits(text, what, most = this.maxText) {
    const does = !(text?.length > most);
    if (!does) this.tell(`${what} is too long: it has ${text.length} characters, and the playground reads up to ${most}.`);
    return does;
  }

  reply() { return this.wasm.UTF8ToString(this.wasm._playground_reply()); }

  /** The same for calls that can be refused: what `read` makes of the reply, or a typed error that names the field. */
  answer(name, values, read) {
    const answer = this.call(name, values, (done) => {
      const reply = this.reply();
      return done ? {value: read(reply)} : JSON.parse(reply);
    });
    if (!answer) throw new Error(DISPOSED);
    if ('value' in answer) return answer.value;
    const {kind, field, message} = answer;
    throw Object.assign(new (ERRORS[kind] ?? RangeError)(message), {field});
  }

  ask(name, ...values) { return this.answer(name, values, (reply) => reply); }

  /** Listeners run when no C++ is on the stack, so that they may call back, or throw. */
  sendEvents() {
    this.nested++;
    try {
      while (this.depth === 0 && this.events.length) this.events.shift()();
    } finally {
      this.nested--;
    }
  }

  /** For what runs code of the page: focus, click and copy do. */
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

  /** While there is no context to be had, the picture stays as it is; the next change, or its return, draws it again. */
  draw() {
    if (!this.isVisible() || !this.hasContext()) return;
    const [width, height] = this.pixels, {canvas} = this.gl;
    this.isDark = getComputedStyle(this.canvas).columnRuleColor === 'rgb(0, 0, 0)';
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    const said = this.call('frame', [], (bits) => {
      if (bits & DRAWN) graphics.present(this.shown);
      return bits;
    });
    if (said & MORE) this.requestFrame();
    clearTimeout(this.trains);
    if (said & TRAINS) this.trainOn(20);
    this.drawn?.();
  }

  /** Where the next frame comes late, a run goes on until it does, in slices that leave room for input. */
  trainOn(wait) { this.trains = setTimeout(() => this.scheduled && this.run('train_on') && this.trainOn(), wait); }

  /** Makes all anew where the context is another one than last time, or came back. */
  hasContext() {
    const gl = graphics.context();
    if (!gl || (gl === this.gl && !this.isLost)) return gl;
    this.contextLost();  // the event that says so may be still to come
    if (!this.alive) return null;
    this.adopt(gl);
    return this.run('context_restored');
  }

  /** With the context the browser may forget what it drew. */
  contextLost() {
    if (this.isLost) return;
    this.isLost = true;
    this.run('context_lost');
    this.requestFrame();
    this.on.contextLost();
  }

  contextRestored() { this.draw(); }

  /**
   * The canvas takes the size of its box in device pixels, and is drawn at once: a new size clears it. Where the page enlarges it by a
   * transform or by zoom it has as many as it is seen with, in one ratio for both ways.
   */
  measure(entry = this.entry) {
    const {canvas} = this, seen = canvas.getBoundingClientRect();
    const larger = Math.max(seen.width / canvas.clientWidth || 1, seen.height / canvas.clientHeight || 1);
    const ratio = (devicePixelRatio || 1) * (larger > 1.02 ? Math.min(larger, MOST_ENLARGED) : 1);
    const box = entry?.devicePixelContentBoxSize?.[0];
    // The box knows how the browser rounds; where a screen is only emulated it does not know of its pixel ratio.
    const exact = (size, reported) => Math.abs(reported - size * ratio) < 2 ? reported : Math.round(size * ratio);
    const width = exact(canvas.clientWidth, box?.inlineSize), height = exact(canvas.clientHeight, box?.blockSize);
    if (width === this.pixels[0] && height === this.pixels[1] && ratio === this.ratio) return;
    this.pixels = [width, height];
    this.ratio = ratio;
    if (!width || !height) return;
    canvas.width = width;
    canvas.height = height;
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
    this.canvas.addEventListener('transitionend', look, {signal});  // of the colour scheme, among others
  }

  /** Where no device-pixel box is reported: a query for the present ratio changes once, so it is asked anew each time. */
  listenToRatio() {
    matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener('change', () => {
      this.measure();
      this.listenToRatio();
    }, {once: true, signal: this.ends.signal});
  }

  // ------------------------------------------------------------ sentences

  /** What the page's author asked for in an attribute: when it is refused, the board says why. */
  attempt(name, ...values) {
    try {
      this.ask(name, ...values);
    } catch (error) {
      this.tell(error.message);
    }
  }

  /** Says a sentence in the page, and to the page's scripts. */
  tell(message, type = 'state') {
    if (!this.alive || this.nested > MOST_NESTED) return;
    this.emit('error', JSON.stringify({type, message}));
    this.run('notify', message, 1);
  }

  wantLesson(id, step) { this.on.lesson(id, step); }
  wantLessons() { this.on.lessons(); }
  remembered() { return this.encode(storage()?.[REMEMBERED] ?? ''); }
  remember(text) {
    try {
      localStorage[REMEMBERED] = text;
      return 1;
    } catch {
      return 0;  // full, or switched off
    }
  }

  // ------------------------------------------------------------ text in any script

  /** A canvas that a line of text is shaped and drawn on, with the faces that the reader's system has. */
  pen(text, size, weight) {
    const pen = this.drawsText ??= document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    pen.font = `${weight} ${size}px ${this.family ?? 'system-ui,sans-serif'}`;
    pen.direction = RIGHT_TO_LEFT.test(text) ? 'rtl' : 'ltr';
    pen.textAlign = 'left';
    return pen;
  }

  widthOf(text, size, weight) { return this.pen(text, size, weight).measureText(text).width; }

  /** One line on nothing, and where its pen stood: {data, box: [left, top, width, height]}. */
  rasterise(text, size, weight, color) {
    const {canvas} = this.pen(text, size, weight);
    const extent = this.drawsText.measureText(text);
    const [left, top, right, bottom] = ['Left', 'Ascent', 'Right', 'Descent'].map((side) => Math.ceil(extent[`actualBoundingBox${side}`]) + 1);
    const width = canvas.width = Math.min(left + right, 4096), height = canvas.height = top + bottom;
    const pen = this.pen(text, size, weight);  // a canvas of another size has forgotten all
    pen.fillStyle = `#${color.toString(16).padStart(6, 0)}`;
    pen.fillText(text, left, top);
    return {data: pen.getImageData(0, 0, width, height).data, box: [left, top, width, height]};
  }

  // ------------------------------------------------------------ the rest of what the module asks

  setCursor(cursor) { this.canvas.style.cursor = CURSORS[cursor + 1] ?? 'default'; }

  prefersStillness() { return matchMedia('(prefers-reduced-motion: reduce)').matches; }
  /** As the page around it: 1 for dark; −1 on paper, which is light whatever was chosen. */
  prefersDark() { return this.prints ? -1 : this.isDark ? 1 : 0; }

  toggleFullscreen() { this.on.toggleFullscreen(); }

  emit(type, detail) { this.events.push(() => this.on.event(type, JSON.parse(detail || '{}'))); }
}
