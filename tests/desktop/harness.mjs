// The desktop program in a real window, on a display of its own, controlled by real key and pointer events.
import assert from 'node:assert/strict';
import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, readSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {until} from '../until.mjs';

export {until};
export {readPng} from './png.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const BUILD = process.env.BUILD ?? here('../../build/native');
const PROGRAM = join(BUILD, 'attention-playground');
const EVENTS = join(BUILD, 'window_events');
export const SCREENSHOTS = process.env.SCREENSHOTS ?? here('../../build/screenshots');
mkdirSync(SCREENSHOTS, {recursive: true});

/** A folder that is deleted when the test ends. */
export function folder(t) {
  const path = mkdtempSync(join(tmpdir(), 'attention-playground-'));
  t.after(async () => {
    await endWindows(t);
    rmSync(path, {recursive: true, force: true});
  });
  return path;
}

const windows = new WeakMap();  // of each test

/** Without that they could write into the test's folder while it is removed. */
async function endWindows(t) {
  for (const {process} of windows.get(t) ?? []) {
    if (process.exitCode !== null || process.signalCode !== null) continue;
    const end = once(process, 'exit');
    process.kill('SIGKILL');
    await end;
  }
}

// ---------------------------------------------------------------- a display

/** Starts Xvfb on a free display. Its screen is a file from which pixels are read. */
export async function startDisplay() {
  const screen = mkdtempSync(join(tmpdir(), 'attention-screen-'));
  const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1600x1200x24', '-fbdir', screen, '-nolisten', 'tcp', '-noreset'],
    {stdio: ['ignore', 'ignore', 'ignore', 'pipe']});
  const number = await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', () => reject(new Error('Xvfb did not start')));
    server.stdio[3].once('data', (text) => resolve(String(text).trim()));
  });
  return {
    name: `:${number}`,
    pid: server.pid,
    file: join(screen, 'Xvfb_screen0'),
    close() {
      server.kill();
      rmSync(screen, {recursive: true, force: true});
    },
  };
}

/** One pixel of the screen, from the X window dump that Xvfb maintains. */
function readPixel(file, x, y) {
  const handle = openSync(file, 'r');
  try {
    const head = Buffer.alloc(100);
    readSync(handle, head, 0, 100, 0);
    const [headerSize, lineBytes, colours] = [head.readUInt32BE(0), head.readUInt32BE(48), head.readUInt32BE(76)];
    const pixel = Buffer.alloc(4);
    readSync(handle, pixel, 0, 4, headerSize + colours * 12 + y * lineBytes + x * 4);
    return [pixel[2], pixel[1], pixel[0]];  // stored blue first
  } finally {
    closeSync(handle);
  }
}

// ---------------------------------------------------------------- the program

export const environment = (display, home, more = {}) =>
  ({PATH: process.env.PATH, LANG: 'C.UTF-8', HOME: home, XDG_CONFIG_HOME: join(home, 'config'), DISPLAY: display,
    ...(process.env.LSAN_OPTIONS && {LSAN_OPTIONS: process.env.LSAN_OPTIONS}), ...more});

/** Runs it until it exits: {status, stdout, stderr}. */
export function run(args, {display = '', home, cwd = home, env} = {}) {
  return spawnSync(PROGRAM, args, {env: environment(display, home, env), cwd, encoding: 'utf8', timeout: 60000});
}

/** A window of the program. */
export class Session {
  /** `first`: what its shell does before it becomes the program. Its user has seen it before, unless it `visits` for the first time. */
  static async start(t, display, args = [], {home = folder(t), cwd = home, first = ':', visits = false} = {}) {
    const self = new Session(), kept = join(home, 'config/attention-playground');
    if (!visits) mkdirSync(kept, {recursive: true});
    if (!visits && !existsSync(join(kept, 'lessons.json'))) writeFileSync(join(kept, 'lessons.json'), '{"open":false}');
    Object.assign(self, {display, home, cwd, args, env: environment(display.name, home)});
    self.process = spawn('bash', ['-c', `${first}; exec "$0" "$@"`, PROGRAM, ...args], {env: self.env, cwd, stdio: ['ignore', 'inherit', 'inherit']});
    windows.set(t, [...windows.get(t) ?? [], self]);
    t.after(() => endWindows(t));
    self.window = await until('a window', () => self.tool('search', '--onlyvisible', '--pid', self.process.pid).split('\n')[0]);
    self.tool('windowfocus', self.window);  // there is no window manager to do it
    await self.settled();
    return self;
  }

  tool(...args) {
    return spawnSync('xdotool', args.map(String), {env: this.env, encoding: 'utf8', timeout: 60000}).stdout.trim();
  }

  geometry() {
    const text = this.tool('getwindowgeometry', '--shell', this.window);
    return Object.fromEntries([...text.matchAll(/(\w+)=(-?\d+)/g)].map(([, name, value]) => [name.toLowerCase(), Number(value)]));
  }

  /** CPU time used so far by all threads, in clock ticks; `asleep`: it is waiting. */
  ticks(pid = this.process.pid) {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ');
    return {used: Number(fields[11]) + Number(fields[12]), asleep: fields[0] === 'S'};
  }

