// Text at twice its size: by browser zoom, by the browser's text size, and by --attention-size. Nothing is cut off, and nothing overlaps.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {SCREENSHOTS, start, suite} from './harness.mjs';
import {checkPlaces} from './places.mjs';

const {browser} = suite();

const style = (page, text) => page.evaluate((css) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}, text);
/** Opens closed shadow roots to tests. */
const opened = (page) => page.addInitScript(() => {
  const {attachShadow} = Element.prototype;
  Element.prototype.attachShadow = function (options) { return attachShadow.call(this, {...options, mode: 'open'}); };
});
/** Items of the board that are not covered by the Guide's bar, and the items of the bar. */
const besideStrip = (items) => {
  const isOfGuide = ({name}) => name.startsWith('guide'), top = Math.min(...items.filter(isOfGuide).map(({rect}) => rect.y));
  return items.filter((item) => isOfGuide(item) || item.rect.y + item.rect.height <= top);
};
const LARGE = 'attention-playground { --attention-size: 28px }', ROOT = 'html { font-size: 32px }';

for (const [width, height] of [[640, 400], [960, 540]]) {
  test(`at a zoom of 200 % a window of ${2 * width} × ${2 * height} has all of the board and of the Guide`, async () => {
    for (const guide of [false, true]) {
      const board = await browser.open('/', {viewport: {width, height}, deviceScaleFactor: 2, guide});
      await board.rest();
      checkPlaces(besideStrip(await board.call('items')), width, height);
      await board.close();
    }
  });
}

test('with --attention-size of 28 px the board, its panel and the Guide have room for their words', async () => {
  for (const [width, height] of [[1280, 800], [390, 844]]) {
    for (const guide of [false, true]) {
      const board = await browser.open('/', {viewport: {width, height}, guide});
      await board.rest();
      const usual = await board.call('locate', 'q', 0, 0, 0);
      await style(board.page, LARGE);
      if (width > 1000) await until('larger cells', async () => (await board.call('locate', 'q', 0, 0, 0)).width > usual.width);
      await board.rest();
      checkPlaces(besideStrip(await board.call('items')), width, height);
      await board.close();
    }
  }
});

/** Text in a part of the page that is cut off or overlaps. Text wider than the window may be in a table that scrolls. */
const faults = (page, selector) => page.evaluate((wanted) => {
  const roots = [document.querySelector('attention-playground').shadowRoot];
  for (const root of roots) roots.push(...[...root.querySelectorAll('*')].map(({shadowRoot}) => shadowRoot).filter(Boolean));
  const found = roots.flatMap((root) => [...root.querySelectorAll(wanted)])[0], top = found.shadowRoot?.querySelector('div') ?? found, root = top.getRootNode();
  const texts = [], walker = document.createTreeWalker(top, NodeFilter.SHOW_TEXT), out = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || !parent.checkVisibility() || /^(OPTION|STYLE)$/.test(parent.tagName) || parent.closest('.stage, pre')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    for (let above = parent; above && above !== root.host; above = above.parentElement) {
      const {overflowX} = getComputedStyle(above), outer = above.getBoundingClientRect();
      if (overflowX !== 'visible' && (box.left < outer.left - 1 || box.right > outer.right + 1)) out.push(`cut: ${node.data}`);
      if (/BUTTON/.test(above.tagName) && (box.width > outer.width + 1 || box.height > outer.height + 1)) out.push(`larger than its button: ${node.data}`);
    }
    if ((box.right > innerWidth + 1 || box.left < -1) && !parent.closest('table')) out.push(`outside: ${node.data}`);
    texts.push([node.data.trim(), parent, [...range.getClientRects()]]);
  }
  for (const node of top.querySelectorAll('select, input:not([type=checkbox]):not([type=radio])')) {
    if (node.checkVisibility() && node.scrollHeight > node.clientHeight + 3) out.push(`cut in height: ${node.outerHTML.slice(0, 60)}`);
  }
  const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 6;
  texts.forEach(([words, , mine], i) => texts.slice(0, i).forEach(([others, , theirs]) => {
    if (mine.some((a) => theirs.some((b) => overlap(a, b)))) out.push(`${words} lies over ${others}`);
  }));
  return {out, texts: texts.length, size: parseFloat(getComputedStyle(top).fontSize)};
}, selector);

