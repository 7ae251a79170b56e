// Nothing is lost: the board of a tab is restored when the page is reloaded, when its process was killed, and in a duplicated tab.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {until} from '../until.mjs';
import {start} from './harness.mjs';

let browser;
before(async () => { browser = await start(); });
after(() => browser.stop());

const ready = (page) => page.evaluate(() => customElements.whenDefined('attention-playground').then(() => document.querySelector('attention-playground').ready.then(() => true)));
const reload = async (board) => {
  await board.page.reload();
  await ready(board.page);
};

/** The boards in the page's storage: their sizes in bytes, and when they were written. */
const kept = (page) => page.evaluate(() => new Promise((resolve, reject) => {
  const opening = indexedDB.open('attention-playground');
  opening.onerror = () => reject(opening.error);
  opening.onsuccess = () => {
    const storage = opening.result;
    if (!storage.objectStoreNames.length) return resolve([]);
    const all = storage.transaction('boards').objectStore('boards').getAll();
    all.onsuccess = () => {
      storage.close();
      resolve(all.result.filter(({updated}) => updated).map(({tab, bytes, updated, pieces}) => ({tab, size: bytes?.length, updated, text: new TextDecoder('latin1').decode((bytes ?? pieces[0]).slice(0, 20))})));
    };
  };
}));
/** The parts of large boards there: their names and sizes. */
const partsOf = (page) => page.evaluate(() => new Promise((resolve) => {
  indexedDB.open('attention-playground').onsuccess = ({target: {result: storage}}) => {
    storage.transaction('boards').objectStore('boards').getAll().onsuccess = ({target: {result}}) => {
      storage.close();
      resolve(result.filter(({updated}) => !updated).map(({tab, bytes}) => [tab, bytes.length]));
    };
  };
}));
const keptAfter = (page, time) => until('the board to be kept', async () => (await kept(page)).find(({updated}) => updated >= time));
/** Waits until a screen reader would find this text on the page. */
const says = async (page, words) => {
  const session = await page.context().newCDPSession(page);
  await session.send('Accessibility.enable');
  return until(`the words ${words}`, async () => (await session.send('Accessibility.getFullAXTree')).nodes.some(({name}) => words.test(name?.value ?? '')));
};
const now = (page) => page.evaluate(() => Date.now());

test('a reload right after an edit: the board, how it was shown, and its undo history are back', async () => {
  const board = await browser.open('/');
  await board.call('set', 'tokens', 6);
  await board.call('set', 'causal', false);
  await board.call('setTensor', 'q', Array.from({length: 36}, (_, i) => i / 7 - 2), [2, 6, 3]);
  await board.call('set', 'theme', 'dark');
  await board.call('undo');
  const before = await board.call('getState');
  await reload(board);
  assert.deepEqual(await board.call('getState'), before);
  assert.equal(await board.call('redo'), true);
  assert.equal(await board.value('q', 1, 5, 2), Math.fround(35 / 7 - 2));
  for (let i = 0; i < 3; i++) assert.equal(await board.call('undo'), true);
  assert.equal(await board.call('undo'), false, 'that was the beginning');
  assert.deepEqual([await board.get('tokens'), await board.get('causal'), await board.get('theme')], [4, true, 'dark']);
  await board.check();
  await reload(board);
  assert.equal(await board.call('redo'), true, 'again and again');
  assert.equal(await board.get('tokens'), 6);
  await board.call('reset');
  assert.equal(await board.get('tokens'), 4, 'the start is the one of the first visit');
  await board.close();
});

test('an edit is kept within a second, also in the middle of a drag', async () => {
  const board = await browser.open('/'), {page} = board;
  await board.drag('q', [0, 0, 0], 40, 0, async () => {
    const began = await now(page);
    const [x, y] = await board.middle('q', 0, 0, 0);
    await page.mouse.move(x + 70, y);
    // Measured from the frame that shows the edit, which is late on a busy machine.
    const shown = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done(performance.now()))));
    const second = board.until('a second to pass', (time) => performance.now() > time + 1000, shown).then(() => now(page));
    const {updated, text} = await keptAfter(page, began);
    assert.ok(updated <= await second, `${updated - began} ms`);
    assert.equal(text, 'attention session 1\n');
  });
  await board.rest();
  const idle = await until('the end of the drag to be kept', async () => {
    const [first] = await kept(page);
    await board.rest(1200);
    const [second] = await kept(page);
    return first.updated === second.updated && second;
  });
  assert.ok(idle.size < 20_000, `${idle.size} bytes`);
  await board.close();
});

