// The board for assistive technology: its accessibility tree is read like a screen reader does, and the board is used through that tree
// alone.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {after, before, test} from 'node:test';
import {until} from '../until.mjs';
import {isMirrored, opened, start} from './harness.mjs';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
let browser;
before(async () => { browser = await start(); });
after(() => browser.stop());

/** What a screen reader gets from a page: roles, names, values, and actions on nodes. */
class Reader {
  constructor(session) { this.session = session; }

  static async of(board) {
    const session = await board.page.context().newCDPSession(board.page);
    await session.send('Accessibility.enable');
    await session.send('DOM.enable');
    const reader = new Reader(session);
    await reader.find('status', /.*/);  // the mirror exists now
    return reader;
  }

  async nodes() {
    const {nodes} = await this.session.send('Accessibility.getFullAXTree');
    return nodes.map((node) => ({
      ignored: node.ignored,
      id: node.nodeId, parent: node.parentId, dom: node.backendDOMNodeId, role: node.role?.value, name: node.name?.value ?? '', value: node.value?.value,
      ...Object.fromEntries((node.properties ?? []).map(({name, value}) => [`${name}`, value.value])), children: node.childIds,
    }));
  }

  /** The first node with that role and name, as soon as there is one. */
  find(role, name, also = () => true) {
    return until(`a ${role} named ${name}`, async () => (await this.nodes()).find((node) => !node.ignored && node.role === role && (name instanceof RegExp ? name.test(node.name) : node.name === name) && also(node)));
  }

  async object({dom}) { return (await this.session.send('DOM.resolveNode', {backendNodeId: dom})).object.objectId; }

  /** Performs the default action, like a screen reader. */
  async press(role, name, also) {
    const node = await this.find(role, name, also);
    await this.session.send('Runtime.callFunctionOn', {objectId: await this.object(node), functionDeclaration: 'function () { this.focus(); this.click(); }', userGesture: true});
  }

  async focus(node) { await this.session.send('DOM.focus', {backendNodeId: node.dom}); }

  /** The text of the live region. */
  async said() {
    const nodes = await this.nodes(), status = nodes.find((node) => node.role === 'status');
    return nodes.filter((node) => node.parent === status?.id).map((node) => node.name).join(' ').trim() || status?.name;
  }

  /** A cell of a table, by the table's caption and the tokens (or numbers) of row and column. */
  async cell(caption, row, col) {
    return until(`a cell of ${caption}`, async () => {
      const nodes = await this.nodes(), byId = new Map(nodes.map((node) => [node.id, node]));
      const table = nodes.find((node) => !node.ignored && /^(grid|table)$/.test(node.role) && caption.test(node.name));
      const below = (node) => (node?.children ?? []).map((id) => byId.get(id)).filter(Boolean).flatMap((child) => /^(row)$/.test(child.role) ? [child] : below(child));
      const [heads, ...rows] = below(table).map((line) => (line.children ?? []).map((id) => byId.get(id)).filter(Boolean));
      const at = heads?.findIndex((head) => head.name === col), line = rows.filter((cells) => cells[0]?.name === row).at(-1);
      return line?.[at];
    });
  }
}

const KEYS = async (board, ...keys) => { for (const key of keys) await board.page.keyboard.press(key); };

async function violations(board, options = {}) {
  await board.page.addScriptTag({path: AXE}).catch(() => board.page.evaluate(`${readFileSync(AXE, 'utf8')}`));
  return board.page.evaluate(async (runOptions) => (await globalThis.axe.run('attention-playground', runOptions)).violations.map(({id, nodes}) => `${id}: ${nodes.slice(0, 3).map(({html, failureSummary}) => `${html.slice(0, 120)} ${failureSummary}`).join(' | ')}`), options);
}

