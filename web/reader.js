// Reads and writes files in a separate instance of the module, with the part that only this needs. As a worker it runs in parallel to the
// page, which continues drawing; where workers are not available, the page imports it itself.
import {inline} from './files.js';
import {failure, message, saidBy} from './message.js';

// Written in full, so that bundlers recognise them.
const address = {
  playground: () => new URL('./playground.files.wasm', import.meta.url),
  'playground-relaxed': () => new URL('./playground-relaxed.files.wasm', import.meta.url),
};
// In the order of src/shell/web/shell_files.cpp.
const CALLS = ['begin', 'room', 'open', 'paste', 'choose', 'write', 'code', 'reply', 'replySize', 'heading', 'forget', 'malloc', 'free'];
const KINDS = ['error', 'state', 'form', 'text', 'cells'];
const MOST_BYTES = 2 ** 30, TOLD_BYTES = 2 ** 22;
const FOLLOWED = 2 ** 24;  // bytes from which on a board shows how far it is
const UTF8 = new TextEncoder();
const megabytes = (bytes) => `${Math.ceil(bytes / 1e6)} MB`;

let page;  // {kind, modules, calls}: the compiled parts of the page's module, and the address of the table of calls

export const use = (parts) => { page ??= parts; };

async function lastPart() {
  const name = `${page.kind}.files.wasm`;
  if (inline.has(name)) return WebAssembly.compile(await inline.get(name)());
  const response = await fetch(address[page.kind](), {credentials: 'same-origin'});
  if (!response.ok) throw new Error(`status ${response.status} for ${name}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

/** Creates an instance without a page: all imported functions return 0. */
async function start() {
  const [module, rest] = page.modules, last = await lastPart(), imports = {};
  for (const {module: space, name} of WebAssembly.Module.imports(module)) (imports[space] ??= {})[name] = () => 0;
  const {exports: first} = await WebAssembly.instantiate(module, imports);
  const {exports: second} = await WebAssembly.instantiate(rest, {first});
  await WebAssembly.instantiate(last, {first, rest: second});
  const found = (kind) => Object.values(first).find((one) => one instanceof kind);  // those of the linker come first
  const memory = found(WebAssembly.Memory), table = found(WebAssembly.Table), addresses = new Uint32Array(memory.buffer, page.calls, CALLS.length);
  const exports = Object.fromEntries(CALLS.map((name, i) => [name, table.get(addresses[i])]));
  exports.begin();
  return {memory, ...exports};
}

let started;
const wasm = () => started ??= start().catch((error) => {
  started = undefined;
  throw failure(Error, message`What reads files could not be loaded (${error.message}): perhaps there is no connection. Please try again.`);
});

/** Writes bytes, followed by 0, to memory at `address`, and returns it. */
function put(exports, bytes, address) {
  if (!address) throw failure(Error, message`There is not enough memory for its ${megabytes(bytes.length)}.`);
  const memory = new Uint8Array(exports.memory.buffer);
  memory.set(bytes, address);
  memory[address + bytes.length] = 0;
  return address;
}

const text = (exports, words) => {
  const bytes = UTF8.encode(words.replaceAll('\0', ' '));
  return put(exports, bytes, exports.malloc(bytes.length + 1));
};

/** Passes texts to a call, and frees them afterwards. */
function withTexts(exports, words, call) {
  const addresses = words.map((one) => text(exports, one));
  try {
    return call(...addresses);
  } finally {
    addresses.forEach((address) => exports.free(address));
  }
}

function bytesOfReply(exports) {
  const pieces = [];
  for (let size; (size = exports.replySize(pieces.length)) > 0;) pieces.push(new Uint8Array(exports.memory.buffer, exports.reply(pieces.length), size));
  const bytes = new Uint8Array(pieces.reduce((sum, {length}) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) bytes.set(piece, at), at += piece.length;
  return bytes;
}

function replyOf(exports, kind) {
  const bytes = bytesOfReply(exports);
  if (kind === 'state' || kind === 'file') return {kind, content: bytes, heading: exports.heading()};
  const content = new TextDecoder().decode(bytes);
  if (kind !== 'error') return {kind, content, heading: exports.heading()};
  const end = content.indexOf('\0');
  return {kind, field: content.slice(0, end), content: content.slice(end + 1)};
}

/** The bytes of a file; `told` hears how many have been read. Nothing is written to the module before all are there: other calls may come between. */
async function bytesOf(file, told) {
  if (file.size < FOLLOWED) return new Uint8Array(await file.arrayBuffer());  // in half the time
  const bytes = new Uint8Array(file.size), reader = file.stream().getReader();
  for (let at = 0, said = 0; ;) {
    const {done, value} = await reader.read();
    if (done) return bytes;
    bytes.set(value, at);
    at += value.length;
    if (at - said >= TOLD_BYTES) told(said = at);
  }
}

const calls = {
  async open(exports, file, name, told = () => {}) {
    if (file.size > MOST_BYTES) throw failure(Error, message`it has ${megabytes(file.size)}; the playground reads up to ${megabytes(MOST_BYTES)}.`);
    const bytes = await bytesOf(file, told), address = put(exports, bytes, exports.room(bytes.length));
    return replyOf(exports, KINDS[withTexts(exports, [name], (path) => exports.open(address, bytes.length, path))]);
  },
  paste(exports, words) {
    const bytes = UTF8.encode(words);
    return replyOf(exports, KINDS[exports.paste(put(exports, bytes, exports.room(bytes.length)), bytes.length)]);
  },
  choose: (exports, choices) => replyOf(exports, KINDS[withTexts(exports, [choices], (lines) => exports.choose(lines))]),
  write(exports, bytes, name, only) {
    const address = put(exports, bytes, exports.room(bytes.length));
    return replyOf(exports, withTexts(exports, [name, only], (path, tensor) => exports.write(address, bytes.length, path, tensor)) ? 'file' : 'error');
  },
  code: (exports, state, language) => replyOf(exports, withTexts(exports, [state, language], (json, name) => exports.code(json, name)) ? 'text' : 'error'),
  forget: (exports) => exports.forget(),
};

/** Makes one of the calls. If the module crashes, returns an error, and the next call creates another instance. */
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
  self.onmessage = async ({data: {id, call, values, parts}}) => {
    if (parts) use(parts);
    try {
      const reply = await ask(call, ...values, (done) => self.postMessage({id, done}));
      self.postMessage({id, reply}, reply?.content?.buffer ? [reply.content.buffer] : []);
    } catch (error) {
      self.postMessage({id, error: saidBy(error)});
    }
  };
}
