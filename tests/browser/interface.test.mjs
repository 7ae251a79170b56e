// The custom element as used by page scripts, and all kinds of invalid input: a typed error or a message, and the board is kept.
import assert from 'node:assert/strict';
import {suite} from './harness.mjs';

const {onBoard} = suite();

/** The call must fail with an error of that type for that field, and change nothing. */
async function refused(board, type, field, method, ...values) {
  const was = await board.call('getState');
  await assert.rejects(board.call(method, ...values), (error) => {
    const what = `${method}(${JSON.stringify(values)?.slice(0, 60)})`;
    assert.equal(error.type, type, `${what}: ${error.message}`);
    assert.match(error.field ?? '', field, `${what}: ${error.message}`);
    assert.match(error.message, /^[^\n]{12,600}$/, `${what}: a sentence`);
    return true;
  });
  assert.deepEqual(await board.call('getState'), was);
}

onBoard('the state goes out and comes back, bit for bit', async (board) => {
  const odd = [0.1, 1 / 3, -0, 1e-40, 3.4028235e38, -1.17549435e-38, 0.30000001, 16777217, 1e20, -7.25, 5e-324, 2 ** -149].map(Math.fround);
  await board.call('setTensor', 'q', [...odd, ...odd]);
  const q = await board.tensor('q');
  const state = await board.call('getState');
  await board.call('reset');
  await board.call('setState', state);
  assert.deepEqual((await board.tensor('q')).data, q.data);
  assert.equal(JSON.stringify(await board.call('getState')), JSON.stringify(state));
  await board.call('setState', JSON.stringify(state), {undoable: false});
  assert.equal(await board.call('undo'), false, 'undoable: false begins a new history');
});

onBoard('setState is one step of undo', async (board) => {
  const was = await board.call('getState');
  await board.call('setState', {...was, causal: !was.causal, temperature: 2});
  assert.equal(await board.get('temperature'), 2);
  assert.equal(await board.call('undo'), true);
  assert.deepEqual(await board.call('getState'), was);
  assert.equal(await board.call('redo'), true);
  assert.equal(await board.get('temperature'), 2);
});

onBoard('tensors in and out', async (board) => {
  const {data, shape} = await board.tensor('k');
  assert.equal(data.length, shape[0] * shape[1] * shape[2]);
  await board.call('setTensor', 'k', data.map((_, i) => i / 8), shape);
  assert.equal(await board.value('k', 0, 0, 1), 0.125);
  await board.check();
  await board.page.evaluate(() => {
    const element = document.querySelector('attention-playground');
    const {data: copy, shape: same} = element.getTensor('k');
    copy.fill(1);
    element.setTensor('v', copy, same);
    copy.fill(NaN);  // a copy: the board is not affected
  });
  assert.ok((await board.tensor('v')).data.every((value) => value === 1));
  assert.equal(await board.value('k', 0, 0, 1), 0.125);
});

onBoard('set and get every option', async (board) => {
  for (const [option, value] of [['causal', false], ['scale', false], ['temperature', 0.5], ['tokens', 6], ['d_k', 4],
    ['heads', 2], ['focus_head', 1], ['decimals', 3], ['theme', 'dark'], ['mode', 'x'], ['model_dim', 5], ['seed', 7],
    ['labels', ['a', 'b', 'c', 'd', 'e', 'f']]]) {
    await board.call('set', option, value);
    assert.deepEqual(await board.get(option), value, option);
    await board.check();
  }
});

onBoard('locate, items, explain, stats', async (board) => {
  const {x, y, width, height} = await board.call('locate', 'weights', 0, 3, 2);
  assert.ok(x > 0 && y > 0 && width > 10 && height > 10);
  const items = await board.call('items');
  assert.ok(items.some((item) => item.name === 'causal' && item.rect));
  const {text, terms} = await board.call('explain', 'weights', 0, 3, 2);
  const shown = (await board.value('weights', 0, 3, 2)).toFixed(2);
  assert.match(text, new RegExp(shown.replace('.', '\\.')));
  assert.ok(terms.length >= 4 && terms.every((term) => term.label && term.text));
  const stats = await board.stats();
  assert.ok(stats.frames > 0 && stats.frameMs > 0 && stats.heapBytes >= 1 << 20);
  assert.match(stats.kernel, /^wasm-(relaxed|simd128)$/);
});