test('axe finds nothing wrong on the board, on every page and in the Guide', async () => {
  const board = await browser.open('/', {prepare: opened, bypassCSP: true, guide: true});
  await isMirrored(board);
  for (const view of ['layer', 'block', 'segments', 'train', 'spread', 'dense', 'memory', 'cost']) {
    await board.call('set', 'view', view);
    await board.settle();
    await until(`the mirror of ${view}`, () => board.page.evaluate((name) => document.querySelector('attention-playground').shadowRoot.querySelector('.hidden').shadowRoot.textContent.length > 200 && name, view));
    assert.deepEqual(await violations(board), [], view);
  }
  await board.close();
});

test('a lesson is read with the spaces between its words', async () => {
  const board = await browser.open('/', {prepare: opened, guide: true});
  const reader = await Reader.of(board);
  await reader.find('StaticText', /A translator reads the cat sat and writes le chat était assis\. ?What it has read is one vector per source word: the rows of/);
  await reader.find('StaticText', /Set every query to 0\. What do the four rows of the output look like then\?/);
  await board.close();
});

test('axe finds nothing wrong in the dialog Share, on both of its tabs, light and dark, wide and on a phone', async () => {
  for (const options of [{colorScheme: 'light'}, {colorScheme: 'dark', viewport: {width: 390, height: 844}}]) {
    const board = await browser.open('/', {prepare: opened, bypassCSP: true, ...options});
    if (options.viewport) {
      await board.click('more');
      await board.rest();  // the menu has reached its position
    }
    await board.click('share');
    const dialog = board.page.locator('attention-playground dialog');
    await until('the dialog', () => dialog.isVisible());
    for (const tab of [0, 1]) {
      await dialog.locator('[role=tab]').nth(tab).click();
      await until('its code', async () => (await dialog.locator('[role=tabpanel]:not([hidden]) pre').first().textContent()).length > 20);
      if (tab === 1) await board.page.evaluate(() => {
        const root = [...document.querySelector('attention-playground').shadowRoot.querySelectorAll('div')].find((div) => div.shadowRoot?.querySelector('dialog')).shadowRoot;
        return root.querySelector('attention-playground').ready.then(() => true);
      });
      assert.deepEqual(await violations(board), [], `tab ${tab}, ${JSON.stringify(options)}`);
    }
    const looked = await board.page.evaluate(async () => (await globalThis.axe.run('attention-playground', {runOnly: ['button-name']})).passes.flatMap(({nodes}) => nodes.map(({html}) => html)));
    assert.ok(looked.some((html) => html.includes('aria-label="Close"')), 'it looked into the dialog');
    await board.close();
  }
});

test('a reader edits a cell, flips causal, changes heads, opens an example and undoes it, by the accessibility tree alone', async () => {
  const board = await browser.open('/'), reader = await Reader.of(board);

  const cell = await reader.cell(/^Q, queries/, 'saw', '3');
  await reader.focus(cell);
  await KEYS(board, 'Enter');
  await board.type('-1.6');
  await KEYS(board, 'Enter');
  assert.equal(await board.value('q', 0, 3, 2), Math.fround(-1.6), 'typed');
  assert.equal((await reader.cell(/^Q, queries/, 'saw', '3')).name, '−1.60');
  assert.match(await reader.said(), /row saw, column 3: −1\.60, was 1\.60/);
  assert.match(await reader.said(), /weight from saw to a: \d\.\d\d, was 0\.69/);

  const {checked} = await reader.find('switch', /^Causal/);
  assert.equal(String(checked), 'true');
  await reader.press('switch', /^Causal/);
  assert.equal(await board.get('causal'), false);
  await reader.find('switch', /^Causal/, (node) => String(node.checked) === 'false');

  await reader.press('button', 'Heads, more');
  assert.equal(await board.get('heads'), 3);
  const heads = await reader.find('spinbutton', 'Heads');
  await until('its value', async () => String((await reader.find('spinbutton', 'Heads')).value) === '3');
  await reader.focus(heads);
  await KEYS(board, 'ArrowDown');
  assert.equal(await board.get('heads'), 2, 'by an arrow key');

  await reader.press('button', /^Example: I saw a saw/);
  await reader.press('menuitem', /translation|Translat/i);
  const preset = await until('another example', async () => (await board.call('getState')).preset !== 'i-saw-a-saw' && (await board.call('getState')).preset);
  await reader.press('button', 'Undo');
  assert.notEqual((await board.call('getState')).preset, preset, 'undone');
  await board.check();
  await board.close();
});