  /** Waits until it has been asleep for a while, and the display has nothing to do either. */
  async settled() {
    let before = '', quiet = 0;
    await until('the program to fall asleep', () => {
      const {exitCode, signalCode} = this.process;
      assert.ok(exitCode === null && signalCode === null, `the program ended: ${signalCode ?? exitCode}`);
      const both = [this.ticks(), this.ticks(this.display.pid)], now = both.map(({used}) => used).join();
      quiet = now === before && both.every(({asleep}) => asleep) ? quiet + 1 : 0;
      before = now;
      return quiet >= 10;
    });
  }

  /** The centre of a cell or control in screen pixels, as reported by the same program with the same arguments. */
  async place(name, head, row, col) {
    const {width, height, x, y} = this.geometry();
    const at = head === undefined ? name : [name, head, row, col].join(',');
    const args = [...this.args.filter((arg, i, all) => arg !== '--size' && all[i - 1] !== '--size'), '--size', `${width}x${height}`];
    const result = run([...args, '--locate', at], {display: this.display.name, home: this.home, cwd: this.cwd});
    assert.equal(result.status, 0, result.stderr);
    const [left, top, w, h] = result.stdout.trim().split(' ').map(Number);
    return {left: x + left, top: y + top, x: Math.round(x + left + w / 2), y: Math.round(y + top + h / 2), w, h};
  }

  /** The colour of a cell near its lower left corner, where there is neither a number nor an outline. */
  async cellColor(...cell) {
    const {left, top, h} = await this.place(...cell);
    return readPixel(this.display.file, Math.round(left + 7), Math.round(top + h - 7));
  }

  /** Does nothing if the pointer is already there, because xdotool would wait 15 seconds for it to move. */
  async move(x, y) {
    if (this.tool('getmouselocation').startsWith(`x:${x} y:${y} `)) return;
    this.tool('mousemove', '--sync', x, y);
  }
  async click({x, y}) { await this.move(x, y); this.tool('click', 1); await this.settled(); }
  async doubleClick({x, y}) { await this.move(x, y); this.tool('click', '--repeat', 2, '--delay', 60, 1); await this.settled(); }
  async key(...names) { this.tool('key', ...names); await this.settled(); }
  async type(text) { this.tool('type', '--delay', 30, '--', text); await this.settled(); }

  async drag({x, y}, dx, dy) {
    await this.move(x, y);
    this.tool('mousedown', 1);
    for (let step = 1; step <= 8; ++step) await this.move(Math.round(x + dx * step / 8), Math.round(y + dy * step / 8));
    this.tool('mouseup', 1);
    await this.settled();
  }

  drop(file) { return spawnSync(EVENTS, ['drop', this.window, file], {env: this.env}).status; }

  /** Saves with Ctrl+S and reads the file. */
  async saved(file = join(this.cwd, 'attention.json')) {
    await this.key('ctrl+s');
    await until(`${file} to be written`, () => existsSync(file));
    return JSON.parse(readFileSync(file, 'utf8'));
  }

  async close() {
    spawnSync(EVENTS, ['close', this.window], {env: this.env});
    await until('the program to end', () => this.process.exitCode !== null || this.process.signalCode !== null);
    return this.process.signalCode ?? this.process.exitCode;
  }
}

// ---------------------------------------------------------------- large boards

/** A safetensors file of float32 tensors of one shape, whose numbers are alike in no two rows. */
export function tensors(t, names, shape) {
  const count = shape.reduce((a, b) => a * b, 1), length = Buffer.alloc(8);
  const header = JSON.stringify(Object.fromEntries(names.map((name, i) => [name, {dtype: 'F32', shape, data_offsets: [4 * count * i, 4 * count * (i + 1)]}])));
  const numbers = (i) => Float32Array.from({length: count}, (_, at) => Math.sin(0.37 * at * at + i));
  length.writeBigUInt64LE(BigInt(header.length));
  const path = join(folder(t), 'layer.safetensors');
  writeFileSync(path, Buffer.concat([length, Buffer.from(header), ...names.map((_, i) => Buffer.from(numbers(i).buffer))]));
  return path;
}

/** Processor time of all threads so far, in milliseconds. */
const spent = ({process: {pid}}) => readdirSync(`/proc/${pid}/task`).reduce((sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'latin1').split(' ')[0]) / 1e6, 0);

/** The median of what seven calls of `act` cost the program, in milliseconds of processor time. `before` is called before each, uncounted. */
export async function cost(app, act, before = () => {}) {
  const times = [];
  for (let i = 0; i < 7; ++i) {
    await before();
    const began = spent(app);
    await act();
    times.push(spent(app) - began);
  }
  return times.sort((a, b) => a - b)[3];
}

// ---------------------------------------------------------------- arithmetic

/** Attention weights of one head of a state, in plain loops. */
export function weights(state, head) {
  const [, n, d] = state.q.shape;
  const at = (tensor, i, k) => tensor.data.flat(Infinity)[(head * n + i) * d + k];
  return Array.from({length: n}, (_, i) => {
    const scores = Array.from({length: n}, (__, j) => {
      if (state.causal && j > i) return -Infinity;
      let dot = 0;
      for (let k = 0; k < d; ++k) dot += at(state.q, i, k) * at(state.k, j, k);
      return dot * (state.scale ? 1 / Math.sqrt(d) : 1) / state.temperature;
    });
    const most = Math.max(...scores), exps = scores.map((s) => Math.exp(s - most)), sum = exps.reduce((a, b) => a + b);
    return exps.map((e) => e / sum);
  });
}
