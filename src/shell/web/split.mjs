// Splits the page's WebAssembly module in three: FILE.wasm with the functions that run until the first frames are drawn, FILE.files.wasm
// with those that only web/reader.js calls, in an instance of its own, and FILE.rest.wasm with all others. The first set is determined by
// running the module: instrumented by Binaryen's wasm-split, it draws the first frames of the default board under Node, at many sizes, with
// a WebGL stub. The second set is determined by following calls and addresses (functions.mjs). So there is no list to maintain. If the
// first part lacks a function nevertheless, that costs time but does no harm: web/canvas.js starts again with both parts. Then data that
// only later parts need is moved there (late-data.mjs), and the first part is checked to draw the same frames.
//   node split.mjs BINARYEN_ROOT FILE.wasm SCRATCH_FOLDER
import {execFileSync} from 'node:child_process';
import {copyFileSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';
import {setFlagsFromString} from 'node:v8';
import {inline} from '../../../web/files.js';
import {plainContext} from '../../../web/plain-context.js';
import * as reader from '../../../web/reader.js';
import {Functions} from './functions.mjs';
import {moveLateData} from './late-data.mjs';
import {inOrder} from './order.mjs';
import {shortenNames} from './short-names.mjs';

const [binaryen, file, scratch] = process.argv.slice(2);
const temporary = (name) => `${scratch}/${name}`;
const run = (tool, ...options) => execFileSync(`${binaryen}/bin/${tool}`, ['--all-features', ...options], {maxBuffer: 2 ** 28});

const SIZES = [[1440, 900], [2560, 1440], [1920, 1080], [1366, 768], [1024, 768], [800, 600], [768, 1024], [640, 440], [390, 844], [320, 320]];
const RATIOS = [1, 1.5, 2, 3];
// What a host may have hidden or locked before the first frame.
const EMBEDS = [['', ''], ['panel,header', 'heads'], ['inspector,arcs', 'causal,tokens'], ['heads', 'q,k,v']];
const MOST_FRAMES = 16;  // until the board has settled at a size

/** A stub of WebGL that computes a checksum of everything passed to it. */
function summingContext() {
  let sum = 0x811c9dc5;  // FNV-1a
  const add = (word) => { sum = Math.imul(sum ^ word, 0x01000193); };
  const take = (name) => (...values) => {
    const at = values.findIndex(ArrayBuffer.isView), heap = values[at], texture = name.startsWith('tex');
    for (const letter of values.filter((value) => typeof value === 'string').join('\n')) add(letter.codePointAt(0));
    if (!heap) return {};
    const size = heap.BYTES_PER_ELEMENT, [begin = 0, count = 0] = values.slice(at + (name === 'bufferData' ? 2 : 1)), [width, height] = values.slice(name === 'texImage2D' ? at - 5 : at - 4);
    const length = texture ? width * height * 4 / size : count;
    const bytes = new Uint8Array(heap.buffer, heap.byteOffset + begin * size, length * size), words = new Uint32Array(bytes.slice(0, bytes.length & -4).buffer);
    for (let i = 0; i < words.length; i++) add(words[i]);
    return {};
  };
  return {context: plainContext(take), sum: () => sum};
}

/** Runs a module until the first frames. Returns the checksum of everything passed to WebGL, and the profile if one was recorded. */
async function firstFrames(file, script) {
  // Node 20 and older run relaxed SIMD only with this flag. Time is simulated, so that every run is the same.
  setFlagsFromString('--experimental-wasm-relaxed-simd');
  let now = 0, dark = 0, exports;
  const webGl = summingContext();
  performance.now = () => now += 0.25;
  globalThis.document ??= {};
  const {default: create} = await import(pathToFileURL(script));
  const host = {
    requestFrame() {}, later() {}, setCursor() {}, emit() {}, isCoarse: () => false, prefersDark: () => dark,
    widthOf: (text, size) => text.length * size / 2,
    rasterise() { throw new Error('the default board needs no text that the built-in faces lack'); },
  };
  const wasm = await create({
    host,
    instantiateWasm(imports, done) {
      WebAssembly.instantiate(readFileSync(file), imports).then(({instance, module}) => done({exports} = instance, module));
      return {};
    },
  });
  wasm.GL.makeContextCurrent(wasm.GL.registerContext(webGl.context, {majorVersion: 2, enableExtensionsByDefault: false}));
  const text = (value) => {
    const bytes = new TextEncoder().encode(`${value}\0`), address = wasm._malloc(bytes.length);
    wasm.HEAPU8.set(bytes, address);
    return address;
  };
  const call = (name, ...values) => wasm[`_playground_${name}`](...values.map((value) => typeof value === 'string' ? text(value) : value));
  const draw = () => {
    for (let i = 0; call('frame') & 1 && i < MOST_FRAMES; i++) now += 16;
  };
  for (const isFirst of [1, 0]) {
    if (!call('start', isFirst)) throw new Error(`the playground did not start: ${wasm.UTF8ToString(call('reply'))}`);
    call('resize', 1440, 900, 1);
    draw();
  }
  call('max_text');
  for (const [hide, lock] of EMBEDS) {
    for (const ratio of RATIOS) {
      for (const [width, height] of SIZES) {
        for (dark of [0, 1]) {
          call('embed', hide, lock, '');
          call('resize', Math.round(width * ratio), Math.round(height * ratio), ratio);
          draw();
        }
      }
    }
  }
  call('embed', '', '', '');
  for (const open of [1, 0]) {  // space is reserved for a lesson
    call('guide', open);
    for (const [width, height] of SIZES) {
      call('resize', width, height, 1);
      draw();
    }
  }
  call('wake');
  draw();
  call('context_lost');
  call('context_restored');
  draw();
  if (!exports.__write_profile) return {sum: webGl.sum()};
  const size = exports.__write_profile(0, 0), address = wasm._malloc(size);
  exports.__write_profile(address, size);
  return {sum: webGl.sum(), profile: wasm.HEAPU8.slice(address, address + size)};
}

/** Runs all parts together, as the page's reader does. Returns the result of pasting a list. */
async function pasted(place, list) {
  const [module, rest] = [place.first, place.rest].map((part) => new WebAssembly.Module(readFileSync(part))), imports = {};
  for (const {module: space, name} of WebAssembly.Module.imports(module)) (imports[space] ??= {})[name] = () => 0;
  const {exports} = new WebAssembly.Instance(module, imports);
  new WebAssembly.Instance(rest, {first: exports});
  inline.set('playground.files.wasm', async () => readFileSync(place.files));
  reader.use({kind: 'playground', modules: [module, rest], calls: exports[exported]()});
  return (await reader.ask('paste', list)).content;
}

mkdirSync(scratch, {recursive: true});
copyFileSync(file, temporary('linked.wasm'));
copyFileSync(file.replace(/wasm$/, 'js'), temporary('glue.mjs'));

// The module as linked, with functions in another order and small addresses. Functions keep their names until the end.
const functions = new Functions(inOrder(run('wasm-dis', temporary('linked.wasm')).toString()), readFileSync(temporary('linked.wasm')));
const exported = /Module\["_playground_files"\]=wasmExports\["(\w+)"\]/.exec(readFileSync(temporary('glue.mjs'), 'utf8'))?.[1];
const calls = functions.exports.get(exported);
if (!calls) throw new Error('playground_files is not to be found among the exports');
writeFileSync(temporary('whole.wat'), functions.smallText());
run('wasm-as', '-g', temporary('whole.wat'), '-o', temporary('whole.wasm'));
writeFileSync(temporary('whole.wasm'), functions.smallData(readFileSync(temporary('whole.wasm'))));
const onPage = functions.reachedFrom([...functions.exports.values()], [calls]);
const forFiles = [...functions.bodies.keys()].filter((name) => !onPage.has(name));

run('wasm-split', '--instrument', temporary('whole.wasm'), '-o', temporary('instrumented.wasm'));
let wanted, sum;
try {
  const whole = await firstFrames(temporary('instrumented.wasm'), temporary('glue.mjs'));
  sum = whole.sum;
  writeFileSync(temporary('profile'), whole.profile);
  wanted = [`--profile=${temporary('profile')}`];
} catch (error) {
  if (!(error instanceof WebAssembly.CompileError)) throw error;
  // Node 18 uses other opcodes for relaxed SIMD. The page still works, but its first frame waits for the whole module.
  console.warn(`${file} is not split: this Node cannot run it (${error.message})`);
  wanted = ['--split-funcs=_'];
}
const PREFIX = '%';
const split = (from, part, others, ...options) => run('wasm-split', '-g', temporary(`${from}.wasm`), ...options, '--no-placeholders', `--import-namespace=${part}`, `--export-prefix=${PREFIX}`,
  '-o1', temporary(`${part}.wasm`), '-o2', temporary(`${others}.wasm`));
writeFileSync(temporary('for-files'), forFiles.join('\n'));
split('whole', 'first', 'others', ...wanted);
split('others', 'rest', 'files', `--split-funcs=@${temporary('for-files')}`);
const place = {first: file, rest: file.replace(/wasm$/, 'rest.wasm'), files: file.replace(/wasm$/, 'files.wasm')};
for (const [part, name] of Object.entries(place)) {
  // Without --disable-gc Binaryen would write empty table slots in an encoding that requires garbage collection support. Merging and
  // reordering local variables once more saves 0.4 KB of the first part after Brotli.
  run('wasm-opt', '--disable-gc', temporary(`${part}.wasm`), '--coalesce-locals', '--reorder-locals', '--vacuum',
    '--strip-debug', '--strip-producers', '-o', name);
}
run('wasm-opt', '--disable-gc', temporary('whole.wasm'), '--strip-debug', '--strip-producers', '-o', temporary('whole.wasm'));  // for standalone.js
shortenNames(place.first, 'first', [place.rest, place.files], PREFIX);
shortenNames(place.rest, 'rest', [place.files], PREFIX);
if (sum !== undefined) {
  moveLateData(Object.values(place), [place.first, place.rest].map((part) => run('wasm-dis', part).toString()), functions.tables);
  if ((await firstFrames(file, temporary('glue.mjs'))).sum !== sum) throw new Error(`${file} draws other first frames without the data that was moved`);
  if (await pasted(place, '[[1, 2], [3, 4]]') !== '1\t2\n3\t4\n') throw new Error(`${place.files} does not read what was pasted`);
}