test('a slider, a menu, a typed number and a sentence', async () => {
  const board = await browser.open('/'), reader = await Reader.of(board);
  const slider = await reader.find('slider', 'Temperature');
  await reader.focus(slider);
  await KEYS(board, 'ArrowRight');
  const warmer = await board.get('temperature');
  assert.ok(warmer > 1, `temperature ${warmer}`);

  await reader.press('button', /^Score: Scaled dot/);
  await reader.press('menuitem', /^Cosine/);
  assert.equal(await board.get('score'), 'cosine');
  await reader.press('button', /^Score: Cosine/);
  await KEYS(board, 'Escape');
  await until('the menu to be gone', async () => !(await reader.nodes()).some((node) => node.role === 'menu'));

  await reader.focus(await reader.find('spinbutton', 'Tokens'));
  await KEYS(board, 'Control+a');
  await board.type('6');
  await KEYS(board, 'Enter');
  assert.equal(await board.get('tokens'), 6);

  await reader.focus(await reader.find('textbox', 'Sentence'));
  await KEYS(board, 'Control+a');
  await board.type('we see them');
  await KEYS(board, 'Enter');
  assert.deepEqual(await board.get('labels'), ['we', 'see', 'them']);
  await reader.cell(/^W of head/, 'see', 'them');
  await board.close();
});

test('the steps of a row are one slider, from step to step by arrow keys, whose value is the name of the step', async () => {
  const board = await browser.open('/'), reader = await Reader.of(board);
  await board.call('set', 'stepper', 1);
  const track = () => reader.find('slider', 'Steps of the row');
  await reader.focus(await track());
  assert.ok(!(await reader.nodes()).some((node) => !node.ignored && node.role === 'button' && /^To this step|^Stepper:/.test(node.name)), 'not also nine buttons');
  for (const [key, step, name] of [['ArrowRight', 2, /^÷/], ['ArrowRight', 3, 'mask'], ['ArrowRight', 4, 'max'], ['ArrowLeft', 3, 'mask']]) {
    await KEYS(board, key);
    assert.equal(await board.get('stepper'), step);
    await until(`the value of step ${step}`, async () => {
      const {result} = await reader.session.send('Runtime.callFunctionOn', {objectId: await reader.object(await track()), functionDeclaration: 'function () { return this.ariaValueText; }'});
      return name instanceof RegExp ? name.test(result.value) : result.value === name;
    });
  }
  await board.close();
});

test('what a field refuses is said, and nothing is lost', async () => {
  const board = await browser.open('/'), reader = await Reader.of(board);
  const was = await board.call('getState');
  await reader.focus(await reader.find('spinbutton', 'Heads'));
  await KEYS(board, 'Control+a');
  await board.type('many');
  await KEYS(board, 'Enter');
  assert.match(await reader.said(), /heads/);
  assert.deepEqual(await board.call('getState'), was);
  await reader.focus(await reader.cell(/^Q, queries/, 'a', '1'));
  await KEYS(board, 'Enter');
  await board.type('x');
  await KEYS(board, 'Enter');
  assert.match(await reader.said(), /\bx\b/);
  await KEYS(board, 'Escape');
  assert.deepEqual(await board.call('getState'), was);
  await board.close();
});

