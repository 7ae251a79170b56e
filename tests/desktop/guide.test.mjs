// The Guide and the stepper in the window, by a real mouse and real keys.
import assert from 'node:assert/strict';
import {readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {Session, folder, startDisplay, until, weights} from './harness.mjs';

let display;
before(async () => { display = await startDisplay(); });
after(() => display.close());

const lesson = {lesson: 1, id: 'mine', title: 'Look at I', steps: [{preset: 'i-saw-a-saw', select: ['weights', 0, 3, 0], text: 'The last word asks.',
  try: {task: 'Make the last saw look mostly at I.', allow: ['q'], check: [{tensor: 'weights', at: [0, 3, 0], min: 0.5}], solution: [{tensor: 'q', at: [0, 3, 2], value: -1.6}]}}]};

const progress = (home) => readdirSync(home, {recursive: true}).filter((name) => name.endsWith('lessons.json')).map((name) => readFileSync(join(home, name), 'utf8')).join();

test('a step of a lesson is solved with the mouse; what it does not allow stays, and that it was passed is remembered', async (t) => {
  const home = folder(t), file = join(home, 'mine.json');
  writeFileSync(file, JSON.stringify(lesson));
  const app = await Session.start(t, display, ['--lesson', file, '--size', '1440x900'], {home});
  const start = await app.saved();
  await app.drag(await app.place('k', 0, 0, 0), 60, 0);
  assert.deepEqual((await app.saved()).k, start.k, 'only Q may change');
  assert.ok(!/"mine":\s*\[0\]/.test(progress(home)), 'it is not passed yet');
  await app.doubleClick(await app.place('q', 0, 3, 2));
  await app.key('ctrl+a');
  await app.type('-1.6');
  await app.key('Return');
  const state = await app.saved();
  assert.ok(weights(state, 0)[3][0] >= 0.5, `the weight is ${weights(state, 0)[3][0]}`);
  await until('the step to be passed', () => /"mine":\s*\[0\]/.test(progress(home)));
});

test('the row of what is selected is stepped through by keys, and the state says how far', async (t) => {
  const home = folder(t), app = await Session.start(t, display, ['--size', '1440x900'], {home});
  await app.click(await app.place('weights', 0, 3, 2));
  await app.key('i');
  assert.equal((await app.saved()).stepper, 1);
  await app.key('Right');
  await app.key('Right');
  assert.equal((await app.saved()).stepper, 3);
  await app.key('Left');
  assert.equal((await app.saved()).stepper, 2);
  await app.key('End');
  const last = (await app.saved()).stepper;
  assert.ok(last >= 6);
  await app.key('Escape');
  const state = await app.saved();
  assert.equal(state.stepper ?? 0, 0);
  assert.ok(Math.abs(weights(state, 0)[3].reduce((a, b) => a + b) - 1) < 1e-9);
});
