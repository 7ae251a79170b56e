// The layer in plain double-precision arithmetic, from the equations of the papers, to check what the board computes.
import assert from 'node:assert/strict';

const near = (got, want, bound, what) =>
  assert.ok(Math.abs(got - want) <= bound * Math.max(1, Math.abs(want)), `${what} is ${got}, and should be ${want}`);

const sum = (list) => list.reduce((a, b) => a + b, 0);
const dot = (a, b) => sum(a.map((x, c) => x * b[c]));
const range = (count) => Array.from({length: count}, (_, i) => i);
const row = (tensor, head, i) => range(tensor.shape[2]).map((c) => tensor.at(head, i, c));
const times = (matrix, head, vector) => range(matrix.shape[2]).map((c) => sum(vector.map((x, r) => x * matrix.at(head, r, c))));

// Vaswani et al. 2017, section 3.5.
const sinusoid = (position, width) => range(width).map((c) => {
  const angle = position / 10000 ** ((c - c % 2) / width);
  return c % 2 ? Math.cos(angle) : Math.sin(angle);
});
// Su et al. 2021, equation 34, for adjacent columns or halves of the rotated ones.
function turned(s, vector, position) {
  const r = s.rotary_dims && s.rotary_dims < vector.length ? s.rotary_dims : vector.length, out = [...vector];
  const base = s.rotary_scaling === 'ntk' && r > 2 ? s.rotary_base * s.rotary_factor ** (r / (r - 2)) : s.rotary_base;
  for (let i = 0; i < r / 2; i++) {
    const [a, b] = s.rotary_pairs === 'half' ? [i, i + r / 2] : [2 * i, 2 * i + 1];
    const angle = position / (s.rotary_scaling === 'linear' ? s.rotary_factor : 1) / base ** (2 * i / r);
    out[a] = vector[a] * Math.cos(angle) - vector[b] * Math.sin(angle), out[b] = vector[a] * Math.sin(angle) + vector[b] * Math.cos(angle);
  }
  return out;
}
const idOf = (ids, p) => p < ids.length ? ids[p] : ids.length ? ids.at(-1) + p - ids.length + 1 : p;

// The bias added to a product with W, if there is one.
const bias = (t, name, column) => t[`b_${name}`] ? t[`b_${name}`].at(0, 0, column) : 0;

/** Q, K and V, a list of rows for each head. */
function inputs(s, t) {
  const positioned = (x) => range(x.shape[1]).map((i) => {
    const values = row(x, 0, i);
    return s.position === 'sinusoidal' ? values.map((v, c) => v + sinusoid(idOf(s.position_ids, i), values.length)[c]) : values;
  });
  const made = (name, x, heads, width) => range(heads).map((h) => x.map((values) =>
    times(t[`w_${name}`], 0, values).map((z, c) => z + bias(t, name, c)).slice(h * width, (h + 1) * width)));
  const given = (tensor) => range(tensor.shape[0]).map((h) => range(tensor.shape[1]).map((i) => row(tensor, h, i)));
  let [q, k, v] = [t.q, t.k, t.v].map(given);
  if (s.mode === 'x') {
    const own = positioned(t.x), other = s.cross ? positioned(t.x_kv) : own;
    q = made('q', own, s.heads, s.d_q || s.d_k), k = made('k', other, s.kv_heads, s.d_k), v = made('v', t.x_v ? range(t.x_v.shape[1]).map((i) => row(t.x_v, 0, i)) : other, s.kv_heads, s.d_v);
  }
  if (s.position === 'rotary') {
    q = q.map((head) => head.map((x, i) => turned(s, x, idOf(s.position_ids, i + s.causal_offset))));
    k = k.map((head) => head.map((x, j) => turned(s, x, idOf(s.position_ids, j))));
  }
  return {q, k, v};
}

function score(s, t, h, q, k) {
  const length = (x) => Math.sqrt(dot(x, x));
  switch (s.score) {
    case 'dot': return dot(q, k);
    case 'scaled': return dot(q, k) * (s.scale === true ? 1 / Math.sqrt(s.d_k) : s.scale);
    case 'general': return dot(times(t.w_a, h, q), k);  // Luong et al. 2015, equation 8
    case 'additive': {  // Bahdanau et al. 2015, appendix A.1.2; W_a q as a column is q W_aᵀ as a row
      const side = (matrix, x) => range(matrix.shape[1]).map((r) => dot(row(matrix, h, r), x));
      const a = side(t.w_a, q), b = side(t.u_a, k);
      return dot(row(t.v_a, h, 0), a.map((x, c) => Math.tanh(x + b[c])));
    }
    case 'cosine': return length(q) * length(k) === 0 ? 0 : dot(q, k) / (length(q) * length(k));
    default: throw new Error(`what is a score of ${s.score}?`);
  }
}

