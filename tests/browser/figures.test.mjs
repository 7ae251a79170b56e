// The tabs Figure and Code of the Share dialog, and the methods toBlob() for figures and toCode().
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {test} from 'node:test';
import {python} from '../numpy.mjs';
import {until} from '../until.mjs';
import {suite} from './harness.mjs';

const {browser} = suite();
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const textOf = (board, options) => board.page.evaluate(async (wanted) => (await document.querySelector('attention-playground').toBlob(wanted)).text(), options);

/** Parses XML strictly. */
function parses(svg) {
  const parsed = spawnSync(python, ['-c', 'import sys\nimport xml.etree.ElementTree as tree\nroot = tree.fromstring(sys.stdin.buffer.read())\nprint(root.tag)'], {input: svg, encoding: 'utf8'});
  assert.equal(parsed.stderr, '');
  assert.equal(parsed.stdout.trim(), '{http://www.w3.org/2000/svg}svg');
}

async function openTab(board, name) {
  await board.click('share');
  await board.page.getByRole('tab', {name, exact: true}).click();
  return board.page.getByRole('tabpanel', {name, exact: true});
}

/** The source of the picture in the dialog, once it contains these words. */
async function shown(panel, words) {
  const image = panel.locator('img');
  return until(`a picture with ${words}`, async () => {
    const svg = decodeURIComponent((await image.getAttribute('src') ?? '').split(',').slice(1).join(','));
    return svg.includes(words) && svg;
  });
}

test('the figure in the dialog is the one that toBlob() gives and that is saved', async () => {
  const board = await browser.open('/?preset=pronoun');
  const panel = await openTab(board, 'Figure');
  assert.equal(await shown(panel, 'head 1'), await textOf(board, {format: 'svg', style: 'print'}));
  assert.match(await panel.locator('img').getAttribute('alt'), /^Attention weights, head 1\. Weights softmax.*sum to 1/);
  await panel.getByRole('combobox', {name: 'Head'}).selectOption('1');
  assert.equal(await shown(panel, 'head 2'), await textOf(board, {format: 'svg', style: 'print', head: 1}));
  await panel.getByRole('radio', {name: 'Dark'}).click();
  await panel.getByRole('radio', {name: 'Cividis'}).click();
  await panel.getByRole('checkbox', {name: 'Row sums'}).check();
  await panel.getByRole('checkbox', {name: 'Caption'}).uncheck();
  const wanted = await textOf(board, {format: 'svg', style: 'dark', head: 1, colors: 'cividis', with: ['labels', 'numbers', 'bar', 'sums']});
  await until('all of it', async () => await shown(panel, 'Σ') === wanted);
  assert.doesNotMatch(wanted, /sum to 1/);
  assert.match(wanted, />1\.00</);
  const download = board.page.waitForEvent('download');
  await panel.getByRole('button', {name: 'Save figure'}).click();
  const file = await download;
  assert.equal(file.suggestedFilename(), 'pronoun-weights-head-2.svg');
  const svg = readFileSync(await file.path(), 'utf8');
  assert.equal(svg, wanted);
  parses(svg);
  await board.close();
});

test('a PNG has the size that the dialog says, and a clear background where it is asked for', async () => {
  const board = await browser.open('/?preset=pronoun');
  const panel = await openTab(board, 'Figure');
  await panel.getByRole('radio', {name: 'PNG'}).click();
  await panel.getByRole('radio', {name: '3×'}).click();
  await panel.getByRole('checkbox', {name: 'Clear background'}).check();
  const svg = await textOf(board, {format: 'svg', style: 'print', with: ['labels', 'numbers', 'bar', 'caption', 'clear']});
  const width = 3 * Number(/ width="([\d.]+)"/.exec(svg)[1]), number = (words) => Number(words.replace(',', ''));
  const said = await until('the size at 3×', async () => {
    const words = /^([\d,]+) × ([\d,]+) px, 300 dpi at [\d.]+ cm$/.exec(await panel.getByText('300 dpi').textContent());
    return words && Math.abs(number(words[1]) - width) <= 1 && words;
  });
  const download = board.page.waitForEvent('download');
  await panel.getByRole('button', {name: 'Save figure'}).click();
  const file = await download, png = readFileSync(await file.path());
  assert.equal(file.suggestedFilename(), 'pronoun-weights-head-1.png');
  for (const [at, words] of [[16, said[1]], [20, said[2]]]) assert.ok(Math.abs(png.readUInt32BE(at) - number(words)) <= 2);
  const corner = await board.page.evaluate(async () => {
    const blob = await document.querySelector('attention-playground').toBlob({format: 'png', with: ['clear'], scale: 1});
    const picture = await createImageBitmap(blob), canvas = Object.assign(document.createElement('canvas'), {width: picture.width, height: picture.height}), context = canvas.getContext('2d');
    context.drawImage(picture, 0, 0);
    return context.getImageData(0, 0, 1, 1).data[3];
  });
  assert.equal(corner, 0);
  await board.close();
});

