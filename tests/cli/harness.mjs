// Runs `attn`: the program named by the environment variable ATTN, or the one that ./play builds.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';

export const here = dirname(fileURLToPath(import.meta.url));
const program = process.env.ATTN ? resolve(process.env.ATTN) : resolve(here, '../../build/native/attn');

export const folder = mkdtempSync(join(tmpdir(), 'attn-'));
process.on('exit', () => rmSync(folder, {recursive: true, force: true}));

export function attn(...args) {
  const options = args.length > 0 && typeof args.at(-1) === 'object' ? args.pop() : {};
  const command = options.limits ? ['bash', '-c', `${options.limits}; exec "$0" "$@"`, program, ...args] : [program, ...args];
  const done = spawnSync(command[0], command.slice(1), {encoding: 'utf8', maxBuffer: 1 << 30, timeout: 120_000, ...options});
  if (done.error) throw done.error;
  assert.equal(done.signal, null, `attn ${args.join(' ')} ended by ${done.signal}: ${done.stderr}`);
  return done;
}

let count = 0;
// Writes a file with this content: a string as it is, anything else as JSON.
export function file(content, extension = '.json') {
  const path = join(folder, `in-${count++}${extension}`);
  writeFileSync(path, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content));
  return path;
}

// The output of `attn run` for a file, as JSON.
export function run(content, ...args) {
  const done = attn('run', file(content), ...args);
  assert.equal(done.status, 0, done.stderr);
  assert.equal(done.stderr, '');
  return JSON.parse(done.stdout);
}

// `attn run` must fail with this status, and one line on stderr.
export function refuses(status, content, ...args) {
  const done = attn('run', file(content), ...args);
  return refusal(status, done);
}

export function refusal(status, done) {
  assert.equal(done.status, status, `status ${done.status}: ${done.stderr || done.stdout.slice(0, 200)}`);
  assert.equal(done.stdout, '');
  assert.match(done.stderr, /^attn: [^\n]+[.]\n$/);
  assert.doesNotMatch(done.stderr, /  |\bnull\b.*\bnull\b/);
  return done.stderr;
}

export const tensor = (shape, data, more = {}) => ({shape, data, ...more});

// Pseudorandom numbers from -2 to 2 that are the same each time.
export function numbers(count, seed = 1) {
  let state = seed;
  return Array.from({length: count}, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.fround(state / 2 ** 30 - 2);
  });
}
export const filled = (shape, seed) => tensor(shape, numbers(shape.reduce((a, b) => a * b, 1), seed));

// A small valid layer: 2 heads, 3 queries, 4 keys of 2 columns.
export const layer = (more = {}) => ({q: filled([2, 3, 2], 1), k: filled([2, 4, 2], 2), v: filled([2, 4, 2], 3), ...more});