test('a prediction of a lesson is answered, and the answer is said', async () => {
  const board = await browser.open('/?lesson=query', {guide: true}), reader = await Reader.of(board);
  const noted = await board.listen('answer');
  const names = async () => (await reader.nodes()).filter((node) => node.role === 'button').map((node) => node.name);
  await until('the choices', async () => (await names()).includes('All lessons'));
  for (let i = 0; i < 8 && !(await reader.nodes()).some((node) => node.role === 'button' && /^(I|saw|a)$/.test(node.name)); i++) await reader.press('button', 'Next');
  await reader.press('button', /^(I|saw|a)$/);
  await until('the answer', async () => (await noted()).length > 0);
  assert.match(await reader.said(), /Right|not right|Passed/);
  await board.close();
});

test('focus and selection go with the canvas, both ways', async () => {
  const board = await browser.open('/'), reader = await Reader.of(board);
  await board.click('k', 0, 2, 1);
  await reader.cell(/^K, keys/, 'a', '2').then(() => until('its selection', async () => (await reader.cell(/^K, keys/, 'a', '2')).selected));
  const noted = await board.listen('select');
  await reader.focus(await reader.cell(/^W of head/, 'a', 'I'));
  await until('the event', async () => (await noted()).some(({detail}) => detail?.name === 'weights' && detail.row === 2 && detail.col === 0));
  await KEYS(board, 'ArrowRight');
  await until('the next cell', async () => (await noted()).at(-1).detail.col === 1);
  await KEYS(board, 'Escape');
  assert.equal(await board.page.evaluate(() => document.activeElement.shadowRoot.activeElement.localName), 'canvas', 'Escape leaves to the canvas');
  await board.press('F10');
  await board.until('F10 to go there', () => document.activeElement.shadowRoot.activeElement.localName !== 'canvas');
  await board.close();
});

test('where tokens are columns, so they are in the tables; arrows, typing and what is said go with it', async () => {
  const board = await browser.open('/'), reader = await Reader.of(board);
  await board.call('set', 'column_names', ['', 'noun']);
  await reader.cell(/^Q, queries/, 'I', 'noun');
  await board.call('set', 'column_layout', true);
  const cell = await reader.cell(/^Q, queries/, 'noun', 'I');
  const noted = await board.listen('select');
  const chosen = async () => { const {name, row, col} = (await noted()).at(-1)?.detail ?? {}; return `${name} ${row} ${col}`; };
  const is = (what) => until(what, async () => await chosen() === what);
  await reader.focus(cell);
  await is('q 0 1');
  await KEYS(board, 'ArrowRight');
  await is('q 1 1');
  await KEYS(board, 'ArrowDown');
  await is('q 1 2');
  await KEYS(board, 'ArrowLeft', 'ArrowUp', 'Enter');
  await board.type('-0.25');
  await KEYS(board, 'Enter');
  assert.equal(await board.value('q', 0, 0, 1), -0.25);
  assert.match(await reader.said(), /query, row noun, column I: −0\.25/);
  // Kᵀ has one row per key here, as K has.
  assert.equal((await reader.cell(/^K, keys/, 'a', 'noun')).name, (await board.value('k', 0, 2, 1)).toFixed(2).replace('-', '−'));
  await reader.focus(await reader.cell(/^W of head/, 'I', 'a'));  // from a to I: queries are columns
  await is('weights 2 0');
  await board.call('set', 'mode', 'x');
  const made = await reader.cell(/^W_Q/, 'noun', '3');
  assert.equal(made.name, (await board.value('w_q', 0, 2, 1)).toFixed(2).replace('-', '−'));
  await board.call('set', 'tokens', 60);
  await reader.find('grid', /^W of head.*rows \d+ to \d+ of 60, columns \d+ to \d+ of 60/);
  await board.call('set', 'column_layout', false);
  await reader.cell(/^W_Q/, '3', 'noun');
  await board.close();
});

