// Values from careless and hostile scripts, for every method and attribute of the element: each is refused immediately by an error that
// names the argument, without any change; and dispose() at any moment.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {noteContexts, suite} from './harness.mjs';

const {browser} = suite();

/** A board on a page with `el`, the element, and functions that record the outcome of an action. */
async function open(options) {
  const board = await browser.open('/', options);
  await board.page.evaluate(() => {
    globalThis.el = document.querySelector('attention-playground');
    globalThis.LONG = 'x'.repeat(300_000_000);
    /** A Proxy of a list whose length and items may change with each read. */
    globalThis.shifty = (target, read) => new Proxy(target, {get: (_, key) => read(key) ?? Reflect.get(target, key)});
    globalThis.attempt = (act) => {
      const was = JSON.stringify(el.getState()), began = performance.now();
      let outcome = {type: 'none', field: '', message: ''};
      try {
        act();
      } catch (error) {
        outcome = {type: error.constructor.name, field: error.field ?? '', message: error.message};
      }
      return {...outcome, took: performance.now() - began, changed: JSON.stringify(el.getState()) !== was};
    };
  });
  return board;
}

/** Each row: what is done in the page, and the type and field of the expected error. */
const refusals = (name, rows) => test(name, async () => {
  const board = await open();
  for (const [act, type, field] of rows) {
    const {took, changed, ...error} = await board.page.evaluate(`attempt(${act})`);
    const what = `${String(act).replace(/\s+/g, ' ').slice(0, 120)} gave ${JSON.stringify(error)}`;
    assert.equal(error.type, type, what);
    assert.match(error.field, field, what);
    assert.match(error.message, /^[^\n\0]{12,600}$/, what);
    assert.ok(!changed, `${what}, and changed the state`);
    assert.ok(took < 10_000, `${what}, after ${Math.round(took)} ms`);
  }
  await board.check();
  await board.close();
});

const T = 'TypeError', R = 'RangeError';

// Invalid names for a method, and the type of the error.
const NAMES = [['undefined', T], ['null', T], ['7', T], ['{}', T], ['["q"]', T], ['Symbol("q")', T], ['{toString: () => "q"}', T], ['new String("q")', T],
  ['"q\\0"', R], ['"\\0q"', R], ['LONG', R]];
const named = (method, field, ...rest) => NAMES.map(([name, type]) => [`() => el.${method}(${[name, ...rest].join()})`, type, field]);

refusals('names', [
  ...named('getTensor', /^name$/), ...named('setTensor', /^name$/, '[1]', '[1]'), ...named('locate', /^name$/), ...named('explain', /^name$/),
  ...named('get', /^option$/), ...named('set', /^option$/, '1'),
  ['() => el.getTensor("")', R, /tensor/], ['() => el.getTensor("q\\ud800")', R, /tensor/], ['() => el.getTensor("__proto__")', R, /tensor/],
  ['() => el.get("constructor")', R, /option/], ['() => el.get("")', R, /option/], ['() => el.set("toString", 1)', R, /option/],
]);

refusals('places', ['locate', 'explain'].flatMap((method) =>
  ['NaN', '-1.5', '2 ** 32', '2 ** 32 + 2', 'Infinity', 'null', '"0"', '[0]', '0n', 'Symbol()', '{valueOf: () => 0}', 'new Number(0)'].flatMap((value) => [
    [`() => el.${method}("weights", ${value})`, T, /^head$/],
    [`() => el.${method}("weights", 0, ${value})`, T, /^row$/],
    [`() => el.${method}("weights", 0, 0, ${value})`, T, /^col$/]])));

