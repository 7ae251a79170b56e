// Compares attn_onnx_1.json and attn_onnx_2.json with ONNX Runtime, another implementation of the operator. Not part of the tests, because
// the runtime is a large download: in any folder run `npm install --ignore-scripts onnxruntime-node`, then
//   node tests/golden/attn_onnxruntime.mjs FOLDER/node_modules/onnxruntime-node
// Prints the differences, and what the runtime does not support (1.30: masks of rank 1, shared by queries or by some axes of several, or
// with fewer keys; windows). Debian 12's python3-onnx (1.12) is older than the operator, so its reference implementation cannot be used.
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';

const ort = createRequire(import.meta.url)(resolve(process.argv[2] ?? 'onnxruntime-node'));
ort.env.logLevel = 'fatal';
const cases = [1, 2].flatMap((part) =>
  JSON.parse(readFileSync(join(dirname(fileURLToPath(import.meta.url)), `attn_onnx_${part}.json`), 'utf8')));

// The few elements of protocol buffers needed for a model with a single operator.
const varint = value => {
  const bytes = [];
  for (let n = BigInt.asUintN(64, BigInt(value)); ; n >>= 7n) {
    bytes.push(Number(n & 127n) | (n > 127n ? 128 : 0));
    if (n <= 127n) return Buffer.from(bytes);
  }
};
const int = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, value) => Buffer.concat([varint(field << 3 | 2), varint(Buffer.byteLength(value)), Buffer.from(value)]);
const message = (field, ...parts) => bytes(field, Buffer.concat(parts));
const float = (field, value) => { const b = Buffer.alloc(4); b.writeFloatLE(value); return Buffer.concat([varint(field << 3 | 5), b]); };

const FLOAT = 1, INT64 = 7, BOOL = 9;
const valueInfo = (field, name, type, rank) => message(field, bytes(1, name), message(2, message(1, int(1, type),
    message(2, ...Array.from({length: rank}, (_, i) => message(1, bytes(2, `${name}_${i}`)))))));
const attribute = (name, value, isFloat) => message(5, bytes(1, name), isFloat ? float(2, value) : int(3, value), int(20, isFloat ? 1 : 2));

function model({inputs, outputs, attributes, opset}) {
  const node = message(1, ...inputs.map(i => bytes(1, i?.name ?? '')), ...outputs.map(o => bytes(2, o?.name ?? '')), bytes(4, 'Attention'), ...attributes);
  const graph = message(7, node, bytes(2, 'g'), ...inputs.filter(Boolean).map(i => valueInfo(11, i.name, i.type, i.dims.length)),
      ...outputs.filter(Boolean).map(o => valueInfo(12, o.name, FLOAT, o.rank)));
  return Buffer.concat([int(1, 11), graph, message(8, int(2, opset))]);
}

const number = v => v === '-inf' ? -Infinity : v === 'inf' ? Infinity : v;
function feed(name, entry, type) {
  if (!entry) return null;
  const data = type === BOOL ? Uint8Array.from(entry.data) : type === INT64 ? BigInt64Array.from(entry.data, BigInt) : Float32Array.from(entry.data, number);
  return {name, type, dims: entry.shape, tensor: new ort.Tensor(type === BOOL ? 'bool' : type === INT64 ? 'int64' : 'float32', data, entry.shape)};
}

const MODES = {scores: 0, softcapped: 1, masked: 2, weights: 3};
async function runtime({input, expected, opset}, output) {
  const options = input.options ?? {};
  const mode = MODES[output];
  const past = Boolean(input.past_k);
  const inputs = [feed('q', input.q, FLOAT), feed('k', input.k, FLOAT), feed('v', input.v, FLOAT),
    feed('mask', input.mask, input.mask?.dtype === 'bool' ? BOOL : FLOAT), feed('past_k', input.past_k, FLOAT), feed('past_v', input.past_v, FLOAT),
    feed('lengths', input.key_lengths, INT64)];
  while (!inputs.at(-1)) inputs.pop();
  const outputs = [{name: 'output', rank: input.q.shape.length}, past || output.startsWith('present') ? {name: 'present_k', rank: 4} : null,
    past || output.startsWith('present') ? {name: 'present_v', rank: 4} : null, mode === undefined ? null : {name: output, rank: 4}];
  while (!outputs.at(-1)) outputs.pop();
  const attributes = [];
  if (options.causal) attributes.push(attribute('is_causal', 1));
  if (options.scale !== undefined) attributes.push(attribute('scale', options.scale, true));
  if (options.softcap) attributes.push(attribute('softcap', options.softcap, true));
  if (mode) attributes.push(attribute('qk_matmul_output_mode', mode));
  if (options.layout === 'packed') attributes.push(attribute('q_num_heads', options.heads), attribute('kv_num_heads', options.kv_heads ?? options.heads));
  for (const side of ['left', 'right'])
    if (options[`window_${side}`] !== undefined) attributes.push(attribute(`${side}_window_size`, options[`window_${side}`]));
  const session = await ort.InferenceSession.create(model({inputs, outputs, attributes, opset}), {logSeverityLevel: 4});
  const results = await session.run(Object.fromEntries(inputs.filter(Boolean).map(i => [i.name, i.tensor])), [output]);
  return results[output].data;
}

let agreed = 0, differ = 0;
const notTaken = new Set();
for (const entry of cases.filter(c => c.opset >= 23)) {
  for (const [output, want] of Object.entries(entry.expected)) {
    const label = `${entry.name} (opset ${entry.opset}), ${output}`;
    try {
      const is = await runtime(entry, output);
      if (is.length !== want.data.length) throw new Error(`${is.length} values in place of ${want.data.length}`);
      let worst = 0;
      // The runtime masks with the lowest float instead of -inf.
      const lowest = -3.4e38;
      want.data.forEach((w, i) => { worst = Math.max(worst, w === '-inf' ? (is[i] <= lowest / 2 ? 0 : Infinity) : Math.abs(is[i] - w) / Math.max(1, Math.abs(w))); });
      if (!(worst < 1e-5)) ++differ, console.log(`${label}: differs by ${worst}`);
      else ++agreed;
    } catch (error) {
      if (!notTaken.has(entry.name)) console.log(`not taken: ${entry.name} (opset ${entry.opset}): ${String(error.message).split('\n')[0].slice(-120)}`);
      notTaken.add(entry.name);
    }
  }
}
console.log(`${agreed} outputs agree, ${differ} differ, ${notTaken.size} cases are not taken`);
process.exitCode = differ ? 1 : 0;