test('every change is announced, and how soon is said', async () => {
  const board = await browser.open('/', {prepare: opened});
  await isMirrored(board);
  const ms = await board.page.evaluate(async () => {
    const element = document.querySelector('attention-playground'), live = element.shadowRoot.querySelector('.hidden').shadowRoot.querySelector('[role=status]');
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const times = [];
    for (let i = 0; i < 9; i++) {
      const {data, shape} = element.getTensor('q'), began = performance.now();
      data[9] = i / 7;
      const told = new Promise((done) => new MutationObserver((_, observer) => { observer.disconnect(); done(performance.now()); }).observe(live, {childList: true, characterData: true, subtree: true}));
      element.set('causal', i % 2 === 0 ? false : true);
      times.push(await told - began);
    }
    return times.sort((a, b) => a - b);
  });
  assert.equal(ms.length, 9);
  // The cost for the mirror in a frame: only marking it as stale.
  const each = await board.page.evaluate(async () => {
    const element = document.querySelector('attention-playground');
    const before = performance.now();
    for (let i = 0; i < 200; i++) element.set('temperature', 1 + i / 1000);
    const during = performance.now() - before;
    return during / 200;
  });
  console.log(`# announced after ${ms[4].toFixed(1)} ms (median), ${ms.at(-1).toFixed(1)} ms at most; ${each.toFixed(2)} ms a change with its announcement`);
  await board.close();
});

test('radios of a group are one stop of Tab, and arrow keys go on from there', async () => {
  const board = await browser.open('/', {prepare: opened});
  await isMirrored(board);
  await board.click('q', 0, 0, 0);
  await board.press('F10');
  const groups = () => board.page.evaluate(() => [...document.querySelector('attention-playground').shadowRoot.querySelector('.hidden').shadowRoot.querySelectorAll('[role=radiogroup]')]
    .map((group) => ({stops: [...group.children].filter((radio) => radio.tabIndex === 0).map((radio) => radio.getAttribute('aria-checked')), count: group.children.length})));
  await until('the focus in the tables', async () => (await groups()).some(({stops}) => stops.length));
  const found = await groups();
  assert.ok(found.some(({count}) => count > 1));
  for (const {stops} of found) assert.equal(stops.length, 1);
  assert.ok(found.some(({stops: [checked]}) => checked === 'true'));
  const radios = (act) => board.page.evaluate((act) => {
    const root = document.querySelector('attention-playground').shadowRoot.querySelector('.hidden').shadowRoot;
    const group = [...root.querySelectorAll('[role=radiogroup]')].find(({children}) => children.length > 1);
    if (act) group.querySelector('[tabindex="0"]').focus();
    return [...group.children].map((radio) => [radio.tabIndex, radio === root.activeElement]);
  }, act);
  const at = (await radios(true)).findIndex(([, isActive]) => isActive), {length} = await radios(false);
  await board.press('ArrowRight');
  await board.call('set', 'temperature', 1.5);  // the tables are written again
  await board.rest();
  assert.deepEqual(await radios(false), Array.from({length}, (_, i) => i === (at + 1) % length ? [0, true] : [-1, false]));
  await board.press('Tab');
  assert.ok((await radios(false)).every(([, isActive]) => !isActive), 'Tab leaves the group');
  await board.close();
});

test('radios of a group are one stop of Tab in the dialog Share too', async () => {
  const board = await browser.open('/', {prepare: opened});
  await board.click('share');
  const dialog = board.page.locator('dialog.share');
  await until('the dialog', () => dialog.isVisible());
  const active = () => board.page.evaluate(() => {
    let {activeElement: node} = document;
    while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
    return {group: node?.closest('[role=radiogroup]')?.ariaLabel, isRadio: node?.role === 'radio' || node?.type === 'radio', isTab: node?.role === 'tab', id: node?.id};
  });
  for (const [tab, least] of [['link', 1], ['embed', 2], ['figure', 4], ['code', 1]]) {
    await dialog.locator(`#share-${tab}`).click();
    const stops = [];
    for (let i = 0; i < 60; i++) {
      await board.press('Tab');
      const {group, isRadio, isTab, id} = await active();
      if (isTab && id === `share-${tab}`) break;
      if (isRadio) stops.push(group);
    }
    assert.ok(stops.length >= least, `${tab}: ${stops}`);
    assert.equal(new Set(stops).size, stops.length, `${tab}: ${stops}`);
  }
  await board.close();
});