// Press et al. 2022: the slopes for the largest power of two of heads, then every other one of twice as many.
function slope(head, heads) {
  const power = 2 ** Math.floor(Math.log2(heads));
  return head < power ? 2 ** (-8 * (head + 1) / power) : 2 ** (-4 * (2 * (head - power) + 1) / power);
}

function inPattern(s, t, i, j) {
  const {pattern_local: local, pattern_dilation: dilation, pattern_stride: stride, pattern_block: block, pattern_global: global} = s;
  if (!local && !stride && !block && !global && !s.pattern_random) return true;
  return (local && Math.abs(i - j) < local * dilation && (i - j) % dilation === 0) || (stride && (i - j) % stride === 0) ||
    (block && Math.floor(i / block) === Math.floor(j / block)) || (global && (i < global || j < global)) ||
    (s.pattern_random && Number.isFinite(t.masked.at(0, i - s.causal_offset, j)));  // random keys are taken from the board
}

function isVisible(s, t, i, j) {
  const here = i + s.causal_offset;
  return (!s.causal || j <= here || j < s.prefix) && (s.window_left < 0 || j >= here - s.window_left) &&
    (s.window_right < 0 || j <= here + s.window_right) && (s.key_length < 0 || j < s.key_length) &&
    Boolean(inPattern(s, t, here, j)) && (!s.mask || s.mask.data.flat()[i * s.key_tokens + j]);
}

// Martins and Astudillo 2016, algorithm 1.
function sparsemax(scores) {
  const sorted = scores.filter(Number.isFinite).sort((a, b) => b - a);
  const support = sorted.filter((z, k) => 1 + (k + 1) * z > sum(sorted.slice(0, k + 1)));
  const threshold = (sum(support) - 1) / support.length;
  return scores.map((z) => Math.max(z - threshold, 0));
}

// Peters, Niculae and Martins 2019, algorithm 1: the threshold by bisection.
function entmax15(scores) {
  let high = Math.max(...scores) / 2, low = high - 1;
  const weights = (t) => scores.map((z) => Math.max(z / 2 - t, 0) ** 2);
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (sum(weights(middle)) >= 1) low = middle;
    else high = middle;
  }
  return weights(low);
}

/** `sink` is one more score of softmax; undefined: there is none. */
function weigh(normalizer, scores, sink = -Infinity) {
  const most = Math.max(...scores);
  if (most === -Infinity) return scores.map(() => 0);
  switch (normalizer) {
    case 'softmax': {
      const powers = scores.map((z) => Math.exp(z - most));
      return powers.map((p) => p / (sum(powers) + Math.exp(sink - most)));
    }
    case 'sparsemax': return sparsemax(scores);
    case 'entmax15': return entmax15(scores);
    case 'sigmoid': return scores.map((z) => 1 / (1 + Math.exp(-z)));
    case 'relu': return scores.map((z) => Math.max(z, 0));
    case 'hardmax': return scores.map((_, j) => j === scores.indexOf(most) ? 1 : 0);
    case 'none': return scores.map((z) => z === -Infinity ? 0 : z);
    default: throw new Error(`what is a normalizer of ${normalizer}?`);
  }
}

/** Throws if a weight or an output differs. `s` has all options, `t` all tensors of the layer. */
export function checkLayer(s, t) {
  const {q, k, v} = inputs(s, t);
  const joined = range(s.tokens).map(() => []);
  for (let h = 0; h < s.heads; h++) {
    const g = Math.floor(h / (s.heads / s.kv_heads));
    for (let i = 0; i < s.tokens; i++) {
      const scores = k[g].map((key, j) => {
        let z = score(s, t, h, q[h][i], key);
        if (s.softcap > 0) z = s.softcap * Math.tanh(z / s.softcap);
        if (s.position === 'alibi') z -= slope(h, s.heads) * Math.abs(i + s.causal_offset - j);  // Press et al. 2022
        return z / s.temperature;
      });
      const seen = scores.map((_, j) => isVisible(s, t, i, j));
      const late = s.mask_after_softmax;
      const weights = weigh(s.normalizer, scores.map((z, j) => seen[j] || late ? z : -Infinity), t.sink && t.sink.at(h, 0, 0) / s.temperature).map((w, j) => seen[j] ? w : 0);
      weights.forEach((w, j) => near(t.weights.at(h, i, j), w, 2e-5, `weights[${h},${i},${j}]`));
      for (let c = 0; c < s.d_v; c++) {
        const value = sum(weights.map((w, j) => w * v[g][j][c]));
        near(t.head_output.at(h, i, c), value, 1e-4, `head_output[${h},${i},${c}]`);
        joined[i].push(s.hidden_heads.includes(h) ? 0 : value);
      }
    }
  }
  joined.forEach((values, i) => {
    const output = s.mode === 'x' && s.output_projection ? times(t.w_o, 0, values).map((z, c) => z + bias(t, 'o', c)) : values;
    output.forEach((want, c) => near(t.output.at(0, i, c), want, 1e-4, `output[${i},${c}]`));
  });
}
