// What the tests of attention-playground/core share. CORE is the folder of the built package (default build/package). Older versions of
// Node run the relaxed build with --experimental-wasm-relaxed-simd.
import assert from 'node:assert/strict';
import {pathToFileURL} from 'node:url';

export const folder = process.env.CORE ? pathToFileURL(`${process.env.CORE}/`) : new URL('../../build/package/', import.meta.url);
export const script = new URL('core.js', folder);
export const {loadAttention} = await import(script);

/** The builds that can run here. */
export const kernels = [];
for (const kernel of ['wasm-simd128', 'wasm-relaxed']) {
  await loadAttention({kernel}).then(() => kernels.push(kernel), (error) => assert.match(error.message, /kernel: this engine cannot run/));
}

/** Numbers in -1 … 1 that are the same every time. */
export function numbers(length, seed) {
  let state = seed * 2654435761 + 1;
  return Float32Array.from({length}, () => ((state = (state * 1664525 + 1013904223) >>> 0) / 2 ** 31) - 1);
}

export function near(actual, wanted, bound, what) {
  assert.equal(actual.length, wanted.length, `${what}: length`);
  for (let i = 0; i < wanted.length; ++i) {
    if (!(Math.abs(actual[i] - wanted[i]) <= bound)) assert.fail(`${what}[${i}] is ${actual[i]}, exactly ${wanted[i]}`);
  }
}

/** Every option for a layer with two heads, `n` queries and `m` keys, with its meaning: which keys are visible, and what is added. */
export function everyOption(n, m) {
  const byKey = Array.from({length: m}, (_, j) => j % 3 !== 1), byPair = Uint8Array.from({length: n * m}, (_, i) => i % 5 ? 1 : 0);
  const added = numbers(2 * n * m, 10);
  added[3] = -Infinity;
  return [
    [{causal: true}, {sees: (h, i, j) => j <= i}],
    [{causal: true, causalOffset: 5}, {sees: (h, i, j) => j <= i + 5}],
    [{windowLeft: 2, windowRight: 1, causalOffset: 1}, {sees: (h, i, j) => j >= i - 1 && j <= i + 2}],
    [{keyLength: 4}, {sees: (h, i, j) => j < 4}],
    [{keyLength: 0}, {sees: () => false}],
    [{scale: 2.5}, {scale: 2.5}],
    [{softcap: 0.5}, {softcap: 0.5}],
    [{temperature: 0.2}, {temperature: 0.2}],
    [{mask: byKey}, {sees: (h, i, j) => byKey[j]}],
    [{mask: byPair}, {sees: (h, i, j) => byPair[i * m + j] === 1}],
    [{mask: added, causal: true}, {sees: (h, i, j) => j <= i, bias: (h, i, j) => added[(h * n + i) * m + j]}],
  ];
}
