// `attn run` against the specification of ONNX's operator Attention, opsets 23 to 25: see tests/golden/attn_onnx.py.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {attn, file, here} from './harness.mjs';

const cases = [1, 2].flatMap((part) => JSON.parse(readFileSync(join(here, `../golden/attn_onnx_${part}.json`), 'utf8')));
const kernels = attn('kernels').stdout.trim().split('\n').map(line => line.split(' ')[0]);
const eps = 2 ** -23;

const size = value => Math.abs(value === '-inf' ? 0 : value);
const largest = values => values.reduce((most, v) => Math.max(most, size(v)), 0);

// The bounds given in src/attention/kernels/kernels.h.
function tolerance(name, given, expected) {
  const depth = given.q.shape.at(-1);
  if (name === 'weights') return 4e-7;
  if (name === 'output') return 2e-6 * Math.max(1, largest(given.v.data), given.past_v ? largest(given.past_v.data) : 0);
  return 8 * eps * Math.sqrt(depth) * Math.max(1, largest(expected));
}

function compare(name, actual, expected, bound) {
  assert.deepEqual(actual.shape, expected.shape, `${name}.shape`);
  assert.equal(actual.data.length, expected.data.length);
  expected.data.forEach((want, i) => {
    const is = actual.data[i];
    const fits = typeof want === 'string' || typeof is === 'string' ? is === want : Math.abs(is - want) <= bound;
    assert.ok(fits, `${name}[${i}] is ${is}, not ${want} (±${bound})`);
  });
}

assert.ok(cases.length >= 100);
for (const kernel of kernels) {
  test(`${cases.length} cases of ONNX's Attention, ${kernel}`, async t => {
    for (const {name, opset, input, expected} of cases) {
      await t.test(opset ? `${name} (opset ${opset})` : name, () => {
        const done = attn('run', file(input), '--outputs', Object.keys(expected).join(), '--kernel', kernel);
        assert.equal(done.status, 0, done.stderr);
        const results = JSON.parse(done.stdout);
        assert.deepEqual(Object.keys(results), Object.keys(expected));
        for (const [output, want] of Object.entries(expected)) {
          if (output.startsWith('present')) assert.deepEqual(results[output], want);
          else compare(output, results[output], want, tolerance(output, input, want.data));
        }
      });
    }
  });
}

test('each output alone is what it is among others', () => {
  const {input, expected} = cases.find(c => c.name === 'softcap and a float mask');
  for (const [output, want] of Object.entries(expected)) {
    const results = JSON.parse(attn('run', file(input), '--outputs', output).stdout);
    assert.deepEqual(Object.keys(results), [output]);
    if (!output.startsWith('present')) compare(output, results[output], want, tolerance(output, input, want.data));
  }
});
