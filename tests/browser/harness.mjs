// A browser, a server for the built site, and a board whose parts are found through `locate` and which is checked with plain arithmetic.
import assert from 'node:assert/strict';
import {existsSync, mkdirSync, readFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import sirv from 'sirv';
import {findChromium} from '../chromium.mjs';
import {until} from '../until.mjs';
import {checkLayer} from './arithmetic.mjs';
import {Kept, watched} from './kept.mjs';
import {unsee} from './unseen.mjs';

// An import would first look through all 6 MB of it for names of exports: 0.6 s of processor time for a file of tests instead of 0.4.
const {chromium} = createRequire(import.meta.url)('playwright-core');

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
export const SITE = process.env.SITE ?? here('../../build/site');
export const SCREENSHOTS = process.env.SCREENSHOTS ?? here('../../build/screenshots');
mkdirSync(SCREENSHOTS, {recursive: true});

/** The policy of a strict host, which must be sufficient for the page. */
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src data:; connect-src 'self'; manifest-src 'self'; frame-src 'self'";

/** Serves the site, under /pages/ pages that embed it, and a page without anything, on a free port. `first` is a script that every page runs
 * before its own, for browsers whose driver cannot do that. `headers` come with every file. cut(true) has it break every connection, until cut(false). */
export async function serve(site = SITE, {policy = true, first, headers = {}} = {}) {
  const setHeaders = (response) => Object.entries({...headers, ...policy && {'Content-Security-Policy': POLICY}}).forEach(([name, value]) => response.setHeader(name, value));
  const files = sirv(site, {dev: true, setHeaders});
  const pages = sirv(here('pages'), {dev: true, setHeaders});
  let isCut = false;
  const server = createServer((request, response) => {
    if (isCut) return request.socket.destroy();
    const missing = () => response.writeHead(404).end();
    if (request.url === '/empty') return response.writeHead(200, {'Content-Type': 'text/html'}).end();
    if (first && request.url === '/first.js') return response.writeHead(200, {'Content-Type': 'text/javascript'}).end(first);
    const [, folder, name] = /^\/(pages\/)?(\w*\.html|)(?:\?|$)/.exec(request.url) ?? [];
    if (first && name !== undefined) {
      const page = readFileSync(join(folder ? here('pages') : site, name || 'index.html'), 'utf8');
      setHeaders(response);
      return response.writeHead(200, {'Content-Type': 'text/html'}).end(page.replace('<meta charset="utf-8">', '$&<script src="/first.js"></script>'));
    }
    if (!request.url.startsWith('/pages/')) return files(request, response, missing);
    request.url = request.url.slice('/pages'.length);
    pages(request, response, missing);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    cut: (on) => { isCut = on; },
    close: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); }),
  };
}

const SOFTWARE_GPU = ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'];
// Here HTML is drawn without the simulated graphics processor, which takes twice the time of it. Boards are drawn as ever; and other suites
// and the benchmarks, which call launch(), draw everything as a reader's browser does.
const FOR_BOARDS = [...SOFTWARE_GPU, '--disable-gpu-rasterization'];