refusals('numbers of a tensor', [
  ...['undefined', 'null', '3', '"text"', '{length: 12}', 'new DataView(new ArrayBuffer(48))', 'new ArrayBuffer(48)', '() => 1', 'new Set([1])', 'LONG']
    .map((data) => [`() => el.setTensor("q", ${data})`, T, /^data$/]),
  ...['[1, "2"]', '[1, null]', '[1,, 2]', '[1, 2n]', '[1, [2]]', '[1, Symbol()]', '[1, {valueOf: () => 2}]'].map((data) =>
    [`() => el.setTensor("q", ${data})`, T, /^data\[1\]$/]),
  ['() => el.setTensor("q", new BigInt64Array(24))', T, /^data\[0\]$/],
  ['() => el.setTensor("q", new Array(2 ** 32 - 1))', R, /^data$/],
  ['() => el.setTensor("q", new Uint8Array(2 ** 30 + 3))', R, /^data$/],
  ['() => el.setTensor("q", shifty([], (key) => key === "length" ? 2 ** 53 : 0))', R, /^data$/],
  ['() => el.setTensor("q", shifty([], (key) => key === "length" ? NaN : 0))', R, /^data$/],
  ['() => el.setTensor("q", shifty([], (key) => key === "length" ? -1 : 0))', R, /^data$/],
  ['() => { const data = new Float32Array(24); structuredClone(data, {transfer: [data.buffer]}); el.setTensor("q", data); }', R, /^q$/],
  ['() => el.setTensor("q", shifty(Array(24).fill(1), (key) => key === "23" ? "late" : undefined))', T, /^data\[23\]$/],
  ['() => el.setTensor("q", Array(24).fill(1e39))', R, /^q/], ['() => el.setTensor("q", Array(24).fill(NaN))', R, /^q/],
  ['() => el.setTensor("q", [])', R, /^q$/],
]);

refusals('shapes', [
  ...['null', '"1,4,3"', '{length: 3}', 'new Int32Array([2, 4, 3])', '12'].map((shape) => [`() => el.setTensor("q", Array(24).fill(1), ${shape})`, T, /^shape$/]),
  ...['0.5', 'NaN', 'Infinity', '"4"', '4n', 'null', '[4]', 'Symbol()'].map((size) => [`() => el.setTensor("q", Array(24).fill(1), [2, ${size}, 3])`, T, /^shape\[1\]$/]),
  ...['2 ** 32 + 4', '-4', '2 ** 31', '2 ** 53', '-(2 ** 32) + 4', '1e300'].map((size) => [`() => el.setTensor("q", Array(24).fill(1), [2, ${size}, 3])`, R, /^shape\[1\]$/]),
  ['() => el.setTensor("q", Array(24).fill(1), Array(1e6).fill(1))', R, /^shape$/],
  ['() => el.setTensor("q", Array(24).fill(1), shifty([], (key) => key === "length" ? 2 ** 32 - 1 : 1))', R, /^shape$/],
  ['() => el.setTensor("q", Array(24).fill(1), [])', R, /^q$/], ['() => el.setTensor("q", Array(24).fill(1), [1, 1, 4, 3])', R, /^q$/],
  ['() => el.setTensor("q", Array(24).fill(1), [65536, 65536])', R, /^q$/],
]);

refusals('states', [
  ...['undefined', 'null', '7', 'true', '1n', 'Symbol()', '() => 1'].map((state) => [`() => el.setState(${state})`, T, /^state$/]),
  ['() => el.setState(LONG)', R, /^state$/],
  ['() => el.setState({version: 1, note: LONG})', R, /^state$/],
  ['() => { const state = el.getState(); state.self = state; el.setState(state); }', T, /^state$/],
  ['() => el.setState({...el.getState(), big: 1n})', T, /^state$/],
  ['() => el.setState({toJSON: () => undefined})', T, /^state$/],
  ['() => el.setState({get version() { throw new Error("no reading"); }})', T, /^state$/],
  ['() => el.setState(new Proxy({}, {ownKeys() { throw null; }}))', T, /^state$/],
  ['() => el.setState({version: 1, list: shifty([], (key) => key === "length" ? 2 ** 40 : 0)})', R, /^state$/],
  ['() => { let deep = []; for (let i = 0; i < 1e6; i++) deep = [deep]; el.setState({version: 1, deep}); }', R, /^state$/],
  ['() => el.setState(JSON.stringify(el.getState()) + "\\0and more")', 'SyntaxError', /./],
  ['() => el.setState("\\0" + JSON.stringify(el.getState()))', 'SyntaxError', /./],
  ['() => el.setState(JSON.stringify(el.getState()).replace("version", "ver\\0sion"))', 'SyntaxError', /./],
  ...['null', '7', 'true', '"undoable"'].map((options) => [`() => el.setState(el.getState(), ${options})`, T, /^options$/]),
  ...['null', '0', '"no"', '{}'].map((value) => [`() => el.setState(el.getState(), {undoable: ${value}})`, T, /^undoable$/]),
]);