const MEGABYTE = 2 ** 20;
/** A board whose numbers take 2.3 MB, and are kept. */
async function openLarge() {
  const board = await browser.open('/');
  for (const [name, value] of [['heads', 1], ['d_k', 64], ['tokens', 3000]]) await board.call('set', name, value);
  await until('its parts', async () => (await partsOf(board.page)).length > 1);
  return board;
}
const numbersOf = (board, name) => board.page.evaluate((one) => Array.from(document.querySelector('attention-playground').getTensor(one).data.slice(0, 640)), name);

test('a large board is kept in parts, of which an edit writes none again; where the storage was emptied, all are written', async () => {
  const board = await openLarge(), {page} = board, before = await partsOf(page);
  assert.ok(before.every(([, size]) => size <= MEGABYTE) && before.reduce((sum, [, size]) => sum + size, 0) >= 2 * MEGABYTE, JSON.stringify(before));
  const edit = async (value) => {
    const time = await now(page);
    await board.call('setTensor', 'q', Array.from({length: 192_000}, (_, i) => i < 9 ? value : i % 7), [1, 3000, 64]);
    await keptAfter(page, time);
  };
  await edit(0.5);
  assert.deepEqual(await partsOf(page).then((parts) => parts.filter(([name]) => before.some(([other]) => other === name))), before);
  const numbers = await numbersOf(board, 'q'), others = await numbersOf(board, 'v');
  await reload(board);
  assert.deepEqual([await numbersOf(board, 'q'), await numbersOf(board, 'v')], [numbers, others]);
  assert.equal(await board.call('undo'), true);
  await edit(0.25);
  await page.evaluate(() => new Promise((resolve) => {
    indexedDB.open('attention-playground').onsuccess = ({target: {result: storage}}) => {
      storage.transaction('boards', 'readwrite').objectStore('boards').clear().onsuccess = () => { storage.close(); resolve(); };
    };
  }));
  await edit(0.75);
  await reload(board);
  assert.equal((await numbersOf(board, 'q'))[0], 0.75);
  await board.close();
});

test('a large board that could not be written whole leaves the one before', async () => {
  const board = await openLarge(), {page} = board, before = await partsOf(page), numbers = await numbersOf(board, 'q');
  await page.evaluate(() => {
    const {put} = IDBObjectStore.prototype;
    IDBObjectStore.prototype.put = function (record) {
      if (record.updated) throw new DOMException('full', 'QuotaExceededError');
      return put.call(this, record);
    };
  });
  await board.call('setTensor', 'q', Array.from({length: 192_000}, (_, i) => i % 5), [1, 3000, 64]);
  await says(page, /storage of this browser is full/);
  assert.deepEqual(await partsOf(page), before);
  await reload(board);
  assert.deepEqual(await numbersOf(board, 'q'), numbers);
  assert.equal(await board.call('undo'), true);
  await board.close();
});

test('a tab whose process is killed comes back', async () => {
  const board = await browser.open('/'), {page} = board;
  const began = await now(page);
  await board.call('set', 'heads', 3);
  await board.call('set', 'temperature', 2.5);
  await keptAfter(page, began);
  const before = await board.call('getState');
  // Playwright gives up a page that crashed, while the browser itself shows the tab and can reload it.
  const session = await page.context().newCDPSession(page);
  await session.send('Inspector.enable');
  const crashed = new Promise((resolve) => session.once('Inspector.targetCrashed', resolve));
  session.send('Page.crash').catch(() => {});
  await crashed;
  await session.send('Page.reload');
  const run = async (expression) => (await session.send('Runtime.evaluate', {expression, awaitPromise: true, returnByValue: true}).catch(() => ({result: {}}))).result.value;
  await until('the page', () => run('document.querySelector("attention-playground")?.ready?.then(() => true)'));
  assert.deepEqual(await run('document.querySelector("attention-playground").getState()'), before);
  assert.equal(await run('document.querySelector("attention-playground").undo()'), true);
  assert.equal(await run('document.querySelector("attention-playground").get("temperature")'), 1);
  await page.context().close();
});