test('a figure is as wide as a column, of some tokens, with a range and a title of its own; the dialog has the width', async () => {
  const board = await browser.open('/?preset=pronoun'), sizeOf = (svg) => Number(/ width="([\d.]+)"/.exec(svg)[1]);
  const wordsOf = (svg) => [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, one]) => one);
  const svg = await textOf(board, {format: 'svg', width: '3.25in', range: [0, 0.5], tokens: [1, 4], pool: 'max', title: 'Where “it” looks'});
  assert.equal(sizeOf(svg), 312);
  assert.equal(wordsOf(svg)[0], 'Where “it” looks');
  const labels = await board.get('labels');
  for (const [i, label] of labels.entries()) if (labels.indexOf(label) === i) assert.equal(wordsOf(svg).includes(label), i >= 1 && i < 4, label);
  assert.ok(wordsOf(svg).includes('0.12') && !wordsOf(svg).includes('1.00'));
  assert.ok(!(await textOf(board, {format: 'svg', title: ''})).includes('Attention weights'));
  for (const [options, field, sentence] of [[{width: '3 feet'}, 'width', /"3 feet" is no width; give a number and its unit/], [{range: [1, 0]}, 'range', /"1,0" is no range of weights/], [{tokens: [3, 90]}, 'tokens', /3:90 is not within/],
    [{pool: 'median'}, 'pool', /"median" is no way to put tokens together/], [{what: 'board', title: 'A'}, 'title', /the board is drawn as it is on the screen/]]) {
    await assert.rejects(board.call('toBlob', {format: 'svg', ...options}), {message: sentence, field});
  }
  const panel = await openTab(board, 'Figure');
  await shown(panel, 'head 1');
  await panel.getByRole('radio', {name: 'A page'}).click();
  await until('the width', async () => sizeOf(await shown(panel, 'head 1')) === 648);
  assert.equal(await shown(panel, 'head 1'), await textOf(board, {format: 'svg', style: 'print', width: '6.75in'}));
  await panel.getByRole('radio', {name: 'The board'}).click();
  await until('the board', async () => !(await panel.getByRole('radio', {name: 'A page'}).isVisible()));
  await board.close();
});

test('keys that a query does not see are hatched and have no number, and a computed 0.00 stays one', async () => {
  const board = await browser.open('/');
  await board.call('set', 'causal', true);
  const svg = await textOf(board, {format: 'svg', head: 0}), {data, shape: [, rows, cols]} = await board.tensor('weights');
  const seen = [];
  for (let i = 0; i < rows; i++) for (let j = 0; j <= i; j++) seen.push(data[i * cols + j].toFixed(2));
  const numbers = [...svg.matchAll(/<text[^>]*font-size="10"[^>]*JetBrains[^>]*>([\d.]+)</g)].map(([, words]) => words);
  assert.deepEqual(numbers, seen);
  assert.equal([...svg.matchAll(/<path [^>]*stroke-opacity="0\.35"/g)].length, rows * cols - seen.length);
  await board.close();
});

test('the board as a figure has its numbers as text, in each style', async () => {
  const board = await browser.open('/');
  const {data} = await board.tensor('weights'), state = await board.call('getState');
  for (const style of ['print', 'light', 'dark']) {
    const svg = await textOf(board, {format: 'svg', what: 'board', style});
    parses(svg);
    const words = [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, one]) => one);
    for (const weight of data.slice(0, 4).filter((one) => one > 0)) assert.ok(words.includes(weight.toFixed(2)), `${weight} in ${style}`);
    for (const label of await board.get('labels')) assert.ok(words.includes(label), label);
    for (const title of ['Q', 'V']) assert.ok(words.some((one) => one.startsWith(title)), title);
    const size = await board.page.evaluate(async (text) => {
      const image = new Image();
      image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
      await image.decode();
      return [image.naturalWidth, image.naturalHeight];
    }, svg);
    assert.ok(size[0] > 400 && size[1] > 200, String(size));
  }
  assert.deepEqual(await board.call('getState'), state, 'and the board is as it was');
  await board.check();
  await board.close();
});

