// What a page locks cannot be changed by a reader; misspelt names are reported in the console once; attributes set while an element is
// disconnected are applied.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {suite} from './harness.mjs';

const {browser} = suite();

/** Opens the page with these attributes on its board. */
async function openWith(attributes, options) {
  const query = new URLSearchParams(attributes);
  return browser.open(`/?${query}`, options);
}

test('a locked tensor is kept from files, presets, undo and reset; a script may change it', async () => {
  const board = await openWith({lock: 'q'});
  const start = await board.call('getState'), was = (await board.tensor('q')).data;
  const events = await board.listen('error');
  await board.drag('q', [0, 0, 0], 40, 0);
  assert.deepEqual((await board.tensor('q')).data, was);
  const changed = was.map((value) => value + 1);
  await board.call('setTensor', 'q', changed);
  await board.drag('k', [0, 0, 0], 40, 0);
  const k = (await board.tensor('k')).data;
  await board.page.focus('attention-playground');
  await board.press('Control+z');
  assert.notDeepEqual((await board.tensor('k')).data, k, 'what is not locked is undone');
  await board.press('Control+z');
  assert.deepEqual((await board.tensor('q')).data.map(Math.fround), changed.map(Math.fround), 'undo does not reach behind what the script did');
  await board.click('reset');
  await board.drop(JSON.stringify(start), 'state.json');
  assert.deepEqual((await board.tensor('q')).data.map(Math.fround), changed.map(Math.fround));
  const sentences = (await events()).map(({detail}) => detail.message);
  assert.ok(sentences.length >= 2 && sentences.every((sentence) => /locked/.test(sentence)), sentences.join('\n'));
  await board.check();
  await board.close();
});

test('lock="all" leaves nothing that a reader can change, and all that he can look at', async () => {
  const board = await openWith({lock: 'all'});
  const was = await board.call('getState');
  await board.drag('q', [0, 0, 0], 40, 0);
  for (const name of ['causal', 'heads-', 'tokens+', 'randomize', 'reset', 'cross', 'mode:x', 'paint']) await board.click(name);
  await board.click('weights', 0, 1, 0);
  await board.press('c', 'm', 'Delete', '5', 'Enter', 'Control+z', 'r', 'p');
  const state = await board.call('getState'), {decimals, ...kept} = was;
  for (const name of Object.keys(kept)) assert.deepEqual(state[name], kept[name], name);
  await board.drop(JSON.stringify({...was, causal: false}), 'state.json');
  assert.equal(await board.get('causal'), true);
  await board.click('head:1');
  assert.equal(await board.get('focus_head'), 1, 'another head may be looked at');
  await board.call('set', 'causal', false);
  assert.equal(await board.get('causal'), false, 'a script may');
  await board.check();
  await board.close();
});

test('actions are locked by their names: drop, paste, presets, reset, undo', async () => {
  const board = await openWith({lock: 'drop,paste,presets,reset,undo'});
  await board.drag('q', [0, 0, 0], 40, 0);
  const was = await board.call('getState');
  await board.press('Control+z');
  await board.click('undo');
  await board.click('reset');
  await board.click('preset');
  assert.deepEqual(await board.call('getState'), was);
  await board.drop(JSON.stringify({...was, causal: false}), 'state.json');
  await board.page.evaluate(() => {
    const canvas = document.querySelector('attention-playground').shadowRoot.querySelector('canvas'), clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', '9');
    canvas.dispatchEvent(new ClipboardEvent('paste', {clipboardData, bubbles: true, cancelable: true}));
  });
  assert.deepEqual(await board.call('getState'), was);
  await board.close();
});

test('a name that is misspelt is said once in the console, with the nearest right one', async () => {
  const warned = [];
  const board = await browser.open('/pages/embed.html', {allow: [/attention-playground/], prepare: (page) => {
    page.on('console', (message) => message.type() === 'warning' && /<attention-playground>/.test(message.text()) && warned.push(message.text()));
  }});
  await board.page.evaluate(() => {
    const element = document.querySelector('attention-playground');
    for (let i = 0; i < 3; i++) {
      for (const [name, value] of [['hide', 'headr,arcs'], ['lock', 'causl, q'], ['show', 'weigths'], ['theme', 'drak'], ['wheel', 'sometimes'], ['hide', 'arcs'], ['lock', 'q'], ['theme', 'auto']]) {
        element.setAttribute(name, value);
      }
    }
    element.removeAttribute('show');
  });
  await until('all to be said', () => warned.length >= 5);
  await board.settle();
  assert.equal(warned.length, 5, warned.join('\n'));
  for (const [wrong, right] of [['headr', 'header'], ['causl', 'causal'], ['weigths', 'weights'], ['drak', 'dark'], ['sometimes', 'focus']]) {
    assert.ok(warned.some((text) => text.includes(`"${wrong}"`) && text.includes(right)), `${wrong}: ${warned.join('\n')}`);
  }
  await board.close();
});

test('attributes that are set while the element is off the page count', async () => {
  const board = await browser.open('/pages/embed.html');
  const away = (change) => board.page.evaluate(async (attributes) => {
    const element = document.querySelector('attention-playground');
    element.remove();
    while (element.shadowRoot.querySelector('canvas')) await new Promise(requestAnimationFrame);
    for (const [name, value] of attributes) element.setAttribute(name, value);
    document.body.append(element);
    await element.ready;
    return [element.getState().preset, element.get('theme'), element.get('view'), element.get('causal')];
  }, Object.entries(change));
  await board.call('set', 'causal', false);
  assert.deepEqual(await away({theme: 'dark', view: 'block'}), ['i-saw-a-saw', 'dark', 'block', false]);
  assert.deepEqual((await away({preset: 'uniform', view: 'layer'})).slice(0, 3), ['uniform', 'dark', 'layer']);
  await board.close();
});
