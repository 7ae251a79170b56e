// Three browsers behind one interface: Chromium through its own protocol, Firefox through WebDriver BiDi, and WebKit through WebDriver. The
// last two draw with Mesa's software renderer on a virtual display, because headless they have no WebGL.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import WebSocket from 'ws';
import {readPng} from '../../desktop/png.mjs';
import {startDisplay} from '../../desktop/harness.mjs';
import {until} from '../../until.mjs';
import {SCREENSHOTS, launch} from '../harness.mjs';

// The characters that stand for keys without one, in both of the protocols.
const KEYS = {Backspace: '\uE003', Tab: '\uE004', Enter: '\uE007', Shift: '\uE008', Control: '\uE009', Alt: '\uE00A', Escape: '\uE00C', End: '\uE010',
  Home: '\uE011', ArrowLeft: '\uE012', ArrowUp: '\uE013', ArrowRight: '\uE014', ArrowDown: '\uE015', Delete: '\uE017', F10: '\uE03A'};
const MOUSE = {type: 'pointer', id: 'mouse', parameters: {pointerType: 'mouse'}};
const FINGER = {type: 'pointer', id: 'finger', parameters: {pointerType: 'touch'}};
const [DOWN, UP] = ['pointerDown', 'pointerUp'].map((type) => ({type, button: 0}));
const to = (x, y, duration = 0) => ({type: 'pointerMove', x: Math.round(x), y: Math.round(y), duration, origin: 'viewport'});
const steps = (x, y, dx, dy) => Array.from({length: 5}, (_, i) => [x + dx * (i + 1) / 5, y + dy * (i + 1) / 5]);

/** What is evaluated in a page: a function and its arguments, whose result (or that of its promise) comes back as JSON. */
const called = (f, args) => `async () => JSON.stringify(await (${f})(...${JSON.stringify(args)})) ?? 'null'`;

/** A browser with one page. */
class Driver {
  ends = [];    // what is to be done at the end, the last first
  logged = [];  // what the page and the browser wrote to the console, as texts

  async picture(name) {
    const file = join(SCREENSHOTS, `${this.name}-${name}.png`);
    writeFileSync(file, await this.screenshot());
    return readPng(file);
  }

  async stop() {
    for (const end of this.ends.splice(0).reverse()) await end();
  }

  async run(program, args, {display, env = {}, stdio = 'pipe'} = {}) {
    const child = spawn(program, args, {stdio, env: {...process.env, LIBGL_ALWAYS_SOFTWARE: '1', GDK_BACKEND: 'x11', MOZ_ENABLE_WAYLAND: '0',
      DISPLAY: display, ...env}});
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    const gone = new Promise((done) => child.once('close', done));
    this.ends.push(async () => {
      kill();
      await gone;
      process.off('exit', kill);
    });
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', () => reject(new Error(`${program} is needed: ./play setup test`))));
    return child;
  }

  async startDisplay() {
    const display = await startDisplay();
    this.ends.push(() => display.close());
    return display.name;
  }

  folder() {
    const folder = mkdtempSync(join(tmpdir(), 'attention-browser-'));
    this.ends.push(() => rmSync(folder, {recursive: true, force: true, maxRetries: 20, retryDelay: 100}));
    return folder;
  }
}

export class Chromium extends Driver {
  name = 'chromium';

  async start({webgl = true} = {}) {
    this.browser = await launch({args: webgl ? [] : ['--disable-3d-apis']});
    this.ends.push(() => this.browser.close());
    this.version = this.browser.version();
  }

  async open(url, {width = 1200, height = 800} = {}) {
    await this.context?.close();
    this.context = await this.browser.newContext({viewport: {width, height}, permissions: []});
    this.page = await this.context.newPage();
    this.page.on('console', (message) => this.logged.push(`${message.type()}: ${message.text()}`));
    this.page.on('pageerror', (error) => this.logged.push(String(error)));
    await this.page.goto(url);
  }

  async evaluate(f, ...args) { return JSON.parse(await this.page.evaluate(`(${called(f, args)})()`)); }
  screenshot() { return this.page.screenshot(); }
  move(x, y) { return this.page.mouse.move(x, y); }
  wheel(dx, dy) { return this.page.mouse.wheel(dx, dy); }
  press(key) { return this.page.keyboard.press(key); }
  type(text) { return this.page.keyboard.type(text); }
  async click(x, y, count = 1) { await this.page.mouse.click(x, y, {clickCount: count}); }

  async drag(x, y, dx, dy) {
    const {mouse} = this.page;
    await mouse.move(x, y);
    await mouse.down();
    for (const at of steps(x, y, dx, dy)) await mouse.move(...at);
    await mouse.up();
  }