onBoard('events: select, input, change; none of them leaves the element', async (board) => {
  const events = await board.listen('select', 'input', 'change');
  await board.page.evaluate(() => {
    globalThis.leaked = [];
    for (const type of ['select', 'input', 'change', 'error', 'ready']) document.addEventListener(type, () => globalThis.leaked.push(type));
  });
  await board.drag('q', [0, 1, 2], 20, 0);
  const types = (await events()).map((e) => e.type);
  assert.equal(types[0], 'select');
  assert.ok(types.includes('input'));
  assert.equal(types.filter((type) => type === 'change').length, 1);
  await board.doubleClick('q', 0, 0, 0);
  await board.type('1');
  await board.press('Enter');
  assert.deepEqual(await board.page.evaluate(() => globalThis.leaked), []);
});

onBoard('events say who changed what, and the value before and after', async (board) => {
  const events = await board.listen('input', 'change');
  const last = async () => (await events()).at(-1).detail;
  await board.call('set', 'causal', false);
  assert.deepEqual(await last(), {source: 'script', name: 'causal', option: 'causal', before: true, after: false});
  await board.click('causal');
  assert.deepEqual(await last(), {source: 'user', name: 'causal', option: 'causal', before: false, after: true});
  const was = await board.value('q', 0, 1, 2);
  await board.drag('q', [0, 1, 2], 20, 0);
  const {before, after, ...where} = await last();
  assert.deepEqual(where, {source: 'user', name: 'q', head: 0, row: 1, col: 2});
  assert.deepEqual([before, after].map(Math.fround), [was, await board.value('q', 0, 1, 2)]);
  await board.page.keyboard.press('Control+z');
  assert.deepEqual(await last(), {source: 'user', action: 'undo'});
  for (const [action, ...call] of [['redo', 'redo'], ['undo', 'undo'], ['reset', 'reset'], ['open', 'setState', await board.call('getState')]]) {
    await board.call(...call);
    assert.deepEqual(await last(), {source: 'script', action});
  }
});

onBoard('a listener may change the board, or throw, without harm', async (board) => {
  await board.page.evaluate(() => {
    const element = document.querySelector('attention-playground');
    element.addEventListener('change', () => { element.set('decimals', 4); }, {once: true});
    element.addEventListener('select', () => { throw new Error('the page\'s own mistake'); }, {once: true});
  });
  await board.drag('q', [0, 0, 0], 20, 0);
  assert.equal(await board.get('decimals'), 4);
  board.complaints.length = 0;
});

onBoard('attributes can change at any time', async (board) => {
  const setAttribute = (name, value) => board.page.evaluate(([n, v]) => document.querySelector('attention-playground').setAttribute(n, v), [name, value]);
  await setAttribute('preset', 'uniform');
  assert.equal((await board.call('getState')).preset, 'uniform');
  await setAttribute('lock', 'q,causal');
  await board.settle();
  const was = await board.call('getState');
  await board.drag('q', [0, 0, 0], 30, 0);
  await board.click('causal');
  assert.deepEqual(await board.call('getState'), was, 'what is locked cannot be changed');
  await setAttribute('hide', 'inspector,arcs,panel');
  await board.settle();
  await assert.rejects(board.call('locate', 'temperature'), /temperature/);
  await setAttribute('hide', '');
  await setAttribute('state', JSON.stringify({...was, decimals: 1, causal: !was.causal}));
  assert.equal(await board.get('causal'), !was.causal);
  const events = await board.listen('error');
  await setAttribute('preset', 'unifrom');
  await setAttribute('state', '{');
  const errors = await events();
  assert.deepEqual(errors.map((e) => e.detail.type), ['state', 'state']);
  assert.match(errors[0].detail.message, /unifrom.*perhaps uniform/s);
});

// ---------------------------------------------------------------- bad input

