// Attention as ONNX models, encoded as protocol buffers by hand: three graphs that runtimes recognise. Field numbers are those of
// onnx.proto (ONNX 1.17).

const utf8 = new TextEncoder();
const varint = (value) => {
  const bytes = [];
  for (let n = BigInt.asUintN(64, BigInt(value)); ; n >>= 7n) {
    bytes.push(Number(n & 127n) | (n > 127n ? 128 : 0));
    if (n <= 127n) return bytes;
  }
};
const int = (field, value) => [...varint(field << 3), ...varint(value)];
const bytes = (field, content) => {
  const data = typeof content === 'string' ? utf8.encode(content) : content;
  return [...varint(field << 3 | 2), ...varint(data.length), ...data];
};
const float = (field, value) => [...varint(field << 3 | 5), ...new Uint8Array(new Float32Array([value]).buffer)];
const message = (field, ...parts) => bytes(field, parts.flat());

const FLOAT = 1;
const attribute = {
  int: (name, value) => message(5, bytes(1, name), int(3, value), int(20, 2)),
  float: (name, value) => message(5, bytes(1, name), float(2, value), int(20, 1)),
  ints: (name, values) => message(5, bytes(1, name), ...values.map((v) => int(8, v)), int(20, 7)),
};
const node = (operator, inputs, outputs, attributes = [], domain = '') => message(1, ...inputs.map((name) => bytes(1, name)),
  ...outputs.map((name) => bytes(2, name)), bytes(3, outputs[0]), bytes(4, operator), ...attributes, ...(domain ? [bytes(7, domain)] : []));
const value = (field, name, dims) =>
  message(field, bytes(1, name), message(2, message(1, int(1, FLOAT), message(2, ...dims.map((d) => message(1, int(1, d)))))));
const constant = (name, number) => message(5, int(2, FLOAT), bytes(8, name), bytes(9, new Uint8Array(new Float32Array([number]).buffer)));
const model = (nodes, inputs, output, dims, constants = []) => new Uint8Array([
  int(1, 10), message(7, ...nodes, bytes(2, 'attention'), ...constants, ...inputs.map(([name, d]) => value(11, name, d)), value(12, output, dims)),
  message(8, bytes(1, ''), int(2, 23)), message(8, bytes(1, 'com.microsoft'), int(2, 1))].flat());

/**
 * The graphs for one shape: {name, model, packed, mask}. Inputs q, k, v are [1, heads, tokens, dim], or [1, tokens, heads · dim]
 * where `packed`; where `mask`, a float mask [tokens, tokens] is added. The output is `o`.
 */
export function graphs(heads, tokens, dim, causal) {
  const split = [1, heads, tokens, dim], flat = [1, tokens, heads * dim];
  const scale = 1 / Math.sqrt(dim);
  const inputs = (dims) => ['q', 'k', 'v'].map((name) => [name, dims]);
  return [
    {
      name: 'MatMul–Softmax–MatMul', packed: false, mask: causal,
      model: model([
        node('Transpose', ['k'], ['kt'], [attribute.ints('perm', [0, 1, 3, 2])]),
        node('MatMul', ['q', 'kt'], ['raw']), node('Mul', ['raw', 'scale'], ['scores']),
        ...(causal ? [node('Add', ['scores', 'mask'], ['masked'])] : []),
        node('Softmax', [causal ? 'masked' : 'scores'], ['w'], [attribute.int('axis', -1)]), node('MatMul', ['w', 'v'], ['o']),
      ], [...inputs(split), ...(causal ? [['mask', [tokens, tokens]]] : [])], 'o', split, [constant('scale', scale)]),
    },
    {
      name: 'Attention-23', packed: false, mask: false,
      model: model([node('Attention', ['q', 'k', 'v'], ['o'], [attribute.int('is_causal', causal ? 1 : 0), attribute.float('scale', scale)])],
        inputs(split), 'o', split),
    },
    {
      name: 'MultiHeadAttention', packed: true, mask: false,
      model: model([node('MultiHeadAttention', ['q', 'k', 'v'], ['o'],
        [attribute.int('num_heads', heads), attribute.int('unidirectional', causal ? 1 : 0), attribute.float('scale', scale)], 'com.microsoft')],
      inputs(flat), 'o', flat),
    },
  ];
}

/** [1, heads, tokens, dim] as [1, tokens, heads · dim]. */
export function packed(array, heads, tokens, dim) {
  const out = new Float32Array(array.length);
  for (let h = 0; h < heads; ++h)
    for (let i = 0; i < tokens; ++i) out.set(array.subarray((h * tokens + i) * dim, (h * tokens + i + 1) * dim), (i * heads + h) * dim);
  return out;
}

export function causalMask(tokens) {
  const mask = new Float32Array(tokens * tokens);
  for (let i = 0; i < tokens; ++i) mask.fill(-Infinity, i * tokens + i + 1, (i + 1) * tokens);
  return mask;
}

/** Runs a graph in an `onnxruntime-*` module: {run, output}; null if the runtime does not support it. */
export async function session(ort, graph, {heads, tokens, dim, q, k, v}, options) {
  try {
    const made = await ort.InferenceSession.create(graph.model, options);
    const dims = graph.packed ? [1, tokens, heads * dim] : [1, heads, tokens, dim];
    const tensor = (array) => new ort.Tensor('float32', graph.packed ? packed(array, heads, tokens, dim) : array, dims);
    const feeds = {q: tensor(q), k: tensor(k), v: tensor(v)};
    if (graph.mask) feeds.mask = new ort.Tensor('float32', causalMask(tokens), [tokens, tokens]);
    const run = async () => (await made.run(feeds)).o;
    const output = (await run()).data;
    return {run, output, release: () => made.release()};
  } catch (error) {
    return {refused: String(error.message ?? error).slice(0, 160)};
  }
}
