// Labels and sentences in any script are drawn by the browser, not as "?".
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {loseContext, noteContexts, SCREENSHOTS, suite} from './harness.mjs';

const {browser} = suite({seen: true});

const SENTENCES = {
  Chinese: '我 看见 一把 锯子', Arabic: 'رأيت منشارا في الحديقة', Cyrillic: 'Я увидел пилу опять', Devanagari: 'मैंने एक आरी देखी',
  emoji: '👩‍🚀 👀 🪚 🇩🇪',
};

/** The pixels of tokens' labels left of Q: how many differ from the background, how many are colourful, and their total number. */
async function labels(board, ...tokens) {
  await board.settle();
  const items = await board.call('items');
  const boxes = tokens.map((token) => items.find(({name}) => name === `label:left:${token}`).rect);
  const x = Math.min(...boxes.map((box) => box.x)), y = Math.min(...boxes.map((box) => box.y));
  const clip = {x, y, width: Math.max(...boxes.map((box) => box.right)) - x, height: Math.max(...boxes.map((box) => box.bottom)) - y};
  const png = await board.page.screenshot({clip});
  return board.page.evaluate(async ([base64, boxes, clip]) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))]));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height), pen = canvas.getContext('2d', {willReadFrequently: true});
    const ratio = bitmap.width / clip.width;
    pen.drawImage(bitmap, 0, 0);
    return boxes.map(({x, y, width, height}) => {
      const {data} = pen.getImageData(...[x - clip.x, y - clip.y, width, height].map((v) => Math.round(v * ratio)));
      let ink = 0, colourful = 0;
      for (let i = 0; i < data.length; i += 4) {
        const [r, g, b] = [data[i], data[i + 1], data[i + 2]];
        if (Math.abs(r - data[0]) + Math.abs(g - data[1]) + Math.abs(b - data[2]) > 60) ink++;
        if (Math.max(r, g, b) - Math.min(r, g, b) > 80) colourful++;
      }
      return {ink, colourful, width, pixels: data.join()};
    });
  }, [png.toString('base64'), boxes, clip]);
}

for (const colorScheme of ['light', 'dark']) {
  for (const deviceScaleFactor of [1, 1.5, 2, 3]) {
    test(`labels in five scripts, ${colorScheme}, ratio ${deviceScaleFactor}`, async () => {
      // As small as possible for four words, because the software renderer of a test machine is slow.
      const board = await browser.open('/', {viewport: {width: 1120, height: 620}, colorScheme, deviceScaleFactor});
      for (const [script, sentence] of Object.entries(SENTENCES)) {
        await board.call('set', 'labels', sentence);
        assert.deepEqual(await board.get('labels'), sentence.split(' '), script);
        const shown = await labels(board, 0, 1, 2, 3);
        for (const {ink} of shown) assert.ok(ink > 8 * deviceScaleFactor ** 2, `${script}: something is drawn`);
        assert.equal(new Set(shown.map(({pixels}) => pixels)).size, 4, `${script}: four words, four pictures; no question marks`);
        assert.equal(shown.some(({colourful}) => colourful > 10), script === 'emoji', `${script}: only emoji have colours of their own`);
        if (colorScheme === 'light' && deviceScaleFactor === 2) await board.page.screenshot({path: `${SCREENSHOTS}/script-${script}.png`});
      }
      await board.close();
    });
  }
}

test('widths come from the browser', async () => {
  const board = await browser.open('/');
  await board.call('set', 'labels', ['Я', 'увиделаувидела', 'a', 'saw']);
  const [narrow, wide] = await labels(board, 0, 1);
  const measured = await board.page.evaluate(() => {
    const pen = document.createElement('canvas').getContext('2d');
    pen.font = `400 ${16 / 1.21}px system-ui,sans-serif`;
    return ['Я', 'увиделаувидела'].map((word) => pen.measureText(word).width);
  });
  assert.ok(Math.abs(narrow.width - 8 - measured[0]) < 1, `${narrow.width} ${measured[0]}`);
  assert.ok(measured[1] > 84 && wide.width - 8 <= 84, 'a long word is cut to its room');
  assert.ok(wide.width - 8 > 60, 'but not to less');
  await board.close();
});

test('plain text asks nothing of the browser, and a line is drawn once', async () => {
  const board = await browser.open('/', {wait: false, seen: false});
  await board.page.evaluate(() => {
    globalThis.drawn = [];
    const {fillText} = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
      globalThis.drawn.push(text);
      return fillText.call(this, text, ...rest);
    };
  });
  await board.page.evaluate(() => document.querySelector('attention-playground').ready);
  await board.drag('q', [0, 1, 1], 0, -30);
  assert.deepEqual(await board.page.evaluate(() => globalThis.drawn.splice(0)), []);
  await board.call('set', 'labels', SENTENCES.Chinese);
  await board.settle();
  const first = await board.page.evaluate(() => globalThis.drawn.splice(0));
  assert.ok(first.includes('看见'));
  await board.drag('q', [0, 1, 1], 0, -5);
  await board.page.mouse.move(5, 5);
  await board.settle();
  const again = await board.page.evaluate(() => globalThis.drawn.splice(0));
  assert.ok(!again.includes('看见') || first.filter((text) => text === '看见').length < 4, String(again));
  await board.close();
});

test('labels come back after a lost context', async () => {
  const board = await browser.open('/', {allow: [/CONTEXT_LOST_WEBGL|GroupMarkerNotSet|GL Driver/], prepare: noteContexts});
  await board.call('set', 'labels', SENTENCES.Chinese);
  const before = await labels(board, 1), events = await board.listen('error');
  await loseContext(board);
  await until('the loss to be told', async () => (await events()).length > 0);
  const {frames} = await board.stats();
  await board.call('set', 'labels', SENTENCES.Chinese);
  await board.page.mouse.move(300, 300);
  await until('a frame in the new context', async () => (await board.stats()).frames > frames);
  assert.deepEqual(await labels(board, 1), before);
  await board.check();
  await board.close();
});

test('a sentence of the reader’s own says so, and its switch gives equal words equal numbers', async () => {
  const board = await browser.open('/');
  const names = async () => (await board.call('items')).map(({name}) => name);
  await board.settle();
  assert.ok(!(await names()).includes('same_word'), 'an example has hand-made numbers');
  await board.click('labels');
  await board.page.keyboard.press('Control+A');
  await board.type('the dog saw the cat');
  await board.press('Enter');
  await board.settle();
  assert.ok((await names()).includes('random-note'));
  assert.equal(await board.get('same_word'), false);
  await board.click('same_word');
  await board.settle();
  assert.equal(await board.get('same_word'), true);
  for (const name of ['x', 'q', 'k', 'v']) {
    const t = await board.tensor(name);
    for (let c = 0; c < t.shape[2]; ++c) assert.equal(t.at(0, 0, c), t.at(0, 3, c), name);
  }
  assert.equal((await board.call('getState')).same_word, true);
  await board.page.screenshot({path: `${SCREENSHOTS}/script-own.png`});
  await board.call('undo');
  assert.equal(await board.get('same_word'), false);
  await board.call('set', 'labels', '我看见一把锯子');
  await board.settle();
  assert.ok((await names()).includes('split-note'));
  await board.check();
  await board.close();
});