onBoard('bad state text', async (board) => {
  const good = await board.call('getState');
  const text = JSON.stringify(good);
  const bad = (type, field, value) => refused(board, type, field, 'setState', value);
  await bad('SyntaxError', /./, '');
  await bad('SyntaxError', /./, '{');
  await bad('SyntaxError', /./, text.slice(0, text.length / 2));
  await bad('SyntaxError', /./, text.slice(0, -1));
  await bad('SyntaxError', /./, 'hello');
  await bad('SyntaxError', /./, '[[[[[[[[[['.repeat(20000));
  await bad('TypeError', /./, '[]');
  await bad('TypeError', /./, 'null');
  await bad('TypeError', /./, '3');
  await bad('RangeError', /version/, {...good, version: 2});
  await bad('TypeError', /version/, {...good, version: 'one'});
  await bad('TypeError', /causal/, {...good, causal: 'yes'});
  await bad('RangeError', /tokens/, {...good, tokens: 1e9});
  await bad('RangeError', /tokens/, {...good, tokens: -1});
  await bad('RangeError', /heads/, {...good, heads: 0});
  await bad('RangeError', /temperature/, {...good, temperature: 0});
  await bad('RangeError', /temperature/, {...good, temperature: 1e308});
  await bad('TypeError', /labels/, {...good, labels: [1, 2]});
  await bad('RangeError', /q/, {...good, q: {shape: [1, 1e6, 1e6], data: []}});
  await bad('RangeError', /q/, {...good, q: {...good.q, data: [1]}});
  await bad('TypeError', /q/, {...good, q: {...good.q, shape: 'wide'}});
  await bad('TypeError', /q/, {...good, q: {...good.q, data: 'NaN'}});
});

onBoard('a state in which numbers are too large for a float, or not numbers', async (board) => {
  const good = await board.call('getState');
  const text = JSON.stringify(good);
  const first = JSON.stringify(good.q.data);
  for (const word of ['NaN', 'Infinity', '1e999', '"x"', 'null', '1e40']) {
    const changed = text.replace(`"data":${first}`, `"data":${first.replace(/-?[\d.]+(e[-+]?\d+)?/, word)}`);
    assert.notEqual(changed, text);
    const was = await board.call('getState');
    await assert.rejects(board.call('setState', changed), (error) => ['SyntaxError', 'TypeError', 'RangeError'].includes(error.type));
    assert.deepEqual(await board.call('getState'), was);
  }
});

onBoard('huge state text', async (board) => {
  const result = await board.page.evaluate(() => {
    const element = document.querySelector('attention-playground');
    try {
      element.setState(`{"version":1,"x":"${'a'.repeat(180 << 20)}"}`);
    } catch (error) {
      return {type: error.constructor.name, message: error.message};
    }
  });
  assert.equal(result.type, 'RangeError');
  assert.match(result.message, /bytes|MB|long|large/);
});

onBoard('unknown fields of a newer minor version are kept', async (board) => {
  const good = await board.call('getState');
  await board.call('setState', {...good, sparkle: {a: [1, 2]}});
  assert.deepEqual((await board.call('getState')).sparkle, {a: [1, 2]});
});

onBoard('bad arguments', async (board) => {
  await refused(board, 'RangeError', /option/, 'set', 'colour', 1);
  await refused(board, 'RangeError', /option/, 'get', 'colour');
  await refused(board, 'TypeError', /causal/, 'set', 'causal', 'maybe');
  await refused(board, 'TypeError', /causal/, 'set', 'causal', null);
  await refused(board, 'RangeError', /heads/, 'set', 'heads', 5);
  await refused(board, 'RangeError', /tokens/, 'set', 'tokens', 1e12);
  await refused(board, 'RangeError', /temperature/, 'set', 'temperature', -1);
  await refused(board, 'RangeError', /mode|theme/, 'set', 'theme', 'pink');
  await refused(board, 'RangeError', /tensor/, 'getTensor', 'z');
  await refused(board, 'RangeError', /tensor/, 'setTensor', 'z', [1], [1]);
  await refused(board, 'RangeError', /weights/, 'setTensor', 'weights', [1], [1]);
  await refused(board, 'RangeError', /q/, 'setTensor', 'q', [1, 2], [1, 2]);
  await refused(board, 'TypeError', /data/, 'setTensor', 'q', 'text');
  await refused(board, 'TypeError', /data\[1\]/, 'setTensor', 'q', [1, '2']);
  await refused(board, 'TypeError', /shape/, 'setTensor', 'q', [1], [0.5]);
  await refused(board, 'TypeError', /state/, 'setState', 7);
  await refused(board, 'TypeError', /state/, 'setState', null);
  await refused(board, 'RangeError', /weights/, 'locate', 'weights', 0, 99, 0);
  await refused(board, 'RangeError', /locate/, 'locate', 'nothing');
  await refused(board, 'RangeError', /weights/, 'explain', 'weights', 0, -1, 0);
  for (const method of ['locate', 'explain']) {
    for (const row of ['0', NaN, 1.5, 2 ** 32, null]) await refused(board, 'TypeError', /^row$/, method, 'weights', 0, row, 0);
  }
});

