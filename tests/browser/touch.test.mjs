// A finger, as reported by the browser: it scrolls every panel from wherever it is pressed, taps what it is pressed on, and drags sliders
// sideways; on a small screen, everything that does not fit in the header is in its menu.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {suite} from './harness.mjs';

const {browser} = suite();

const PHONE = {viewport: {width: 390, height: 600}, hasTouch: true, isMobile: true};

/** The present position of a named item, whether in view or not; `locate` would scroll to it. */
const rect = async (board, name) => (await board.call('items')).find((item) => item.name === name)?.rect;
const isThere = (board, name) => until(`${name} is on the screen`, () => rect(board, name));
const isGone = (board, name) => until(`${name} is gone`, async () => !await rect(board, name));
const middleOf = ({x, y, width, height}) => [x + width / 2, y + height / 2];

/** Moves one finger from a position by a distance. It pauses before it is released, unless panels are to continue scrolling. */
async function swipe(board, [x, y], dx, dy, {rest = 150, steps = 10} = {}) {
  const session = await board.page.context().newCDPSession(board.page);
  const send = (type, ...touchPoints) => session.send('Input.dispatchTouchEvent', {type, touchPoints});
  const [first, ...others] = Array.from({length: steps}, (_, i) => ({x: x + dx * (i + 1) / steps, y: y + dy * (i + 1) / steps}));
  // The first move without waiting: a finger that stays on a button, as on a slow machine, holds it.
  await Promise.all([send('touchStart', {x, y}), send('touchMove', first)]);
  if (rest) {
    for (const to of others) await send('touchMove', to);
    await board.rest(rest);
    await send('touchEnd');
  } else {
    await Promise.all([...others.map((to) => send('touchMove', to)), send('touchEnd')]);  // as fast as a flick
  }
  await session.detach();
  await board.settle();
}

/** Opens the controls, and of their sections the inputs. */
async function openControls(board) {
  await tap(board, 'panel');
  if (await board.call('locate', 'section:inputs').catch(() => null)) await tap(board, 'section:inputs');
  await isThere(board, 'tokens');
}

async function tap(board, name, ...cell) {
  await board.middle(name, ...cell);
  await board.settle();  // it may have been scrolled into view
  await board.page.touchscreen.tap(...await board.middle(name, ...cell));
  await board.settle();
}

/** A swipe on `name` must move `witness` up, and have no other effect. */
async function scrollsFrom(board, name, witness, by = -90) {
  await board.middle(name);
  await board.settle();
  const was = await board.call('getState'), before = (await rect(board, witness)).y;
  await swipe(board, await board.middle(name), 0, by);
  const moved = (await rect(board, witness)).y - before;
  assert.ok(Math.sign(by) * moved > 40, `a swipe of ${by} on ${name} moved ${witness} by ${moved}`);
  assert.deepEqual(await board.call('getState'), was, name);
}

test('the drawer scrolls under a finger that went down on any of its controls, and none fires', async () => {
  const board = await browser.open('/', PHONE);
  await openControls(board);
  for (const name of ['tokens+', 'cross', 'labels', 'position', 'mode:x', 'heads-', 'randomize', 'heads-value']) {
    await scrollsFrom(board, name, 'heads');
    await board.middle('tokens');  // back at the top
    await board.settle();
  }
  await scrollsFrom(board, 'temperature', 'softcap', 60);
  assert.equal(await rect(board, 'position:rotary'), undefined, 'no menu has opened');
  assert.equal(await board.page.locator('attention-playground input').count(), 0, 'nor a field');
  await board.close();
});

test('in the drawer a tap fires, a slider follows a finger sideways and jumps to a tap', async () => {
  const board = await browser.open('/', PHONE);
  await tap(board, 'panel');
  await tap(board, 'tokens+');
  assert.equal(await board.get('tokens'), 5);
  await tap(board, 'cross');
  assert.equal(await board.get('cross'), true);
  await board.call('locate', 'temperature');
  await board.settle();
  await swipe(board, await board.middle('temperature'), 30, 0);
  const warm = await board.get('temperature');
  assert.ok(warm > 1.5, `temperature ${warm}`);
  const track = await rect(board, 'temperature');
  await board.page.touchscreen.tap(track.x + 12, track.y + track.height / 2);
  await board.settle();
  assert.ok(await board.get('temperature') < 0.3);
  await board.call('undo');
  assert.equal(await board.get('temperature'), warm, 'a tap is a step of undo');
  await board.call('undo');
  assert.equal(await board.get('temperature'), 1, 'a drag is one');
  await board.close();
});

