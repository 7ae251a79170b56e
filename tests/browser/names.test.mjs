// Names that pages rely on: every name of an option, tensor, method, event and attribute, and every state text, as in the first version.
// tests/golden/element.json was written with getState(), getTensor() and get() of that version. Names may be added, but none of these may
// be removed, and old states must be read in the same way.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {suite} from './harness.mjs';

const golden = JSON.parse(readFileSync(new URL('../golden/element.json', import.meta.url), 'utf8'));

const {browser, onBoard} = suite();

for (const asText of [false, true]) {
  onBoard(`old states are read as they were written, as ${asText ? 'texts' : 'objects'}`, async (board) => {
    for (const {name, state, tensors} of golden.boards) {
      await board.call('setState', asText ? JSON.stringify(state) : state);
      const now = await board.call('getState');
      for (const [field, value] of Object.entries(state)) assert.deepEqual(now[field], value, `${name}: ${field}`);
      for (const [tensor, shape] of Object.entries(tensors)) assert.deepEqual((await board.tensor(tensor)).shape, shape, `${name}: ${tensor}`);
      await board.check();
    }
  });
}

onBoard('every option has its name, and what it was at the start', async (board) => {
  for (const [option, value] of Object.entries(golden.options)) assert.deepEqual(await board.get(option), value, option);
});

// Each with a value that was allowed; those before it make that value possible.
const CHANGES = [
  ['mode', 'qkv', 'x'], ['tokens', 6], ['labels', ['a', 'b', 'c', 'd', 'e', 'f'], 'I saw a saw too .'], ['d_k', 4], ['heads', 4, 1, 2], ['model_dim', 5], ['causal', false, true],
  ['scale', false, true, 0.25], ['temperature', 0.5, 1], ['focus_head', 1, 0], ['decimals', 0, 6, 2], ['theme', 'light', 'dark', 'auto'], ['seed', 7],
  ['score', 'dot', 'general', 'additive', 'cosine', 'scaled'], ['softcap', 2.5, 0], ['normalizer', 'sparsemax', 'entmax15', 'sigmoid', 'relu', 'hardmax', 'none', 'softmax'],
  ['position', 'sinusoidal', 'rotary', 'alibi', 'none'], ['causal_offset', 2, 0], ['window_left', 2, -1], ['window_right', 1, -1], ['prefix', 2, 0], ['key_length', 3, -1],
  ['pattern', 'local', 'dilated', 'strided', 'block', 'global', 'random', 'longformer', 'bigbird', 'none'],
  ['pattern_local', 2, 0], ['pattern_dilation', 2, 1], ['pattern_stride', 3, 0], ['pattern_block', 2, 0], ['pattern_global', 1, 0], ['pattern_random', 2, 0], ['pattern_seed', 9, 1],
  ['mask_after_softmax', true, false], ['kv_heads', 1, 2], ['d_v', 3], ['cross', true], ['key_tokens', 3], ['key_labels', ['x', 'y', 'z']], ['cross', false],
  ['hidden_heads', [1], []], ['average_heads', true, false], ['whole_projections', true, false], ['step', 2, 0], ['batch', 3], ['batch_item', 2, 0], ['batch', 1],
  ['block_residual', false, true], ['block_norm', 'pre', 'none', 'post'], ['block_activation', 'gelu', 'tanh', 'relu'], ['block_hidden', 3], ['block_dropout', 0.25, 0], ['block_epsilon', 0.001],
  ['block_seed', 5], ['segment_by', 'punctuation', 'tokens'], ['segment_tokens', 3], ['segment_seed', 4], ['experiment', 'spread', 'weights', 'reach', 'block', 'segments', 'none'],
  ['view', 'block', 'segments', 'spread', 'dense', 'memory', 'layer'], ['block_dropout_kind', 'plain', 'inverted'], ['block_dropout_seed', 8, -1],
  ['spread_dim', 37, 1, 1024], ['spread_mean', 0.35], ['spread_deviation', 2.1], ['spread_scaled', false, true], ['spread_seed', 2],
  ['dense_token', 2], ['dense_amount', 0.7], ['dense_moved', 'values', 'queries_keys', 'all'], ['dense_seed', 3],
  ['reach_tokens', 256], ['reach_recurrent', 1.03], ['reach_input', 0], ['reach_lead', -30], ['reach_seed', 9],
  ['gradient', true, false], ['spread_same', false, true], ['spread_key_mean', 0.5], ['spread_key_deviation', 1.5], ['spread_draws', 123],
  ['memory_cell', 'lstm', 'tanh'], ['memory_units', 6], ['memory_seed', 4], ['cost_tokens', 1000000, 0], ['cost_compare', 'heads', 'window', 'recurrent', 'score'], ['cost_window', 9],
  ['train_task', 'previous', 'induction', 'reverse', 'most_frequent', 'sort', 'translate', 'tags'], ['train_d_model', 24], ['train_heads', 3], ['train_layers', 1],
  ['train_feed_forward', false, true], ['train_layer_norm', false, true], ['train_residual', false, true], ['train_causal', false, true],
  ['train_position', 'none', 'rotary', 'alibi', 'learned', 'sinusoidal'], ['train_score', 'dot', 'cosine', 'scaled'], ['train_normalizer', 'sigmoid', 'softmax'],
  ['train_optimizer', 'sgd', 'momentum', 'adam'], ['train_rate', 0.01], ['train_batch', 8], ['train_dropout', 0.25, 0], ['train_seed', 3], ['train_sentences', 'I saw a saw', ''],
  ['train_running', true, false], ['stepper', 3, 0], ['model_find', 'saw', ''], ['model_targets', 'noun', ''], ['view', 'cost', 'train', 'layer'],
];

