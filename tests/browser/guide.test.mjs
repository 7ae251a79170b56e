// The Guide: a lesson and a puzzle solved by a real mouse and by keys, invalid files, progress, events, and its layouts.
import assert from 'node:assert/strict';
import {readFileSync, readdirSync} from 'node:fs';
import {createServer} from 'node:http';
import {test} from 'node:test';
import {brotliCompressSync} from 'node:zlib';
import {SITE, suite} from './harness.mjs';

const query = {lesson: 1, id: 'mine', title: 'What does a query ask?', steps: [
  {preset: 'i-saw-a-saw', select: ['weights', 0, 3, 0], text: 'At first [q:3] met the {k:2,2} of [k:2], so **saw** looked at **a** with {weights:3,2}.',
    predict: {question: 'Turn column 3 of [q:3] to `−0.80`. Which word gains most weight?', choices: ['I', 'saw', 'a'], answer: 0,
      because: ['[k:0] adds {q:3,2 * k:0,2}.', 'No.', 'It is highest there.'], after: [{tensor: 'q', at: [0, 3, 2], value: -0.8}]},
    try: {task: 'Make the last [q:3|saw] look mostly at [k:0|I]: weight ≥ `0.50`.', hint: 'Which sign must it have?', allow: ['q', 'k'],
      check: [{tensor: 'weights', at: [0, 3, 0], min: 0.5}], solution: [{tensor: 'q', at: [0, 3, 2], value: -1.6}]}},
  {set: {causal: false}, text: 'Without [causal] every key is seen.'}]};
const puzzle = {lesson: 1, id: 'last', title: 'Look back', kind: 'puzzle', par: 1, steps: [{preset: 'i-saw-a-saw',
  try: {task: 'Let every word see every word.', allow: ['causal'], check: {option: 'causal', is: false}, solution: [{option: 'causal', is: false}]}}]};

const {browser, onBoard} = suite();
const names = async (board) => (await board.call('items')).map(({name}) => name);
const open = async (board, lesson) => {
  await board.call('openLesson', lesson);
  await board.settle();
};
const moved = (board, name, value, ...cell) => board.until(`${name} is ${value}`, ([n, [h, r, c], v]) => {
  const t = document.querySelector('attention-playground').getTensor(n);
  return Math.abs(t.data[(h * t.shape[1] + r) * t.shape[2] + c] - v) < 0.004;
}, [name, cell, value]);

onBoard('a lesson by mouse: predicted, tried by dragging a cell, passed in the frame of the drag, and on', async (board) => {
  const events = await board.listen('step', 'answer', 'passed');
  await open(board, query);
  assert.ok(!(await names(board)).includes('guide-show'), 'the try is hidden until the prediction is made');
  await board.click('guide-next');
  assert.deepEqual((await events()).map(({type}) => type), ['step'], 'there is no way on before the answer');
  await board.click('guide:choice:2');
  await moved(board, 'q', -0.8, 0, 3, 2);
  await board.settle();
  assert.ok((await names(board)).includes('guide:bar'));
  await board.drag('q', [0, 3, 2], -90, 0, async () => {
    await board.settle();
    assert.ok((await names(board)).includes('guide:passed'), 'while the button is down');
  });
  await board.settle();
  await board.click('guide-next');
  await board.settle();
  assert.equal(await board.get('causal'), false);
  const noted = await events();
  assert.deepEqual(noted.map(({type, detail}) => [type, detail.lesson, detail.step]),
    [['step', 'mine', 0], ['answer', 'mine', 0], ['passed', 'mine', 0], ['step', 'mine', 1], ['passed', 'mine', 1]]);
  assert.deepEqual([noted[1].detail.choice, noted[1].detail.right, noted[4].detail.all], [2, false, true]);
});

onBoard('a listener that asks the board something makes nobody hear events in another order', async (board) => {
  await open(board, query);
  await board.page.evaluate(() => {
    const el = document.querySelector('attention-playground');
    for (const type of ['step', 'passed']) el.addEventListener(type, () => el.getTensor('weights'));
  });
  const events = await board.listen('step', 'passed');
  await board.call('openLesson', query, 1);
  assert.deepEqual((await events()).map(({type, detail}) => [type, detail.step]), [['step', 1], ['passed', 1]]);
});

