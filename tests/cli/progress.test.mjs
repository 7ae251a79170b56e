// Progress output: shown on a terminal, and nowhere else. The terminals are real ones, of Python's pty.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {attn, file, filled, folder, here, layer} from './harness.mjs';

const program = process.env.ATTN ? resolve(process.env.ATTN) : resolve(here, '../../build/native/attn');

// Runs a program whose standard error is a terminal, and presses Ctrl-C there after that many bytes of output, if given.
const terminal = `
import os, pty, subprocess, sys
after, out = int(sys.argv[1]), sys.argv[2]
ours, theirs = pty.openpty()
child = subprocess.Popen(sys.argv[3:], stdin=theirs, stdout=open(out, "wb"), stderr=theirs, start_new_session=True,
                         preexec_fn=lambda: __import__("fcntl").ioctl(2, __import__("termios").TIOCSCTTY, 0))
os.close(theirs)
seen = b""
while True:
    try:
        piece = os.read(ours, 65536)
    except OSError:
        break
    if not piece: break
    if after and len(seen) < after <= len(seen) + len(piece): os.write(ours, b"\\x03")
    seen += piece
print(child.wait())
sys.stdout.flush()
sys.stdout.buffer.write(seen)
`;
const core = ['taskset', '-c', '0'], oneCore = spawnSync(core[0], [...core.slice(1), 'true']).status === 0 ? core : [];  // as slow as others, however many there are
const onTerminal = (args, after = 0, way = []) => {
  const out = join(folder, 'stdout');
  const began = performance.now(), done = spawnSync('python3', ['-c', terminal, String(after), out, ...way, program, ...args], {encoding: 'utf8', timeout: 120_000});
  assert.equal(done.status, 0, done.stderr);
  const [, status, seen] = /^(-?\d+)\n([^]*)$/.exec(done.stdout);
  return {status: Number(status), seen, stdout: readFileSync(out, 'utf8'), seconds: (performance.now() - began) / 1000};
};

