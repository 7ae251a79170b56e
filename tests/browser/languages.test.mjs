// The interface in the language of the page: the board, the mirror, and the Share dialog; and English if there is no table.
import assert from 'node:assert/strict';
import {readFileSync, readdirSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {join} from 'node:path';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {readPng} from '../desktop/png.mjs';
import {SCREENSHOTS, suite} from './harness.mjs';

const {browser} = suite();
const folder = fileURLToPath(new URL('../../web/languages', import.meta.url));
const tables = Object.fromEntries(readdirSync(folder).map((name) => {
  const {messages} = JSON.parse(readFileSync(join(folder, name), 'utf8'));
  return [name.replace('.json', ''), Object.assign({}, ...Object.values(messages))];
}));

/** Opens closed shadow roots to tests. */
const opened = (page) => page.addInitScript(() => {
  const {attachShadow} = Element.prototype;
  Element.prototype.attachShadow = function (options) { return attachShadow.call(this, {...options, mode: 'open'}); };
});
/** The mirror, as soon as it is in that language. */
const mirror = (board, words) => until(`"${words}" in the mirror`, () => board.page.evaluate((wanted) => {
  const root = document.querySelector('attention-playground').shadowRoot.querySelector('.hidden')?.shadowRoot;
  const labels = [...root?.querySelectorAll('[aria-label]') ?? []].map((node) => node.ariaLabel);
  const text = `${root?.textContent}\n${labels.join('\n')}`;
  return text.includes(wanted) && {text, lang: root.querySelector('[lang]').lang, cell: root.querySelector('td[aria-readonly]').textContent};
}, words));

for (const [tag, table] of Object.entries(tables)) {
  test(`${tag}: all that the board says in words is in that language`, async () => {
    const board = await browser.open(`/?lang=${tag}`, {prepare: opened, seen: true});
    const {text, lang, cell} = await mirror(board, table.Causal);
    assert.equal(lang, tag);
    assert.ok([table.Undo, table.Open, table.Tokens, table.Temperature, table['Q, queries'], table.Arithmetic].every((words) => text.includes(words)), text);
    assert.equal(cell, tag === 'de' ? '0,90' : '0.90');
    for (const english of ['Undo', 'Open', 'Tokens', 'Random numbers', 'Start again', 'rows sum to 1', 'can be changed', 'Painting']) {
      if (!Object.values(table).some((words) => words.includes(english))) assert.ok(!text.includes(english), `${english} is English`);
    }
    await board.page.screenshot({path: `${SCREENSHOTS}/language-${tag}.png`});
    await board.check();
    await board.close();
  });
}

test('a board takes the language of the nearest element around it, wherever it is moved, and another one when the page is translated', async () => {
  const board = await browser.open('/pages/embed.html', {prepare: opened});
  await mirror(board, 'Causal');
  await board.page.evaluate(() => {
    const element = document.querySelector('attention-playground'), section = document.createElement('section');
    section.lang = 'de-AT';
    element.before(section);
    section.append(element);
  });
  await mirror(board, tables.de.Causal);
  await board.page.evaluate(() => { document.querySelector('section').lang = 'zh-CN'; });
  await mirror(board, tables.zh.Causal);
  await board.page.evaluate(() => { document.querySelector('section').lang = 'en'; });
  const {text, lang} = await mirror(board, 'Causal');
  assert.equal(lang, 'en');
  assert.ok(!text.includes(tables.zh.Causal));
  await board.close();
});

test('numbers are German, are typed as German ones, and formulas have words', async () => {
  const board = await browser.open('/?lang=de', {prepare: opened});
  const {text} = await mirror(board, tables.de.Causal);
  assert.match(text, /Temperatur/);
  assert.match(text, /0,20×0,30 \+ \(−0,70\)×\(−0,50\) \+ 1,60×1,40 = 2,65/);
  assert.ok(!/\d\.\d/.test(text), `an English number: ${/.{20}\d\.\d.{20}/s.exec(text)?.[0]}`);
  const formulas = await board.page.evaluate(() => [...document.querySelector('attention-playground').shadowRoot.querySelector('.hidden').shadowRoot.querySelectorAll('[role=math]')].map((node) => node.ariaLabel));
  assert.ok(formulas.includes('q 4 Punkt k 3'), formulas.join('\n'));
  assert.ok(formulas.some((words) => words.includes('0,20 mal 0,30 plus (minus 0,70) mal (minus 0,50)')), formulas.join('\n'));
  await board.doubleClick('q', 0, 1, 1);
  const field = board.page.locator('attention-playground input.number');
  await field.waitFor();
  assert.equal(await field.inputValue(), '0,6');
  await field.fill('-1,25');
  await field.press('Enter');
  await until('the number', async () => Math.abs(await board.value('q', 0, 1, 1) + 1.25) < 1e-6);
  await until('the announcement', () => board.page.evaluate(() =>
    document.querySelector('attention-playground').shadowRoot.querySelector('.hidden').shadowRoot.querySelector('[role=status]').textContent.includes('−1,25')));
  await board.call('set', 'view', 'train');
  const train = await mirror(board, tables.de.Optimizer ?? 'Parameter');
  assert.match(train.text, /6\.741 Parameter/);
  assert.match(train.text, /\d,\d %/);
  await board.check();
  await board.close();
});

/** The name of the mirror in a language, which it has at every width. */
const inWordsOf = (tag) => tables[tag]?.['Attention playground, in words'] ?? 'Attention playground, in words';

for (const [width, height] of [[1440, 900], [1240, 760], [390, 844]]) {
  test(`the first visit shows the same screen in every language, ${width} × ${height}`, async () => {
    const screens = [];
    for (const path of ['/', '/?lang=de', '/?lang=zh']) {
      const board = await browser.open(path, {prepare: opened, guide: 'first', viewport: {width, height}});
      await mirror(board, inWordsOf(path.split('lang=')[1]));
      await until(`the first step at ${path}`, async () => (await board.call('items')).some(({name}) => name === 'coach:skip'));
      await board.rest();
      // A longer header of another language may have less room for Pin, which the card has too.
      screens.push((await board.call('items')).map(({name}) => name).filter((name) => !/:text:|^pin$/.test(name)));
      await board.close();
    }
    assert.deepEqual(screens[1], screens[0]);
    assert.deepEqual(screens[2], screens[0]);
  });
}

const OLDER = /^(experiments|lab:5|view:segments)$/;  // other names of the button More
for (const tag of ['en', ...Object.keys(tables)]) {
  test(`${tag}: nothing in the header overlaps, and what has no room is in a menu`, async () => {
    for (const width of [1100, 1170, 1240, 1440]) {
      const board = await browser.open(`/?lang=${tag}`, {prepare: opened, viewport: {width, height: 700}});
      await mirror(board, inWordsOf(tag));
      await board.rest();
      const items = (await board.call('items')).filter(({name, rect}) => rect.y + rect.height < 44 && (name !== 'views' || rect.width < 200) && !OLDER.test(name)).sort((a, b) => a.rect.x - b.rect.x);
      items.slice(1).forEach(({name, rect}, i) => assert.ok(rect.x > items[i].rect.x + items[i].rect.width - 1, `${items[i].name} and ${name} at ${width}`));
      assert.ok(items.some(({name}) => /^(view:layer|views)$/.test(name)));
      await board.close();
    }
  });
}

/** All that the mirror says and shows. */
const saidIn = (board) => board.page.evaluate(() => {
  const root = document.querySelector('attention-playground').shadowRoot.querySelector('.hidden').shadowRoot;
  const all = [...root.querySelectorAll('*')].flatMap((node) => ['aria-label', 'aria-valuetext', 'title'].map((name) => node.getAttribute(name)).concat(node.localName === 'input' ? node.value : [], [...node.childNodes].filter(({nodeType}) => nodeType === 3).map(({data}) => data)));
  return all.filter((words) => words?.trim());
});
/** Waits until one of the texts matches, and checks that none has an English number, a hyphen in place of a minus sign, or one of the words. */
const inGerman = async (board, what, wanted, english = /$^/) => {
  await until(what, async () => (await saidIn(board)).some((words) => wanted.test(words)));
  for (const words of await saidIn(board)) assert.doesNotMatch(words, new RegExp(String.raw`\d\.\d(?!\d\d\b)|(^|[\s(=])-[\d ∞]|${english.source}`), what);
};

test('numbers, names and what is announced are German in every view', async () => {
  const board = await browser.open('/?lang=de', {prepare: opened});
  await board.click('weights', 0, 3, 0);
  await mirror(board, tables.de.Causal);
  await board.call('set', 'softcap', 2.5);
  await inGerman(board, 'the capped scores', /^S begrenzt/, /capped/);
  await inGerman(board, 'the formula of the scores', /begrenzt auf 2,5/);
  await board.call('set', 'temperature', 0.5);
  await inGerman(board, 'the announcement', /^Temperatur: 0,5, zuvor 1\. Gewicht von saw auf I: \d,\d\d, zuvor \d,\d\d$/);
  await board.click('head_output', 0, 3, 0);
  await inGerman(board, 'the output', /^Ausgabe, Zeile saw, Spalte 1: /);
  await board.call('set', 'card', 'plane');
  await inGerman(board, 'the card', /^Karte: Ebene, zuvor Bögen/, /plane|arcs/);
  await board.call('set', 'view', 'block');
  await inGerman(board, 'the arithmetic of the block', /^\(.*\) ÷ \d = −?\d,\d\d$/);
  await inGerman(board, 'the announcement of the view', /^Ansicht: Block, zuvor Schicht/);
  await board.call('set', 'view', 'train');
  await inGerman(board, 'the weights', /^Schicht 1, Kopf 1, Gewichte$/, /[Tt]rain (map|weights)/);
  await board.call('set', 'view', 'memory');
  await inGerman(board, 'the states', /^Gedächtnis, Zustände/, /memory (states|weights)/);
  await board.close();
});

test('formulas are read one by one, with what is raised and lowered in them', async () => {
  const board = await browser.open('/', {prepare: opened});
  const labels = () => board.page.evaluate(() => [...document.querySelector('attention-playground').shadowRoot.querySelector('.hidden').shadowRoot.querySelectorAll('[role=math]')].map((node) => node.ariaLabel));
  await mirror(board, 'Causal');
  await until('the captions', async () => (await labels()).includes('S equals Q dot K transposed divided by square root of d k plus mask'));
  assert.ok((await labels()).includes('O of head 1 equals W dot V'), (await labels()).join('\n'));
  await board.close();
});

test('a minus sign is read where a number is typed or pasted, and so are decimal commas', async () => {
  for (const [path, pasted] of [['/', '−0.5'], ['/?lang=de', '−0,5'], ['/?lang=de', '-0.5']]) {
    const board = await browser.open(path, {prepare: opened});
    await mirror(board, path === '/' ? 'Causal' : tables.de.Causal);
    const becomes = (what, cell, value) => until(`${what} at ${path}`, async () => Math.abs(await board.value('q', ...cell) - value) < 1e-6);
    const beside = await board.value('q', 0, 1, 2);
    await board.click('q', 0, 1, 1);
    await board.page.evaluate((text) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', text);
      document.querySelector('attention-playground').shadowRoot.querySelector('canvas').dispatchEvent(new ClipboardEvent('paste', {clipboardData, bubbles: true, composed: true, cancelable: true}));
    }, pasted);
    await becomes(pasted, [0, 1, 1], -0.5);
    assert.equal(await board.value('q', 0, 1, 2), beside, 'one number was pasted, not two');
    await board.doubleClick('q', 0, 2, 1);
    const field = board.page.locator('attention-playground input.number');
    await field.waitFor();
    await field.fill(pasted.replace('5', '25'));
    await field.press('Enter');
    await becomes('what was typed', [0, 2, 1], -0.25);
    await board.close();
  }
});