onBoard('the solution moves, passes, and is one step of undo; its changes say that the lesson made them', async (board) => {
  await open(board, query);
  await board.click('guide:choice:0');
  await moved(board, 'q', -0.8, 0, 3, 2);
  await board.settle();
  const events = await board.listen('change', 'passed');
  await board.click('guide-hint');
  await board.settle();
  await board.click('guide-show');
  await moved(board, 'q', -1.6, 0, 3, 2);
  await board.until('it has passed', () => globalThis.noted.some(({type}) => type === 'passed'));
  await board.until('it is told', () => globalThis.noted.some(({type}) => type === 'change'));
  assert.ok((await events()).filter(({type}) => type === 'change').every(({detail}) => detail.source === 'lesson'));
  assert.equal(await board.call('undo'), true);
  await moved(board, 'q', -0.8, 0, 3, 2);
});

onBoard('what a try does not allow is locked while it lasts', async (board) => {
  await open(board, puzzle);
  await board.drag('q', [0, 0, 0], 80, 0);
  assert.ok(Math.abs(await board.value('q', 0, 0, 0) - 0.9) < 1e-6);
  await board.click('guide-close');
  await board.settle();
  await board.drag('q', [0, 0, 0], 80, 0);
  assert.ok(await board.value('q', 0, 0, 0) > 1);
});

onBoard('a puzzle by keys: the option by its letter; its edits are counted', async (board) => {
  const events = await board.listen('passed');
  await open(board, puzzle);
  await board.call('focus');
  await board.press('c');
  await board.settle();
  assert.deepEqual((await events()).map(({detail}) => detail), [{lesson: 'last', step: 0, all: true, par: 1, edits: 1}]);
});

onBoard('a place of the text lights its cells, and a click goes there', async (board) => {
  await open(board, query);
  const selected = await board.listen('select');
  await board.click('guide:text:1');
  await board.settle();
  assert.deepEqual((await selected()).at(-1).detail, {name: 'k', head: 0, row: 2, col: 0});
});

onBoard('bad files are refused by step and field, and the board stays', async (board) => {
  await board.call('set', 'causal', false);
  const before = JSON.stringify(await board.call('getState'));
  const bad = (change) => change(structuredClone(query)) ?? query;
  for (const [what, lesson, says] of [
    ['a cell that is not there', bad((l) => (l.steps[0].try.check[0].at = [0, 9, 0], l)), /step 1, try\.check\[0\]: there is no row 9 in weights/],
    ['a script', bad((l) => (l.steps[1].text = '<script>alert(1)</script>', l)), /step 2, text: .*looks like HTML/],
    ['no end', bad((l) => (l.steps = Array(100).fill(l.steps[1]), l)), /steps: 100 are too many/],
    ['a field', bad((l) => (l.steps[0].try.hnit = 'x', l)), /step 1, try: the field "hnit" is unknown/],
    ['a number', 3, /lesson/],
    ['a step', query, /step: 7 is no step of "mine"/, 7],
    ['an id', 'nothing-like-it', /lesson/],
  ]) {
    const step = what === 'a step' ? 7 : 0;
    await assert.rejects(board.call('openLesson', lesson, step), (error) => says.test(error.message) && error.message.endsWith('.'), what);
  }
  assert.equal(JSON.stringify(await board.call('getState')), before);
}, {allow: [/404/]});

onBoard('a file of one\'s own: dropped, by address of the attribute, and a bad one says which file', async (board) => {
  await board.listen('step');
  await board.page.evaluate((text) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([text], 'mine.json'));
    document.querySelector('attention-playground').dispatchEvent(new DragEvent('drop', {dataTransfer, bubbles: true, cancelable: true, composed: true}));
  }, JSON.stringify(puzzle));
  await board.until('it is open', () => globalThis.noted.length === 1);
  const refused = await board.listen('error');
  await board.drop(JSON.stringify({...puzzle, par: 0}), 'mine.json');
  assert.match((await refused())[0].detail.message, /^mine\.json: par: 0 does not fit/);
  await board.page.route('**/my-lesson.json', (route) => route.fulfill({json: query}));
  await board.page.evaluate(() => { document.querySelector('attention-playground').lesson = 'my-lesson.json'; });
  await board.until('it is open', () => document.querySelector('attention-playground').items().some(({name}) => name === 'guide:choice:0'));
});