test('a panel glides on when the finger leaves it moving', async () => {
  const board = await browser.open('/', PHONE);
  await openControls(board);
  const top = (await rect(board, 'heads')).y;
  await swipe(board, [110, 400], 0, -60, {rest: 0, steps: 3});
  await until('it glides further than the finger', async () => (await rect(board, 'heads')).y < top - 100);
  await board.close();
});

test('the heads, the weights and the arithmetic scroll the board under a finger; a tap chooses the head', async () => {
  const board = await browser.open('/', PHONE);
  await swipe(board, await board.middle('weights', 0, 3, 2), 0, -300);
  assert.ok((await board.call('locate', 'weights', 0, 3, 3)).y < 600);
  const name = 'head:1';
  for (let i = 0; i < 6 && !((await rect(board, name))?.y < 420); i++) await swipe(board, [200, 500], 0, -200);
  const was = (await rect(board, name)).y;
  await swipe(board, middleOf(await rect(board, name)), 0, -120);
  const now = (await rect(board, name)).y;
  assert.ok(now < was - 60, `${was} became ${now}`);
  assert.equal(await board.get('focus_head'), 0, 'the head was not chosen');
  await board.page.touchscreen.tap(...middleOf(await rect(board, name)));
  await board.settle();
  assert.equal(await board.get('focus_head'), 1);
  await board.close();
});

test('the experiments scroll from sliders, buttons and cells; a number that a finger holds is dragged', async () => {
  const board = await browser.open('/', PHONE);
  await board.call('set', 'experiment', 'spread');
  await isThere(board, 'spread:table');  // its numbers, without which the page is too short to scroll
  await scrollsFrom(board, 'slider:d_k', 'slider:d_k');
  await swipe(board, [100, 300], 0, 300);
  await scrollsFrom(board, 'lab:draw', 'slider:d_k');
  await board.call('set', 'experiment', 'block');
  await isThere(board, 'slider:gamma_2');
  await board.call('locate', 'gamma_2', 0, 0, 0);  // scrolls to it
  await board.settle();
  await scrollsFrom(board, 'slider:gamma_2', 'slider:gamma_2', 60);
  await board.call('locate', 'gamma_2', 0, 0, 0);
  await board.settle();
  await board.finger(await board.middle('gamma_2', 0, 0, 0), 40, 0);
  assert.equal(await board.value('gamma_2', 0, 0, 0), 1, 'without resting it edits nothing');
  await board.finger(await board.middle('gamma_2', 0, 0, 0), 40, 0, {holds: true});
  assert.ok(await board.value('gamma_2', 0, 0, 0) > 1.2);
  await board.close();
});

test('the help and a long menu scroll under a finger, and a tap chooses from it', async () => {
  const board = await browser.open('/', {...PHONE, viewport: {width: 320, height: 480}});
  await tap(board, 'more');
  await tap(board, 'help');
  const close = await isThere(board, 'help-close');
  await swipe(board, [120, 300], 0, -150);
  await until('the list moved', async () => (await rect(board, 'help-close')).y < close.y - 60);
  await swipe(board, [120, 150], 0, 250);
  await tap(board, 'help-close');
  await isGone(board, 'help-close');
  await tap(board, 'more');
  await tap(board, 'preset');
  const first = await isThere(board, 'preset:i-saw-a-saw');
  await board.settle();
  const names = (await board.call('items')).filter(({name}) => name.startsWith('preset:'));
  assert.ok(first.height >= 44, 'under a finger entries are 44 high');
  for (const {rect: r} of names) assert.ok(r.x >= 0 && r.x + r.width <= 320);
  const {name, rect: at} = names.find(({rect: r}) => r.y > 150 && r.y + r.height < 400);
  await swipe(board, middleOf(at), 0, -100);
  assert.ok((await rect(board, name)).y < at.y - 50, 'the menu moved');
  assert.equal((await board.call('getState')).preset, 'i-saw-a-saw', 'nothing was chosen');
  const inView = (await board.call('items')).find(({name, rect: r}) => name.startsWith('preset:') && name !== 'preset:i-saw-a-saw' && r.y > 100 && r.y + r.height < 400);
  await board.page.touchscreen.tap(...middleOf(inView.rect));
  await until('it is chosen', async () => `preset:${(await board.call('getState')).preset}` === inView.name);
  await board.close();
});