export function launch({gpu = SOFTWARE_GPU, args = []} = {}) {
  return chromium.launch({
    executablePath: findChromium(),
    args: [...gpu, '--disable-background-networking', '--disable-component-update', '--disable-quic', '--no-first-run', ...args,
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
  });
}

/** To be called before a page is opened: globalThis.contexts then lists all graphics contexts that the page creates. */
export const noteContexts = (page) => page.addInitScript(() => {
  globalThis.contexts = [];
  for (const {prototype} of [HTMLCanvasElement, OffscreenCanvas]) {
    const {getContext} = prototype;
    prototype.getContext = function (type, ...options) {
      const context = getContext.call(this, type, ...options);
      if (/^webgl/.test(type) && context && !globalThis.contexts.includes(context)) globalThis.contexts.push(context);
      return context;
    };
  }
});

/** Opens shadow roots to tests, without affecting the accessibility tree. */
export const opened = (page) => page.addInitScript(() => {
  const {attachShadow} = Element.prototype;
  Element.prototype.attachShadow = function (options) { return attachShadow.call(this, {...options, mode: 'open'}); };
});

/** Waits for the tables and controls for those who cannot see, which are made once nothing else is to do; the page is opened() for that. */
export const isMirrored = (board) => until('the mirror', () => board.page.evaluate(() => Boolean(document.querySelector('attention-playground').shadowRoot.querySelector('.hidden, .plain')?.shadowRoot?.querySelector('table, p[role=heading]'))));

/** Makes the graphics context of the boards be lost, as a browser does; the boards then create another one. */
export const loseContext = (board) => board.page.evaluate(() =>
  globalThis.contexts.find((gl) => !gl.isContextLost())?.getExtension('WEBGL_lose_context').loseContext());

/** THROTTLE=4 slows every page down as if the processor had a quarter of the speed. */
async function throttle(page, rate = Number(process.env.THROTTLE ?? 1)) {
  if (rate > 1) await (await page.context().newCDPSession(page)).send('Emulation.setCPUThrottlingRate', {rate});
}

/** One browser and one server for a file of tests. Each test has a page that is new, or as good as new; when it is closed, it must not have
 * logged any error. `seen` is the default for all pages. */
export async function start({seen: usual = false, gpu = FOR_BOARDS} = {}) {
  assert.ok(existsSync(`${SITE}/index.html`), `there is no site in ${SITE}: build it first`);
  const [server, browser] = await Promise.all([serve(), launch({gpu})]);
  const kept = new Kept(server.url);
  /** A new page. */
  async function make({viewport, guide, seen, context, prepare}) {
    const page = await (await browser.newContext({viewport, ...context})).newPage();
    await throttle(page);
    // As for a reader who has left the controls open, or with `guide` the Guide; 'first' is a first visit.
    if (guide !== 'first') await page.addInitScript((open) => { try { localStorage['attention-playground'] ??= `{"open":${open}}`; } catch { /* a sandbox */ } }, guide);
    const see = seen ? undefined : await unsee(page);
    await prepare?.(page);
    return {page, see};
  }
  return {
    server,
    browser,
    /** Opens a page, waits for its boards, and returns the first one. `prepare` is called with the page before that. A test that looks at
     * pixels, or at how fast they come, says `seen`, or calls see() of the board before the frame that it looks at. */
    async open(path = '/', {viewport = {width: 1440, height: 900}, wait = true, allow = [], prepare, guide = false, seen = usual, ...context} = {}) {
      const how = JSON.stringify({guide, seen, context});
      let isPlain = !prepare;
      const one = isPlain && await kept.take(how, viewport) || await make({viewport, guide, seen, context, prepare});
      const {page, see} = one, complaints = [], requests = [];
      const complain = (text) => allow.some((pattern) => pattern.test(text)) || complaints.push(text);
      const listeners = {
        console: (message) => ['error', 'warning'].includes(message.type()) && complain(message.text()),
        pageerror: (error) => complain(String(error)),
        request: (request) => requests.push(request.url()),
      };
      for (const [type, listener] of Object.entries(listeners)) page.on(type, listener);
      await page.goto(server.url + path);
      if (wait) {
        await page.evaluate(() => Promise.all([...document.querySelectorAll('attention-playground')].map((element) =>
          customElements.whenDefined('attention-playground').then(() => element.ready))));
      }
      const leave = async () => {
        if (!isPlain) return page.context().close();
        await kept.give(how, one);
        for (const [type, listener] of Object.entries(listeners)) page.off(type, listener);
        return undefined;
      };
      return new Board(watched(page, () => { isPlain = false; }), 'attention-playground', {complaints, requests, see, leave});
    },
    async stop() {
      await browser.close();
      await server.close();
    },
  };
}

/** One browser for a file of tests, and `onBoard(name, body, {path, …})`: a test with a fresh board, whose numbers are checked with plain
 * arithmetic at the end. `settings` are the defaults for these boards; `seen` is also that of all other pages of the file. */
export function suite(settings = {}) {
  const browser = {};
  before(async () => Object.assign(browser, await start({seen: settings.seen})));
  after(() => browser.stop());
  const onBoard = (name, body, {path = '/', ...options} = {}) => test(name, async () => {
    const board = await browser.open(path, {...settings, ...options});
    await body(board);
    await board.check();
    await board.close();
  });
  return {browser, onBoard};
}

// ---------------------------------------------------------------- the board

const TENSORS = ['q', 'k', 'v', 'x', 'x_kv', 'w_q', 'w_k', 'w_v', 'w_o', 'w_a', 'u_a', 'v_a', 'b_q', 'b_k', 'b_v', 'b_o', 'x_v', 'sink', 'masked', 'weights', 'head_output', 'output'];
const OPTIONS = ['mode', 'tokens', 'key_tokens', 'heads', 'kv_heads', 'd_k', 'd_q', 'd_v', 'cross', 'causal', 'causal_offset', 'window_left',
  'window_right', 'prefix', 'key_length', 'pattern_local', 'pattern_dilation', 'pattern_stride', 'pattern_block', 'pattern_global',
  'pattern_random', 'mask_after_softmax', 'score', 'scale', 'softcap', 'temperature', 'normalizer', 'position', 'hidden_heads',
  'rotary_pairs', 'rotary_base', 'rotary_dims', 'rotary_scaling', 'rotary_factor', 'position_ids', 'output_projection'];

export class Board {
  constructor(page, selector, logs = {}) {
    this.page = page;
    this.selector = selector;
    Object.assign(this, logs);
  }

  /** Calls a method of the element; an error is returned with its type, field and message. */
  async call(method, ...values) {
    const result = await this.page.evaluate(async ([selector, name, args]) => {
      try {
        const value = await document.querySelector(selector)[name](...args);
        if (name === 'items') return {text: JSON.stringify(value)};  // long, and a text costs a quarter to hand over
        return {value: value instanceof DOMRect ? value.toJSON() : value};
      } catch (error) {
        return {error: {type: error.constructor.name, field: error.field, message: error.message}};
      }
    }, [this.selector, method, values]);
    if (result.error) throw Object.assign(new Error(result.error.message), result.error);
    return result.text === undefined ? result.value : JSON.parse(result.text);
  }

  async tensor(name) {
    const {data, shape} = await this.page.evaluate(([selector, tensor]) => {
      const found = document.querySelector(selector).getTensor(tensor);
      return {data: Array.from(found.data), shape: found.shape};
    }, [this.selector, name]);
    return {data, shape, at: (head, row, col) => data[(head * shape[1] + row) * shape[2] + col]};
  }

  get(option) { return this.call('get', option); }
  stats() { return this.call('stats'); }

  async value(name, head, row, col) { return (await this.tensor(name)).at(head, row, col); }

  /** The centre of a cell or a control. */
  async middle(name, ...cell) {
    const {x, y, width, height} = await this.call('locate', name, ...cell);
    return [x + width / 2, y + height / 2];
  }

  async click(name, ...cell) {
    const {mouse} = this.page;
    await mouse.move(...await this.middle(name, ...cell));
    await Promise.all([mouse.down(), mouse.up()]);  // as in press(): a button held too long would repeat
  }
  async doubleClick(name, ...cell) { await this.page.mouse.dblclick(...await this.middle(name, ...cell)); }

  /** Drags a cell by that many pixels. `during` is called before the button is released. */
  async drag(name, cell, dx, dy, during = async () => {}) {
    const [x, y] = await this.middle(name, ...cell);
    const {mouse} = this.page;
    await mouse.move(x, y);
    await mouse.down();
    await mouse.move(x + dx, y + dy, {steps: 5});
    await during();
    await mouse.up();
  }

  /** Presses and releases key combinations such as "Control+z", one after the other. */
  async press(...keys) {
    const {keyboard} = this.page;
    for (const key of keys) {
      const parts = key === '+' ? [key] : key.split('+');
      // Sent without waiting in between, because on a slow machine a key held too long would repeat.
      await Promise.all([...parts.map((part) => keyboard.down(part)), ...parts.reverse().map((part) => keyboard.up(part))]);
    }
  }
  type(text) { return this.page.keyboard.type(text); }

  /** Starts recording events of the element; returns a function that gives them. */
  async listen(...types) {
    await this.page.evaluate(([selector, names]) => {
      globalThis.noted = [];
      for (const name of names) {
        document.querySelector(selector).addEventListener(name, (e) => globalThis.noted.push({type: name, detail: e.detail}));
      }
    }, [this.selector, types]);
    return () => this.page.evaluate(() => globalThis.noted);
  }

  /** Two animation frames, after which everything requested has been drawn. */
  settle() {
    return this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }

  /** Waits for that many milliseconds of the page's clock: where the time between two events is what matters. */
  async pause(span) {
    const from = await this.page.evaluate(() => performance.now());
    await this.until(`${span} ms to pass`, (end) => performance.now() > end, from + span);
  }

  /** One finger that moves from a position by a distance, and first rests there if it `holds` what is under it. */
  async finger([x, y], dx, dy, {holds = false} = {}) {
    const session = await this.page.context().newCDPSession(this.page);
    const send = (type, ...touchPoints) => session.send('Input.dispatchTouchEvent', {type, touchPoints});
    const to = (i) => ({x: x + dx * i / 10, y: y + dy * i / 10});
    if (holds) {
      await send('touchStart', {x, y});
      await this.pause(350);
    } else {
      // The first movements without waiting, far enough to be a swipe: a finger that is slow to begin, as on a busy machine, holds what is
      // under it.
      await Promise.all([send('touchStart', {x, y}), ...[1, 2, 3, 4].map((i) => send('touchMove', to(i)))]);
    }
    for (let i = holds ? 1 : 5; i <= 10; i++) {
      await send('touchMove', to(i));
      await this.settle();
    }
    await this.pause(150);  // so that what it scrolls does not glide on
    await send('touchEnd');
    await this.settle();
    await session.detach();
  }

  /** Waits until `condition`, evaluated in the page, is truthy. */
  until(what, condition, argument) { return until(what, () => this.page.evaluate(condition, argument)); }

  /** Waits until the board is idle: it draws nothing for twenty animation frames and `span` milliseconds. */
  rest(span = 300) {
    return this.page.evaluate(async ([selector, least]) => {
      const frames = () => document.querySelector(selector).stats().frames;
      const tick = () => new Promise(requestAnimationFrame);
      for (let last = -1, ticks = 0, began = 0, all = 0; ticks < 20 || performance.now() - began < least; ticks++, all++) {
        if (all > 5000) throw new Error('frames are drawn without end');
        if (frames() !== last) {
          last = frames();
          ticks = 0;
          began = performance.now();
        }
        await tick();
      }
      return frames();
    }, [this.selector, span]);
  }

  /** Drops a file on the element, like a file manager, and waits until the board has opened it, refused it, or asks a question. */
  async drop(text, name = 'tensors.json') {
    await this.page.evaluate(async ([selector, content, file]) => {
      const element = document.querySelector(selector), dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([content], file));
      let isDone = false;
      const done = new Promise((resolve) => ['change', 'error'].forEach((type) => element.addEventListener(type, resolve, {once: true}))).then(() => { isDone = true; });
      const asked = (async () => {
        while (!isDone && !element.items().some(({name}) => name === 'form')) await new Promise(requestAnimationFrame);
      })();
      for (const type of ['dragenter', 'dragover', 'drop']) {
        element.dispatchEvent(new DragEvent(type, {dataTransfer, bubbles: true, cancelable: true, composed: true}));
      }
      await Promise.race([done, asked]);
    }, [this.selector, text, name]);
  }

  /** Tensors and options at one moment. Tensors that are not part of this layer are left out. */
  async read(tensorNames, optionNames) {
    const {options, mask, packed} = await this.page.evaluate(([selector, names, settings]) => {
      const element = document.querySelector(selector);
      const found = (name) => {
        try {
          const {data, shape} = element.getTensor(name);
          const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
          return {bytes: btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')), shape};  // numbers cost several times as much to hand over
        } catch {
          return null;
        }
      };
      return {options: settings.map((name) => [name, element.get(name)]), mask: element.getState().mask,
        packed: names.map((name) => [name, found(name)])};
    }, [this.selector, tensorNames, optionNames]);
    const tensors = packed.filter(([, tensor]) => tensor).map(([name, {bytes, shape}]) => {
      const data = Array.from(new Float32Array(Uint8Array.from(Buffer.from(bytes, 'base64')).buffer));
      return [name, {data, shape, at: (head, row, col) => data[(head * shape[1] + row) * shape[2] + col]}];
    });
    return {options: Object.fromEntries(options), mask, tensors: Object.fromEntries(tensors)};
  }

  /** Checks every number on the board against plain arithmetic with the inputs and options that the board reports. */
  async check() {
    const {options, mask, tensors} = await this.read(TENSORS, OPTIONS);
    checkLayer({...options, mask}, tensors);
  }

  async close() {
    await (this.leave ? this.leave() : this.page.context().close());
    assert.deepEqual(this.complaints, [], 'the console of the page is free of errors');
  }
}
