// Random pointer, wheel, key, touch, resize and lost-context events, as the browser itself makes them, at random sizes of
// the window; afterwards every number is what arithmetic gives. The seed of a storm that fails is in its name: SEED=… runs
// that one again, STORMS=… more of them.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {loseContext, noteContexts, suite} from './harness.mjs';

const {browser} = suite();

const FIRST = Number(process.env.SEED ?? 1), STORMS = Number(process.env.STORMS ?? 2), EVENTS = 90;

/** The same numbers for the same seed, in 0 … n − 1. */
function dice(seed) {
  let state = seed * 2654435761 >>> 0;
  return (n) => {
    state = state + 0x6D2B79F5 >>> 0;
    let t = Math.imul(state ^ state >>> 15, state | 1);
    t ^= t + Math.imul(t ^ t >>> 7, t | 61);
    return ((t ^ t >>> 14) >>> 0) % n;
  };
}

const KEYS = ['c', 'f', 'h', 't', 'd', 'm', 'q', 'x', '0', '1', '5', '9', '-', '.', '+', '?', '[', ']', 'Enter', 'Escape', 'Tab', 'Shift+Tab', 'Delete', 'Backspace',
  'ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Shift+ArrowUp', 'Alt+ArrowDown', 'Control+ArrowRight', 'Control+Shift+ArrowDown', 'PageDown', 'PageUp', 'Home', 'End',
  'Control+z', 'Control+Shift+z', 'Control+y', 'Control+a', 'Control+c', 'Control+x', 'Control+v', 'F2', ' '];

for (let seed = FIRST; seed < FIRST + STORMS; seed++) {
  const touch = seed % 2 === 0;
  test(`storm ${seed}${touch ? ', with fingers' : ''}`, async () => {
    const roll = dice(seed), pick = (list) => list[roll(list.length)];
    const size = () => ({width: 320 + roll(1300), height: 320 + roll(800)});
    const board = await browser.open('/', {viewport: size(), hasTouch: touch, acceptDownloads: true, permissions: ['clipboard-read', 'clipboard-write'],
      allow: [/CONTEXT_LOST_WEBGL|GroupMarkerNotSet|GL Driver/], prepare: noteContexts});
    const {page} = board, {mouse, keyboard} = page;
    const session = await page.context().newCDPSession(page);
    await page.evaluate(() => {
      globalThis.faults = [];
      document.querySelector('attention-playground').addEventListener('error', ({detail}) => detail.type === 'state' || detail.type === 'contextlost' || globalThis.faults.push(detail));
    });
    let viewport = page.viewportSize();
    const point = () => [roll(viewport.width), roll(viewport.height)];
    const finger = (type, ...touchPoints) => session.send('Input.dispatchTouchEvent', {type, touchPoints});
    const aim = async () => {  // half of the time at something that is there
      const items = roll(2) ? await board.call('items') : [];
      if (items.length === 0) return point();
      const {rect} = pick(items);
      return [rect.x + rect.width / 2, rect.y + rect.height / 2];
    };
    const acts = [
      async () => mouse.move(...await aim()),
      async () => mouse.click(...await aim(), {clickCount: 1 + roll(2), button: pick(['left', 'left', 'left', 'right', 'middle'])}),
      async () => {
        await mouse.move(...await aim());
        await mouse.down();
        await mouse.move(...point(), {steps: 1 + roll(4)});
        if (roll(5)) await mouse.up();
      },
      async () => { await mouse.move(...await aim()); await mouse.wheel(roll(200) - 100, roll(800) - 400); },
      async () => keyboard.press(pick(KEYS)),
      async () => keyboard.press(pick(KEYS)),
      async () => keyboard.type(pick(['2.5', '-0.75', '1e3', 'abc', '0,5', '12', 'NaN', 'eine Säge', '我看见'])),
      async () => {
        viewport = size();
        await page.setViewportSize(viewport);
      },
      async () => {  // the graphics context goes, other things happen, and there is another one
        await loseContext(board);
        await keyboard.press(pick(KEYS));
        await mouse.click(...point());
        await until('another context', () => page.evaluate(() => globalThis.contexts.some((gl) => !gl.isContextLost())));
      },
    ];
    if (touch) {
      acts.push(async () => page.touchscreen.tap(...await aim()), async () => {
        const [x, y] = await aim(), [toX, toY] = point();
        await finger('touchStart', {x, y});
        for (let i = 1; i <= 4; i++) await finger('touchMove', {x: x + (toX - x) * i / 4, y: y + (toY - y) * i / 4});
        await (roll(4) ? finger('touchEnd') : finger('touchCancel'));
      });
    }
    for (let i = 0; i < EVENTS; i++) {
      // The last two are costly: less often.
      await acts[roll(12) ? roll(7) : roll(acts.length)]();
      if (i % 30 === 29) await board.check();
    }
    await mouse.up();
    await board.settle();
    await board.check();
    assert.deepEqual(await page.evaluate(() => globalThis.faults), []);
    const state = await board.call('getState');
    await board.call('reset');
    await board.call('setState', state);
    assert.deepEqual(await board.call('getState'), state, 'what a storm leaves can be kept and put back');
    await board.check();
    await board.rest();
    await board.close();
  });
}