test('the words of a figure that is opened in the browser can be selected and copied', async () => {
  const board = await browser.open('/'), context = board.page.context();
  for (const what of ['weights', 'heads', 'arcs', 'board']) {
    const svg = await textOf(board, {format: 'svg', what}), page = await context.newPage();
    await page.route('**/figure.svg', (route) => route.fulfill({contentType: 'image/svg+xml', body: svg}));
    await page.goto(`${browser.server.url}/figure.svg`);
    const words = [...svg.matchAll(/<text[^>]*>([^<]+)</g)].map(([, one]) => one);
    const selected = await page.evaluate(() => {
      getSelection().selectAllChildren(document.documentElement);
      return getSelection().toString();
    });
    for (const word of words) assert.ok(selected.includes(word.replaceAll('&amp;', '&')), `"${word}" of ${what}`);
    await page.close();
  }
  await board.close();
});

/** The colours at given points of a picture, PNG or SVG, as the browser draws it. */
const colorsOf = (board, source, points) => board.page.evaluate(async ([url, wanted]) => {
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = Object.assign(document.createElement('canvas'), {width: image.naturalWidth, height: image.naturalHeight}), context = canvas.getContext('2d', {willReadFrequently: true});
  context.drawImage(image, 0, 0);
  return wanted.map(([x, y]) => Array.from(context.getImageData(Math.round(x), Math.round(y), 1, 1).data.slice(0, 3)));
}, [source, points]);

test('the figure of the board has the colour and the number of each cell on the screen, as the browser draws it', async () => {
  const board = await browser.open('/', {viewport: {width: 1440, height: 900}, seen: true});
  await board.call('set', 'causal', false);
  const cells = [];  // in drawing order
  for (const [name, across] of [['q'], ['k', true], ['masked'], ['weights'], ['v'], ['head_output']]) {
    const {shape: [, rows, cols], at} = await board.tensor(name);
    for (let i = 0; i < (across ? cols : rows); i++) {
      for (let j = 0; j < (across ? rows : cols); j++) {
        const [row, col] = across ? [j, i] : [i, j], shown = name === 'masked' ? 'scores' : name;
        cells.push({what: `${name} ${row} ${col}`, value: at(0, row, col), place: await board.call('locate', shown, 0, row, col)});
      }
    }
  }
  for (const style of ['light', 'dark']) {
    await board.call('set', 'theme', style);
    await board.settle();
    const svg = await textOf(board, {format: 'svg', what: 'board', style});
    const rects = [...svg.matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" rx="3" fill="/g)].map((found) => found.slice(1).map(Number));
    const words = [...svg.matchAll(/<text x="([\d.]+)" y="([\d.]+)"[^>]*>([−\d.]+)</g)].map(([, x, y, text]) => ({x: Number(x), y: Number(y), text}));
    assert.equal(rects.length, cells.length, 'a rectangle for each cell');
    const screen = await board.page.evaluate(() => document.querySelector('attention-playground').toBlob({format: 'png', what: 'board'}).then((blob) => new Promise((resolve) => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result);
      reader.readAsDataURL(blob);
    })));
    // Near the lower left corner, where there is no number.
    const onScreen = await colorsOf(board, screen, cells.map(({place: {x, y, height}}) => [x + 7, y + height - 7]));
    const inFigure = await colorsOf(board, `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`, rects.map(([x, y, , height]) => [x + 6, y + height - 6]));
    cells.forEach(({what, value}, i) => {
      const [x, y, width, height] = rects[i], inside = words.filter((one) => one.x >= x && one.x <= x + width && one.y >= y && one.y <= y + height);
      assert.deepEqual(inside.map(({text}) => text), [value.toFixed(2).replace(/^-(0\.00)$/, '$1').replace('-', '−')], what);
      assert.ok(onScreen[i].every((part, k) => Math.abs(part - inFigure[i][k]) <= 3), `${what}, ${style}: ${onScreen[i]} on the screen, ${inFigure[i]} in the figure`);
    });
    assert.ok(new Set(inFigure.map(String)).size > 20, 'there are many colours');
  }
  await board.close();
});

