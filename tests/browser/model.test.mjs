// The page of all heads: measures, order, filters, the word that heads look at, rollout; and a model that attn train wrote, which can be run.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {after, before, test} from 'node:test';
import {until} from '../until.mjs';
import {SCREENSHOTS, start} from './harness.mjs';

const program = resolve(process.env.ATTN ?? join(import.meta.dirname, '../../build/native/attn'));
let browser, folder, model;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'model-'));
  model = join(folder, 'model.npz');
  run('train', '--task', 'induction', '--steps', '200', '--out', model);
  browser = await start();
});
after(async () => {
  await browser.stop();
  rmSync(folder, {recursive: true});
});

function run(...args) {
  const done = spawnSync(program, args, {encoding: 'utf8', maxBuffer: 2 ** 28});
  assert.equal(done.status, 0, done.stderr);
  return done.stdout;
}

async function opened(settings, path = model) {
  const board = await browser.open('/', settings);
  await board.page.evaluate(async ([bytes, name]) => {
    const element = document.querySelector('attention-playground'), dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([Uint8Array.from(bytes)], name));
    for (const type of ['dragenter', 'dragover', 'drop']) element.dispatchEvent(new DragEvent(type, {dataTransfer, bubbles: true, cancelable: true, composed: true}));
  }, [[...readFileSync(path)], 'model.npz']);
  await until('the layers', async () => await board.get('batch_of') === 'layers');
  await board.rest();
  return board;
}

const place = async (board, name) => (await board.call('items')).find((item) => item.name === name);
/** Turns the wheel until a control of the page is in the middle of the window. */
async function reach(board, name) {
  const {width, height} = board.page.viewportSize();
  await board.page.mouse.move(width / 2, height / 2);
  await until(`${name} in view`, async () => {
    const {y} = await board.call('locate', name), isIn = y > height * 0.3 && y < height * 0.8;
    if (!isIn) await board.page.mouse.wheel(0, y < height / 2 ? -80 : 80);
    await board.rest();
    return isIn;
  });
}
/** The heads from the first to the last, as "0:1". */
async function order(board) {
  const heads = (await board.call('items')).filter(({name}) => /^layer:\d+:\d+$/.test(name));
  heads.sort(({rect: a}, {rect: b}) => a.y - b.y || a.x - b.x);
  return heads.map(({name}) => name.slice(6));
}

test('what attn train wrote opens with the weights that attn run computes', async () => {
  const board = await opened();
  const words = await board.get('labels'), layers = await board.get('batch');
  for (let layer = 0; layer < layers; layer++) {
    await board.call('set', 'layer', layer);
    for (const name of ['q', 'v', 'weights']) {
      const there = JSON.parse(run('run', model, '--text', words.join(' '), '--outputs', `layers.${layer}.${name}`))[`layers.${layer}.${name}`];
      const here = await board.tensor(name);
      assert.deepEqual(here.shape, there.shape);
      const worst = Math.max(...there.data.map((value, i) => Math.abs(value - here.data[i])));
      assert.ok(worst < 1e-5, `${name} of layer ${layer}: ${worst}`);
    }
  }
  await board.close();
});

test('heads are ordered by what they look at, filtered by their tags, and a press opens one', async () => {
  for (const viewport of [{width: 1440, height: 900}, {width: 390, height: 844}]) {
    const board = await opened({viewport});
    const words = await board.get('labels'), word = words.find((one, i) => words.indexOf(one) !== i);
    const layers = await board.get('batch'), heads = await board.get('heads'), look = [];
    for (let layer = 0; layer < layers; layer++) {
      await board.call('set', 'layer', layer);
      const w = await board.tensor('weights'), n = words.length, keys = words.flatMap((one, j) => one === word ? [j] : []);
      for (let h = 0; h < heads; h++) {
        let sum = 0;
        for (let i = 0; i < n; i++) for (const j of keys) sum += i === j ? 0 : w.at(h, i, j);
        look.push([`${layer}:${h}`, sum / (n - 1 - keys[0])]);
      }
    }
    await board.call('set', 'view', 'model');
    await board.rest();
    const byLayer = look.map(([name]) => name);
    assert.deepEqual(await order(board), byLayer);
    await board.click('model_find');
    await board.page.keyboard.type(word);
    await board.page.keyboard.press('Enter');
    await until('the word', async () => await board.get('model_find') === word);
    await board.rest();
    const sorted = [...look].sort((a, b) => b[1] - a[1]).map(([name]) => name);
    assert.deepEqual(await order(board), sorted, 'those that look at the word are first');
    await board.click('model:by');
    await board.rest();
    await board.click('model:by:0');
    await board.rest();
    assert.deepEqual(await order(board), byLayer);
    for (const other of ['', word]) {
      await board.call('set', 'model_find', other);
      await board.rest();
    }
    assert.deepEqual(await order(board), sorted, 'a script or a link orders as typing does');
    for (const pattern of ['previous', 'induction', 'first', 'same', 'broad', 'none']) assert.ok(await place(board, `model:show:${pattern}`), pattern);
    await board.click('layer:1:0');
    await board.settle();
    assert.deepEqual([await board.get('view'), await board.get('layer'), await board.get('focus_head')], ['layer', 1, 0]);
    await board.close();
  }
});

