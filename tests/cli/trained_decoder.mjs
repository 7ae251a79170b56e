// Writes web/lessons/trained-decoder.json, the example "A decoder that learned": a head of the second layer of a model that `attn train` makes.
//
// usage: node trained_decoder.mjs ATTN FILE
import {execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const [attn, target] = process.argv.slice(2);
const LETTERS = 'd r m k d r m k', LAYER = 1, DIGITS = 1;
const TEXT = 'A decoder-only model as GPT-2 is one, but small: two causal layers, two heads of 16 columns. attn train taught it to name the letter '
  + 'that followed the present one last time. These are the numbers of a head of its second layer, as it read four letters twice; from the second **d** on it gives the right letter at least `0.99`.\n'
  + '**Notice** that the second **d** looks at the first **r**, the letter that came after **d** ({weights:0,4,1}), and the second **r** at the first **m** ({weights:0,5,2}). Heads like this one are called '
  + 'induction heads; large language models have them too (Olsson et al. 2022).\n'
  + '**Try** switching [causal] off: the model never learned to look ahead, and now it does.';

const folder = mkdtempSync(join(tmpdir(), 'decoder-')), model = join(folder, 'model.safetensors');
try {
  execFileSync(attn, ['train', '--task', 'induction', '--steps', '3000', '--seed', '7', '--out', model], {stdio: 'ignore'});
  const outputs = ['q', 'k', 'v'].map((name) => `layers.${LAYER}.${name}`);
  const results = JSON.parse(execFileSync(attn, ['run', model, '--text', LETTERS, '--outputs', outputs.join(), '--out', '-']));
  const first = ({shape: [, rows, columns], data}) => Array.from({length: rows}, (_, r) =>
    data.slice(r * columns, (r + 1) * columns).map((v) => Number(v.toFixed(DIGITS)) + 0));
  const [q, k, v] = outputs.map((name) => [first(results[name])]);
  const set = {mode: 'qkv', causal: true, heads: 1, d_k: 16, d_v: 16, labels: LETTERS.split(' '), q, k, v};
  writeFileSync(target, `${JSON.stringify({lesson: 1, place: 3100, cards: [{
    id: 'trained-decoder', kind: 'example', title: 'A decoder that learned', about: 'A head of a small decoder-only model, trained to go on with what it has read.',
    next: ['gpt-series', 'training'], steps: [{set, select: ['weights', 0, 4, 1], text: TEXT}],
  }]})}\n`);
} finally {
  rmSync(folder, {recursive: true});
}