test('a duplicated tab begins with the board, and from there on each keeps its own', async () => {
  const board = await browser.open('/'), {page} = board, context = page.context();
  await board.call('set', 'temperature', 2);
  const [{tab}] = await until('it to be kept', async () => (await kept(page)).length && kept(page));
  const session = await page.evaluate(() => ({...sessionStorage}));
  const twin = await context.newPage();
  await twin.addInitScript((all) => { if (!sessionStorage.length) Object.assign(sessionStorage, all); }, session);
  await twin.goto(`${browser.server.url}/`);
  await ready(twin);
  const on = (which, method, ...values) => which.evaluate(([name, args]) => document.querySelector('attention-playground')[name](...args), [method, values]);
  assert.equal(await on(twin, 'get', 'temperature'), 2);
  await on(twin, 'set', 'temperature', 3);
  await on(page, 'set', 'temperature', 4);
  await until('both to be kept', async () => (await kept(page)).length === 2);
  assert.ok((await kept(page)).some((one) => one.tab === tab), 'the first tab has its name still');
  for (const [which, value] of [[page, 4], [twin, 3]]) {
    await which.reload();
    await ready(which);
    assert.equal(await on(which, 'get', 'temperature'), value);
  }
  await board.close();
});

test('two tabs that are not related know nothing of each other; a new one begins at the beginning', async () => {
  const board = await browser.open('/'), context = board.page.context();
  await board.call('set', 'temperature', 2);
  await until('it to be kept', async () => (await kept(board.page)).length === 1);
  const other = await context.newPage();
  await other.goto(`${browser.server.url}/`);
  await ready(other);
  assert.equal(await other.evaluate(() => document.querySelector('attention-playground').get('temperature')), 1);
  await board.close();
});

test('a link that is followed opens its board over the one that was there, which undo brings back; loaded again it stays as it was left', async () => {
  const other = await browser.open('/?preset=pronoun');
  await other.call('set', 'temperature', 3);
  const link = await other.call('link');
  await other.close();
  const board = await browser.open('/'), {page} = board;
  await board.call('set', 'heads', 3);
  await until('it to be kept', async () => (await kept(page)).length === 1);
  await page.goto('about:blank');
  await page.goto(link);
  await ready(page);
  assert.deepEqual([await board.get('temperature'), (await board.call('getState')).preset], [3, 'pronoun']);
  assert.equal(await board.call('undo'), true);
  assert.equal(await board.get('heads'), 3);
  await board.call('redo');
  await board.call('set', 'temperature', 4);
  await reload(board);
  assert.equal(await board.get('temperature'), 4, 'and not that of the link');
  await page.goto('about:blank');
  await page.goto(`${browser.server.url}/?preset=look-up`);
  await ready(page);
  assert.equal((await board.call('getState')).preset, 'look-up');
  await board.call('undo');
  assert.equal(await board.get('temperature'), 4);
  await board.close();
});

test('what did not reach the database when the page was left is kept by the next visit, however short that is', async () => {
  const board = await browser.open('/'), {page} = board;
  await board.call('set', 'heads', 3);
  await until('it to be kept', async () => (await kept(page)).length === 1);
  await Promise.all([page.waitForEvent('load'), page.evaluate(() => {
    IDBTransaction.prototype.commit = function () { this.abort(); };
    document.querySelector('attention-playground').set('temperature', 4);
    location.reload();
  })]);
  await ready(page);
  assert.equal(await board.get('temperature'), 4);
  for (let visit = 0; visit < 2; visit++) {
    await page.goto('about:blank');
    await page.goto(browser.server.url);
    await ready(page);
    assert.equal(await board.get('temperature'), 4);
  }
  await board.close();
});