for (const [name, css, viewport] of [['--attention-size', LARGE, {width: 1280, height: 800}], ['a text size of 200 %', ROOT, {width: 1280, height: 800}],
  ['both on a phone', ROOT + LARGE, {width: 390, height: 844}], ['a zoom of 200 %', '', {width: 640, height: 400}]]) {
  test(`the dialog Share with ${name}`, async () => {
    const board = await browser.open('/', {viewport, prepare: opened, deviceScaleFactor: css ? 1 : 2, seen: true});
    await style(board.page, css);
    await board.rest();
    if ((await board.call('items')).every((item) => item.name !== 'share')) {
      await board.click('more');
      await board.rest();
    }
    await board.click('share');
    await until('the dialog', () => board.page.locator('attention-playground dialog').isVisible());
    for (const tab of [0, 1, 2, 3]) {
      await board.page.locator('attention-playground dialog [role=tab]').nth(tab).click();
      await board.rest();
      const {out, texts, size} = await faults(board.page, 'dialog');
      assert.ok(texts > 5, `${texts} texts`);
      assert.deepEqual(out, [], `tab ${tab}`);
      assert.ok(Math.abs(size - (css ? 27 : 13.5)) < 0.1, `${size} px`);
      await board.page.screenshot({path: `${SCREENSHOTS}/large-share-${viewport.width}-${tab}.png`});
    }
    await board.close();
  });
}

/** Opens every menu of the mirror's tables by its button: entries are not cut off, and one of them is focused and in view. */
async function checkMenus(board, where) {
  const buttons = board.page.locator('attention-playground .plain [aria-haspopup=menu]'), count = await buttons.count(), menu = board.page.locator('attention-playground .plain [role=menu]');
  assert.ok(count >= 1, `${count} menus`);
  for (let i = 0; i < count; i++) {
    const name = await buttons.nth(i).textContent();
    await buttons.nth(i).click();
    await until(`the menu ${name}`, async () => await menu.count() === 1 && await menu.locator('button').count() > 1);
    await board.rest();
    const {out, texts} = await faults(board.page, '.plain');
    assert.deepEqual(out, [], `${name} with ${where}`);
    assert.ok(texts > 40);
    await until('an entry in view', () => board.page.evaluate(() => {
      let focus = document.activeElement;
      while (focus.shadowRoot?.activeElement) focus = focus.shadowRoot.activeElement;
      const {top, bottom, left, right} = focus.getBoundingClientRect();
      return /^menuitem/.test(focus.role) && top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth;
    }));
    await board.page.screenshot({path: `${SCREENSHOTS}/large-menu-${where}-${i}.png`});
    await board.page.keyboard.press('Escape');
    await until(`${name} closed`, async () => await menu.count() === 0);
  }
}

test('the board as tables with words of twice the size', async (t) => {
  const without = await start({gpu: ['--disable-gpu', '--disable-3d-apis']});
  t.after(() => without.stop());
  for (const [name, css] of [['size', LARGE], ['root', ROOT]]) {
    for (const viewport of [{width: 1280, height: 800}, {width: 390, height: 844}]) {
      const board = await without.open('/', {allow: [/./], prepare: opened, viewport, seen: true});
      await style(board.page, css);
      const {out, texts, size} = await faults(board.page, '.plain');
      assert.ok(texts > 40 && size >= 28, `${texts} texts of ${size} px`);
      assert.deepEqual(out, []);
      await board.page.screenshot({path: `${SCREENSHOTS}/large-tables-${viewport.width}.png`});
      await checkMenus(board, `${name}-${viewport.width}`);
      await board.close();
    }
  }
});
