// Reads and writes files with files.wasm. As a worker it does so beside the page, which goes on drawing meanwhile; the page imports it
// itself where it may have no worker.
import {inline} from './files.js';

const KINDS = ['error', 'state', 'form', 'text', 'cells'];
const MOST_BYTES = 2 ** 30;
const UTF8 = new TextEncoder();
const megabytes = (bytes) => `${Math.ceil(bytes / 1e6)} MB`;

async function bytesOfModule() {
  if (inline.has('files.wasm')) return inline.get('files.wasm')();
  const response = await fetch(new URL('./files.wasm', import.meta.url), {credentials: 'same-origin'});
  if (!response.ok) throw new Error(`status ${response.status} for files.wasm`);
  return response.arrayBuffer();
}

/** What it imports is about growth of memory and an end that does not come. */
async function start() {
  if (inline.has('files')) return inline.get('files')();
  const module = await WebAssembly.compile(await bytesOfModule());
  const imports = {};
  for (const {module: space, name} of WebAssembly.Module.imports(module)) (imports[space] ??= {})[name] = () => 0;
  const {exports} = await WebAssembly.instantiate(module, imports);
  exports._initialize?.();
  return exports;
}

let started;
const wasm = () => started ??= start().catch((error) => {
  started = undefined;
  throw new Error(`What reads files could not be loaded (${error.message}); please try again.`);
});

/** The address of bytes in memory, followed by 0. */
function put(exports, bytes, address) {
  if (!address) throw new Error(`There is not enough memory for its ${megabytes(bytes.length)}.`);
  const memory = new Uint8Array(exports.memory.buffer);
  memory.set(bytes, address);
  memory[address + bytes.length] = 0;
  return address;
}

const text = (exports, words) => {
  const bytes = UTF8.encode(words.replaceAll('\0', ' '));
  return put(exports, bytes, exports.malloc(bytes.length + 1));
};

/** With texts that are there as long as the call takes. */
function withTexts(exports, words, call) {
  const addresses = words.map((one) => text(exports, one));
  try {
    return call(...addresses);
  } finally {
    addresses.forEach((address) => exports.free(address));
  }
}

function replyOf(exports, kind) {
  const at = exports.files_reply(), bytes = new Uint8Array(exports.memory.buffer).slice(at, at + exports.files_reply_size());
  const isBytes = kind === 'state' || kind === 'file';
  return {kind, content: isBytes ? bytes : new TextDecoder().decode(bytes)};
}

const calls = {
  async open(exports, file, name) {
    if (file.size > MOST_BYTES) throw new Error(`it has ${megabytes(file.size)}; the playground reads up to ${megabytes(MOST_BYTES)}.`);
    const bytes = new Uint8Array(await file.arrayBuffer()), address = put(exports, bytes, exports.files_room(bytes.length));
    return replyOf(exports, KINDS[withTexts(exports, [name], (path) => exports.files_open(address, bytes.length, path))]);
  },
  paste(exports, words) {
    const bytes = UTF8.encode(words);
    return replyOf(exports, KINDS[exports.files_paste(put(exports, bytes, exports.files_room(bytes.length)), bytes.length)]);
  },
  choose: (exports, choices) => replyOf(exports, KINDS[withTexts(exports, [choices], (lines) => exports.files_choose(lines))]),
  write(exports, bytes, name, only) {
    const address = put(exports, bytes, exports.files_room(bytes.length));
    return replyOf(exports, withTexts(exports, [name, only], (path, tensor) => exports.files_write(address, bytes.length, path, tensor)) ? 'file' : 'error');
  },
  code: (exports, state, language) => replyOf(exports, withTexts(exports, [state, language], (json, name) => exports.files_code(json, name)) ? 'text' : 'error'),
  forget: (exports) => exports.files_forget(),
};

/** Does one of the calls; a fault of the module is a sentence, and the next call begins with another one. */
export async function ask(call, ...values) {
  const exports = await wasm();
  try {
    return await calls[call](exports, ...values);
  } catch (error) {
    if (!(error instanceof WebAssembly.RuntimeError)) throw error;
    started = undefined;
    throw new Error('it takes more memory than there is, or is damaged.');
  }
}

if (typeof DedicatedWorkerGlobalScope === 'function' && self instanceof DedicatedWorkerGlobalScope) {
  self.onmessage = async ({data: {id, call, values}}) => {
    try {
      const reply = await ask(call, ...values);
      self.postMessage({id, reply}, reply?.content?.buffer ? [reply.content.buffer] : []);
    } catch (error) {
      self.postMessage({id, error: error.message});
    }
  };
}