test('a lesson by an address that never ends is given up, in a sentence, and the board stays', async () => {
  const endless = createServer((request, response) => {
    response.writeHead(200, {'Access-Control-Allow-Origin': '*', 'Content-Type': 'application/json'});
    const more = () => { while (!response.destroyed && response.write(' '.repeat(65536))); };
    response.on('drain', more);
    more();
  });
  await new Promise((resolve) => endless.listen(0, '127.0.0.1', resolve));
  const closed = new Promise((resolve) => endless.on('request', (request, response) => response.on('close', resolve)));
  const board = await browser.open('/', {bypassCSP: true}), before = await board.call('getState');
  await assert.rejects(board.call('openLesson', `http://127.0.0.1:${endless.address().port}/mine.json`), {field: 'lesson', message: /mine\.json has more than 1048576 characters; no more are read\.$/});
  await closed;  // it is not read any further
  assert.deepEqual(await board.call('getState'), before);
  await board.close();
  endless.closeAllConnections();
  endless.close();
});

onBoard('by a finger: a choice and a hint are tapped, a number is held and dragged, and the step is passed', async (board) => {
  const events = await board.listen('answer', 'passed');
  await open(board, query);
  await board.page.touchscreen.tap(...await board.middle('guide:choice:0'));
  await moved(board, 'q', -0.8, 0, 3, 2);
  await board.rest();
  await board.page.touchscreen.tap(...await board.middle('guide-hint'));
  await board.until('the hint', () => document.querySelector('attention-playground').items().some(({name}) => name === 'guide-hint-text'));
  await board.middle('q', 0, 3, 2);  // scrolls to it
  await board.rest();
  await board.finger(await board.middle('q', 0, 3, 2), -90, 0, {holds: true});
  await board.until('it has passed', () => globalThis.noted.some(({type}) => type === 'passed'));
  assert.deepEqual((await events()).map(({type, detail}) => [type, detail.step]), [['answer', 0], ['passed', 0]]);
}, {viewport: {width: 390, height: 844}, hasTouch: true, isMobile: true});

const list = {lessons: [{id: 'mine', kind: 'lesson', title: query.title, file: 'a.json', steps: 2}, {id: 'last', kind: 'puzzle', title: 'Look back', file: 'b.json', steps: 1, par: 1}]};
const serveOurs = async (page) => {
  await page.route('**/lessons/index.json', (route) => route.fulfill({json: list}));
  await page.route('**/lessons/a.json', (route) => route.fulfill({json: query}));
  await page.route('**/lessons/b.json', (route) => route.fulfill({json: puzzle}));
};

onBoard('a reader who left the Guide open finds a lesson there; a click closes it, and it stays closed', async (board) => {
  await board.until('the lesson is open', () => document.querySelector('attention-playground').items().some(({name}) => name === 'guide:choice:0'));
  await board.click('guide-close');
  await board.settle();
  await board.page.reload();
  await board.page.evaluate(() => customElements.whenDefined('attention-playground').then(() => document.querySelector('attention-playground').ready.then(() => true)));
  await board.rest();
  const shown = await names(board);
  assert.ok(shown.includes('panel:guide') && shown.includes('causal') && !shown.some((name) => name.startsWith('guide')));
}, {guide: true, prepare: serveOurs});

onBoard('no lesson is asked for before the first frame', async (board) => {
  await board.until('the lesson is open', () => document.querySelector('attention-playground').items().some(({name}) => name.startsWith('guide-next')));
  const asked = await board.page.evaluate(() => globalThis.lessonsAsked);
  assert.ok(asked.length >= 2, 'the list and the lesson');
  for (const {url, isDrawn} of asked) assert.ok(isDrawn, `${url} was asked for before anything was drawn`);
}, {guide: true, prepare: (page) => page.addInitScript(() => {
  const {fetch} = globalThis;
  globalThis.lessonsAsked = [];
  globalThis.fetch = (address, ...rest) => {
    const url = String(address?.url ?? address);
    if (url.includes('/lessons/')) globalThis.lessonsAsked.push({url, isDrawn: document.querySelector('attention-playground').shadowRoot?.querySelector('canvas')?.style.visibility === ''});
    return fetch(address, ...rest);
  };
})});

