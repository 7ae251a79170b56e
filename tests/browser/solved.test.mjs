// Every lesson and puzzle, solved like a reader would: predictions are clicked, cells dragged and typed, controls clicked. The actions are
// derived from the lessons' own solutions.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {SITE, suite} from './harness.mjs';

const {browser} = suite();
// One board for all lessons, as for a reader: each lesson brings its own state. Each starts with the page's initial state.
let shared, begun, noted;
const onBoard = (name, body) => test(name, async () => {
  if (!shared) {
    shared = await browser.open('/', {reducedMotion: 'reduce'});
    begun = await shared.call('getState');
    noted = await shared.listen('passed', 'answer');
  }
  await shared.call('setState', begun);
  await shared.page.evaluate(() => { globalThis.noted.length = 0; });
  await body(shared);
  await shared.check();
  assert.deepEqual(shared.complaints, [], 'the console of the page is free of errors');
});
const read = (file) => JSON.parse(readFileSync(`${SITE}/lessons/${file}`, 'utf8'));
const places = async (board) => new Set((await board.call('items')).map(({name}) => name));

/** Opens the tab of the left column, and expands sections, until the control is visible. */
async function reach(board, control, ...groups) {
  for (const step of ['', 'panel:controls', ...groups]) {
    if (step && (await places(board)).has(step)) {
      await board.click(step);
      await board.settle();
    }
    if ((await places(board)).has(control)) return;
  }
  assert.fail(`there is no way to ${control}`);
}

const TOGGLES = {causal: [], train_layer_norm: [], mask_after_softmax: ['more-masks']};
const MENUS = {
  train_score: ['dot', 'scaled'], position: ['none', 'sinusoidal', 'rotary', 'alibi'],
  pattern: ['none', 'local', 'dilated', 'strided', 'block'],
};
const GROUPS = {window_left: ['window'], window_right: ['window'], key_length: ['more-masks'], prefix: ['more-masks']};

/** Switches an option, or types its value. */
async function setOption(board, option, value) {
  if (option in TOGGLES) {
    await reach(board, option, ...TOGGLES[option]);
    return board.click(option);
  }
  if (option in MENUS) {
    await reach(board, option);
    await board.click(option);
    await board.settle();
    const named = `${option}:${value}`;
    return board.click((await places(board)).has(named) ? named : `${option}:${MENUS[option].indexOf(value)}`);
  }
  const place = `${option}-value`;
  await reach(board, place, ...(GROUPS[option] ?? []));
  await board.click(place);
  await typed(board, [value]);
}

/** Types into the open field; with several values, Tab goes to the next. */
async function typed(board, values) {
  for (const [i, value] of values.entries()) {
    await board.until('the field is open', () => document.querySelector('attention-playground').shadowRoot.activeElement?.localName === 'input');
    await board.press('Control+a');
    await board.type(String(value));
    await board.press(i + 1 < values.length ? 'Tab' : 'Enter');
    await board.settle();
  }
}

const FAR = 1.5, PIXELS = 100;  // a drag of 100 pixels changes a number by 1

async function setCell(board, {tensor, at, value, values}) {
  const cell = at.length < 3 ? [...at, 0] : at, all = values ?? [value];
  const isPage = !['q', 'k', 'v', 'x', 'x_kv', 'w_q', 'w_k', 'w_v', 'w_o', 'w_a', 'u_a', 'v_a'].includes(tensor);
  if (isPage) {
    await board.click(tensor, ...cell);  // selects it, then it is typed into
    await board.settle();
    await board.doubleClick(tensor, ...cell);
    return typed(board, all);
  }
  const by = all[0] - await board.value(tensor, ...cell);
  if (all.length === 1 && Math.abs(by) <= FAR) return board.drag(tensor, cell, Math.round(by * PIXELS), 0);
  if (tensor === 'k') {  // Tab moves in the order on the screen: to the next key
    for (const [i, one] of all.entries()) {
      await board.doubleClick(tensor, cell[0], cell[1], cell[2] + i);
      await typed(board, [one]);
    }
    return undefined;
  }
  await board.doubleClick(tensor, ...cell);
  return typed(board, all);
}

/** Opens the stage of the block that has the parameter that the step asks for. */
async function openStage(board, {tensor}, checks) {
  if ((await places(board)).has(`slider:${tensor}`)) return;
  const stage = [checks].flat().map((check) => `stage:${check.tensor?.replace(/^block:/, '')}`).find((name) => name !== 'stage:undefined');
  if ((await places(board)).has(stage)) await board.click(stage);
  await board.settle();
}

async function solve(board, lesson, step, index) {
  await board.call('openLesson', lesson.id, index);
  await board.settle();
  await board.page.evaluate((n) => { globalThis.wanted = n, globalThis.noted.length = 0; }, index);
  if (step.predict) {
    if ((await places(board)).has('guide-answer')) await board.click('guide-answer');
    await board.click(`guide:choice:${step.predict.answer}`);
    await board.settle();
  }
  if (!step.try) return;
  const has = () => globalThis.noted.some(({type, detail}) => type === 'passed' && detail.step === globalThis.wanted);
  for (const move of step.try.solution) {
    if (move.option) await setOption(board, move.option, move.is);
    else {
      if (move.tensor && /^(gamma|delta|w_1|b_1|w_2|b_2|token|segment)/.test(move.tensor)) await openStage(board, move, step.try.check);
      await setCell(board, move);
    }
    await board.settle();
  }
  await board.until(`step ${index + 1} of ${lesson.id} has passed`, has);
}

const {lessons} = read('index.json');
for (const entry of lessons.filter(({kind}) => kind === 'lesson' || kind === 'puzzle')) {
  const file = read(entry.file), lesson = file.cards?.find(({id}) => id === entry.id) ?? file;
  const tries = lesson.steps.map((step, i) => [step, i]).filter(([step]) => step.try || step.predict);
  if (tries.length === 0) continue;
  onBoard(`${entry.kind} “${entry.title}” is solved by hand`, async (board) => {
    for (const [step, i] of tries) {
      await solve(board, lesson, step, i);
      if (step.predict) assert.ok((await noted()).some(({type, detail}) => type === 'answer' && detail.step === i && detail.right), `the answer of step ${i + 1} is right`);
    }
  });
}
