// One playground on one canvas: what the browser says goes into the wasm module, what the module asks is done here.
// It takes no key, no wheel turn and no focus that the reader did not give it. No state of the playground lives here.

const MODIFIER = {shift: 1, control: 2, alt: 4};
const modifiersOf = (e) => (e.shiftKey ? MODIFIER.shift : 0) | (e.ctrlKey || e.metaKey ? MODIFIER.control : 0) |
  (e.altKey ? MODIFIER.alt : 0);
const MOVED = 0, DOWN = 1, UP = 2, LEFT = 3;
// How a text field ends: app::Entry.
const COMMIT = 0, CANCEL = 1, LEAVE = 2, NEXT = 3, PREVIOUS = 4;
// In the order of ImGuiMouseCursor_, which begins at -1 with "none".
const CURSORS = ['none', 'default', 'text', 'move', 'ns-resize', 'ew-resize', 'nesw-resize', 'nwse-resize', 'pointer', 'not-allowed'];
const ERRORS = {type: TypeError, syntax: SyntaxError};
// Apple's decimal keyboard has no minus sign; there the ordinary one has to do.
const LACKS_MINUS = /^(iPhone|iPad|Mac)/.test(navigator.platform) && navigator.maxTouchPoints > 0;
// The first letter that has a direction is Hebrew, Arabic or another of that family.
const RIGHT_TO_LEFT = /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
const UTF8 = new TextEncoder();
const MOST_NESTED = 10;  // listeners that call back, whose listeners call back …; twice that fill the stack
const DARK = matchMedia('(prefers-color-scheme: dark)');

export const DISPOSED = 'This playground was disposed of.';

