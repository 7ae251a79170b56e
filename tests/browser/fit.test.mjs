// What a page gives a board by its styles and by `fit`: the height that the board needs, and the page's own font, size and colour.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {readPng} from '../desktop/png.mjs';
import {until} from '../until.mjs';
import {SCREENSHOTS, suite} from './harness.mjs';

const {browser} = suite({seen: true});

/** A page with a board in a column of that width. */
async function column(attributes, width, options = {}) {
  const board = await browser.open('/pages/embed.html', {wait: false, ...options});
  await board.page.evaluate(([more, wide]) => {
    document.querySelector('attention-playground').remove();
    const place = document.createElement('div');
    place.style.width = `${wide}px`;
    const element = document.createElement('attention-playground');
    const {style = '', ...attributes} = more;
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.style.cssText = style;
    element.loading = 'eager';
    element.style.maxWidth = 'none';
    place.append(element);
    document.body.prepend(place);
    return element.ready.then(() => true);
  }, [attributes, width]);
  await board.rest();
  return board;
}

const heightOf = (board) => board.page.evaluate(() => document.querySelector('attention-playground').offsetHeight);
/** The lower edge of the lowest item, from the top of the element. */
const lowest = async (board) => {
  const top = await board.page.evaluate(() => document.querySelector('attention-playground').getBoundingClientRect().top);
  const items = (await board.call('items')).filter(({name}) => /^(matrix:|arcs$|inspector$|heads$)/.test(name));
  return Math.max(...items.map(({rect}) => rect.y + rect.height)) - top;
};

for (const [attributes, width] of [[{}, 640], [{}, 1300], [{}, 360], [{show: 'weights'}, 400], [{show: 'q,k,v,weights,output'}, 640], [{show: 'arcs'}, 500],
  [{show: 'weights,inspector'}, 600], [{hide: 'header,panel'}, 700], [{show: 'weights', preset: 'uniform', style: 'height: 900px'}, 300]]) {
  test(`with fit, ${JSON.stringify(attributes)} is as high as it takes in ${width} px`, async () => {
    const board = await column({...attributes, fit: ''}, width);
    const height = await heightOf(board), end = await lowest(board);
    assert.ok(end <= height + 0.5, `${end} is inside of ${height}`);
    assert.ok(height - end < 70, `${height} is not much more than ${end}`);
    assert.equal(await board.page.evaluate(() => {  // there is nothing to scroll, so the wheel belongs to the page
      const canvas = document.querySelector('attention-playground').shadowRoot.querySelector('canvas');
      canvas.focus();
      const box = canvas.getBoundingClientRect(), wheel = new WheelEvent('wheel', {deltaY: 50, clientX: box.right - 20, clientY: box.bottom - 10, cancelable: true});
      canvas.dispatchEvent(wheel);
      return wheel.defaultPrevented;
    }), false);
    await board.page.screenshot({path: `${SCREENSHOTS}/web-fit-${Object.values(attributes).join('-').replace(/\W+/g, '-')}-${width}.png`});
    await board.check();
    await board.close();
  });
}

test('the height follows the board and its width, says so, and goes back to that of the styles', async () => {
  const board = await column({fit: '', show: 'weights'}, 500);
  const noted = await board.listen('fit'), before = await heightOf(board);
  await board.call('set', 'tokens', 7);
  await until('the board to grow', async () => await heightOf(board) > before + 60);
  await board.rest();
  const seven = await heightOf(board);
  assert.deepEqual((await noted()).at(-1), {type: 'fit', detail: {height: seven}});
  await board.page.evaluate(() => { document.querySelector('attention-playground').parentNode.style.width = '260px'; });
  await until('cells to be smaller', async () => await heightOf(board) < seven);
  await board.rest();
  const narrow = await heightOf(board);
  await board.call('set', 'view', 'block');
  await until('a page to have the height of the styles', async () => await heightOf(board) === 440);
  await board.call('set', 'view', 'layer');
  await until('the board to fit again', async () => await heightOf(board) === narrow);
  await board.page.evaluate(() => { document.querySelector('attention-playground').fit = false; });
  await until('the height of the styles', async () => await heightOf(board) === 440);
  await board.check();
  await board.close();
});

test('a page around an iframe hears how high its board is', async () => {
  const board = await browser.open('/pages/host.html', {wait: false});
  const height = await board.page.evaluate(async () => {
    const frame = document.createElement('iframe');
    frame.src = '/embed.html?show=weights&fit';
    frame.style.cssText = 'width: 400px; height: 150px; border: 0';
    document.body.append(frame);
    await new Promise((resolve) => frame.addEventListener('load', resolve));
    const {port1, port2} = new MessageChannel();
    const told = new Promise((resolve) => { port1.onmessage = ({data}) => data.event === 'fit' && resolve(data.detail.height); });
    frame.contentWindow.postMessage({attention: 1, connect: true}, '*', [port2]);
    return told;
  });
  assert.ok(height > 200 && height < 320, String(height));
  await board.close();
});