test('where another board is opened, or undone, its numbers are not compared with those of the board before', async () => {
  const board = await browser.open('/', {prepare: opened});
  await isMirrored(board);
  const state = await board.call('getState');
  const said = (method, ...args) => board.page.evaluate(async ([name, values]) => {
    const element = document.querySelector('attention-playground'), live = element.shadowRoot.querySelector('.hidden').shadowRoot.querySelector('[role=status]');
    const told = new Promise((done) => new MutationObserver((_, observer) => { observer.disconnect(); done(live.textContent); }).observe(live, {childList: true, characterData: true, subtree: true}));
    await element[name](...values);
    return told;
  }, [method, args]);
  await board.click('weights', 0, 1, 0);
  assert.match(await said('set', 'temperature', 2), /Temperature: .*\. weight from saw to I: .*, was /i);
  const other = {...state, labels: ['He', 'ran', 'a', 'race'], causal: true};
  for (const call of [['setState', state, {undoable: true}], ['setState', other, {undoable: true}], ['undo'], ['openLesson', 'heads']]) assert.doesNotMatch(await said(...call), /, was /, call[0]);
  await board.close();
});

test('the row of a table that was taken as a heading is said', async () => {
  const board = await browser.open('/', {prepare: opened});
  await isMirrored(board);
  await board.press('F10');
  await board.page.evaluate(() => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(['noun,verb\n1,2\n3,4\n'], 'words.csv'));
    for (const type of ['dragenter', 'dragover', 'drop']) document.querySelector('attention-playground').dispatchEvent(new DragEvent(type, {dataTransfer, bubbles: true, cancelable: true, composed: true}));
  });
  await until('the sentence', () => board.page.evaluate(() =>
    document.querySelector('attention-playground').shadowRoot.querySelector('.hidden').shadowRoot.textContent.includes('Opened words.csv. Row 1 is taken as a heading.')));
  await until('its announcement', () => board.page.evaluate(() =>
    document.querySelector('attention-playground').shadowRoot.querySelector('.hidden').shadowRoot.querySelector('[role=status]').textContent === 'Opened words.csv. Row 1 is taken as a heading.'));
  await board.close();
});

test('1,024 tokens: a table is of what is around the selection, says so, and goes along', async () => {
  const board = await browser.open('/', {prepare: opened});
  await board.call('set', 'tokens', 1024);
  await isMirrored(board);
  const captions = () => board.page.evaluate(() => [...document.querySelector('attention-playground').shadowRoot.querySelector('.hidden').shadowRoot.querySelectorAll('caption')].map((c) => c.textContent));
  const caption = await until('a part', async () => (await captions()).find((words) => /rows \d+ to \d+ of 1024, columns \d+ to \d+ of 1024/.test(words)));
  assert.match(caption, /1024/);
  const cells = await board.page.evaluate(() => document.querySelector('attention-playground').shadowRoot.querySelector('.hidden').shadowRoot.querySelectorAll('td').length);
  assert.ok(cells < 8 * 33 * 33, `${cells} cells`);
  await board.close();
});