// For every option: values of other types, and values beyond its range.
refusals('values of options', [
  ...['undefined', 'Symbol()', '() => 1', 'NaN', 'Infinity', '1n', '{toJSON: () => undefined}', '{get x() { throw 1; }}'].flatMap((value) =>
    ['causal', 'heads', 'labels', 'temperature'].map((option) => [`() => el.set("${option}", ${value})`, T, new RegExp(`^${option}$`)])),
  ...['null', '"maybe"', '1', '[]', '{}', '[true]'].map((value) => [`() => el.set("causal", ${value})`, T, /^causal/]),
  ...['null', '"2"', '[2]', '{}', 'true', '{valueOf: () => 2}'].map((value) => [`() => el.set("heads", ${value})`, T, /^heads/]),
  ...['heads', 'tokens'].map((option) => [`() => el.set("${option}", 1.5)`, T, new RegExp(option)]),
  ...['2 ** 32 + 1', '1e300', '-1', '-(2 ** 31)'].map((value) => [`() => el.set("heads", ${value})`, R, /^heads/]),
  ...['2 ** 32 + 2', '1e300', '0', '-1'].map((value) => [`() => el.set("tokens", ${value})`, R, /^tokens/]),
  ...['null', '[1]', '[null]', '[["a"]]', '7'].map((value) => [`() => el.set("labels", ${value})`, T, /^labels/]),
  ['() => el.set("labels", LONG)', R, /^labels$/], ['() => el.set("labels", [LONG])', R, /^labels$/],
  ['() => el.set("labels", shifty([], (key) => key === "length" ? 2 ** 32 : "a"))', R, /^labels$/],
  ['() => el.set("labels", ["a\\0b", "c", "d", "e"])', R, /^labels/], ['() => el.setState({...el.getState(), preset: "a\\0b"})', R, /^preset/],
  ['() => el.set("labels", ["x".repeat(1e7), "b", "c", "d"])', R, /^labels/],
  ['() => el.set("theme", LONG)', R, /^theme$/], ['() => el.set("theme", "x".repeat(1e7))', R, /^theme$/], ['() => el.set("theme", "dark\\0")', R, /^theme/],
]);

test('what changes while it is read is read once', async () => {
  const board = await open();
  const got = await board.page.evaluate(() => {
    const reads = {};
    const counting = (target, name) => new Proxy(target, {get(_, key) {
      if (typeof key === 'string' && /^(\d+|length)$/.test(key)) reads[`${name}.${key}`] = (reads[`${name}.${key}`] ?? 0) + 1;
      return Reflect.get(target, key);
    }});
    el.setTensor('q', counting(Array.from({length: 24}, (_, i) => i / 4), 'data'), counting([2, 4, 3], 'shape'));
    const first = Array.from(el.getTensor('q').data);
    // Numbers at the first read, texts later; a length that grows.
    const seen = new Set();
    el.setTensor('k', shifty(Array(24).fill(0.5), (key) => seen.has(key) ? 'later' : (/^\d+$/.test(key) && seen.add(key), undefined)));
    let length = 23;
    el.setTensor('v', shifty(Array(24).fill(0.25), (key) => key === 'length' ? ++length : undefined));
    let temperature = 1;
    const state = el.getState();
    el.setState(Object.defineProperty({...state}, 'temperature', {enumerable: true, get: () => ++temperature}));
    return {most: Math.max(...Object.values(reads)), first, k: Array.from(el.getTensor('k').data), v: Array.from(el.getTensor('v').data), temperature: el.get('temperature')};
  });
  assert.equal(got.most, 1);
  assert.deepEqual(got.first, Array.from({length: 24}, (_, i) => i / 4));
  assert.ok(got.k.every((value) => value === 0.5) && got.v.every((value) => value === 0.25));
  assert.equal(got.temperature, 2);
  await board.check();
  await board.close();
});

test('memory that is shared, resized or looks otherwise than it is', async () => {
  const board = await open();
  const got = await board.page.evaluate(() => {
    class Liar extends Float32Array {
      get length() { return 2 ** 31; }
    }
    el.setTensor('q', new Liar(24).fill(0.5));
    const resizable = new ArrayBuffer(96, {maxByteLength: 192}), view = new Float32Array(resizable);
    view.fill(0.75);
    el.setTensor('k', view);
    resizable.resize(0);
    el.setTensor('v', new Float64Array(24).fill(1 / 3));
    return ['q', 'k', 'v'].map((name) => new Set(el.getTensor(name).data).size === 1 && el.getTensor(name).data[0]);
  });
  assert.deepEqual(got, [0.5, 0.75, Math.fround(1 / 3)]);
  await board.check();
  await board.close();
});

