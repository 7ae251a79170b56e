// Exercises the desktop program once, mainly in the build with sanitizers (named by BUILD): a sanitizer report ends the program, which
// every step here notices.
import assert from 'node:assert/strict';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {Session, folder, run, startDisplay} from './harness.mjs';
import {until} from '../until.mjs';

let display;
before(async () => { display = await startDisplay(); });
after(() => display?.close());

const ways = [
  ['--preset', 'i-saw-a-saw', '--size', '1440x900'],
  ['--preset', 'pronoun', '--size', '390x844', '--theme', 'dark'],
  ['--preset', 'look-up', '--size', '640x440', '--scale', '2', '--type', 'e2'],
  ['--state', 'tensors.json', '--size', '320x320'],
];

test('pictures of several states', (t) => {
  const home = folder(t);
  writeFileSync(join(home, 'tensors.json'), JSON.stringify({
    q: {shape: [12, 3], data: Array.from({length: 36}, (_, i) => Math.sin(i))},
    k: {shape: [12, 3], data: Array.from({length: 36}, (_, i) => Math.cos(i))},
    v: {shape: [12, 2], data: Array.from({length: 24}, (_, i) => i / 8)},
  }));
  mkdirSync(join(home, 'out'));
  for (const [i, args] of ways.entries()) {
    const result = run([...args, '--screenshot', join(home, 'out', `${i}.png`)], {display: display.name, home});
    assert.deepEqual([result.status, result.stderr], [0, ''], args.join(' '));
  }
});

test('a session: clicks, a drag, typing, saving, undo, small and large windows, the end', async (t) => {
  const app = await Session.start(t, display, ['--size', '1100x700']);
  await app.click(await app.place('causal'));
  await app.drag(await app.place('q', 0, 2, 1), 40, 0);
  await app.doubleClick(await app.place('k', 0, 1, 0));
  await app.key('ctrl+a');
  await app.type('-2.5');
  await app.key('Return');
  assert.equal((await app.saved()).causal, false);
  for (let i = 0; i < 3; ++i) await app.key('ctrl+z');
  for (const [width, height] of [[20, 44], [640, 440]]) {
    app.tool('windowsize', '--sync', app.window, width, height);
    await app.settled();
  }
  app.process.kill('SIGTERM');
  await until('the program to end', () => app.process.signalCode !== null || app.process.exitCode !== null);
  assert.equal(app.process.signalCode, 'SIGTERM');
});
