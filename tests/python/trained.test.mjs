// The program that attn writes of a model which it trained, in PyTorch 1 and 2 and in JAX: logits and the tensors of every layer are those of attn run.
import assert from 'node:assert/strict';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {run} from './installed.mjs';
import {models2, modelsPython} from './models.mjs';

const attn = process.env.ATTN ?? fileURLToPath(new URL('../../build/native/attn', import.meta.url));
// Runs programs, given as [[program, {name of a list: its numbers}]], and prints logits and the tensors that each found.
const RUN = `import json, re, sys
def plain(a):
    return {"shape": list(a.shape), "data": a.reshape(-1).tolist()}
out = []
for program, lists in json.load(sys.stdin):
    for name, ids in lists.items():
        program = re.sub(r"(?m)^(%s = [\\w.]+)\\(.*?\\)" % name, lambda found: "%s(%s)" % (found[1], ids), program)
    scope = {}
    exec(program, scope)
    out.append({"logits": plain(scope["logits"]), **{name: plain(a) for name, a in scope["found"].items()}})
print(json.dumps(out))`;
const CASES = [
  ['induction', 'npz', 'heads=2', 'd_model=16', 'position=sinusoidal'],
  ['induction', 'safetensors', 'heads=4', 'd_model=32', 'position=rotary', 'layers=3'],
  ['sort', 'safetensors', 'position=learned', 'causal=false'],
  ['reverse', 'npz', 'position=alibi', 'score=additive', 'heads=4', 'causal=false'],
  ['previous', 'safetensors', 'layer_norm=false', 'score=general', 'normalizer=sparsemax'],
  ['tags', 'npz', 'residual=false', 'feed_forward=false', 'score=cosine', 'normalizer=entmax15'],
  ['most_frequent', 'safetensors', 'position=none', 'normalizer=sigmoid', 'score=dot'],
  ['translate', 'safetensors', 'position=rotary'],
  ['translate', 'npz', 'position=sinusoidal'],
];
let folder, made;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'trained-'));
  made = CASES.map(([task, ending, ...settings], i) => {
    const path = join(folder, `${i}.${ending}`);
    run(attn, 'train', '--task', task, '--steps', '30', '--set', ...settings, '--out', path);
    const lists = task === 'translate' ? {source: [0, 1, 2, 3], tokens: [0, 3, 1]} : {tokens: [3, 1, 4, 1, 5, 2, 3].slice(0, task === 'tags' ? 4 : 7)};
    const set = Object.entries(lists).map(([name, ids]) => `${name}=${ids}`);
    return {path, lists, what: `${task} ${settings.join(' ')}`, said: (names) => JSON.parse(run(attn, 'run', path, '--set', ...set, '--outputs', names.join()))};
  });
});
after(() => rmSync(folder, {recursive: true}));

for (const [what, python, language] of [['PyTorch 1', modelsPython, 'torch'], ['PyTorch 2', models2, 'torch'], ['NumPy', modelsPython, 'numpy'], ['JAX', modelsPython, 'jax']]) {
  test(`the program of a trained model gives what attn run gives: ${what}`, () => {
    const input = JSON.stringify(made.map(({path, lists}) => [run(attn, 'code', path, '--as', language), lists]));
    const found = JSON.parse(run(python(), {input}, '-c', RUN));
    made.forEach(({what: of, said}, i) => {
      const names = Object.keys(found[i]), wanted = said(names);
      assert.ok(names.length >= 15, `${of}: ${names}`);
      for (const name of names) {
        const {shape, data} = found[i][name];
        assert.deepEqual(shape.filter((one) => one !== 1), wanted[name].shape.filter((one) => one !== 1), `${of}, ${name}`);
        const worst = Math.max(...data.map((value, at) => Math.abs(value - wanted[name].data[at]) / Math.max(1, Math.abs(value))));
        assert.ok(worst <= 1e-4, `${of}, ${name}: ${worst}`);
      }
      const best = ({shape: [rows, classes], data}) => Array.from({length: rows}, (_, row) => data.slice(row * classes, (row + 1) * classes)).map((row) => row.indexOf(Math.max(...row)));
      assert.deepEqual(best(found[i].logits), best(wanted.logits), `${of}: what it says next`);
    });
  });
}