test('texts of any characters stay as they are', async () => {
  const board = await open();
  const labels = ['\u{F0000}-0', 'a"\\b', '\u{1F600}\u202E', '-0.0'];
  await board.call('set', 'labels', labels);
  assert.deepEqual(await board.get('labels'), labels);
  const state = await board.call('getState');
  const odd = {...state, note: 'a\0b', 'c\0d': ['\0', '\u2028']};
  await board.call('setState', odd);
  assert.deepEqual(await board.call('getState'), odd, 'NUL too, where a text may hold it');
  assert.deepEqual(await board.get('labels'), labels);
  await board.check();
  await board.close();
});

// ---------------------------------------------------------------- attributes

const ATTRIBUTES = ['preset', 'state', 'hide', 'lock', 'theme', 'wheel'];

test('undefined and null take an attribute away, other values that are no texts are refused', async () => {
  const board = await open();
  const errors = await board.listen('error');
  const DEFAULTS = {theme: 'auto', wheel: 'focus'};
  for (const name of ATTRIBUTES) {
    for (const nothing of ['undefined', 'null']) {
      const value = await board.page.evaluate(`(() => { const kept = el.getAttribute('${name}'); el.${name} = ${nothing}; return [el.hasAttribute('${name}'), el.${name}]; })()`);
      assert.deepEqual(value, [false, DEFAULTS[name] ?? ''], `${name} = ${nothing}`);
    }
    for (const odd of ['Symbol()', '() => 1', ...(name === 'state' ? ['1n'] : ['{}', 'new Proxy({}, {})', '[Symbol()]', '[7]', 'new String("x")'])]) {
      if (name === 'state' && odd === '1n') continue;
      const {type, field, changed} = await board.page.evaluate(`attempt(() => { el.${name} = ${odd}; })`);
      assert.deepEqual([type, changed], [T, false], `${name} = ${odd}`);
      assert.match(field, new RegExp(`^${name}`));
      assert.equal(await board.page.evaluate(`el.hasAttribute('${name}')`), false, `${name} = ${odd}`);
    }
  }
  assert.deepEqual(await errors(), []);
  await board.page.evaluate(() => { el.hide = ['panel', 'arcs']; });
  assert.equal(await board.page.evaluate(() => el.getAttribute('hide')), 'panel,arcs');
  await board.page.evaluate(() => { el.theme = 'dark'; });
  assert.equal(await board.get('theme'), 'dark');
  await board.page.evaluate(() => { el.theme = undefined; });
  assert.equal(await board.get('theme'), 'auto', 'as it is without the attribute');
  await board.check();
  await board.close();
});

test('attributes that are wrong are said, at once, and the board stays', async () => {
  const board = await open({allow: [/^<attention-playground> \w+: there is no /]});
  const errors = await board.listen('error');
  const was = await board.call('getState');
  for (const name of ATTRIBUTES) {
    for (const value of ['LONG', '"\\0"', '"x".repeat(1e5)', '"\\ud800"']) {
      const took = await board.page.evaluate(`(() => { const began = performance.now(); el.setAttribute('${name}', ${value}); return performance.now() - began; })()`);
      assert.ok(took < 10_000, `${name} = ${value} took ${took} ms`);
    }
    await board.page.evaluate((attribute) => el.removeAttribute(attribute), name);
  }
  assert.deepEqual({...await board.call('getState'), theme: was.theme}, was);
  const messages = (await errors()).map(({detail}) => detail.message);
  assert.ok(messages.length >= 12, `${messages.length} sentences`);
  for (const message of messages) assert.match(message, /^[^\n\0]{12,600}$/);
  for (const name of ['preset', 'state', 'hide', 'lock', 'theme']) assert.ok(messages.some((message) => message.startsWith(`${name} is too long`)), name);
  await board.check();
  await board.close();
});

test('hostile properties and attributes before the start: the board still starts', async () => {
  const board = await browser.open('/pages/embed.html', {allow: [/Symbol|theme must be/]});
  const started = await board.page.evaluate(async () => {
    const frame = document.body.appendChild(document.createElement('iframe'));
    const early = frame.contentDocument.createElement('attention-playground');
    Object.assign(early, {state: undefined, preset: null, theme: Symbol('dark'), hide: 'panel'});
    for (const name of ['lock', 'state']) early.setAttribute(name, 'x'.repeat(1e8));
    document.body.append(early);
    customElements.upgrade(early);
    await early.ready;
    return [early.hide, early.theme, early.getTensor('q').shape];
  });
  assert.deepEqual(started, ['panel', 'auto', [2, 4, 3]]);
  await board.close();
});

