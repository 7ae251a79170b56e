// Whole passes by one hand alone: from a first visit through the three steps of the coach to the end of a lesson, with the mouse, the keyboard or
// a finger. The interface for scripts says where things are and what came of it; it does nothing itself.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {SITE, suite} from './harness.mjs';

const {browser} = suite();
const LESSON = 'why-attention';
const {steps} = JSON.parse(readFileSync(`${SITE}/lessons/${LESSON}.json`, 'utf8'));
const MOST = 30;  // acts, at two seconds each: a minute

const items = (board) => board.call('items');
const rect = async (board, name) => (await items(board)).find((item) => item.name === name)?.rect;
const isThere = (board, name) => until(`${name} is on the screen`, () => rect(board, name));

/** Each hand presses a control and changes a number by an amount. */
const HANDS = {
  mouse: (board) => ({
    press: (name) => board.click(name),
    change: (name, cell, by) => board.drag(name, cell, Math.round(by * 100), 0),
  }),
  finger: (board) => ({
    async press(name) {
      await board.middle(name);
      await board.settle();  // it may have been scrolled into view
      await board.page.touchscreen.tap(...await board.middle(name));
    },
    async change(name, cell, by) {
      await board.middle(name, ...cell);
      await board.settle();
      await board.finger(await board.middle(name, ...cell), Math.round(by * 100), 0, {holds: true});
    },
  }),
  keyboard(board) {
    const {keyboard} = board.page;
    const focus = () => board.page.evaluate(() => {
      let at = document.activeElement;
      while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
      return {tag: at?.localName, name: at?.item?.name};
    });
    const toBoard = async () => {
      for (let i = 0; i < 3 && (await focus()).tag !== 'canvas'; i++) await keyboard.press('Escape');
      for (let i = 0; i < 120 && (await focus()).tag !== 'canvas'; i++) await keyboard.press('Shift+Tab');
      assert.equal((await focus()).tag, 'canvas', 'the keys are the board’s');
    };
    return {
      async press(name) {
        if (name === 'causal' || name === 'heads+') {
          await toBoard();
          return keyboard.press(name[0]);
        }
        // From the board F10 leads to the tables; after their last control comes the page, then the board.
        for (let i = 0, now; i < 240 && (now = await focus()).name !== name; i++) await keyboard.press(now.tag === 'canvas' ? 'F10' : 'Tab');
        assert.equal((await focus()).name, name, 'Tab leads to it');
        return keyboard.press('Enter');
      },
      async change(name, [head, row, col], by) {
        const to = await board.value(name, head, row, col) + by;
        await toBoard();
        for (const key of [name, ...Array(8).fill('Control+ArrowUp'), ...Array(8).fill('ArrowLeft'),
          ...Array(row).fill('Control+ArrowDown'), ...Array(col).fill('ArrowRight')]) await keyboard.press(key);
        await keyboard.type(to.toFixed(2));
        await keyboard.press('Enter');
      },
    };
  },
};

const BY_FINGER = {hasTouch: true, isMobile: true};
const opened = (page) => page.addInitScript(() => {  // for the test to see what has the focus
  const {attachShadow} = Element.prototype;
  Element.prototype.attachShadow = function (options) { return attachShadow.call(this, {...options, mode: 'open'}); };
});

for (const [width, height] of [[1440, 900], [390, 844]]) {
  for (const [name, hand] of Object.entries(HANDS)) {
    test(`${width} × ${height}, ${name} alone: the coach's three things, then a lesson to its end`, async () => {
      const board = await browser.open('/', {viewport: {width, height}, guide: 'first', prepare: opened, ...name === 'finger' && BY_FINGER});
      const {press, change} = hand(board);
      const passed = async () => JSON.parse(await board.page.evaluate(() => localStorage['attention-playground'])).passed[LESSON] ?? [];
      let acts = 0;
      const act = async (doing) => {
        await doing;
        acts++;
        await board.rest(50);
      };
      if (name === 'keyboard') await board.page.keyboard.press('Tab');
      await isThere(board, 'coach:skip');
      const was = await board.value('q', 0, 3, 2);
      await act(change('q', [0, 3, 2], -0.5));
      assert.ok(await board.value('q', 0, 3, 2) < was - 0.2, 'the number has changed');
      await act(press('causal'));
      assert.equal(await board.get('causal'), true);
      await act(press('heads+'));
      assert.equal(await board.get('heads'), 2);
      await isThere(board, 'coach:guide');
      await act(press('coach:guide'));
      if (!await rect(board, 'guide-next')) await act(press(`guide:open:${LESSON}`));
      for (const [i, step] of steps.entries()) {
        await until('the step', async () => (await items(board)).some((item) => /^guide-(next$|go:)/.test(item.name)));
        if (step.predict) {
          if (await rect(board, 'guide-answer')) await act(press('guide-answer'));
          await act(press(`guide:choice:${step.predict.answer}`));
        }
        for (const {tensor, at, value} of step.try?.solution ?? []) {
          for (let by; Math.abs(by = value - await board.value(tensor, ...at)) > 0.02;) {
            const least = name === 'keyboard' ? by : Math.sign(by) * Math.min(Math.abs(by), 1);  // a phone is not wide
            await act(change(tensor, at, least));
            assert.ok(Math.abs(value - await board.value(tensor, ...at)) < Math.abs(by), 'it comes closer');
          }
        }
        assert.ok((await passed()).includes(i), `step ${i + 1} is passed`);
        const next = (await items(board)).find((item) => /^guide-(next$|go:)/.test(item.name)).name;
        await act(press(next));
      }
      assert.deepEqual((await passed()).length, steps.length);
      assert.ok(acts <= MOST, `${acts} acts`);
      await board.close();
    });
  }
}
