// Input is visible in the next frame, completely: no later frame shows anything else.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {suite} from './harness.mjs';

const {browser, onBoard} = suite({seen: true});

/** Performs an action, and returns the pictures drawn after the first event of that type, with the number of screen frames before the first
 * of them. While the board is not being drawn, its canvas cannot be read. */
async function pictures(board, type, act) {
  await board.rest();
  await board.page.evaluate(([selector, name]) => {
    const element = document.querySelector(selector), canvas = element.shadowRoot.querySelector('canvas');
    const copy = Object.assign(document.createElement('canvas'), {width: canvas.width, height: canvas.height});
    const read = () => {
      copy.getContext('2d').drawImage(canvas, 0, 0);
      return copy.toDataURL();
    };
    globalThis.drawn = {frames: 0, pictures: []};
    let last = -1;
    const look = () => {
      const now = element.stats().frames;
      if (now !== last) globalThis.drawn.pictures.push(read());
      else if (globalThis.drawn.pictures.length === 0) globalThis.drawn.frames++;
      last = now;
      globalThis.looking = requestAnimationFrame(look);
    };
    canvas.addEventListener(name, () => {
      last = element.stats().frames;
      requestAnimationFrame(look);
    }, {once: true});
  }, [board.selector, type]);
  await act();
  await board.rest();
  return board.page.evaluate(() => {
    cancelAnimationFrame(globalThis.looking);
    return globalThis.drawn;
  });
}

function isThereAtOnce({frames, pictures: all}, what) {
  assert.equal(frames, 0, `${what} is drawn in the next frame`);
  assert.ok(all.length >= 2, `${what}: the frames after the first are seen too`);
  all.forEach((picture, i) => assert.ok(picture === all[0], `${what}: frame ${i + 1} of ${all.length} is that of the first`));
  return all[0];
}

onBoard('a drag: cell, weights, outputs, arcs and arithmetic', async (board) => {
  const {mouse} = board.page;
  const [x, y] = await board.middle('q', 0, 3, 2);
  await mouse.move(x, y);
  await mouse.down();
  await mouse.move(x + 8, y);
  const seen = new Set();
  for (const by of [30, 60, 90]) {
    seen.add(isThereAtOnce(await pictures(board, 'pointermove', () => mouse.move(x + by, y)), `a move by ${by}`));
    await board.check();
  }
  assert.equal(seen.size, 3, 'each move is seen');
  await mouse.up();
});

onBoard('a switch, a step and a key: the control itself, the board, and what can be undone', async (board) => {
  for (const name of ['causal', 'heads+']) {
    const [x, y] = await board.middle(name);
    await board.page.mouse.move(x, y);
    await board.page.mouse.down();
    isThereAtOnce(await pictures(board, 'pointerup', () => board.page.mouse.up()), name);
  }
  await board.page.mouse.move(5, 895);
  isThereAtOnce(await pictures(board, 'keydown', () => board.page.keyboard.down('t')), 'one more token');
  await board.page.keyboard.up('t');
});

test('a frame that looks like the last one is not drawn again; another size, or another theme, is', async () => {
  const count = () => {
    globalThis.pictures = 0;
    const {prototype} = ImageBitmapRenderingContext, {transferFromImageBitmap} = prototype;
    prototype.transferFromImageBitmap = function (bitmap) {
      globalThis.pictures++;
      return transferFromImageBitmap.call(this, bitmap);
    };
  };
  const board = await browser.open('/', {prepare: (page) => page.addInitScript(count)});
  const during = async (change) => {
    await board.rest();
    const pictures = () => board.page.evaluate(() => globalThis.pictures);
    const [before, built] = [await pictures(), (await board.stats()).frames];
    await change();
    await board.rest();
    return [await pictures() - before, (await board.stats()).frames - built];
  };
  const [drawn, frames] = await during(() => board.call('set', 'causal', false));
  assert.equal(drawn, 1, `of ${frames} frames`);
  assert.ok(frames > 1, 'Dear ImGui needs another one to take in a new layout');
  assert.equal((await during(() => board.page.mouse.move(700, 880)))[0], 0, 'nothing is under the pointer');
  assert.ok((await during(() => board.click('theme')))[0] >= 1);
  assert.ok((await during(() => board.page.setViewportSize({width: 1200, height: 800})))[0] >= 1);
  await board.close();
});
