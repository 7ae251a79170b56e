// Computes some heads whenever it is told to: at first with their shape, for new numbers, and then with nothing.
import {loadAttention} from '/package/core.js';

const attn = await loadAttention();
let arrays, sizes;
globalThis.onmessage = ({data: shape}) => {
  if (shape) {
    const [heads, queryCount, headDim] = shape;
    sizes = {heads, queryCount, headDim, weights: false};
    arrays = Array.from({length: 4}, () => attn.alloc(heads * queryCount * headDim));
    for (const array of arrays) attn.renew(array).forEach((_, i, all) => { all[i] = Math.sin(i * 12.9898); });
  }
  const [q, k, v, out] = arrays.map((array) => attn.renew(array));  // memory may have grown
  attn.forward({...sizes, q, k, v, out});
  globalThis.postMessage(null);
};
globalThis.postMessage(null);
