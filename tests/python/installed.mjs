// The wheel made by ./play, in a fresh virtual environment.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readdirSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {python} from '../numpy.mjs';

export const dist = process.env.PYTHON_DIST ?? fileURLToPath(new URL('../../build/python/dist', import.meta.url));
export const script = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The output of a program; options of spawnSync may precede its arguments. */
export function run(program, ...args) {
  const options = typeof args[0] === 'object' ? args.shift() : {};
  const done = spawnSync(program, args, {encoding: 'utf8', maxBuffer: 1 << 28, timeout: 300_000, ...options});
  assert.equal(done.status, 0, `${program} ${args.join(' ')}: ${done.stderr || done.error}`);
  return done.stdout;
}

export const built = (ending) => {
  const names = readdirSync(dist).filter((name) => name.endsWith(ending));
  assert.equal(names.length, 1, `one ${ending} in ${dist}: ${names}`);
  return join(dist, names[0]);
};

/** A folder with a virtual environment that contains the wheel and the system's NumPy; nothing is downloaded. */
export function fresh() {
  const folder = mkdtempSync(join(tmpdir(), 'wheel-'));
  run(python, '-m', 'venv', '--system-site-packages', join(folder, 'venv'));
  const own = join(folder, 'venv/bin/python');
  run(own, '-m', 'pip', 'install', '--quiet', '--no-index', '--no-deps', built('.whl'));
  return {folder, python: own, remove: () => rmSync(folder, {recursive: true})};
}
