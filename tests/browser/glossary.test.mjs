// The glossary: its page in every language, and its terms in a lesson on the board.
import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {isMirrored, opened, SCREENSHOTS, SITE, suite} from './harness.mjs';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const {browser} = suite();
const read = (name) => JSON.parse(readFileSync(`${SITE}/lessons/${name}.json`, 'utf8'));

for (const [language, options] of Object.entries({en: {}, de: {colorScheme: 'dark'}, zh: {viewport: {width: 390, height: 844}}})) {
  test(`the page has every term, its lesson and its search: ${language}`, async () => {
    const board = await browser.open(`/glossary.html?lang=${language}`, {wait: false, bypassCSP: true, seen: true, ...options}), {page} = board;
    const {terms} = read(`glossary.${language}`), lessons = new Map(read('index').lessons.map((lesson) => [lesson.id, lesson.title]));
    await page.locator('dl > div').last().waitFor();
    assert.deepEqual(await page.locator('dt').allTextContents(), terms.map(({term}) => term));
    assert.deepEqual(await page.locator('dd > p:first-child').allTextContents(), terms.map(({words}) => words));
    for (const [i, {lesson}] of read('glossary.en').terms.entries()) {
      const link = page.locator('.learn a').nth(i);
      assert.match(await link.getAttribute('href'), new RegExp(`lesson=${lesson}&`));
      assert.ok((await link.textContent()).endsWith(lessons.get(lesson)));
    }
    assert.equal(await page.locator('html').getAttribute('lang'), language);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing to the right');
    await page.addScriptTag({path: AXE});
    assert.deepEqual(await page.evaluate(async () => (await globalThis.axe.run()).violations.map(({id, nodes}) => `${id}: ${nodes[0].html.slice(0, 200)}`)), []);
    await page.screenshot({path: `${SCREENSHOTS}/web-glossary-${language}.png`});
    await page.locator('#find').fill('ALiBi');
    const shown = await page.locator('dl > div:visible').count();
    assert.ok(shown >= 1 && shown < 4, `${shown} terms`);
    await page.locator('#find').fill('no such word');
    assert.equal(await page.locator('dl > div:visible').count(), 0);
    assert.notEqual(await page.locator('output').textContent(), '');
    await board.close();
  });
}

test('a language without a glossary of its own gets the English one, and says so', async () => {
  const missing = (page) => page.route('**/lessons/glossary.de.json', (route) => route.fulfill({status: 404}));
  const board = await browser.open('/glossary.html?lang=de', {wait: false, seen: true, prepare: missing, allow: [/404/]}), {page} = board;
  await page.locator('dl > div').last().waitFor();
  assert.equal(await page.locator('html').getAttribute('lang'), 'en');
  assert.equal(await page.locator('dt').first().textContent(), read('glossary.en').terms[0].term);
  assert.deepEqual(await page.locator('nav a').allTextContents(), ['English', 'Deutsch', '中文']);
  await board.close();
});

test('a word of a lesson opens its term, which is fetched with the lesson, and Esc closes it', async () => {
  const board = await browser.open('/?lesson=query&lang=de', {seen: true, prepare: opened});
  const items = async () => (await board.call('items')).map(({name}) => name);
  await until('the words of the glossary', async () => (await items()).includes('guide:text:term:0'));
  await isMirrored(board);  // which leaves the places of what is seen as they are
  assert.ok((await items()).includes('guide:text:term:0'));
  await board.click('guide:text:term:0');
  await until('the term', async () => (await items()).includes('term'));
  await board.page.screenshot({path: `${SCREENSHOTS}/web-term.png`});
  await board.press('Escape');
  await until('no term', async () => !(await items()).includes('term'));
  await board.close();
});