test('attn train draws a bar on a terminal, over itself, that fills', () => {
  const {status, seen, stdout} = onTerminal(['train', '--task', 'tags', '--steps', '200']);
  assert.equal(status, 0);
  assert.match(stdout, /^tags: 200 steps, loss [\d.e-]+; held out: loss .*\.\n$/, 'the result is no part of the bar');
  const bars = seen.split('\r').filter(Boolean);
  assert.ok(bars.length > 3);
  const done = bars.flatMap((bar) => /^\[(#*)(\.*)\] step (\d+) of 200, held out: loss \d+\.\d{3}, accuracy [\d.]+ % /.exec(bar)?.slice(1) ?? []);
  const steps = done.filter((_, i) => i % 3 === 2).map(Number), marks = done.filter((_, i) => i % 3 === 0).map(({length}) => length);
  assert.deepEqual(steps, [...steps].sort((a, b) => a - b));
  assert.deepEqual(marks, [...marks].sort((a, b) => a - b));
  assert.equal(steps.at(-1), 200);
  assert.equal(marks.at(-1), 30, 'it is full at the end');
  assert.ok(seen.endsWith('\n'), 'what comes next begins a line');
});

test('attn run says on a terminal how far it is, once it takes a while, and computes the same there', () => {
  const outputs = ['--outputs', 'output,weights,scores,softcapped,masked'], heads = 6, kvHeads = 3;
  const small = {q: filled([2, heads, 5, 4], 1), k: filled([2, kvHeads, 7, 4], 2), v: filled([2, kvHeads, 7, 3], 3), options: {softcap: 2, causal: true}};
  const hidden = filled([2, heads, 5, 7], 4);
  for (const more of [{}, {mask: filled([2, heads, 5, 7], 5)}, {mask: {...hidden, dtype: 'bool', data: hidden.data.map((x) => x > 0)}}, {mask: filled([heads, 1, 7], 6)}]) {
    const path = file({...small, ...more}), {status, seen, stdout, seconds} = onTerminal(['run', path, ...outputs]);
    assert.deepEqual([status, stdout], [0, attn('run', path, ...outputs).stdout]);
    assert.ok(seen === '' || seconds > 0.5, 'quick ones say nothing');
  }
  const long = file({q: filled([32, 4096, 8], 1), k: filled([16, 4096, 8], 2), v: filled([16, 4096, 8], 3)});
  const {status, seen, stdout} = onTerminal(['run', long, '--kernel', 'scalar'], 0, oneCore);
  assert.equal(status, 0);
  assert.notEqual(seen, '', '17 billion operations take longer than half a second');
  checkBars(seen);
  const piped = attn('run', long, '--kernel', 'scalar');
  assert.deepEqual([piped.stderr, piped.stdout], ['', stdout]);
});

// The bars of a run: each further than the one before, the last one full.
function checkBars(seen) {
  const bars = seen.trim().split('\r').filter(Boolean).map((bar) => /^\[(#*)\.*\] (\d+) %(?:, \d+ (?:second|minute|hour|day)s? left)? *$/.exec(bar) ?? assert.fail(bar));
  const shares = bars.map(([, , share]) => Number(share));
  assert.equal(shares.at(-1), 100);
  assert.equal(bars.at(-1)[1].length, 30);
  assert.deepEqual(shares, shares.toSorted((a, b) => a - b));
  assert.ok(bars.every(([, marks, share]) => Math.abs(marks.length - 0.3 * Number(share)) <= 1));
  assert.ok(seen.endsWith('\n'));
}

test('a layer that is computed row by row and gradients have the same bar', () => {
  const long = {q: filled([1, 1500, 24], 1), k: filled([1, 1500, 24], 2), v: filled([1, 1500, 24], 3), d_output: filled([1, 1500, 24], 4)};
  const path = file({...long, w_a: filled([1, 24, 24], 5), u_a: filled([1, 24, 24], 6), v_a: filled([1, 24], 7), options: {score: 'additive'}});
  for (const command of [['run', path], ['grad', path]]) {
    const {status, seen, stdout, seconds} = onTerminal(command, 0, oneCore);
    assert.equal(status, 0, seen);
    if (seen === '') assert.ok(seconds < 5, 'what takes long says so');
    else checkBars(seen);
    assert.deepEqual(Object.keys(JSON.parse(stdout)), command[0] === 'run' ? ['output'] : ['d_q', 'd_k', 'd_v']);
  }
});

for (const [how, ...settings] of [['every key'], ['earlier keys', '--set', 'causal=true']]) {
  test(`a million tokens, to ${how}: the time that they take is said before, on a terminal and elsewhere, and Ctrl-C leaves nothing`, {timeout: 120_000}, async () => {
    const place = mkdtempSync(join(folder, 'million-')), out = join(place, 'out.npy');
    const tokens = 1_000_000, header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${tokens}, 1), }`.padEnd(117) + '\n';
    const path = join(folder, 'million.npy');
    writeFileSync(path, Buffer.concat([Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, 118, 0]), Buffer.from(header), Buffer.alloc(4 * tokens)]));
    const args = ['run', path, '--kernel', 'scalar', '--out', out, ...settings];
    const [first, ...rest] = [...oneCore, program, ...args];
    const child = spawn(first, rest, {stdio: ['ignore', 'ignore', 'pipe']});
    let said = '';
    child.stderr.on('data', (piece) => said += piece);
    const ended = new Promise((done) => child.on('exit', (status, by) => done(by ?? status)));
    await until('what is said', () => said.includes('\n') || child.exitCode !== null);
    assert.match(said, /^attn: This takes about \d+ (minute|hour|day)s?: \d\.\de\+12 multiply-adds\. Ctrl-C stops it; nothing is written before it is done\.\n$/);
    assert.equal(said.includes(settings.length > 0 ? '1.0e+12' : '2.0e+12'), true, said);
    child.kill('SIGINT');
    assert.equal(await ended, 'SIGINT');
    assert.deepEqual(readdirSync(place), []);
    const shown = onTerminal(args, 40, oneCore);  // Ctrl-C once the bar is there
    assert.match(shown.seen, /^\r\[#*\.*\] \d %, \d+ (second|minute|hour|day)s? left/);
    assert.notEqual(shown.status, 0);
    assert.deepEqual(readdirSync(place), []);
  });
}

test('piped, nothing of it is printed', () => {
  const {status, stdout, stderr} = attn('train', '--task', 'tags', '--steps', '60');
  assert.equal(status, 0);
  assert.equal(stderr, '');
  assert.match(stdout, /^tags: 60 steps, [^\r\n\x1b]*\n$/);
  for (const args of [['run', file(layer())], ['code', file(layer())], ['info', file(layer())], ['bench', '--tokens', '16', '--seconds', '0', '--json']]) {
    const done = attn(...args);
    assert.equal(done.status, 0, done.stderr);
    assert.equal(done.stderr, '', args[0]);
    assert.doesNotMatch(done.stdout, /[\r\x1b]/);
  }
});

test('Ctrl-C at a terminal ends the bar, keeps what was learned, and leaves nothing else behind', () => {
  const place = join(folder, 'ended');
  mkdirSync(place);
  const out = join(place, 'weights.safetensors');
  const {status, seen} = onTerminal(['train', '--task', 'sort', '--steps', '100000000', '--out', out], 300);
  assert.equal(status, 1);
  assert.match(seen, /\nattn: The run was interrupted after step \d+; what was learned so far is in .*weights\.safetensors\.\r\n$/);
  assert.deepEqual(readdirSync(place), ['weights.safetensors']);
  assert.equal(attn('info', out).status, 0);
});

test('attn bench measures every kernel that there is, and says which one it does on a terminal only', () => {
  const kernels = attn('kernels').stdout.trim().split('\n').map((line) => line.split(' ')[0]);
  const lines = attn('bench', '--heads', '2', '--tokens', '64', '--columns', '16', '--seconds', '0', '--json').stdout.trim().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(lines.map(({kernel}) => kernel), kernels);
  for (const {ms, gflops} of lines) assert.ok(ms > 0 && Math.abs(gflops * ms / (4 * 2 * 64 * 64 * 16 / 1e6) - 1) < 0.05, 'the operations are counted');
  assert.match(attn('bench', '--tokens', '16', '--seconds', '0', '--kernel', 'scalar').stdout, /^scalar +[\d.]+ ms +[\d.]+ GFLOP\/s\n$/);
  const {seen, stdout} = onTerminal(['bench', '--tokens', '16', '--seconds', '0']);
  assert.match(seen, /scalar …/);
  assert.equal(stdout.trim().split('\n').length, kernels.length);
  assert.match(attn('bench', '--kernel', 'fast').stderr, /^attn: --kernel: "fast" cannot run here/);
});
