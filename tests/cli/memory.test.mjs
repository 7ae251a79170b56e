// `attn` with little memory; not testable with the address sanitizer, which reserves terabytes of addresses.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {attn, file, filled, folder, numbers, refusal} from './harness.mjs';

const badData = 1, onLinux = {skip: process.platform !== 'linux'};  // other systems have no limit on address space

test('a large file is read and written in seconds and in little memory', onLinux, () => {
  const length = 20_000, width = 64;
  const data = `[${Array.from(numbers(length * width, 5), v => v.toPrecision(9)).join(', ')}]`;
  const part = `{"shape": [1, 1, ${length}, ${width}], "data": ${data}}`;
  const content = `{"q": {"shape": [1, 1, 1, ${width}], "data": [${numbers(width, 6)}]}, "k": ${part}, "v": ${part}}`;
  const path = file(content);
  const megabytes = content.length / 2 ** 20;
  const out = join(folder, 'large.json');
  const began = performance.now();
  const done = attn('run', path, '--outputs', 'output,present_k', '--out', out, {limits: `ulimit -v ${Math.round((megabytes * 5 + 150) * 1024)}`});
  const seconds = (performance.now() - began) / 1000;
  assert.equal(done.status, 0, done.stderr);
  assert.ok(seconds < 100, `${seconds.toFixed(1)} s for ${megabytes.toFixed(0)} MB`);
  assert.equal(JSON.parse(readFileSync(out, 'utf8')).present_k.data.length, length * width);
});

for (const columns of [200_000, 1_000_000]) {
  test(`a row of ${columns.toLocaleString('en')} columns is computed in a small multiple of its memory`, onLinux, () => {
    const row = file(`${new Array(columns).fill('1').join(',')}\n`, '.csv'), column = file(`${new Array(16).fill('1').join('\n')}\n`, '.csv');
    const least = 100, most = least + columns * 48 / 2 ** 20;  // megabytes: those of the program, and of a number as a text, float64, in q, k and v, and in the output
    const limits = {limits: `ulimit -v ${Math.round(most * 1024)}`};
    const {status, stdout, stderr} = attn('run', row, '--set', 'causal=true', limits);
    assert.equal(status, 0, stderr);
    assert.deepEqual(JSON.parse(stdout).output, {shape: [1, columns], data: new Array(columns).fill(1)});
    assert.equal(attn('run', column, limits).status, 0);
  });
}

test('a text larger than the memory gets a sentence', onLinux, () => {
  const ones = {shape: [4_000_000, 1], data: new Array(4_000_000).fill(1)};
  const sentence = refusal(badData, attn('run', file({q: ones, k: ones, v: ones}), {limits: 'ulimit -v 60000'}));
  assert.match(sentence, /does not fit into the free memory/);
});

test('outputs larger than the memory get a sentence', onLinux, () => {
  const medium = file({q: filled([3000, 1]), k: filled([3000, 1]), v: filled([3000, 1])});
  const sentence = refusal(badData, attn('run', medium, '--outputs', 'weights,scores,softcapped,masked', {limits: 'ulimit -v 100000'}));
  assert.match(sentence, /weights: 1 × 1 heads × 3000 queries × 3000 keys take 144 MB, and \d+ MB are free/);
});
