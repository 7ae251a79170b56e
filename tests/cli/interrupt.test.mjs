// What attn leaves behind, waits for and prints when something goes wrong around it.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {createWriteStream, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {attn, file, filled, folder, here, layer, refusal, run} from './harness.mjs';

const program = process.env.ATTN ? resolve(process.env.ATTN) : resolve(here, '../../build/native/attn');

// Large enough for it to be still running when its incomplete file is seen.
const large = () => file({q: filled([8, 1500, 8], 1), k: filled([8, 1500, 8], 2), v: filled([8, 1500, 8], 3)});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  test(`${signal} leaves no unfinished file, and the old one as it was`, {timeout: 120_000}, async () => {
    const place = join(folder, signal);
    mkdirSync(place);
    const out = join(place, 'out.json');
    writeFileSync(out, 'before');
    const child = spawn(program, ['run', large(), '--out', out, '--outputs', 'weights,scores,output'], {stdio: 'ignore'});
    const ended = new Promise(done => child.on('exit', (status, by) => done(by ?? status)));
    await until('an unfinished file', () => readdirSync(place).some(name => name.includes('.part')) || child.exitCode !== null);
    child.kill(signal);
    assert.equal(await ended, signal);
    assert.deepEqual(readdirSync(place), ['out.json']);
    assert.equal(readFileSync(out, 'utf8'), 'before');
  });
}

test('a signal that is ignored stays so', {timeout: 120_000}, async () => {
  const place = join(folder, 'nohup');
  mkdirSync(place);
  const out = join(place, 'out.json');
  const child = spawn('sh', ['-c', 'trap "" HUP; exec "$0" "$@"', program, 'run', large(), '--out', out], {stdio: 'ignore'});
  const ended = new Promise(done => child.on('exit', done));
  await until('an unfinished file', () => readdirSync(place).some(name => name.includes('.part')) || child.exitCode !== null);
  child.kill('SIGHUP');
  assert.equal(await ended, 0);
  assert.deepEqual(readdirSync(place), ['out.json']);
});

test('a FIFO is read until its writer is done, in pieces', {timeout: 120_000}, async () => {
  const pipe = join(folder, 'fifo.json');
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
  const text = JSON.stringify(layer());
  const child = spawn(program, ['run', pipe], {stdio: ['ignore', 'pipe', 'pipe']});
  let said = '';
  child.stdout.on('data', piece => said += piece);
  const ended = new Promise(done => child.on('close', done));
  const writer = createWriteStream(pipe);
  writer.write(text.slice(0, 40));
  writer.end(text.slice(40));
  assert.equal(await ended, 0);
  assert.deepEqual(JSON.parse(said), run(layer()));
});

test('a device without an end is refused after its first piece', {timeout: 120_000}, () => {
  const link = join(folder, 'zero.json');
  assert.equal(spawnSync('ln', ['-s', '/dev/zero', link]).status, 0);
  assert.match(refusal(1, attn('run', link, {timeout: 60_000})), /zero\.json: /);
});

const hostile = '\u001b]0;owned\u0007\u001b[31m\r\n\u202e\u009b2J\u007f';
for (const [what, args] of [
  ['name of a file', [join(folder, `${hostile}.json`)]],
  ['name with another ending', [`in${hostile}`]],
  ['option', [file(layer()), '--set', `${hostile}=1`]],
  ['value of an option', [file(layer()), '--set', `score=${hostile}`]],
  ['setting without a value', [file(layer()), '--set', 'causal=true', '--out', `${hostile}`]],
  ['output', [file(layer()), '--outputs', hostile]],
  ['kernel', [file(layer()), '--kernel', hostile]],
  ['unknown flag', [file(layer()), `--${hostile}`]],
  ['field of a file', [file({...layer(), [hostile]: 1})]],
  ['option of a file', [file(layer({options: {[hostile]: 1}}))]],
]) {
  test(`control characters are printed escaped: ${what}`, () => {
    const done = attn('run', ...args);
    assert.notEqual(done.status, 0);
    assert.match(done.stderr, /^attn: [^\n]+\n$/);
    assert.doesNotMatch(done.stderr.slice(0, -1), /[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
  });
}

test('present_k and present_v of a batch beside other outputs', () => {
  const batch = {q: filled([2, 2, 3, 2], 1), k: filled([2, 2, 4, 2], 2), v: filled([2, 2, 4, 2], 3)};
  const given = run(batch, '--outputs', 'present_k,output,present_v');
  assert.deepEqual(given.present_k.data.map(Math.fround), batch.k.data);
  assert.deepEqual(given.output, run(batch).output);
});
