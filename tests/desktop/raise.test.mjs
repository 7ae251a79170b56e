// "What would raise this?" in the window, by a real pointer: Nudge changes the cell that arithmetic predicts, by 0.10.
import assert from 'node:assert/strict';
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {Session, folder, startDisplay, weights} from './harness.mjs';

let display;
before(async () => { display = await startDisplay(); });
after(() => display.close());

test('Nudge moves the cell of Q or K with the steepest slope', async (t) => {
  const home = folder(t), file = join(home, 'board.json');
  const first = await Session.start(t, display, [], {home});
  await first.key('u');
  writeFileSync(file, JSON.stringify(await first.saved()));
  await first.close();
  const app = await Session.start(t, display, ['--state', file, '--size', '1440x900'], {home});
  const start = JSON.parse(readFileSync(file, 'utf8'));
  assert.equal(start.gradient, true);
  const row = 3, last = weights(start, 0)[row], column = last.indexOf(Math.max(...last));  // the initial selection of an example
  const [, tokens, width] = start.q.shape;
  /** The weight after changing one number of one tensor, by its index in the data. */
  const moved = (name, i, by) => {
    const state = {...start, [name]: {...start[name], data: start[name].data.flat(Infinity).map((v, at) => v + (at === i ? by : 0))}};
    return weights(state, 0)[row][column];
  };
  let best = {slope: 0};
  for (const name of ['q', 'k']) {
    for (let i = 0; i < tokens * width; i++) {
      const slope = (moved(name, i, 1e-4) - moved(name, i, -1e-4)) / 2e-4;
      if (Math.abs(slope) > Math.abs(best.slope)) best = {name, i, slope};
    }
  }
  await app.click(await app.place('nudge:1'));
  const after = await app.saved(file), by = Math.sign(best.slope) * 0.1;
  for (const name of ['q', 'k']) {
    const [was, is] = [start, after].map((state) => state[name].data.flat(Infinity));
    is.forEach((v, i) => assert.ok(Math.abs(v - was[i] - (name === best.name && i === best.i ? by : 0)) < 1e-6, `${name} ${i}: ${was[i]} became ${v}`));
  }
  assert.ok(Math.abs(weights(after, 0)[row][column] - moved(best.name, best.i, by)) < 1e-9);
  await app.key('ctrl+z');
  assert.deepEqual((await app.saved(file)).q, start.q);
});
