// The Python with PyTorch, transformers, anywidget and Jupyter that ./play test models installs, the one with PyTorch 2 and transformers 5, and the
// wheel in both.
import assert from 'node:assert/strict';
import {existsSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {built, run} from './installed.mjs';

let python = null;

/** The path of the interpreter. */
export function modelsPython() {
  const path = process.env.MODELS ?? fileURLToPath(new URL('../../.toolchain/models/bin/python', import.meta.url));
  assert.ok(existsSync(path), `${path} is missing: ./play test models brings it`);
  return path;
}

/** Its path; the wheel is reinstalled when this is first called. */
export function models() {
  if (python) return python;
  python = modelsPython();
  run(python, '-m', 'pip', 'install', '--quiet', '--no-index', '--no-deps', '--force-reinstall', built('.whl'));
  return python;
}

/** The path of the Python with PyTorch 2; the wheel is unpacked before everything else that it imports. */
export function models2() {
  const home = process.env.MODELS2 ?? fileURLToPath(new URL('../../.toolchain/models2', import.meta.url));
  assert.ok(existsSync(home), `${home} is missing: ./play test models brings it`);
  run(modelsPython(), '-m', 'pip', 'install', '--quiet', '--no-index', '--no-deps', '--upgrade', '--target', `${home}/package`, built('.whl'));
  return `${home}/bin/python`;
}