// ---------------------------------------------------------------- font, size, colour

const setStyle = (board, name, value) => board.page.evaluate(([property, text]) => document.documentElement.style.setProperty(property, text), [name, value]);
const picture = async (board, name = 'any') => {
  await board.rest();
  return board.page.locator('attention-playground').screenshot({path: `${SCREENSHOTS}/web-looks-${name}.png`});
};

test('--attention-size makes words and cells larger, from the start and later', async () => {
  const board = await column({show: 'weights', fit: ''}, 600);
  const cell = async () => (await board.call('locate', 'weights', 0, 0, 0)).width;
  assert.equal(await cell(), 48);
  await setStyle(board, '--attention-size', '21px');
  await until('larger cells', async () => Math.abs(await cell() - 72) < 0.1);
  await setStyle(board, '--attention-size', '1.5em');  // of the page's 16 px
  await until('ems', async () => Math.abs(await cell() - 48 * 24 / 14) < 0.2);
  await setStyle(board, '--attention-size', '900px');
  await until('the largest', async () => await cell() <= 48 * 2.5 + 0.1 && await cell() > 72);
  await board.page.evaluate(() => document.documentElement.style.removeProperty('--attention-size'));
  await until('the usual size', async () => await cell() === 48);
  await board.check();
  await board.close();
});

test('--attention-font is the face of the words, and not of the numbers', async () => {
  const board = await column({show: 'weights', fit: ''}, 600);
  const place = async () => {
    const {x, y, width, height} = await board.call('locate', 'weights', 0, 1, 1), left = await board.page.evaluate(() => {
      const box = document.querySelector('attention-playground').getBoundingClientRect();
      return [box.left, box.top];
    });
    return [x - left[0] + 2, y - left[1] + 2, width - 4, height - 4].map(Math.round);
  };
  const before = await picture(board, 'usual'), at = await place();
  await setStyle(board, '--attention-font', 'monospace');
  await until('another face', async () => !(await picture(board)).equals(before));
  await picture(board, 'font');
  // Numbers in cells are drawn as before.
  const [[left, top, width, height], [x, y]] = [at, await place()];
  const [a, b] = ['usual', 'font'].map((name) => readPng(`${SCREENSHOTS}/web-looks-${name}.png`));
  const differing = [];
  for (let row = 0; row < height; row++) {
    for (let col = 0; col < width; col++) {
      if (String(a.at(left + col, top + row)) !== String(b.at(x + col, y + row))) differing.push([col, row]);
    }
  }
  assert.deepEqual(differing, []);
  await board.page.evaluate(() => document.documentElement.style.removeProperty('--attention-font'));
  await until('the usual face', async () => (await picture(board)).equals(before));
  await board.close();
});

for (const colorScheme of ['light', 'dark']) {
  test(`--attention-accent is the colour of what is on: ${colorScheme}`, async () => {
    const board = await column({}, 1300, {colorScheme});
    await board.page.evaluate(() => { document.documentElement.style.colorScheme = 'light dark'; });
    const colourAt = async (name) => {
      const {x, y, width, height} = await board.call('locate', name);  // scrolls to it
      await board.rest();
      const path = `${SCREENSHOTS}/web-looks-accent-${colorScheme}.png`;
      await board.page.screenshot({path});
      return readPng(path).at(Math.round(x + width) - 27, Math.round(y + height / 2));  // inside the switch, beside its knob
    };
    await board.call('set', 'causal', true);
    const before = await colourAt('causal');
    await setStyle(board, '--attention-accent', 'light-dark(rgb(200, 30, 120), color(srgb 1 0.5 0.75))');
    const wanted = colorScheme === 'light' ? [200, 30, 120] : [255, 128, 191];
    await until('the colour', async () => (await colourAt('causal')).every((one, i) => Math.abs(one - wanted[i]) <= 2));
    await board.page.evaluate(() => document.documentElement.style.removeProperty('--attention-accent'));
    await until('the usual colour', async () => String(await colourAt('causal')) === String(before));
    await board.close();
  });
}

test('a page that has its own face is drawn with it at once', async () => {
  const board = await browser.open('/pages/embed.html', {prepare: (page) => page.addInitScript(() => {
    addEventListener('DOMContentLoaded', () => document.documentElement.style.setProperty('--attention-size', '20px'));
  })});
  const zoomed = await board.call('locate', 'weights', 0, 0, 0);
  assert.ok(zoomed.width > 46, String(zoomed.width));
  await board.close();
});