onBoard('every option takes the values that it took', async (board) => {
  assert.deepEqual(Object.keys(golden.options).filter((option) => !CHANGES.some(([name]) => name === option)), [], 'the list is whole');
  for (const [option, ...values] of CHANGES) {
    for (const value of values) {
      await board.call('set', option, value);
      const now = await board.get(option);
      assert.deepEqual(now, typeof value === 'string' && option === 'labels' ? value.split(' ') : value, option);
      await board.check();
    }
  }
});

onBoard('cells of every matrix are located and explained by name', async (board) => {
  const board1 = ['q', 'k', 'v', 'scores', 'weights', 'head_output'];
  for (const name of board1) assert.ok((await board.call('locate', name, 0, 0, 0)).width > 0, name);
  await board.call('set', 'mode', 'x');
  for (const name of ['x', 'w_q', 'w_k', 'w_v']) assert.ok((await board.call('locate', name, 0, 0, 0)).width > 0, name);
  for (const name of ['q', 'k', 'v', 'raw', 'scores', 'masked', 'weights', 'head_output', 'concat', 'output']) {
    const {text, terms} = await board.call('explain', name, 0, 1, 0);
    assert.ok(text.length > 0 && Array.isArray(terms), name);
  }
});

onBoard('controls are located by their names', async (board) => {
  for (const name of ['causal', 'heads', 'heads+', 'heads-', 'tokens+', 'tokens-', 'd_k+', 'd_k-', 'decimals+', 'decimals-', 'scale', 'temperature', 'mode:x', 'mode:qkv',
    'preset', 'undo', 'redo', 'reset', 'theme', 'help', 'import', 'export', 'experiments', 'paint', 'randomize', 'labels', 'score', 'normalizer', 'position', 'pattern', 'head:0', 'head:1']) {
    assert.ok((await board.call('locate', name)).width > 0, name);
  }
});