/** An error that ends the playground, with the `type` of the error event. */
export class Failure extends Error {
  constructor(type, message) {
    super(message);
    this.type = type;
  }
}

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

  /** Throws where WebGL2 is off. Before loading, so that the graphics process starts meanwhile. */
  openContext() {
    this.gl = this.canvas.getContext('webgl2', {alpha: false, depth: false, stencil: false, antialias: false, powerPreference: 'low-power'});
    if (this.gl) return;
    throw new Failure('webgl', 'This browser has WebGL 2 switched off or blocked, which the playground draws with; switch on hardware acceleration, or try another browser.');
  }

  /** Starts in this canvas an instance made by `create`, the module's factory. */
  async start(create, module) {
    const {gl} = this;
    this.wasm = await create({
      host: this,
      instantiateWasm(imports, done) {
        WebAssembly.instantiate(module, imports).then((instance) => done(instance, module));
        return {};
      },
    });
    if (this.ends.signal.aborted) return;
    this.wasm.GL.makeContextCurrent(this.wasm.GL.registerContext(gl, {majorVersion: 2, enableExtensionsByDefault: false}));
    if (!this.run('start')) throw new Failure('webgl', `The graphics driver refused the playground's drawing program: ${this.reply()}`);
    this.maxText = this.run('max_text');
  }

  /** From here on it listens and draws. The first frame is drawn before this returns, where there is room for one. */
  listen() {
    this.listenToPointer();
    this.listenToTouch();
    this.listenToKeys();
    this.listenToClipboard();
    this.listenToSurroundings();
    this.measure();
    this.draw();
    this.canvas.style.visibility = '';
  }

  dispose() {
    this.ends.abort();
    this.events.length = 0;
    cancelAnimationFrame(this.scheduled);
    this.sizes?.disconnect();
    this.visibility?.disconnect();
    this.closeField();
    this.canvas.remove();
    this.gl?.getExtension('WEBGL_lose_context')?.loseContext();
    this.gl = this.wasm = null;
  }

  get alive() { return this.wasm != null && !this.ends.signal.aborted; }

  // ------------------------------------------------------------ calls

  /**
   * Calls playground_<name>; texts become UTF-8 for as long as the call takes. Events that it caused are sent after it, and
   * after `read` took what it left in memory: their listeners may call too, or dispose of all.
   */
  call(name, values, read = (result) => result) {
    const {wasm} = this, texts = [];
    if (!wasm) return undefined;
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
      if (error instanceof WebAssembly.RuntimeError) this.on.crash(error);
      throw error;
    } finally {
      this.depth--;
      texts.forEach((text) => wasm._free(text));
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

  tensor(name) {
    return this.answer('tensor', [name], (reply) => {
      const [address, ...shape] = JSON.parse(reply);
      const count = shape.reduce((a, b) => a * b);
      return {data: this.wasm.HEAPF32.slice(address / 4, address / 4 + count), shape};
    });
  }

  setTensor(name, data, shape) {
    const {wasm} = this;
    if (!wasm) throw new Error(DISPOSED);
    const bytes = 4 * (data.length + shape.length);
    const address = wasm._malloc(bytes);
    if (!address) throw new RangeError(`There is not enough memory for the ${data.length} numbers of ${name}.`);
    try {
      wasm.HEAPF32.set(data, address / 4);
      wasm.HEAP32.set(shape, address / 4 + data.length);
      this.ask('set_tensor', name, address, data.length, address + 4 * data.length, shape.length);
    } finally {
      wasm._free(address);
    }
  }

  // ------------------------------------------------------------ frames

  requestFrame() {
    if (this.scheduled || !this.isVisible()) return;
    this.scheduled = requestAnimationFrame(() => {
      this.scheduled = 0;
      this.draw();
    });
  }

  isVisible() { return this.alive && this.onScreen && !document.hidden && this.pixels[0] > 0 && !this.gl?.isContextLost(); }

  draw() {
    if (!this.alive || !this.isVisible()) return;
    if (this.run('frame')) this.requestFrame();
  }

  /** The canvas takes the size of its box in device pixels, and is drawn at once: a new size clears it. */
  measure(entry) {
    const {canvas} = this;
    const ratio = devicePixelRatio || 1;
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
    this.sizes = new ResizeObserver(([entry]) => this.alive && this.measure(entry));
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
    this.canvas.addEventListener('webglcontextlost', (e) => {
      e.preventDefault();
      this.run('context_lost');
      this.on.contextLost();
    }, {signal});
    this.canvas.addEventListener('webglcontextrestored', () => {
      if (this.run('context_restored')) this.draw();
    }, {signal});
  }

  /** Where no device-pixel box is reported: a query for the present ratio changes once, so it is asked anew each time. */
  listenToRatio() {
    matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener('change', () => {
      this.measure();
      this.listenToRatio();
    }, {once: true, signal: this.ends.signal});
  }

  // ------------------------------------------------------------ pointer

  /** In logical pixels of the canvas, also where the page scales it. */
  point(e) {
    const box = this.canvas.getBoundingClientRect();
    const scale = box.width / this.canvas.clientWidth || 1;
    return [(e.clientX - box.left) / scale, (e.clientY - box.top) / scale];
  }

  pointer(what, e, clicks = 0) { this.run('pointer', what, ...this.point(e), e.pointerType === 'touch' ? 1 : 0, modifiersOf(e), clicks); }

  /** Browsers count clicks, but not taps. */
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
      if (e.pointerType !== 'touch' || this.isOurs(e)) this.pointer(MOVED, e);
    });
    listen('pointerdown', (e) => {
      if (e.button !== 0) return;
      this.wasFocused = this.mayScroll();
      canvas.classList.add('pointed');  // no ring around it until a key is used
      canvas.focus({preventScroll: true});
      if (!this.alive) return;  // a listener of the page's disposed of it
      // What is in a field was refused: the press does no more than to leave it, which it did not.
      if (this.field) return this.field.focus({preventScroll: true});
      canvas.setPointerCapture(e.pointerId);
      this.swipe = {x: e.clientX, y: e.clientY, kept: false};
      awaitsMouse = e.pointerType === 'mouse';
      if (!awaitsMouse) this.pointer(DOWN, e, this.countTaps(e));
    });
    listen('pointerup', (e) => e.button === 0 && this.pointer(UP, e));
    listen('pointercancel', (e) => this.pointer(LEFT, e));
    listen('pointerleave', (e) => canvas.hasPointerCapture(e.pointerId) || this.pointer(LEFT, e));
    canvas.addEventListener('mousedown', (e) => {
      if (e.button !== 0) return;
      e.preventDefault();  // the browser's own reaction would be to focus, and scroll there, and to start selecting text
      // Comes right after pointerdown, and knows which of several clicks in a row this one is.
      if (awaitsMouse) this.pointer(DOWN, e, e.detail);
      awaitsMouse = false;
    }, {signal});
    const wheel = (e) => this.wheel(e);
    const listenToWheel = () => canvas.addEventListener('wheel', wheel, {signal, passive: false});
    // Listened to only while it may be used: a listener makes the browser ask before it scrolls the page.
    canvas.addEventListener('focus', listenToWheel, {signal});
    canvas.addEventListener('blur', () => this.on.wheelAlways() || canvas.removeEventListener('wheel', wheel), {signal});
    this.wheelMayHaveChanged = () => {
      if (this.mayScroll()) listenToWheel();
      else canvas.removeEventListener('wheel', wheel);
    };
    this.wheelMayHaveChanged();
  }

  wheel(e) {
    if (e.ctrlKey || this.on.wheelNever() || !this.mayScroll()) return;
    const unit = e.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : e.deltaMode === WheelEvent.DOM_DELTA_PAGE ? this.canvas.clientHeight : 1;
    if (this.run('wheel', ...this.point(e), e.deltaY * unit)) e.preventDefault();
  }

  /**
   * A vertical swipe belongs to the page (touch-action: pan-y). On the focused board it is kept where it would drag a
   * cell or scroll the board itself. What is kept has to be said before the browser starts to scroll: at the first touch,
   * or at the first move.
   */
  listenToTouch() {
    const {canvas, ends: {signal}} = this;
    const options = {signal, passive: false};
    let began = null;
    canvas.addEventListener('touchstart', (e) => {
      began = e.touches.length === 1 && this.wasFocused ? this.point(e.touches[0]) : null;
      if (!began || !this.run('hit', ...began)) return;
      this.swipe.kept = true;
      if (e.cancelable) e.preventDefault();
    }, options);
    canvas.addEventListener('touchmove', (e) => {
      if (began && !this.swipe.kept) {
        const [, y] = this.point(e.touches[0]);
        this.swipe.kept = this.run('scrolls', ...began, began[1] - y) !== 0;
        began = null;
      }
      if (this.swipe.kept && e.cancelable) e.preventDefault();
    }, options);
  }

  /** Before the browser takes a swipe for its own it reports a move or two; they must not change a number. */
  isOurs({clientX, clientY}) {
    const {swipe} = this;
    swipe.kept ||= Math.abs(clientX - swipe.x) > Math.abs(clientY - swipe.y);
    return swipe.kept;
  }

  setCursor(cursor) { this.canvas.style.cursor = CURSORS[cursor + 1] ?? 'default'; }

  // ------------------------------------------------------------ keys and clipboard

  listenToKeys() {
    const {canvas, ends: {signal}} = this;
    const held = new Map();
    canvas.addEventListener('keydown', (e) => {
      canvas.classList.remove('pointed');
      const isClipboard = (e.ctrlKey || e.metaKey) && /^[cxv]$/i.test(e.key);
      if (e.isComposing || e.key === 'Tab' || isClipboard) return;
      const repeats = e.repeat && e.key.length > 1 && held.has(e.code);  // arrows and the like repeat by themselves
      if (!repeats && !this.run('key', 1, e.key, modifiersOf(e))) return;
      held.set(e.code, e.key);
      e.preventDefault();
      e.stopPropagation();
    }, {signal});
    canvas.addEventListener('keyup', (e) => {
      const key = held.get(e.code);  // as it went down: Shift may have gone up since
      if (held.delete(e.code)) this.run('key', 0, key, modifiersOf(e));
    }, {signal});
    // A field with what was refused is open still: it is what the reader has to do with.
    canvas.addEventListener('focus', () => this.field?.focus({preventScroll: true}), {signal});
    // A text field that opens takes the focus while C++ is on the stack; it hears of that afterwards.
    const tell = (focused) => this.alive && this.run('focus', focused);
    const tellLater = (focused) => this.depth > 0 ? queueMicrotask(() => tell(focused)) : tell(focused);
    canvas.addEventListener('focus', () => tellLater(1), {signal});
    canvas.addEventListener('blur', () => tellLater(0), {signal});
  }

  listenToClipboard() {
    const {canvas, ends: {signal}} = this;
    const copy = (e) => {
      const text = this.call('copy', [], (some) => some && this.reply());
      if (!text) return;
      e.clipboardData.setData('text/plain', text);
      e.preventDefault();
      if (e.type === 'cut') this.run('clear_cells');
    };
    canvas.addEventListener('copy', copy, {signal});
    canvas.addEventListener('cut', copy, {signal});
    // Nothing on the page is selected, so the browser asks first whether there is something to cut or copy.
    const yes = (e) => e.preventDefault();
    canvas.addEventListener('beforecopy', yes, {signal});
    canvas.addEventListener('beforecut', yes, {signal});
    canvas.addEventListener('paste', (e) => {
      const text = e.clipboardData.getData('text/plain');
      if (!text) return;
      e.preventDefault();
      if (this.fits(text, 'The clipboard')) this.run('paste', text);  // the board says why when it refuses
    }, {signal});
  }

  /** A button's copy: by a copy event of our own, which needs no permission; the clipboard interface where that is refused. */
  copy(text) {
    const set = (e) => {
      e.clipboardData.setData('text/plain', text);
      e.preventDefault();
      e.stopImmediatePropagation();
    };
    document.addEventListener('copy', set, {capture: true});
    const done = document.execCommand('copy');
    document.removeEventListener('copy', set, {capture: true});
    if (!done) navigator.clipboard?.writeText(text).catch((error) => this.tell(`The browser did not let the text be copied: ${error.message}`));
  }

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

  // ------------------------------------------------------------ typing

  /** A real text field over the cell: phone keyboards, input methods, the clipboard and undo of the browser all work in it. */
  beginText({x, y, width, height, text, name, numeric, centered, selectAll, dark, isCell, wrong}) {
    this.closeField();
    const field = this.field = document.createElement('input');
    field.type = 'text';
    field.value = text;
    field.inputMode = numeric && !LACKS_MINUS ? 'decimal' : 'text';
    field.autocomplete = 'off';
    field.spellcheck = false;
    field.setAttribute('autocapitalize', 'off');
    field.setAttribute('enterkeyhint', 'done');
    field.setAttribute('aria-label', name);
    field.className = `${numeric ? 'number' : ''} ${centered ? 'centered' : ''} ${dark ? 'dark' : 'light'}`;
    if (wrong) {
      field.setAttribute('aria-invalid', 'true');
      field.title = wrong;
    }
    Object.assign(field.style, {left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px`});
    this.root.append(field);
    // One that comes back after the reader has left the board does not call him back.
    if (!this.isLeft) field.focus({preventScroll: true});
    if (selectAll) field.select();
    else field.setSelectionRange(text.length, text.length);
    field.addEventListener('keydown', (e) => this.keyInField(e, isCell));
    field.addEventListener('blur', (e) => {
      if (this.field !== field) return;
      this.isLeft = e.relatedTarget !== this.canvas;
      this.endText(LEAVE);
      this.isLeft = false;
    });
    // Native events of this field would leave the element and look like its own.
    for (const type of ['keyup', 'keypress', 'beforeinput', 'input', 'change', 'copy', 'cut', 'paste']) {
      field.addEventListener(type, (e) => e.stopPropagation());
    }
  }

  keyInField(e, isCell) {
    if (e.isComposing) return;
    const tabs = isCell && e.key === 'Tab';
    if (e.key !== 'Tab') e.stopPropagation();
    if (!tabs && e.key !== 'Enter' && e.key !== 'Escape') return;
    if (!tabs) e.preventDefault();
    this.endText(tabs ? e.shiftKey ? PREVIOUS : NEXT : e.key === 'Enter' ? COMMIT : CANCEL);
    if (!this.field) this.canvas.focus({preventScroll: true});  // from where Tab leaves the board
    else if (tabs) e.preventDefault(), e.stopPropagation();
  }

  /** What was refused is in a new field when this returns; so is the next cell. */
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

  /** Taking away a focused field blurs it, so it is forgotten first. */
  closeField() {
    const {field} = this;
    this.field = null;
    field?.remove();
  }

  // ------------------------------------------------------------ files

  pickFile() {
    const chooser = document.createElement('input');
    chooser.type = 'file';
    chooser.accept = '.json,application/json';
    chooser.addEventListener('change', () => this.openFiles(chooser.files), {once: true});
    chooser.click();
  }

  saveFile(name, bytes) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([bytes], {type: 'application/json'}));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  async openFiles(files) {
    if (files.length === 0) return;
    if (files.length > 1) return this.tell('Drop one file at a time: a JSON file with a state or with tensors.');
    const [file] = files;
    if (file.size > this.maxText) return this.tell(`${file.name} has ${file.size} bytes; the playground reads up to ${this.maxText}.`);
    try {
      const text = await file.text();
      if (this.alive) this.run('open', text, file.name.slice(0, 200));
    } catch (error) {
      this.tell(`${file.name} could not be read: ${error.message}`, 'load');
    }
  }

  // ------------------------------------------------------------ text in any script

  /** A canvas that a line of text is shaped and drawn on, with the faces that the reader's system has. */
  pen(text, size, weight) {
    const pen = this.drawsText ??= document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    pen.font = `${weight} ${size}px system-ui,sans-serif`;
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

  prefersDark() { return DARK.matches ? 1 : 0; }

  toggleFullscreen() { this.on.toggleFullscreen(); }

  emit(type, detail) { this.events.push(() => this.on.event(type, JSON.parse(detail || '{}'))); }
}
