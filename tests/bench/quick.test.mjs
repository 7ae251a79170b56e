// Every benchmark of ./play bench runs once with --quick: it ends well, and its report has its lines, with numbers in them. Their size is
// not judged: other programs run beside the tests.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, test} from 'node:test';
import {fileURLToPath} from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const results = mkdtempSync(join(tmpdir(), 'bench-')), measured = join(results, 'measured.json');  // where the user's own results stand, nothing is overwritten
writeFileSync(measured, '{}');
after(() => rmSync(results, {recursive: true}));

const ENGINES = ['chromium', 'firefox', 'webkit'];
const PARTS = ['drag Q', 'hover q', 'hover k', 'hover v', 'hover weights'];
const EDITS = ['cell of Q', 'cell of V', 'cell of K', 'row of Q', 'row of V', 'row of K', 'painted cell', 'token inserted', 'token removed', 'causal flip', 'scale', 'temperature'];
const ONNX = ['MatMul–Softmax–MatMul', 'Attention-23', 'MultiHeadAttention'];

/** The beginnings of the lines of each report: "#" stands for a positive number, "~" for any number, "…" for any words. */
const REPORTS = {
  page: ['before the first frame of playground, Brotli # bytes', 'before the first frame of playground-relaxed, Brotli # bytes', 'in all, after Brotli # bytes',
    'requests #', 'CPU per frame while dragging, median # ms', 'one edit of Q by a script, call and event included # µs', 'slowest switch of an option, 16 tokens (…) # ms',
    'frames drawn in one idle second ~', 'main thread busy in that time ~ ms', 'first frame # ms', 'first frame of an empty Dear ImGui page # ms', 'ratio # ≤ 1.1',
    'first frame at 1.6 Mbit/s # ms', 'the same with the module in one piece # ms', 'ratio # ≤ 0.75', 'tutorial: longest task after its load # ms'],
  frame: [...PARTS.flatMap((what) => ['64 × 4 causal', '1024 × 8 causal', '64 × 4', '1024 × 8'].map((size) => `native ${size} ${what} # ms ≤ # # vertices`)),
    ...PARTS.flatMap((what) => ['64 × 4 causal', '64 × 4'].map((size) => `page ${size} ${what} # ms ≤ # # vertices ~ cells uploaded`)),
    ...[4, 16, 64].map((tokens) => `page ${tokens} × 4 causal in words, a frame ~ ms ≤ # # frames; ~ ms`), 'page a lesson, from click to frame # ms ≤ 50 at most # ms',
    ...[12, 64].map((tokens) => `page ${tokens} × 4 causal step # ms ≤ # # vertices`), 'page 16 × 4 without # ms', 'page 16 × 4 with gradients # ms', 'page 16 × 4 el.gradient ~ ms'],
  heads: ['4 × 128 from a file: first picture # ms (at most 150), a picture of each head # ms', '3 × 4 heads of 64 tokens: a picture of each # ms'],
  long: [...['at first', '1200 × 2 × 16', 'and back', 'there again', 'after edits', 'after the page Model'].map((when) => `${when} # MB of the module's memory`),
    ...['until whole', 'drag q', 'drag k', 'drag v', 'zoom in', 'pan, with numbers', 'zoom out', 'pan, of colours', 'Model, 2 × 2 × 1200', 'Model, 48 × 64 × 8'].map((what) => `${what} # ms median, # at the 99th percentile, # the longest, # frames`)],
  keys: ['Q, another cell # ms', 'Q, another number # ms'],
  native: ['kernels: …; # cores; PyTorch', ...['', ' causal'].map((mask) => `4×256×64${mask} (register-only peak # GFLOP/s)`), 'kernels … # # #', 'kernels, with weights # # #',
    'Eigen # # #', ...ONNX.flatMap((graph) => [`ONNX Runtime ${graph} # # #`, `ONNX Runtime, all threads ${graph} # # #`]), 'kernels, 1 thread # # #', 'kernels, 2 threads # # #',
    ...['', ' causal'].map((mask) => `a board of 2×1200×16${mask} until all is computed: ~ ms, on two threads ~ ms, two boards at once ~ ms`),
    'one thread ÷ ONNX Runtime, one thread # ≥ #', 'two threads ÷ one (fastest calls) # ≥ #', 'the same of a board until all is computed # ≥ #', 'cost of the weights as well # ≤ #', 'part of the register-only peak # ≥ #'],
  web: ['Chromium …; core wasm-relaxed, wasm-simd128; ONNX Runtime Web …; TensorFlow.js', ...['', ' causal'].map((mask) => `4×256×64${mask} (register-only peaks: wasm-relaxed #, wasm-simd128 # GFLOP/s)`),
    ...['wasm-relaxed', 'with weights', 'wasm-simd128', ...ONNX.map((graph) => `ONNX ${graph}`), 'TensorFlow.js wasm', 'plain JavaScript'].map((who) => `${who} # # # #`),
    'largest difference between outputs: #', 'a call on 4×16×16', ...['wasm-relaxed', 'wasm-simd128'].flatMap((kernel) => [`${kernel} ÷ ONNX Runtime Web # ≥ #`,
      `${kernel} ÷ ONNX Runtime Web, causal # ≥ #`, `${kernel} part of the register-only peak (fastest calls) # ≥ #`]), 'a call on 4×16×16 ÷ ONNX Runtime Web # ≥ #',
    'cost of the weights as well # ≤ #', 'core package after Brotli, KB # ≤ #'],
  incremental: ['edits at 8 x 1024 x 64 (heads x tokens x dim), kernel', 'edits at 2 x 8 x 4 (heads x tokens x dim), kernel', ...EDITS.map((edit) => `${edit} # # #x … ~`)],
  files: ['attn run, 12×1024×64, .npz: # ms, of which reading q, k, v and writing one takes ~ ms', '# MB of .safetensors: read by Node in # ms; opened and listed in ~ ms, ~ × that; one tensor of it copied in ~ ms',
    'The page, q, k and v of 12×1024×64 as .npz: # ms from the drop to the first picture', 'The page, # MB of .npz until it asks what is in them: the longest task takes … # ms'],
  gradient: ['4×256×64, one thread', ...['wasm-relaxed', 'wasm-relaxed causal', 'wasm-simd128', 'wasm-simd128 causal'].map((kernel) => `${kernel} # # #`),
    'native: backward ÷ forward # ≤ #', 'wasm-relaxed: backward ÷ forward # ≤ #', 'wasm-simd128: backward ÷ forward # ≤ #'],
  training: ['PyTorch', 'Chromium …, TensorFlow.js …; load', 'ours # # #', ...['wasm-relaxed', 'wasm-simd128', 'plain JavaScript', 'TensorFlow.js wasm', 'TensorFlow.js cpu'].map((who) => `${who} # # #`),
    'tags # # # # # # # #', 'memory of the module after 300 steps # bytes, after 1000 #', ...['wasm-relaxed', 'wasm-simd128'].map((own) => `plain JavaScript ÷ ${own} # ≥ #`),
    'tags: s from Play until 99 % of the held-out words # ≤ #', 'tags: a slice of training, 99th percentile, ms # ≤ #', 'bytes of memory after 1000 steps ÷ after 300 # ≤ #'],
  guests: ['24 boards, all ready after # ms', '24 boards, memory as the browser measures it', 'scrolling, median frame ÷ without boards #', 'a further board can be used after # ms',
    'tutorial, longest task after load ~ ms'],
  engines: ['first frame', 'ready'].flatMap((what) => ENGINES.map((engine) => `${what}, ${engine} … # ms${engine === 'chromium' ? '' : " # of Chromium's"}`)),
  storm: ENGINES.map((engine) => `memory, ${engine} … # MB after # calls and events; # MB before, # MB after a tenth of the time: #`),
};