onBoard('a tensor with NaN or infinity', async (board) => {
  const {data, shape} = await board.tensor('q');
  for (const value of ['NaN', 'Infinity', '-Infinity', '1e39']) {
    const was = await board.call('getState');
    const error = await board.page.evaluate(([numbers, dimensions, word]) => {
      const bad = numbers.with ? numbers.with(3, Number(word)) : numbers;
      try {
        document.querySelector('attention-playground').setTensor('q', bad, dimensions);
      } catch (e) {
        return {type: e.constructor.name, field: e.field, message: e.message};
      }
    }, [data, shape, value]);
    assert.match(error?.type ?? 'not refused', /TypeError|RangeError/, value);
    assert.match(error.field, /^q/);
    assert.deepEqual(await board.call('getState'), was);
  }
});

onBoard('an option that is no JSON', async (board) => {
  for (const value of ['NaN', 'Infinity', 'undefined', '() => 1', 'Symbol()']) {
    const error = await board.page.evaluate((code) => {
      const values = {NaN, Infinity, undefined, '() => 1': () => 1, 'Symbol()': Symbol()};
      try {
        document.querySelector('attention-playground').set('temperature', values[code]);
      } catch (e) {
        return e.constructor.name;
      }
    }, value);
    assert.equal(error, 'TypeError', value);
  }
});

// ---------------------------------------------------------------- dropped files

const TENSORS = {
  q: {shape: [2, 3], data: [1, 0, 0, 0, 1, 0]},
  k: {shape: [2, 3], data: [0.5, 0, 0, 0, 0.5, 1]},
  v: {shape: [2, 3], data: [1, 2, 3, 4, 5, 6]},
  options: {causal: false},
};

onBoard('a dropped tensors file is opened, and can be undone', async (board) => {
  const was = await board.call('getState');
  await board.drop(JSON.stringify(TENSORS));
  assert.equal(await board.get('tokens'), 2);
  assert.equal(await board.get('causal'), false);
  assert.deepEqual((await board.tensor('v')).data, [1, 2, 3, 4, 5, 6]);
  await board.check();
  await board.call('undo');
  assert.deepEqual(await board.call('getState'), was);
});

onBoard('heads of PyTorch, [batch, heads, length, width]', async (board) => {
  const tensor = (from) => ({shape: [1, 2, 3, 2], data: Array.from({length: 12}, (_, i) => Math.sin(i + from))});
  await board.drop(JSON.stringify({q: tensor(0), k: tensor(1), v: tensor(2)}));
  assert.deepEqual((await board.tensor('q')).shape, [2, 3, 2]);
});

onBoard('wrong files give a sentence in the page and an event, and the board stays', async (board) => {
  const events = await board.listen('error');
  const was = await board.call('getState');
  const wrong = ['', 'PNG\u0000\u0001', '{"q": 1}', '{"q": {"shape": [2, 2], "data": [[1, 2], [3]]}}',
    JSON.stringify({...TENSORS, q: {shape: [2, 3], data: [1, 0, 0, 0, 1]}}),
    JSON.stringify(TENSORS).replace('0.5', 'nought')];
  for (const text of wrong) await board.drop(text, 'wrong.json');
  assert.deepEqual(await board.call('getState'), was);
  const errors = await events();
  assert.equal(errors.length, wrong.length);
  for (const {detail} of errors) {
    assert.equal(detail.type, 'state');
    assert.match(detail.message, /wrong\.json/);
  }
  await board.settle();
  assert.ok((await board.call('items')).some(({name}) => name === 'notice'), 'the sentence is on the page');
});

onBoard('shapes that do not go together are asked about, and cancelling leaves the board as it was', async (board) => {
  const was = await board.call('getState');
  await board.drop(JSON.stringify({...TENSORS, k: {shape: [9, 4], data: Array(36).fill(0)}}), 'wrong.json');
  await board.rest();
  await board.click('form-cancel');
  await board.rest();
  assert.ok(!(await board.call('items')).some(({name}) => name === 'form'));
  assert.deepEqual(await board.call('getState'), was);
});