onBoard('every method, attribute and event is there', async (board) => {
  const got = await board.page.evaluate(() => {
    const el = document.querySelector('attention-playground');
    return {
      methods: ['getState', 'setState', 'reset', 'undo', 'redo', 'getTensor', 'setTensor', 'get', 'set', 'locate', 'items', 'explain', 'stats', 'dispose', 'focus']
        .filter((name) => typeof el[name] !== 'function'),
      observed: ['preset', 'state', 'view', 'hide', 'lock', 'theme', 'wheel'].filter((name) => !el.constructor.observedAttributes.includes(name) || typeof el[name] !== 'string'),
      ready: el.ready instanceof Promise,
      stats: Object.keys(el.stats()),
    };
  });
  assert.deepEqual([got.methods, got.observed, got.ready], [[], [], true]);
  for (const name of ['frames', 'frameMs', 'kernel', 'heapBytes']) assert.ok(got.stats.includes(name), name);
  const events = await board.listen('select', 'input', 'change', 'error');
  await board.drag('q', [0, 1, 1], 30, 0);
  await board.page.evaluate(() => document.querySelector('attention-playground').setAttribute('preset', 'none such'));
  await board.press('Escape');
  assert.deepEqual([...new Set((await events()).map(({type}) => type))].sort(), ['change', 'error', 'input', 'select']);
  const [first] = (await events()).filter(({type}) => type === 'input');
  assert.ok(first.detail && typeof first.detail === 'object');
  const ready = await board.page.evaluate(async () => {
    const one = document.createElement('attention-playground');
    const heard = new Promise((done) => one.addEventListener('ready', (e) => done(e.detail)));
    document.body.append(one);
    const detail = await heard;
    one.dispose();
    one.remove();
    return detail;
  });
  assert.deepEqual(ready, {});
});

onBoard('each name in hide takes its part away, and gives it back', async (board) => {
  const hide = (value) => board.page.evaluate((text) => { document.querySelector('attention-playground').hide = text; }, value);
  const shown = async () => new Set((await board.call('items')).map(({name}) => name));
  const all = await shown();
  // What is removed from the page with it; null if it is drawn without a name, so that pictures are compared.
  for (const [part, name] of [['header', 'help'], ['panel', 'temperature'], ['heads', 'head:1'], ['import', 'import'], ['export', 'export'], ['arcs', null], ['inspector', null]]) {
    await board.rest();
    const picture = name ?? await board.page.screenshot();
    await hide(part);
    await board.rest();
    if (name) assert.ok(all.has(name) && !(await shown()).has(name), part);
    else assert.ok(!picture.equals(await board.page.screenshot()), part);
    await hide(null);
    await board.rest();
    assert.ok((await shown()).has(name ?? 'help'), part);
  }
}, {seen: true});

onBoard('each name in lock keeps readers from changing it, not scripts', async (board) => {
  const lock = (value) => board.page.evaluate((text) => { document.querySelector('attention-playground').lock = text; }, value);
  await lock('q, causal,heads');
  const was = await board.call('getState');
  await board.drag('q', [0, 0, 0], 40, 0);
  await board.click('causal');
  await board.settle();
  assert.deepEqual(await board.call('getState'), was);
  await board.call('set', 'causal', false);
  assert.equal(await board.get('causal'), false);
  await lock(undefined);
  await board.click('causal');
  assert.equal(await board.get('causal'), true);
});

test('wheel: focus, always, never', async () => {
  const board = await browser.open('/pages/embed.html', {viewport: {width: 800, height: 600}});
  await board.page.evaluate(() => {
    const element = document.querySelector('attention-playground');
    element.scrollIntoView({block: 'center'});
    globalThis.wheels = [];
    addEventListener('wheel', (e) => globalThis.wheels.push(e.defaultPrevented));
  });
  await board.call('set', 'tokens', 40);
  await board.rest();
  /** Did the board use a turn of the wheel, so that the page did not receive it? */
  const taken = async (focused) => {
    await board.page.evaluate((on) => {
      const element = document.querySelector('attention-playground');
      if (on) element.focus();
      else element.shadowRoot.activeElement?.blur();
      element.scrollIntoView({block: 'center'});
      globalThis.wheels.length = 0;
    }, focused);
    await board.rest();
    await board.page.mouse.move(...await board.middle('q', 0, 1, 1));
    await board.page.mouse.wheel(0, 30);
    await board.until('the wheel', () => globalThis.wheels.length > 0);
    return board.page.evaluate(() => globalThis.wheels[0]);
  };
  const set = (value) => board.page.evaluate((text) => { document.querySelector('attention-playground').wheel = text; }, value);
  for (const [value, unfocused, focused] of [['focus', false, true], ['always', true, true], ['never', false, false], [undefined, false, true]]) {
    await set(value);
    assert.equal(await taken(false), unfocused, `${value}, without the focus`);
    assert.equal(await taken(true), focused, `${value}, with the focus`);
  }
  await board.check();
  await board.close();
});