// ---------------------------------------------------------------- dispose() at any moment

/** A fresh element that disposes of itself in the first event of that type; then runs `act`. */
const disposing = (type, act) => `(async () => {
  const one = document.createElement('attention-playground');
  one.preset = 'i-saw-a-saw';
  let heard = 0;
  const end = () => { heard++; one.dispose(); };
  if ('${type}' === 'ready') one.addEventListener('ready', end);
  document.body.prepend(one);
  await one.ready;
  if ('${type}' !== 'ready') one.addEventListener('${type}', end);
  const outcome = await (${act})(one);
  const request = globalThis.requestAnimationFrame;
  let asked = 0;
  globalThis.requestAnimationFrame = (f) => { asked++; return request(f); };
  for (let i = 0; i < 3; i++) await new Promise((done) => request(done));
  globalThis.requestAnimationFrame = request;
  let refused = '';
  try { one.getState(); } catch (error) { refused = error.message; }
  const left = one.shadowRoot.querySelectorAll('canvas, input, .drop').length;
  one.remove();
  return {heard, refused, left, asked, outcome};
})()`;

// A press and its release: the selection is reported on release.
const POINT = `(one, name, ...cell) => {
  const {x, y, width, height} = one.locate(name, ...cell), canvas = one.shadowRoot.querySelector('canvas');
  for (const type of ['pointerdown', 'pointerup']) {
    canvas.dispatchEvent(new PointerEvent(type, {clientX: x + width / 2, clientY: y + height / 2, button: 0, detail: 1,
      pointerId: 1, isPrimary: true, pointerType: 'touch', bubbles: true, composed: true, cancelable: true}));
  }
}`;

test('dispose() in a listener, whatever was on its way', async () => {
  const board = await browser.open('/pages/embed.html', {allow: [/CONTEXT_LOST_WEBGL|GroupMarkerNotSet|GL Driver/], prepare: noteContexts, seen: true});
  const rows = [
    ['ready', '(one) => one.ready.then(() => 1, () => 0)'],
    ['change', '(one) => one.set("causal", false)'], ['change', '(one) => one.set("tokens", 7)'], ['change', '(one) => one.reset()'],
    ['change', '(one) => { one.setTensor("q", Array(24).fill(1)); }'],
    ['change', '(one) => one.setState(one.getState())'],
    ['change', '(one) => { one.preset = "uniform"; }'], ['change', '(one) => { one.theme = "dark"; }'],
    ['error', '(one) => { one.state = "{"; }'], ['error', '(one) => { one.preset = "none"; }'], ['error', '(one) => { one.hide = "x".repeat(1e5); }'],
    ['error', '(one) => { globalThis.contexts.find((gl) => !gl.isContextLost()).getExtension("WEBGL_lose_context").loseContext(); return new Promise((done) => one.addEventListener("error", done)); }'],
    ['select', `(one) => (${POINT})(one, "q", 0, 1, 1)`],
    ['focusin', `(one) => (${POINT})(one, "q", 0, 1, 1)`],
    ['pointerdown', `(one) => (${POINT})(one, "q", 0, 1, 1)`],
    ['input', `async (one) => {
      (${POINT})(one, "q", 0, 1, 1);
      const {x, y} = one.locate("q", 0, 1, 1), canvas = one.shadowRoot.querySelector("canvas");
      for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
      canvas.dispatchEvent(new PointerEvent("pointerdown", {clientX: x + 4, clientY: y + 4, button: 0, pointerId: 1, isPrimary: true, pointerType: "touch", bubbles: true, composed: true}));
      for (let i = 1; i < 90; i += 8) canvas.dispatchEvent(new PointerEvent("pointermove", {clientX: x + i, clientY: y, pointerId: 1, isPrimary: true, pointerType: "touch"}));
      try { one.getTensor("weights"); one.getState(); } catch { /* it was disposed of by now */ }
    }`],
    ['drop', `async (one) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["{}"], "a.json"));
      for (const type of ["dragenter", "drop"]) one.dispatchEvent(new DragEvent(type, {dataTransfer, bubbles: true, cancelable: true}));
    }`],
  ];
  await board.page.evaluate(() => (globalThis.own = document.querySelector('attention-playground')).remove());
  for (const [type, act] of rows) {
    const {outcome, ...got} = await board.page.evaluate(disposing(type, act));
    assert.deepEqual(got, {heard: 1, refused: 'This playground was disposed of.', left: 0, asked: 0}, `${type}: ${act.slice(0, 80)}`);
    if (type === 'ready') assert.equal(outcome, 1);
  }
  await board.page.evaluate(() => {
    document.body.append(globalThis.own);
    return globalThis.own.ready;
  });
  await board.check();
  await board.close();
});

