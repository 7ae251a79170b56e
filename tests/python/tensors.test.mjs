// Files between attn and the packages that others have: PyTorch, NumPy, safetensors.
import assert from 'node:assert/strict';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {run, script} from './installed.mjs';
import {modelsPython} from './models.mjs';

const attn = process.env.ATTN ?? fileURLToPath(new URL('../../build/native/attn', import.meta.url));

test('every type of PyTorch and NumPy comes through attn with its bits, as the package safetensors writes and reads it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tensors-'));
  try {
    const ways = run(modelsPython(), script('tensors.py'), attn, folder).trim().split('\n').map((line) => JSON.parse(line));
    assert.deepEqual(ways.map(({way, tensors}) => [way, tensors]), [['PyTorch, by .safetensors', 13], ['PyTorch, by JSON', 13], ['PyTorch, by .npz', 13],
      ['NumPy, by .npz', 12], ['NumPy, by .safetensors', 12], ['a state, by .safetensors', 3]]);
  } finally {
    rmSync(folder, {recursive: true});
  }
});