test('the dialog has the program of the layer in four languages; NumPy gives the numbers of the board', async () => {
  const board = await browser.open('/?preset=pronoun');
  await board.call('set', 'causal', true);
  await board.call('set', 'normalizer', 'sparsemax');
  const panel = await openTab(board, 'Code'), program = panel.locator('pre');
  for (const [name, language, words] of [['NumPy', 'numpy', 'import numpy'], ['PyTorch', 'torch', 'import torch'], ['JAX', 'jax', 'import jax'], ['LaTeX', 'latex', 'amsmath']]) {
    await panel.getByRole('radio', {name}).click();
    await until(name, async () => (await program.textContent()).includes(words));
    assert.equal(await program.textContent(), await board.page.evaluate((kind) => document.querySelector('attention-playground').toCode(kind), language));
  }
  const text = await board.page.evaluate(() => document.querySelector('attention-playground').toCode('numpy'));
  const done = spawnSync(python, ['-W', 'error', '-c', `${text}\nimport json\nprint(json.dumps(output.tolist()))`], {encoding: 'utf8'});
  assert.equal(done.stderr, '');
  const {data} = await board.tensor('head_output');
  JSON.parse(done.stdout).flat(Infinity).forEach((value, i) => assert.ok(Math.abs(value - data[i]) <= 1e-5 * Math.max(1, Math.abs(data[i])), `${i}: ${value}, not ${data[i]}`));
  const download = board.page.waitForEvent('download');
  await panel.getByRole('button', {name: 'Save'}).click();
  assert.equal((await download).suggestedFilename(), 'pronoun.tex');
  for (const [language, sentence] of [['fortran', /^language: fortran is not one; use numpy, torch, jax or latex/], [7, /^language must be a text/]])
    await assert.rejects(board.call('toCode', language), {message: sentence, field: 'language'});
  await board.close();
});

test('both tabs work by the keyboard alone, and axe finds nothing wrong', async () => {
  const board = await browser.open('/?preset=pronoun', {prepare: (page) => page.addInitScript({path: AXE})});
  const panel = await openTab(board, 'Figure');
  await shown(panel, 'head 1');
  await board.page.keyboard.press('Tab');
  await board.page.keyboard.press('ArrowDown');  // from "Weights of one head" to "All heads"
  await shown(panel, 'all heads');
  for (const name of ['Figure', 'Code']) {
    await board.page.getByRole('tab', {name, exact: true}).focus();
    await board.page.keyboard.press('Enter');
    await until('its content', async () => await board.page.getByRole('tabpanel', {name, exact: true}).isVisible());
    const wrong = await board.page.evaluate(async () => (await globalThis.axe.run('attention-playground')).violations.map(({id, nodes}) => `${id}: ${nodes[0].html}`));
    assert.deepEqual(wrong, [], name);
  }
  await board.page.keyboard.press('Escape');
  await until('the dialog to be closed', async () => await board.page.getByRole('dialog').count() === 0);
  await board.close();
});

test('Copy puts the figure on the clipboard: SVG as text, PNG as a picture of its scale', async () => {
  const board = await browser.open('/?preset=pronoun', {permissions: ['clipboard-read', 'clipboard-write']}), {page} = board;
  const panel = await openTab(board, 'Figure');
  const svg = await shown(panel, 'head 1');
  await panel.getByRole('button', {name: 'Copy', exact: true}).click();
  await until('the text', async () => await page.evaluate(() => navigator.clipboard.readText()) === svg);
  await panel.getByRole('radio', {name: 'PNG'}).click();
  await panel.getByRole('radio', {name: '3×'}).click();
  await panel.getByRole('button', {name: 'Copy', exact: true}).click();
  const size = await until('the picture', () => page.evaluate(async () => {
    const [item] = await navigator.clipboard.read();
    if (!item.types.includes('image/png')) return null;
    const {width, height} = await createImageBitmap(await item.getType('image/png'));
    return [width, height];
  }));
  const [, width, height] = / width="([\d.]+)" height="([\d.]+)"/.exec(svg).map(Number);
  assert.deepEqual(size, [Math.round(3 * width), Math.round(3 * height)]);
  await until('a word of it', async () => (await panel.getByRole('status').textContent()) === 'Copied to the clipboard.');
  await board.close();
});