for (const [tokens, count, rows] of [[2048, 32, 'rows (14\\d\\d) to 15\\d\\d'], [9000, 1, 'row (1[45]\\d\\d)']]) {
  test(`of ${tokens} tokens, too many for all of their weights, the tables have the numbers around the selection`, async () => {
    const board = await browser.open('/', {prepare: opened});
    for (const [option, value] of [['heads', 1], ['tokens', tokens]]) await board.call('set', option, value);
    await isMirrored(board);
    await board.click('weights', 0, 1500, 700);
    const where = `${rows} of ${tokens}, columns (\\d+) to \\d+ of ${tokens}`;
    const shown = await until('the scores around it', () => board.page.evaluate((words) => {
      const tables = [...document.querySelector('attention-playground').shadowRoot.querySelector('.hidden').shadowRoot.querySelectorAll('table')];
      const table = tables.find(({caption: {textContent}}) => textContent.startsWith('S') && new RegExp(words).test(textContent));
      return table && {words: table.caption.textContent, rows: [...table.tBodies[0].rows].map((line) => [...line.cells].slice(1).map((cell) => cell.textContent))};
    }, where));
    assert.equal(shown.rows.length, count);
    const [top, left] = new RegExp(where).exec(shown.words).slice(1).map((first) => first - 1);
    const [q, k] = [await board.tensor('q'), await board.tensor('k')], dim = q.shape.at(-1);
    const score = (i, j) => q.data.slice(i * dim, (i + 1) * dim).reduce((sum, x, c) => sum + x * k.data[j * dim + c], 0) / Math.sqrt(dim);
    // What is seen of a row that is not stored is not made to the bit.
    shown.rows.forEach((line, i) => line.forEach((number, j) => {
      const wanted = score(top + i, left + j);
      assert.ok(Math.abs(Number(number.replace('−', '-')) - wanted) < 0.0051, `${i}, ${j}: ${number} for ${wanted}`);
    }));
    await board.close();
  });
}

test('numbers of many large tables follow some tables at a time while nobody reads them', async () => {
  const board = await browser.open('/', {prepare: opened});
  for (const [option, value] of [['heads', 1], ['d_k', 64], ['tokens', 400]]) await board.call('set', option, value);
  await isMirrored(board);
  const tables = () => board.page.evaluate(() => [...document.querySelector('attention-playground').shadowRoot.querySelector('.hidden').shadowRoot.querySelectorAll('table')]
    .map((table) => ({size: table.querySelectorAll('tbody td').length, first: table.tBodies[0].rows[0].cells[1].textContent})));
  await until('six large tables', async () => (await tables()).filter(({size}) => size === 32 * 32).length === 6);
  await board.page.evaluate(() => {
    globalThis.most = 0;
    const observer = new MutationObserver((records) => {
      const cells = new Set(records.map(({target}) => target).filter(({nodeName}) => nodeName === 'TD'));
      globalThis.most = Math.max(globalThis.most, cells.size);
    });
    observer.observe(document.querySelector('attention-playground').shadowRoot.querySelector('.hidden').shadowRoot, {subtree: true, childList: true});
  });
  const first = async () => (await board.tensor('q')).data[0], before = await first();
  await board.click('randomize');
  await until('other numbers', async () => await first() !== before);
  const wanted = await Promise.all(['q', 'k', 'v', 'output'].map(async (name) => (await board.tensor(name)).data[0].toFixed(2).replace('-', '−')));
  await until('the new numbers', async () => {
    const all = await tables();
    return wanted.every((number) => all.some(({first}) => first === number));
  });
  const most = await board.page.evaluate(() => globalThis.most);
  assert.ok(most > 500 && most <= 4 * 32 * 32, `${most} cells at once, of six tables`);
  await board.close();
});

test('the field of a very long sentence has all of it once it is focused, and not before', async () => {
  const board = await browser.open('/', {prepare: opened});
  for (const [option, value] of [['heads', 1], ['d_k', 8], ['tokens', 12000]]) await board.call('set', option, value);
  await isMirrored(board);
  const letters = (isFocused) => board.page.evaluate((focuses) => {
    const field = document.querySelector('attention-playground').shadowRoot.querySelector('.hidden').shadowRoot.querySelector('[aria-label="Sentence"]');
    if (focuses) field?.focus();
    return field?.value.length;
  }, isFocused);
  await until('the field', async () => await letters(false) > 0);
  assert.ok(await letters(false) < 5000);
  assert.equal(await letters(true), (await board.call('get', 'labels')).join(' ').length);
  await board.close();
});