test('a lesson is in the language of the board if its table has it, and as it was written otherwise, within a Guide that is translated', async () => {
  for (const [lesson, said] of [['query', /Jedes Token hat eine Query, eine Zeile von ?Q/], ['values', /^(?!.*Jedes Token hat).*\bweights\b/s]]) {
    const board = await browser.open(`/?lang=de&lesson=${lesson}`, {prepare: opened, guide: true});
    const {text} = await mirror(board, tables.de.PREDICT);
    assert.match(text, said);
    await board.close();
  }
});

test('English asks for no table, a language without one only for the list', async () => {
  for (const [path, asked] of [['/', []], ['/?lang=fr', ['index.json']], ['/?lang=de', ['de.json', 'index.json']]]) {
    const board = await browser.open(path, {prepare: opened});
    const requests = board.requests.filter((address) => address.includes('/languages/')).map((address) => address.split('/').at(-1)).sort();
    assert.deepEqual(requests, asked, path);
    await board.close();
  }
});

test('a table that does not come leaves the board in English, and the console says so', async () => {
  const board = await browser.open('/?lang=de', {prepare: async (page) => {
    await opened(page);
    await page.route('**/languages/de.json', (route) => route.abort());
  }, allow: [/could not be fetched/, /net::ERR/]});
  const {lang} = await mirror(board, 'Causal');
  assert.equal(lang, 'en');
  await board.close();
});