test('where the board stands in a page, a panel at its end leaves the finger to the page', async () => {
  const board = await browser.open('/pages/embed.html', PHONE);
  await board.page.evaluate(() => document.querySelector('attention-playground').scrollIntoView({block: 'center'}));
  await board.settle();
  const scrolled = () => board.page.evaluate(() => scrollY);
  await openControls(board);
  const tokens = await rect(board, 'tokens'), began = await scrolled(), was = await board.call('getState');
  await swipe(board, [110, tokens.y + 100], 0, -120);
  assert.ok((await rect(board, 'tokens')).y < tokens.y - 60, 'first the panel');
  assert.equal(await scrolled(), began);
  for (let i = 0; i < 12 && await scrolled() <= began + 30; i++) await swipe(board, [110, tokens.y + 100], 0, -150);
  assert.ok(await scrolled() > began + 30, 'then the page');
  const at = await rect(board, 'temperature');
  if (at) await swipe(board, middleOf(at), 0, -40);
  assert.deepEqual(await board.call('getState'), was, 'what the page took from the finger fired nothing');
  await board.close();
});

// ---------------------------------------------------------------- the menu of the header

/** Taps a part of the header, or of one of its menus. */
async function reach(board, name, menu = 'more') {
  if (!await rect(board, name)) {
    await tap(board, menu);
    await isThere(board, name);
  }
  await tap(board, name);
}

const SIZES = [[390, 844], [320, 568], [640, 440], [320, 320], [1099, 500]];
for (const [width, height] of SIZES) {
  test(`at ${width} × ${height} all actions of the header are reached by a finger`, async () => {
    const board = await browser.open('/', {...PHONE, viewport: {width, height}});
    await reach(board, 'causal');
    assert.equal(await board.get('causal'), false);
    await reach(board, 'undo');
    assert.equal(await board.get('causal'), true);
    await reach(board, 'redo');
    assert.equal(await board.get('causal'), false);
    await reach(board, 'reset');
    assert.equal(await board.get('causal'), true);
    const theme = await board.get('theme');
    await reach(board, 'theme');
    assert.notEqual(await board.get('theme'), theme);
    await reach(board, 'help');
    await isThere(board, 'help-close');
    await tap(board, 'help-close');
    if (!await rect(board, 'views')) await tap(board, 'more');
    await reach(board, 'lab:1', await rect(board, 'views') ? 'views' : 'views:more');
    await isThere(board, 'lab-close');
    await tap(board, 'lab-close');
    const chooser = board.page.waitForEvent('filechooser');
    await reach(board, 'import');
    await chooser;
    const download = board.page.waitForEvent('download');
    await reach(board, 'export:save');
    assert.equal((await download).suggestedFilename(), 'attention.json');
    await reach(board, 'export:copy-state');
    assert.equal((await isThere(board, 'notice')).width > 0, true);
    await reach(board, 'fullscreen');
    await until('it fills the screen', () => board.page.evaluate(() => document.fullscreenElement !== null));
    await board.page.evaluate(() => document.exitFullscreen());
    await until('it is back', () => board.page.evaluate(() => document.fullscreenElement === null));
    await board.settle();
    await reach(board, 'preset');
    await tap(board, 'preset:uniform');
    await until('the example is open', async () => (await board.call('getState')).preset === 'uniform');
    await board.close();
  });
}

test('the menu fits the screen, its entries a finger, and leaves out what the page hid', async () => {
  const board = await browser.open('/pages/embed.html', {...PHONE, viewport: {width: 390, height: 844}});
  await board.page.evaluate(() => document.querySelector('attention-playground').setAttribute('hide', 'import,export,experiments'));
  await tap(board, 'more');
  await isThere(board, 'theme');
  await board.settle();
  const all = await board.call('items'), names = all.map(({name}) => name);
  for (const name of ['import', 'export:save', 'experiments']) assert.ok(!names.includes(name), name);
  const box = await board.page.locator('attention-playground').boundingBox();
  for (const {rect: r} of all.filter(({name}) => ['preset', 'theme', 'help', 'redo', 'fullscreen'].includes(name))) {
    assert.ok(r.height >= 44 && r.x >= box.x && r.x + r.width <= box.x + box.width);
  }
  await board.close();
});

