// ./play bench models runs once with --quick: every peer is measured, and its report has its lines.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';

test('models: what a cell holds and when it is seen, beside BertViz, CircuitsVis and TransformerLens', () => {
  const results = mkdtempSync(join(tmpdir(), 'bench-'));
  const done = spawnSync(process.execPath, [fileURLToPath(new URL('models.bench.mjs', import.meta.url)), '--quick'],
    {encoding: 'utf8', timeout: 1_200_000, env: {...process.env, BENCH_RESULTS: results, OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1'}});
  assert.equal(done.status, 0, done.stderr);
  const {lines} = JSON.parse(readFileSync(join(results, 'models.json'), 'utf8'));
  rmSync(results, {recursive: true});
  assert.deepEqual(lines.filter(({kind}) => kind === 'missing'), []);
  assert.deepEqual(lines.filter(({kind}) => kind === 'output').map(({tool, picture}) => [tool, picture > 0]),
    ['attention_playground', 'attention_playground', 'bertviz', 'bertviz', 'circuitsvis', 'circuitsvis'].map((tool) => [tool, true]), done.stdout);
  assert.deepEqual(lines.filter(({kind}) => kind === 'length').map(({tool, what, picture, memory, frame}) => [tool, what, picture > 0, memory > 0, frame > 0]),
    ['24 tokens', '48 tokens'].flatMap((what) => ['attention_playground', 'bertviz'].map((tool) => [tool, what, true, true, true])));
  assert.deepEqual(lines.filter(({kind}) => kind === 'record').map(({tool, ratio}) => [tool, ratio > 0]),
    ['attention_playground', 'transformers', 'transformer_lens', 'transformer_lens'].map((tool) => [tool, true]));
});