  /** A finger: a tap, or a swipe by that many pixels after that many milliseconds. */
  async touch(x, y, dx = 0, dy = 0, rests = 0) {
    const session = await this.context.newCDPSession(this.page);
    const send = (type, ...touchPoints) => session.send('Input.dispatchTouchEvent', {type, touchPoints});
    await send('touchStart', {x, y});
    const began = performance.now();
    await until('the finger to have rested', () => performance.now() - began >= rests);
    if (dx || dy) for (const [left, top] of steps(x, y, dx, dy)) await send('touchMove', {x: left, y: top});
    await send('touchEnd');
    await session.detach();
  }
}

/** Input by the actions of WebDriver, which perform() of both classes sends. */
class ByActions extends Driver {
  #at = [0, 0];
  #wheels = 0;
  #mouse(...actions) { return this.perform([{...MOUSE, actions}]); }

  async move(x, y) {
    this.#at = [x, y];
    await this.#mouse(to(x, y));
  }

  async wheel(dx, dy) {
    const [x, y] = this.#at.map(Math.round);
    // Each turn has a wheel of its own: WebKit's driver drops a turn that is the same as the last one of its wheel.
    await this.perform([{type: 'wheel', id: `wheel${++this.#wheels}`, actions: [{type: 'scroll', x, y, deltaX: dx, deltaY: dy, duration: 0, origin: 'viewport'}]}]);
  }

  async click(x, y, count = 1) {
    this.#at = [x, y];
    await this.#mouse(to(x, y), ...Array.from({length: count}, () => [DOWN, UP]).flat());
  }

  async drag(x, y, dx, dy) {
    this.#at = [x + dx, y + dy];
    await this.#mouse(to(x, y), DOWN, ...steps(x, y, dx, dy).map((at) => to(...at, 20)), UP);
  }

  async touch(x, y, dx = 0, dy = 0, rests = 0) {
    await this.perform([{...FINGER, actions: [to(x, y), DOWN, {type: 'pause', duration: rests}, ...dx || dy ? steps(x, y, dx, dy).map((at) => to(...at, 20)) : [], UP]}]);
  }

  async #keys(downs, ups = downs.toReversed()) {
    const actions = [...downs.map((value) => ({type: 'keyDown', value})), ...ups.map((value) => ({type: 'keyUp', value}))];
    await this.perform([{type: 'key', id: 'keys', actions}]);
  }

  press(keys) { return this.#keys((keys === '+' ? [keys] : keys.split('+')).map((key) => KEYS[key] ?? key)); }

  async type(text) {
    for (const character of text) await this.#keys([character]);
  }
}

export class Firefox extends ByActions {
  name = 'firefox';
  #waiting = new Map();
  #last = 0;

  async start({webgl = true} = {}) {
    const display = await this.startDisplay(), profile = this.folder();
    const prefs = {...webgl ? {'webgl.force-enabled': true} : {'webgl.disabled': true}, 'datareporting.policy.dataSubmissionEnabled': false, 'app.update.disabledForTesting': true,
      'browser.shell.checkDefaultBrowser': false, 'toolkit.telemetry.reportingpolicy.firstRun': false, 'network.captive-portal-service.enabled': false,
      'network.connectivity-service.enabled': false, 'services.settings.server': 'data:,', 'security.fileuri.strict_origin_policy': true};
    writeFileSync(join(profile, 'user.js'), Object.entries(prefs).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(''));
    const program = process.env.FIREFOX ?? 'firefox-esr';
    const child = await this.run(program, ['--remote-debugging-port=0', '--no-remote', '--profile', profile, 'about:blank'], {display, env: {HOME: profile}});
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => { said += text; });
    const [, address] = await until('Firefox to listen', () => /WebDriver BiDi listening on (ws:\S+)/.exec(said));
    this.socket = new WebSocket(`${address}/session`);
    await new Promise((resolve, reject) => this.socket.once('open', resolve).once('error', reject));
    this.socket.on('message', (data) => this.#take(JSON.parse(data)));
    const {capabilities} = await this.send('session.new', {capabilities: {}});
    this.version = capabilities.browserVersion;
    this.tab = (await this.send('browsingContext.getTree', {})).contexts[0].context;
    await this.send('session.subscribe', {events: ['log.entryAdded']});
    // Without a window manager nothing else gives its window the focus, and a page that has none gets no focus events.
    const window = ['search', '--onlyvisible', '--class', 'firefox', 'windowfocus', '--sync', 'mousemove', '300', '300', 'click', '1', 'mousemove', '0', '0'];
    await until('the focus', async () => {
      if (await this.evaluate(() => document.hasFocus())) return true;
      spawnSync('xdotool', window, {env: {...process.env, DISPLAY: display}});
      return false;
    });
  }