/** Holds a finger until `during` has completed. */
async function hold(board, [x, y], during) {
  const session = await board.page.context().newCDPSession(board.page);
  const send = (type, ...touchPoints) => session.send('Input.dispatchTouchEvent', {type, touchPoints});
  await send('touchStart', {x, y});
  await during();
  await send('touchEnd');
  await session.detach();
  await board.settle();
}

for (const [what, path, focuses] of [['the page', '/', true], ['a board in a page that has not the focus', '/pages/embed.html', false]]) {
  test(`${what}: a finger that rests on a number selects it, and changes nothing`, async () => {
    const size = {width: 900, height: 700};
    const board = await browser.open(path, {viewport: size, hasTouch: true, isMobile: true, seen: true});
    await board.page.evaluate(() => document.querySelector('attention-playground').scrollIntoView({block: 'center'}));
    await board.rest();  // it has been scrolled, and what it shows is in place
    if (focuses) await tap(board, 'weights', 0, 3, 2);
    const noted = await board.listen('select', 'change', 'input'), was = await board.call('getState');
    for (const [name, row, col] of [['k', 1, 1], ['weights', 2, 1]]) {
      await hold(board, await board.middle(name, 0, row, col), () => until(`${name} is selected`, async () => (await noted()).at(-1)?.detail.name === name));
      assert.deepEqual((await noted()).map(({type}) => type).filter((type) => type !== 'select'), []);
      await board.pause(400);  // so that the next touch is not the second of two taps
    }
    assert.deepEqual(await board.call('getState'), was);
    await board.close();
  });
}

test('a number is changed by a tap, then − and +, the slider or the keys, with the weights in view, and Undo is there', async () => {
  const board = await browser.open('/', {...PHONE, viewport: {width: 390, height: 844}});
  const cell = ['q', 0, 3, 2], was = await board.value(...cell);
  await tap(board, ...cell);
  await isThere(board, 'editing');
  const [strip, weights] = [await rect(board, 'editing'), await rect(board, 'matrix:weights')];
  assert.ok(weights.y > 44 && weights.y + weights.height < strip.y, 'the weights are above the strip');
  await tap(board, 'editing-more');
  await until('one step more', async () => Math.abs(await board.value(...cell) - was - 0.1) < 1e-6);
  const slider = await rect(board, 'editing-slider');
  await board.finger([slider.x + slider.width / 2, slider.y + 22], -slider.width / 2, 0);
  await until('the least number', async () => await board.value(...cell) === -2);
  await tap(board, 'undo');
  await tap(board, 'undo');
  assert.equal(await board.value(...cell), was);
  await tap(board, 'keys');
  for (const key of ['0', 'point', '8', 'sign']) await tap(board, `key:${key}`);
  await until('the typed number', async () => Math.abs(await board.value(...cell) + 0.8) < 1e-6);
  assert.equal(await board.page.locator('attention-playground input').count(), 0, 'the keyboard of the system stays away');
  const [keys, seen] = [await rect(board, 'editing'), await rect(board, 'matrix:weights')];
  assert.ok(seen.y > 44 && seen.y + seen.height < keys.y && keys.y >= 344, 'the weights are above the keys');
  await tap(board, 'undo');
  assert.equal(await board.value(...cell), was, 'one step');
  await board.type('-0.7');  // a keyboard of hardware
  await board.press('Enter');
  await until('the typed number', async () => Math.abs(await board.value(...cell) + 0.7) < 1e-6);
  await tap(board, 'done');
  await isGone(board, 'editing');
  await board.check();
  await board.close();
});

test('a first visit with a finger: the coach says what a finger does, and its three steps are done by it without scrolling', async () => {
  const board = await browser.open('/', {...PHONE, viewport: {width: 390, height: 844}, guide: 'first'});
  await isThere(board, 'coach');
  const was = await board.value('q', 0, 3, 2);
  await board.finger(await board.middle('q', 0, 3, 2), -60, 0, {holds: true});
  await until('the number', async () => await board.value('q', 0, 3, 2) < was - 0.3);
  await tap(board, 'causal');
  await until('Causal', () => board.get('causal'));
  await tap(board, 'heads+');
  await isThere(board, 'coach:guide');
  await board.page.touchscreen.tap(...middleOf(await rect(board, 'coach:guide')));
  await isThere(board, 'guide-close');
  assert.ok((await rect(board, 'guide-close')).y > 400, 'the sheet is half high');
  await board.close();
});