/** A visit with the Guide open whose lessons do not arrive before `act`, which changes the board, has been called. */
async function guidedVisit(path, act) {
  let release;
  const released = new Promise((resolve) => { release = resolve; });
  const board = await browser.open(path, {guide: true, prepare: (page) => page.route('**/lessons/*', async (route) => {
    await released;
    await route.continue().catch(() => {});  // the page may have been closed
  })});
  await act(board);
  const arrived = board.page.waitForResponse(/lessons\/index\.json/);
  release();
  return {board, arrived};
}
const isListed = (board) => board.until('the list of lessons', () => document.querySelector('attention-playground').items().some(({name}) => name === 'guide:open:dot-product'));

for (const [what, act, check] of [
  ['an option that a script has set', (board) => board.call('set', 'tokens', 20), async (board) => assert.equal(await board.get('tokens'), 20)],
  ['a number that the reader has dragged', async (board) => {
    board.was = await board.value('q', 0, 0, 0);
    await board.drag('q', [0, 0, 0], 40, 0);
  }, async (board) => assert.ok(Math.abs(await board.value('q', 0, 0, 0) - board.was - 0.4) < 1e-6)],
  ['a tensor that a script has set', (board) => board.page.evaluate(() => document.querySelector('attention-playground').setTensor('q', Array(24).fill(0.5))),
    async (board) => assert.deepEqual((await board.tensor('q')).data, Array(24).fill(0.5))],
  ['a state that a script has set', (board) => board.page.evaluate(() => {
    const element = document.querySelector('attention-playground');
    element.setState({...element.getState(), causal: false, temperature: 2});
  }), async (board) => assert.deepEqual([await board.get('causal'), await board.get('temperature')], [false, 2])],
  ['a file that was dropped', async (board) => {
    await board.page.evaluate(() => {
      const dataTransfer = new DataTransfer(), rows = [[1, 2], [3, 4], [5, 6]];
      dataTransfer.items.add(new File([JSON.stringify({q: rows, k: rows, v: rows})], 'tensors.json'));
      for (const type of ['dragenter', 'dragover', 'drop']) document.querySelector('attention-playground').dispatchEvent(new DragEvent(type, {dataTransfer, bubbles: true, cancelable: true}));
    });
    await board.until('the file', () => document.querySelector('attention-playground').get('tokens') === 3);
  }, async (board) => assert.deepEqual([...(await board.tensor('q')).data], [1, 2, 3, 4, 5, 6])],
  ['a file that its author opens by src', async (board) => {
    await board.page.route('**/own.json', (route) => route.fulfill({json: {q: [[7]], k: [[7]], v: [[7]]}}));
    await board.page.evaluate(() => { document.querySelector('attention-playground').src = 'own.json'; });
    await board.until('the file', () => document.querySelector('attention-playground').get('tokens') === 1);
  }, async (board) => assert.deepEqual([...(await board.tensor('q')).data], [7])],
  ['a view that a script has opened', (board) => board.call('set', 'view', 'cost'), async (board) => assert.equal(await board.get('view'), 'cost')],
]) {
  test(`the Guide does not replace ${what} before its lessons arrived, and shows its list`, async () => {
    const {board, arrived} = await guidedVisit('/', act);
    await arrived;
    if (await board.get('view') === 'layer') await isListed(board);
    await board.rest();
    await check(board);
    await board.close();
  });
}

test('a model goes on training when the lessons arrive', async () => {
  const {board, arrived} = await guidedVisit('/', (page) => page.page.evaluate(() => { globalThis.trained = document.querySelector('attention-playground').train(40); }));
  await arrived;
  assert.equal(await board.page.evaluate(async () => (await globalThis.trained).step), 40);
  await board.close();
});

test('a first visit by ?preset= shows that preset, also the usual one, and no lesson over it', async () => {
  const board = await browser.open('/?preset=i-saw-a-saw', {guide: 'first'});
  const usual = await browser.open('/', {});
  assert.deepEqual((await board.tensor('q')).data, (await usual.tensor('q')).data);
  await board.rest();
  assert.equal(board.requests.filter((address) => address.includes('/lessons/')).length, 0);
  assert.ok(!(await names(board)).some((name) => name.startsWith('guide:') || name.startsWith('coach')));
  for (const one of [board, usual]) await one.close();
});