test('assistive technology hears the measures, the rollout with its caveat, and the filters as switches', async () => {
  const board = await opened({viewport: {width: 1440, height: 900}});
  const session = await board.page.context().newCDPSession(board.page);
  await session.send('Accessibility.enable');
  const spoken = async () => (await session.send('Accessibility.getFullAXTree')).nodes.filter((n) => !n.ignored).map((n) => `${n.role?.value}: ${n.name?.value}${n.properties?.find(({name}) => name === 'checked')?.value.value === 'true' ? ' on' : ''}`);
  await board.call('set', 'view', 'model');
  await until('the page', async () => (await spoken()).some((words) => /Abnar and Zuidema/.test(words)));
  const all = await spoken();
  assert.ok(all.some((words) => /not an explanation/.test(words)));
  assert.ok(all.some((words) => /Entropy of a row, in bit/.test(words)));
  assert.ok(all.some((words) => /^switch: Induction.* on$/.test(words)), all.filter((words) => words.startsWith('switch')).join());
  await board.click('model:show:induction');
  await until('the switch is off', async () => (await spoken()).some((words) => /^switch: Induction(?!.* on$)/.test(words)));
  await board.call('set', 'model_find', 'nowhere');
  await until('the sentence', async () => (await spoken()).some((words) => /None of the tokens is that word/.test(words)));
  await board.close();
});

test('heads of a trained model are switched off by the mouse, and it reads another sentence', async () => {
  for (const viewport of [{width: 1440, height: 900}, {width: 390, height: 844}]) {
    const board = await opened({viewport, seen: true});
    await board.call('set', 'view', 'model');
    await board.rest();
    const isThere = async (name) => Boolean(await place(board, name));
    if (viewport.width < 500) await reach(board, 'model:off:1:0');
    await board.click('model:off:1:0');
    await until('the switch for all heads', () => isThere('model:on'));
    await board.page.screenshot({path: `${SCREENSHOTS}/web-model-switches-${viewport.width}.png`});
    if (viewport.width < 500) await reach(board, 'model:on');
    await board.click('model:on');
    await until('all heads on', async () => !await isThere('model:on'));
    const before = await board.get('labels'), half = before.slice(0, 6);
    if (viewport.width < 500) await reach(board, 'model:labels');
    await board.click('model:labels');
    await board.page.keyboard.press('Control+a');
    await board.page.keyboard.type(half.join(' '));
    await board.page.keyboard.press('Enter');
    await until('another sentence', async () => (await board.get('labels')).length === 6);
    assert.deepEqual(await board.get('labels'), half);
    assert.deepEqual((await board.tensor('weights')).shape.slice(1), [6, 6]);
    await board.press('Control+z');
    await until('the sentence before', async () => (await board.get('labels')).length === before.length);
    await board.close();
  }
});