test('dispose() before, in the middle of and after all, twice; ready says so', async () => {
  const board = await browser.open('/pages/embed.html', {allow: [/CONTEXT_LOST_WEBGL/]});
  const got = await board.page.evaluate(async () => {
    const make = () => document.createElement('attention-playground');
    const message = (one) => one.ready.then(() => 'ready', (error) => error.message);
    const never = make();
    never.dispose();
    document.body.prepend(never);
    const early = make();
    document.body.prepend(early);
    early.dispose();
    early.dispose();
    const wrong = make();  // disposed of by the error of an attribute during its start
    wrong.preset = 'no-such-preset';
    wrong.theme = 'dark';
    wrong.addEventListener('error', () => wrong.dispose());
    document.body.prepend(wrong);
    const late = make();
    document.body.prepend(late);
    await late.ready;
    late.dispose();
    late.dispose();
    for (const name of ['theme', 'state', 'hide']) late[name] = 'x';
    const outcome = [await message(never), await message(early), await message(wrong), await message(late)];
    for (const one of [never, early, wrong, late]) one.remove();
    return outcome;
  });
  const disposed = 'This playground was disposed of.';
  assert.deepEqual(got, [disposed, disposed, disposed, 'ready']);
  await board.check();
  await board.close();
});

test('listeners that call back get their own answers, and so does who called', async () => {
  const board = await open();
  const got = await board.page.evaluate(() => {
    const inner = [];
    const answers = () => inner.push(el.get('d_k'), el.getTensor('q').shape.join(), el.get('decimals'));
    el.addEventListener('change', answers);
    const outer = [el.set('decimals', 4), el.get('decimals'), el.getTensor('q').shape.join()];
    // Pending input is processed and reported inside these calls.
    const {x, y} = el.locate('q', 0, 1, 1), canvas = el.shadowRoot.querySelector('canvas');
    const send = (type, dx) => canvas.dispatchEvent(new PointerEvent(type, {clientX: x + 9 + dx, clientY: y + 9, button: 0, pointerId: 1, isPrimary: true, pointerType: 'pen', bubbles: true}));
    el.addEventListener('input', answers);
    send('pointerdown', 0);
    send('pointermove', 30);
    send('pointermove', 60);
    outer.push(el.getTensor('weights').shape.join(), el.getState().version, el.explain('weights').terms.length > 0);
    send('pointerup', 60);
    el.removeEventListener('change', answers);
    el.removeEventListener('input', answers);
    return {inner, outer};
  });
  assert.deepEqual(got.outer, [undefined, 4, '2,4,3', '2,4,4', 1, true]);
  assert.ok(got.inner.length >= 6);
  got.inner.forEach((answer, i) => assert.equal(answer, [3, '2,4,3', 4][i % 3]));
  await board.check();
  await board.close();
});

test('listeners that change the board without end are stopped by an error, and the board stays', async () => {
  const board = await browser.open('/', {allow: [/call each other, without end/]});
  await board.page.evaluate(() => {
    const el = document.querySelector('attention-playground');
    let n = 0;
    el.addEventListener('change', function again() { el.set('decimals', ++n % 3 + 1); });
    el.addEventListener('error', () => { el.setAttribute('state', `{${++n}`); });
    el.set('decimals', 4);
    el.setAttribute('state', '{');
  });
  assert.deepEqual(board.complaints, []);
  await board.check();
  await board.close();
});

test('a listener of the focus changes the board while a field opens', async () => {
  const board = await open();
  await board.page.evaluate(() => {
    document.addEventListener('focusin', () => el.set('decimals', el.get('decimals') % 4 + 1));
    document.addEventListener('focusout', () => el.set('causal', !el.get('causal')));
  });
  await board.doubleClick('q', 0, 1, 1);
  await board.type('2.5');
  await board.press('Enter');
  assert.equal(await board.value('q', 0, 1, 1), 2.5);
  await board.check();
  await board.close();
});
