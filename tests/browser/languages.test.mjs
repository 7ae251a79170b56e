// The interface in the language of the page: the board, the mirror, and the Share dialog; and English if there is no table.
import assert from 'node:assert/strict';
import {readFileSync, readdirSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {join} from 'node:path';
import {test} from 'node:test';
import {until} from '../until.mjs';
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

test('the first visit shows the same screen in every language', async () => {
  const screens = [];
  for (const path of ['/', '/?lang=de', '/?lang=zh']) {
    const board = await browser.open(path, {prepare: opened, guide: 'first'});
    await until(`the first step at ${path}`, async () => (await board.call('items')).some(({name}) => name === 'coach:skip'));
    screens.push((await board.call('items')).map(({name}) => name));
    await board.close();
  }
  assert.deepEqual(screens[1], screens[0]);
  assert.deepEqual(screens[2], screens[0]);
});

test('a lesson stays in the language that it was written in, within a Guide that is translated', async () => {
  const board = await browser.open('/?lang=de&lesson=query', {prepare: opened, guide: true});
  const {text} = await mirror(board, tables.de.PREDICT);
  assert.match(text, /Each token has a query, a row of ?Q/);
  await board.close();
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