test('trying all heads stops between two of them, and goes on from there', async () => {
  const many = join(folder, 'many.npz');
  run('train', '--task', 'induction', '--steps', '1', '--set', 'layers=4', 'heads=8', 'd_model=32', '--out', many);
  const board = await opened({viewport: {width: 1440, height: 1800}}, many);
  await board.page.evaluate(() => {  // frames are drawn one at a time, as the test asks for them
    const real = requestAnimationFrame.bind(globalThis), waiting = [];
    globalThis.requestAnimationFrame = (draw) => waiting.push(draw);
    globalThis.drawn = () => new Promise((done) => real((time) => {
      const drawing = waiting.splice(0);
      drawing.forEach((one) => one(time));
      done(drawing.length > 0);
    }));
  });
  const drawn = () => board.page.evaluate(() => globalThis.drawn()), isTrying = async () => Boolean(await place(board, 'work:cancel'));
  await board.call('set', 'view', 'model');
  await drawn();
  const began = performance.now();
  await until('a second has passed, after which it is said', () => performance.now() - began > 1000);
  await until('heads are tried', async () => await drawn() && isTrying());
  await board.click('work:cancel');
  for (let frame = 0, still = 0; still < 3; ++frame) {
    still = await drawn() ? 0 : still + 1;  // no frame is asked for
    assert.ok(frame < 60, 'heads are still tried');
  }
  for (let i = 0; i < 20; ++i) {  // 20 more frames, in which all 32 would be tried, two in each
    await board.page.mouse.move(700 + 5 * i, 60);
    await drawn();
  }
  assert.ok(await isTrying(), 'it was stopped before the last');
  await board.click('work:cancel');
  let frames = 0;
  for (let still = 0; still < 3; ) {  // all heads: no frame is asked for any more
    const isDrawn = await drawn();
    frames += isDrawn, still = isDrawn ? 0 : still + 1;
    assert.ok(frames < 600, 'frames are drawn without end');
  }
  assert.ok(!await isTrying());
  assert.ok(frames >= 8, `${frames} frames for those that were left`);
  await board.close();
});

test('predictions have logits and probabilities, and a loss on the targets that were typed, as attn run has them', async () => {
  const board = await opened({viewport: {width: 1440, height: 900}, seen: true});
  const session = await board.page.context().newCDPSession(board.page);
  await session.send('Accessibility.enable');
  const spoken = async () => (await session.send('Accessibility.getFullAXTree')).nodes.filter((n) => !n.ignored && n.role?.value === 'StaticText').map((n) => n.name?.value ?? '').join(' | ');
  const words = await board.get('labels'), classes = JSON.parse(run('convert', model, '-')).classes, names = classes.data ?? classes;
  const wanted = (...set) => JSON.parse(run('run', model, '--text', words.join(' '), '--set', 'off=1.0', ...set, '--outputs', set.length > 0 ? 'loss' : 'logits,probabilities'));
  const {logits, probabilities} = wanted(), width = names.length, last = (words.length - 1) * width;
  const best = names.map((name, i) => [probabilities.data[last + i], logits.data[last + i]]).sort((a, b) => b[0] - a[0])[0];
  await board.call('set', 'view', 'model');
  await board.rest();
  await board.click('model:off:1:0');
  const [share, logit] = best.map((value) => value.toFixed(2));
  await until(`logit ${logit} and probability ${share}`, async () => new RegExp(`(^|[^0-9.])${logit.replace('.', '\\.')}\\s+${share.replace('.', '\\.')}( |$)`).test(await spoken()));
  await board.call('set', 'model_targets', names[3]);
  const {loss} = wanted(`targets=${names[3]}`);
  await until('the loss', async () => new RegExp(`Loss on these targets .*${loss.data[0].toFixed(2).replace('.', '\\.')}`).test(await spoken()));
  await board.page.screenshot({path: `${SCREENSHOTS}/web-model-targets.png`});
  await board.call('set', 'model_targets', 'zebra');
  await until('the sentence', async () => /"zebra" is not among the \d+ classes of the model; the nearest are/.test(await spoken()));
  await board.close();
});

test('a model without one of its parameters is refused by name, and the board stays', async () => {
  const board = await browser.open('/');
  const before = await board.call('getState');
  const told = board.page.evaluate(() => new Promise((done) => document.querySelector('attention-playground').addEventListener('error', ({detail}) => done(detail.message), {once: true})));
  await board.drop(JSON.stringify({training: '{"train_task": "sort"}', embedding: [[1, 2]]}), 'broken.json');
  assert.match(await told, /it is missing; the model needs it|; the model needs /);
  assert.deepEqual(await board.call('getState'), before);
  await board.close();
});