test('the dialog Share speaks the language, and its link and code ask for it', async () => {
  const board = await browser.open('/?lang=de', {seen: true});
  await board.click('share');
  const dialog = board.page.locator('dialog.share');
  await until('the dialog', () => dialog.isVisible());
  const words = await dialog.innerText();
  for (const english of ['Copy link', 'View', 'Theme', 'opens this board as it is now', 'from step']) {
    assert.ok(words.includes(tables.de[english] ?? english) && !words.includes(english === 'Theme' ? 'As the page' : english), english);
  }
  await until('the address', async () => /[?&]lang=de/.test(await dialog.locator('pre[aria-label="Link"]').textContent()));
  await board.page.screenshot({path: `${SCREENSHOTS}/language-share-de.png`});
  await board.close();
});

test('a figure is in the language of the board, with its numbers, and so is what is said about it', async () => {
  const board = await browser.open('/?lang=de', {prepare: opened});
  await mirror(board, tables.de.Causal);
  await board.click('share');
  await board.page.locator('dialog.share #share-figure').click();
  const alt = await until('the figure', () => board.page.locator('dialog.share .figure img').getAttribute('alt'));
  assert.match(alt, /^Attention-Gewichte, Kopf 1\. Gewichte softmax\(Q·Kᵀ ÷ √3\) von „I saw a saw“\. Zeilen sind Queries und haben die Summe 1; die Zeile „.*“ gibt „.*“ das Gewicht 0,\d\d\.$/);
  const texts = (what) => board.page.evaluate(async (name) => [...new DOMParser().parseFromString(await (await document.querySelector('attention-playground').toBlob({format: 'svg', what: name})).text(), 'image/svg+xml').querySelectorAll('text')].map((node) => node.textContent), what);
  for (const what of ['weights', 'heads', 'arcs', 'board']) {
    const all = await texts(what);
    assert.ok(all.every((words) => !/\d\.\d/.test(words)), `${what}: ${all}`);
    if (what !== 'heads' && what !== 'arcs') assert.ok(all.some((words) => /^−?\d,\d\d$/.test(words)), `${what}: ${all}`);
  }
  await board.close();
});