test('the names of the tokens are asked for when they have changed, and not with every selection', async () => {
  const board = await browser.open('/', {prepare: opened});
  await board.call('set', 'tokens', 1024);
  await isMirrored(board);
  const words = () => board.page.evaluate(() => document.querySelector('attention-playground').shadowRoot.querySelector('.hidden').shadowRoot.textContent);
  await until('the words of all tokens', async () => (await words()).includes('of 1024'));
  await board.page.evaluate(() => {
    const {parse} = JSON;
    globalThis.lists = 0;
    JSON.parse = (...given) => { const made = parse(...given); globalThis.lists += made?.length === 1024 ? 1 : 0; return made; };
  });
  await board.click('weights', 0, 500, 500);
  for (let row = 0; row < 3; row++) {
    const before = await words();
    await board.press('ArrowDown');
    await until('the next row in words', async () => await words() !== before);
  }
  assert.equal(await board.page.evaluate(() => globalThis.lists), 0);
  await board.call('set', 'labels', ['We', ...(await board.call('get', 'labels')).slice(1)]);
  await until('the new name', async () => /\bWe\b/.test(await words()));
  await board.close();
});

test('a sentence of a lesson with links in it is one sentence, whose links can be pressed', async () => {
  const board = await browser.open('/?lesson=query', {prepare: opened, guide: true});
  const sentence = 'Each token has a query, a row of Q; a key, a row of K (drawn as a column); and a value, a row of V. The query says what the token is looking for.';
  const paragraph = () => board.page.evaluate((words) => {
    const root = document.querySelector('attention-playground').shadowRoot.querySelector('.hidden')?.shadowRoot;
    const found = [...root?.querySelectorAll('p') ?? []].find((p) => p.textContent.startsWith(words));
    return found && [...found.querySelectorAll('button')].map((button) => button.textContent);
  }, sentence);
  assert.deepEqual(await until('the sentence', paragraph), ['Q', 'K', 'V']);
  const reader = await Reader.of(board);
  await reader.press('button', 'K');
  await until('the focus to stay on the link', () => board.page.evaluate(() => {
    const button = document.querySelector('attention-playground').shadowRoot.querySelector('.hidden').shadowRoot.activeElement;
    return button?.textContent === 'K' && button.parentElement.localName === 'p';
  }));
  await board.close();
});

test('the page can be searched for tokens and numbers, and 200 % text cuts nothing off', async () => {
  const board = await browser.open('/', {prepare: opened});
  await isMirrored(board);
  const found = await board.page.evaluate(() => ['saw', '0.69', '−0.70', '-0.70'].map((words) => { getSelection().removeAllRanges(); return globalThis.find(words, false, false, true); }));
  assert.ok(found[0] && found[1], `found: ${found}`);
  await board.close();
});

test('without WebGL the mirror is the board: to be seen, to be edited, without fault', async () => {
  const without = await start({gpu: ['--disable-gpu', '--disable-3d-apis']});
  const board = await without.open('/', {allow: [/./], prepare: opened, bypassCSP: true});
  await isMirrored(board);
  const {page} = board;
  assert.match(await page.locator('attention-playground .plain p').first().textContent(), /draws no pictures/);
  const table = page.locator('attention-playground table', {hasText: 'Q, queries'});
  await table.locator('tbody tr').nth(3).locator('td').nth(2).click();
  await page.keyboard.type('0.5');
  await page.keyboard.press('Enter');
  assert.equal(await board.value('q', 0, 3, 2), 0.5);
  await page.locator('attention-playground button[role=switch]', {hasText: 'Causal'}).click();
  assert.equal(await board.get('causal'), false);
  await board.check();
  assert.deepEqual(await violations(board), []);
  // At twice the text size everything can still be reached.
  await page.evaluate(() => { document.documentElement.style.fontSize = '200%'; document.documentElement.style.zoom = 2; });
  assert.ok(await page.evaluate(() => {
    const {host} = document.querySelector('attention-playground').shadowRoot.querySelector('.plain').shadowRoot;
    return host.scrollHeight >= host.clientHeight && getComputedStyle(host).overflowY === 'auto';
  }));
  await board.close();
  await without.stop();
});