  #take({id, type, method, params, result, message}) {
    if (method === 'log.entryAdded') return this.logged.push(`${params.level}: ${params.text}`);
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return type === 'error' ? waiting?.reject(new Error(message)) : waiting?.resolve(result);
  }

  send(method, params) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, {resolve, reject});
      this.socket.send(JSON.stringify({id, method, params}));
    });
  }

  async open(url, {width = 1200, height = 800} = {}) {
    await this.send('browsingContext.setViewport', {context: this.tab, viewport: {width, height}});
    await this.send('browsingContext.navigate', {context: this.tab, url, wait: 'complete'});
  }

  async evaluate(f, ...args) {
    const {type, result, exceptionDetails} = await this.send('script.callFunction', {functionDeclaration: called(f, args), awaitPromise: true,
      target: {context: this.tab}, userActivation: false});
    assert.equal(type, 'success', exceptionDetails?.text);
    return JSON.parse(result.value);
  }

  perform(actions) { return this.send('input.performActions', {context: this.tab, actions}); }
  async screenshot() { return Buffer.from((await this.send('browsingContext.captureScreenshot', {context: this.tab})).data, 'base64'); }
}

const freePort = () => new Promise((resolve) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const {port} = server.address();
    server.close(() => resolve(port));
  });
});

/** MiniBrowser, which stands beside the library of WebKitGTK. */
function findMiniBrowser() {
  for (const folder of readdirSync('/usr/lib').map((name) => join('/usr/lib', name))) {
    for (const version of ['webkitgtk-6.0', 'webkit2gtk-4.1', 'webkit2gtk-4.0']) {
      const file = join(folder, version, 'MiniBrowser');
      if (existsSync(file)) return file;
    }
  }
  throw new Error('WebKit is needed: ./play setup test');
}

export class WebKit extends ByActions {
  name = 'webkit';

  async start({webgl = true} = {}) {
    const display = await this.startDisplay(), port = await freePort(), home = this.folder();
    // As root its sandbox cannot be used. Its messages of the console go to the output of the driver.
    const child = await this.run('WebKitWebDriver', ['-p', String(port)], {display, env: {HOME: home, XDG_CACHE_HOME: home, XDG_DATA_HOME: home, XDG_RUNTIME_DIR: home,
      ...process.getuid() === 0 ? {WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1'} : {}}});
    let rest = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop();
      if (process.env.SHOW_LOG) console.error(lines);
      this.logged.push(...lines.filter((line) => line.includes('CONSOLE')));
    });
    this.address = `http://127.0.0.1:${port}/session`;
    const options = {binary: process.env.MINI_BROWSER ?? findMiniBrowser(), args: ['--automation', '--enable-write-console-messages-to-stdout=true', `--enable-webgl=${webgl}`]};
    const ask = {capabilities: {alwaysMatch: {browserName: 'MiniBrowser', 'webkitgtk:browserOptions': options}}};
    const session = await until('WebKitWebDriver', () => this.send('', ask).catch((error) => { if (error.name !== 'TypeError') throw error; }));
    this.address += `/${session.sessionId}`;
    this.version = session.capabilities.browserVersion;
    this.ends.push(() => this.send('', undefined, 'DELETE'));
    await this.send('/timeouts', {script: 120_000, pageLoad: 120_000});
  }

  async send(path, body, method = body ? 'POST' : 'GET') {
    const response = await fetch(this.address + path, {method, body: body && JSON.stringify(body)});
    const {value} = await response.json();
    if (!response.ok) throw new Error(value.message || value.error);
    return value;
  }

  async open(url, {width = 1200, height = 800} = {}) {
    await this.send('/url', {url});
    const [innerWidth, innerHeight] = await this.evaluate(() => [globalThis.innerWidth, globalThis.innerHeight]);
    if (innerWidth === width && innerHeight === height) return;
    const window = await this.send('/window/rect');
    await this.send('/window/rect', {x: 0, y: 0, width: window.width + width - innerWidth, height: window.height + height - innerHeight});
    await until('the size of the window', () => this.evaluate((w, h) => globalThis.innerWidth === w && globalThis.innerHeight === h, width, height));
  }

  async evaluate(f, ...args) {
    const script = `const done = arguments[0]; (${called(f, args)})().then((result) => done({result}), (error) => done({error: String(error)}));`;
    const {result, error} = await this.send('/execute/async', {script, args: []});
    assert.equal(error, undefined);
    return JSON.parse(result);
  }

  perform(actions) { return this.send('/actions', {actions}); }
  async screenshot() { return Buffer.from(await this.send('/screenshot'), 'base64'); }
}
