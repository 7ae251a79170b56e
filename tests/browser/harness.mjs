// A browser, a server over the built site, and a board that is found through `locate` and checked with plain arithmetic.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync} from 'node:fs';
import {createServer} from 'node:http';
import {fileURLToPath} from 'node:url';
import {chromium} from 'playwright-core';
import sirv from 'sirv';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
export const SITE = process.env.SITE ?? here('../../build/site');
export const SCREENSHOTS = process.env.SCREENSHOTS ?? here('../../build/screenshots');
mkdirSync(SCREENSHOTS, {recursive: true});

/** What a strict host would send; the page must need no more. */
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src data:; connect-src 'self'";

/** Serves the site, and under /pages/ the pages that embed it, on a free port. */
export async function serve(site = SITE, {policy = true} = {}) {
  const setHeaders = (response) => policy && response.setHeader('Content-Security-Policy', POLICY);
  const files = sirv(site, {dev: true, setHeaders});
  const pages = sirv(here('pages'), {dev: true, setHeaders});
  const server = createServer((request, response) => {
    const missing = () => response.writeHead(404).end();
    if (!request.url.startsWith('/pages/')) return files(request, response, missing);
    request.url = request.url.slice('/pages'.length);
    pages(request, response, missing);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); }),
  };
}

function findChromium() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    try {
      return execFileSync('which', [name], {encoding: 'utf8'}).trim();
    } catch { /* the next name */ }
  }
  throw new Error('These tests need Chromium: apt-get install chromium, or set CHROMIUM to its path.');
}

const SOFTWARE_GPU = ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'];

export function launch({gpu = SOFTWARE_GPU} = {}) {
  return chromium.launch({
    executablePath: findChromium(),
    args: [...gpu, '--disable-background-networking', '--disable-component-update', '--disable-quic', '--no-first-run',
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
  });
}

/** One browser and one server for a file of tests. Every page is closed after its test, and must not have complained. */
export async function start(options) {
  assert.ok(existsSync(`${SITE}/index.html`), `there is no site in ${SITE}: build it first`);
  const [server, browser] = await Promise.all([serve(), launch(options)]);
  return {
    server,
    browser,
    /** Opens a page, waits for its boards, and returns the first one. */
    async open(path = '/', {viewport = {width: 1440, height: 900}, wait = true, allow = [], ...context} = {}) {
      const page = await (await browser.newContext({viewport, ...context})).newPage();
      const complaints = [], requests = [];
      const complain = (text) => allow.some((pattern) => pattern.test(text)) || complaints.push(text);
      page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complain(message.text()));
      page.on('pageerror', (error) => complain(String(error)));
      page.on('request', (request) => requests.push(request.url()));
      await page.goto(server.url + path);
      if (wait) {
        await page.evaluate(() => Promise.all([...document.querySelectorAll('attention-playground')].map((element) =>
          customElements.whenDefined('attention-playground').then(() => element.ready))));
      }
      return new Board(page, 'attention-playground', {complaints, requests});
    },
    async stop() {
      await browser.close();
      await server.close();
    },
  };
}

// ---------------------------------------------------------------- the board

export class Board {
  constructor(page, selector, logs = {}) {
    this.page = page;
    this.selector = selector;
    Object.assign(this, logs);
  }