const NUMBER = String.raw`\d+(?:\.\d+)?(?:e[+-]?\d+)?`;
const asPattern = (line) => new RegExp(`^\\s*${line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+').replaceAll('#', `(${NUMBER})`)
  .replaceAll('~', `-?${NUMBER}`).replaceAll('…', '.*?')}(?![\\w.])`, 'm');

test('each benchmark of ./play is run here', () => {
  const [listed, more] = ['BENCHES', 'MORE_BENCHES'].map((list) => new RegExp(`^${list}="(.*?)"`, 'm').exec(readFileSync(join(here, '../../play'), 'utf8'))[1]);
  assert.deepEqual(Object.keys(REPORTS).sort(), listed.split(' ').sort());
  const kept = JSON.parse(readFileSync(join(here, 'measured.json'), 'utf8'));
  assert.deepEqual(Object.keys(kept).filter((name) => !(name in REPORTS) && !more.split(' ').includes(name)), [], 'of what is kept');
});

for (const [name, lines] of Object.entries(REPORTS)) {
  test(`./play bench ${name} --quick`, () => {
    const {status, stdout, stderr} = spawnSync(process.execPath, [join(here, 'measured.mjs'), name, '--quick'],
      {cwd: here, encoding: 'utf8', env: {...process.env, BENCH_RESULTS: results, BENCH_MEASURED: measured}, timeout: 600_000});
    assert.equal(status, 0, `${stdout}\n${stderr}`);
    for (const line of lines) {
      const found = asPattern(line).exec(stdout);
      assert.ok(found, `there is no line "${line}" in\n${stdout}`);
      for (const number of found.slice(1)) assert.ok(Number(number) > 0, `${number} in "${found[0]}"`);
    }
    assert.doesNotMatch(stdout, name === 'files' ? /NaN|Infinity|undefined|-\d+\.\d+ (ms|×)/ : /NaN|Infinity|undefined/);  // there no time is negative
    const {report, processor, load} = JSON.parse(readFileSync(measured, 'utf8'))[name];
    assert.deepEqual(report.filter((line) => !stdout.includes(line)), []);
    assert.ok(report.length >= lines.length && processor && load >= 0, 'what is kept');
  });
}