test('a first visit by a link shows the board of the link, and no lesson over it', async () => {
  const sender = await browser.open('/');
  await sender.call('set', 'tokens', 7);
  const address = new URL(await sender.call('link'));
  const board = await browser.open(address.pathname + address.search + address.hash, {guide: 'first'});
  await board.rest();
  assert.equal(await board.get('tokens'), 7);
  assert.ok(!(await names(board)).some((name) => name.startsWith('guide') || name.startsWith('coach')));
  for (const {page} of [sender, board]) await page.context().close();
});

onBoard('the list opens what is clicked, is searched, and says what was passed, also after a reload', async (board) => {
  await board.click('panel:guide');
  await board.until('the list is there', () => document.querySelector('attention-playground').items().some(({name}) => name === 'guide:open:mine'));
  await board.click('guide:tab:puzzle');
  await board.until('the puzzles', () => document.querySelector('attention-playground').items().some(({name}) => name === 'guide:open:last'));
  await board.click('guide:open:last');
  await board.until('the puzzle is open', () => document.querySelector('attention-playground').items().some(({name}) => name === 'guide-next'));
  await board.page.evaluate(() => document.querySelector('attention-playground').set('causal', false));
  await board.settle();
  await board.page.reload();
  await board.page.evaluate(() => customElements.whenDefined('attention-playground').then(() => document.querySelector('attention-playground').ready.then(() => true)));
  assert.match(await board.page.evaluate(() => localStorage['attention-playground']), /"passed":\{"last":\[0\]\}/);
}, {prepare: serveOurs});

onBoard('an embed has no Guide but where its author gives a lesson; hide takes it away', async (board) => {
  assert.ok(!(await names(board)).some((name) => name.startsWith('guide')));
  await open(board, query);
  assert.ok((await names(board)).includes('guide-strip'));
  await board.page.evaluate(() => { document.querySelector('attention-playground').hide = 'guide'; });
  await board.settle();
  assert.ok(!(await names(board)).some((name) => name.startsWith('guide')));
}, {path: '/pages/embed.html'});

for (const [width, height, place] of [[1440, 900, 'guide-close'], [1024, 768, 'guide-strip'], [640, 440, 'guide-strip'], [390, 844, 'guide-sheet'], [320, 568, 'guide-sheet'], [320, 320, 'guide-sheet']]) {
  onBoard(`${width} × ${height}: nothing of it leaves the window, and a choice can be clicked`, async (board) => {
    await open(board, query);
    await board.settle();
    const items = await board.call('items');
    const own = items.filter(({name}) => name.startsWith('guide'));
    assert.ok(own.some(({name}) => name === place));
    for (const {name, rect} of own) assert.ok(rect.x >= -1 && rect.y >= -1 && rect.x + rect.width <= width + 1 && rect.y + rect.height <= height + 1, name);
    if ((await names(board)).includes('guide-answer')) {  // if the choices do not fit in a row, they are in the whole lesson
      await board.click('guide-answer');
      await board.settle();
    }
    await board.click('guide:choice:0');
    await moved(board, 'q', -0.8, 0, 3, 2);
    await board.settle();
  }, {viewport: {width, height}});
}

test('our lessons together stay within 60 KB after Brotli, but for the numbers of recorded models', () => {
  const files = readdirSync(`${SITE}/lessons`).filter((name) => name !== 'schema.json' && !/^(real-model|trained-decoder)\./.test(name));
  const bytes = files.reduce((sum, name) => sum + brotliCompressSync(readFileSync(`${SITE}/lessons/${name}`)).length, 0);
  assert.ok(bytes <= 60 * 1024, `${bytes} bytes`);
});

onBoard('the numbers of a real model come when the example is opened, and not before', async (board) => {
  const asked = () => board.requests.filter((url) => url.includes('real-model')).length;
  assert.equal(asked(), 0);
  await open(board, 'real-model');
  assert.equal(asked(), 1);
  assert.deepEqual([await board.get('heads'), await board.get('d_k'), (await board.get('labels'))[9]], [12, 32, 'it']);
  const weights = await board.tensor('weights');
  assert.ok(Math.abs(weights.at(1, 9, 2) - 0.688) < 0.001, 'it looks at animal');
  assert.ok(Math.abs(weights.at(1, 5, 7) - 0.651) < 0.006, 'cross looks at street');
});