  /** Calls a method of the element; an error comes back with its type, field and message. */
  async call(method, ...values) {
    const result = await this.page.evaluate(async ([selector, name, args]) => {
      try {
        const value = await document.querySelector(selector)[name](...args);
        return {value: value instanceof DOMRect ? value.toJSON() : value};
      } catch (error) {
        return {error: {type: error.constructor.name, field: error.field, message: error.message}};
      }
    }, [this.selector, method, values]);
    if (result.error) throw Object.assign(new Error(result.error.message), result.error);
    return result.value;
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

  /** The middle of a cell or a control. */
  async middle(name, ...cell) {
    const {x, y, width, height} = await this.call('locate', name, ...cell);
    return [x + width / 2, y + height / 2];
  }

  async click(name, ...cell) { await this.page.mouse.click(...await this.middle(name, ...cell)); }
  async doubleClick(name, ...cell) { await this.page.mouse.dblclick(...await this.middle(name, ...cell)); }

  /** Drags a cell by that many pixels. `during` runs before the button is up. */
  async drag(name, cell, dx, dy, during = async () => {}) {
    const [x, y] = await this.middle(name, ...cell);
    const {mouse} = this.page;
    await mouse.move(x, y);
    await mouse.down();
    await mouse.move(x + dx, y + dy, {steps: 5});
    await during();
    await mouse.up();
  }

  press(...keys) { return keys.reduce((before, key) => before.then(() => this.page.keyboard.press(key)), Promise.resolve()); }
  type(text) { return this.page.keyboard.type(text); }

  /** Starts to note the events of the element; returns a function that gives them. */
  async listen(...types) {
    await this.page.evaluate(([selector, names]) => {
      globalThis.noted = [];
      for (const name of names) {
        document.querySelector(selector).addEventListener(name, (e) => globalThis.noted.push({type: name, detail: e.detail}));
      }
    }, [this.selector, types]);
    return () => this.page.evaluate(() => globalThis.noted);
  }

  /** Two animation frames: what was asked for has been drawn. */
  settle() {
    return this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }

  /** Drops a file on the element, as a file manager would. */
  async drop(text, name = 'tensors.json') {
    await this.page.evaluate(async ([selector, content, file]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([content], file));
      for (const type of ['dragenter', 'dragover', 'drop']) {
        document.querySelector(selector).dispatchEvent(new DragEvent(type, {dataTransfer, bubbles: true, cancelable: true, composed: true}));
        await new Promise((done) => setTimeout(done, 20));
      }
      await new Promise((done) => setTimeout(done, 100));
    }, [this.selector, text, name]);
  }

  /** Every number on the board is what plain arithmetic gives for the inputs and options it says it has. */
  async check() {
    const names = ['q', 'k', 'v', 'weights', 'head_output', 'output', 'x', 'w_q', 'w_k', 'w_v', 'w_o'];
    const [state, ...tensors] = await Promise.all([this.call('getState'), ...names.map((name) => this.tensor(name))]);
    checkNumbers(state, Object.fromEntries(names.map((name, i) => [name, tensors[i]])));
  }

  async close() {
    await this.page.context().close();
    assert.deepEqual(this.complaints, [], 'the console of the page is free of errors');
  }
}

// ---------------------------------------------------------------- a few lines of plain arithmetic

const near = (got, want, bound, what) =>
  assert.ok(Math.abs(got - want) <= bound * Math.max(1, Math.abs(want)), `${what} is ${got}, and should be ${want}`);

/** The columns of a product that belong to one head. */
const project = (x, w, head, row, col, width) => {
  let sum = 0;
  for (let i = 0; i < w.shape[1]; i++) sum += x.at(0, row, i) * w.at(0, i, head * width + col);
  return sum;
};

export function checkNumbers(state, t) {
  const [heads, tokens, width] = t.q.shape;
  const isVisible = (i, j) => (!state.causal || j <= i) && (!state.mask || state.mask.data.flat()[i * tokens + j]);
  const projected = state.mode === 'x';
  const input = (name, h, i, c) => projected ? project(t.x, t[`w_${name}`], h, i, c, width) : t[name].at(h, i, c);
  for (let h = 0; h < heads; h++) {
    for (let i = 0; i < tokens; i++) {
      const scores = Array.from({length: tokens}, (_, j) => {
        let dot = 0;
        for (let c = 0; c < width; c++) dot += input('q', h, i, c) * input('k', h, j, c);
        return isVisible(i, j) ? dot * (state.scale ? 1 / Math.sqrt(width) : 1) / state.temperature : -Infinity;
      });
      const most = Math.max(...scores);
      const powers = scores.map((s) => s === -Infinity ? 0 : Math.exp(s - most));
      const sum = powers.reduce((a, b) => a + b, 0);
      const weights = powers.map((p) => sum === 0 ? 0 : p / sum);
      weights.forEach((w, j) => near(t.weights.at(h, i, j), w, 2e-5, `weights[${h},${i},${j}]`));
      for (let c = 0; c < width; c++) {
        near(t.head_output.at(h, i, c), weights.reduce((a, w, j) => a + w * input('v', h, j, c), 0), 1e-4, `head_output[${h},${i},${c}]`);
      }
    }
  }
  checkOutput(t, projected);
}

function checkOutput({output, head_output: of, w_o: wO}, projected) {
  const [, tokens, width] = of.shape;
  for (let i = 0; i < tokens; i++) {
    const joined = (c) => of.at(Math.floor(c / width), i, c % width);
    for (let c = 0; c < output.shape[2]; c++) {
      let want = projected ? 0 : joined(c);
      for (let k = 0; projected && k < wO.shape[1]; k++) want += joined(k) * wO.at(0, k, c);
      near(output.at(0, i, c), want, 1e-4, `output[${i},${c}]`);
    }
  }
}