for (const tag of ['en', ...Object.keys(tables)]) {
  test(`${tag}: at 400 % zoom the causal switch has its label`, async () => {
    const board = await browser.open(`/?lang=${tag}`, {prepare: opened, seen: true, viewport: {width: 360, height: 225}, deviceScaleFactor: 4});
    await mirror(board, inWordsOf(tag));
    await board.rest();
    const {rect} = (await board.call('items')).find(({name}) => name === 'causal');
    const path = `${SCREENSHOTS}/language-zoom-${tag}.png`;
    await board.page.screenshot({clip: {x: rect.x, y: rect.y, width: rect.width - 40, height: rect.height}, path});  // without the switch itself
    const picture = readPng(path);
    const dark = (x, y) => picture.at(x, y).slice(0, 3).every((part) => part < 110);
    let columns = 0;
    for (let x = 0; x < picture.width; x++) columns += Array.from({length: picture.height}, (_, y) => dark(x, y)).some(Boolean);
    assert.ok(columns > 60, `${columns} of ${picture.width} columns of pixels have ink`);
    await board.close();
  });
}

test('the name of the chosen row is whole on a phone, where bold letters are much wider than others', async () => {
  const board = await browser.open('/', {viewport: {width: 390, height: 844}});
  await board.call('set', 'labels', ['القطة', 'جلست', 'على', 'السجادة']);
  await board.rest();
  for (const row of [0, 3]) {
    await board.click('weights', 0, row, 0);
    await board.rest();
    const {rect} = (await board.call('items')).find(({name}) => name === `label:left:${row}`);
    assert.ok(rect.x + 4 >= 0, `${rect.x}`);  // 4: what can be pressed around the letters
  }
  await board.close();
});