test('an element in another page, and the page in an iframe, keep nothing', async () => {
  for (const path of ['/pages/embed.html', '/embed.html']) {
    const board = await browser.open(path), {page} = board;
    await board.call('set', 'temperature', 2);
    await board.rest(1200);
    assert.deepEqual(await page.evaluate(() => indexedDB.databases()), [], path);
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    await board.page.context().close();
  }
});

for (const [what, sentence, break_] of [
  ['that is denied', /does not let the page store anything/, () => { IDBFactory.prototype.open = () => { throw new DOMException('denied', 'SecurityError'); }; }],
  ['that is full', /storage of this browser is full/, () => { IDBObjectStore.prototype.put = () => { throw new DOMException('full', 'QuotaExceededError'); }; }],
]) {
  test(`a storage ${what} is said once, and the board works`, async () => {
    const board = await browser.open('/', {prepare: (page) => page.addInitScript(break_)});
    const noted = await board.listen('error');
    await board.call('set', 'temperature', 2);
    const said = () => board.page.evaluate(() => document.querySelector('attention-playground').items().filter(({name}) => name === 'notice').length);
    await until('the sentence', said);
    await says(board.page, sentence);
    await board.call('set', 'temperature', 3);
    await board.rest(1200);
    assert.deepEqual((await noted()).filter(({detail}) => detail.type === 'crash'), []);
    await board.check();
    await board.close();
  });
}

test('what was kept and is damaged is said, and the page begins anew', async () => {
  const board = await browser.open('/'), {page} = board;
  await board.call('set', 'temperature', 2);
  await until('it to be kept', async () => (await kept(page)).length === 1);
  await page.evaluate(() => new Promise((resolve) => {
    const opening = indexedDB.open('attention-playground');
    opening.onsuccess = () => {
      const boards = opening.result.transaction('boards', 'readwrite').objectStore('boards'), all = boards.getAll();
      all.onsuccess = () => {
        const [one] = all.result;
        one.bytes = one.bytes.slice(0, 300);
        boards.put(one).onsuccess = () => { opening.result.close(); resolve(); };
      };
    };
  }));
  await reload(board);
  assert.equal(await board.get('temperature'), 1);
  await board.check();
  await board.close();
});

test('where the storage never answers, the board comes all the same and says that it is not kept', async () => {
  const board = await browser.open('/');
  await board.call('set', 'tokens', 6);
  const time = await now(board.page);
  await board.call('set', 'causal', false);
  await keptAfter(board.page, time);
  await board.page.addInitScript(() => { if (sessionStorage.getItem('stalls')) IDBFactory.prototype.open = () => ({}); });
  await board.page.evaluate(() => sessionStorage.setItem('stalls', 'yes'));
  await reload(board);
  assert.equal(await board.get('tokens'), 4);
  await says(board.page, /does not let the page store anything, so this board is not kept/);
  await board.call('set', 'tokens', 3);
  await board.page.evaluate(() => sessionStorage.removeItem('stalls'));
  await reload(board);
  assert.deepEqual([await board.get('tokens'), await board.get('causal')], [6, false], 'what was kept before is still there');
  await board.close();
});

test('Help says where the board is kept, and a lesson goes on with what was done in it', async () => {
  const board = await browser.open('/', {guide: true}), {page} = board;
  const hasStep = () => board.until('the lesson', () => document.querySelector('attention-playground').items().some(({name}) => name.startsWith('guide:')));
  await hasStep();
  await board.call('set', 'temperature', 2.25);
  await until('it to be kept', async () => (await kept(page)).length === 1);
  await reload(board);
  await hasStep();
  await board.rest();
  assert.equal(await board.get('temperature'), 2.25);
  await page.evaluate(() => document.querySelector('attention-playground').focus());
  await board.press('?');
  await says(page, /This board is kept in the storage of this browser, for this tab/);
  await board.close();
});
