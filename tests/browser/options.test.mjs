// Every control, by real clicks at the position given by `locate`; after each, the board must agree with plain arithmetic.
import assert from 'node:assert/strict';
import {suite} from './harness.mjs';

const {onBoard} = suite();

onBoard('the causal mask, by a click and by its key', async (board) => {
  assert.equal(await board.get('causal'), true);
  assert.equal(await board.value('weights', 0, 0, 3), 0);
  await board.click('causal');
  assert.equal(await board.get('causal'), false);
  assert.ok(await board.value('weights', 0, 0, 3) > 0);
  await board.check();
  await board.press('c');
  assert.equal(await board.get('causal'), true);
});

onBoard('heads: every count that divides the width, and back', async (board) => {
  const counts = [await board.get('heads')];
  for (const [button, steps] of [['heads+', 4], ['heads-', 6]]) {
    for (let i = 0; i < steps; i++) {
      await board.click(button);
      counts.push(await board.get('heads'));
      await board.check();
    }
  }
  assert.ok(new Set(counts).size >= 2, `the count changes: ${counts}`);
});

onBoard('a head count that does not divide the width is refused with the allowed ones', async (board) => {
  const was = await board.call('getState');
  const width = await board.get('heads') * await board.get('d_k');
  await assert.rejects(board.call('set', 'heads', width + 1), (error) => {
    assert.equal(error.type, 'RangeError');
    assert.equal(error.field, 'heads');
    assert.match(error.message, new RegExp(`${width + 1}`));
    for (let n = 1; n <= width; n++) if (width % n === 0) assert.match(error.message, new RegExp(`\\b${n}\\b`));
    return true;
  });
  assert.deepEqual(await board.call('getState'), was);
});

onBoard('a thumbnail brings its head to the board', async (board) => {
  await board.call('set', 'heads', 2);
  await board.settle();
  await board.click('head:1');
  assert.equal(await board.get('focus_head'), 1);
  await board.drag('q', [1, 0, 0], 25, 0);
});

for (const [option, limit] of [['tokens', 1], ['d_k', 1]]) {
  onBoard(`${option} by its stepper`, async (board) => {
    const was = await board.get(option);
    await board.click(`${option}+`);
    assert.equal(await board.get(option), was + 1);
    await board.check();
    await board.click(`${option}-`);
    await board.click(`${option}-`);
    assert.equal(await board.get(option), was - 1);
    await board.check();
    for (let i = 0; i < was; i++) await board.click(`${option}-`);
    assert.equal(await board.get(option), limit);
  });
}

onBoard('scale on and off', async (board) => {
  await board.click('scale');
  assert.equal(await board.get('scale'), false);
});

onBoard('temperature by its slider', async (board) => {
  const {x, y, width, height} = await board.call('locate', 'temperature');
  await board.page.mouse.move(x + width / 2, y + height / 2);
  await board.page.mouse.down();
  await board.page.mouse.move(x + width * 0.9, y + height / 2, {steps: 3});
  await board.check();
  await board.page.mouse.up();
  assert.ok(await board.get('temperature') > 2);
  await board.press('Control+z');
  assert.equal(await board.get('temperature'), 1, 'one step of undo');
});

onBoard('decimals change what is shown, not what is', async (board) => {
  const was = await board.tensor('weights');
  await board.click('decimals+');
  assert.equal(await board.get('decimals'), 3);
  assert.deepEqual((await board.tensor('weights')).data, was.data);
});

onBoard('X with W: every matrix can be edited and all that depends on it follows', async (board) => {
  await board.click('mode:x');
  assert.equal(await board.get('mode'), 'x');
  await board.settle();
  await board.check();
  for (const name of ['x', 'w_q', 'w_k', 'w_v', 'w_o']) {
    const was = await board.value(name, 0, 0, 0);
    await board.drag(name, [0, 0, 0], 35, 0);
    assert.ok(Math.abs(await board.value(name, 0, 0, 0) - was - 0.35) < 1e-6, name);
    await board.check();
  }
  await board.click('mode:qkv');
  assert.equal(await board.get('mode'), 'qkv');
});

onBoard('rotary positions as models have them, by their controls', async (board) => {
  await board.call('set', 'd_k', 6);
  await board.call('set', 'position', 'rotary');
  await board.settle();
  await board.click('rotary');  // expands the rows below Positions
  await board.settle();
  await board.check();
  for (const [option, value] of [['rotary_pairs', 'half'], ['rotary_scaling', 'ntk']]) {
    await board.click(option);
    await board.settle();
    await board.click(`${option}:${value}`);
    await board.settle();
    assert.equal(await board.get(option), value);
    await board.check();
  }
  for (const [option, typed, value] of [['rotary_base', '50', 50], ['rotary_factor', '3.5', 3.5], ['position_ids', '100', [100]], ['position_ids', '[0, 1, 0, 7]', [0, 1, 0, 7]]]) {
    await board.click(`${option}-value`);
    await board.type(typed);
    await board.press('Enter');
    await board.settle();
    assert.deepEqual(await board.get(option), value);
    await board.check();
  }
  await board.click('rotary_dims+');
  assert.equal(await board.get('rotary_dims'), 2);
  await board.check();
  await board.call('set', 'rotary_scaling', 'linear');
  await board.check();
  for (let i = 0; i < 9; i++) await board.press('Control+z');
  assert.equal(await board.get('rotary_pairs'), 'adjacent');
  assert.deepEqual(await board.get('position_ids'), []);
});

onBoard('biases, W_O of another width and none, an X of the values, hidden units', async (board) => {
  await board.click('mode:x');
  await board.settle();
  await board.click('projection_bias');
  assert.equal(await board.get('projection_bias'), true);
  await board.settle();
  await board.check();
  for (const name of ['b_q', 'b_k', 'b_v', 'b_o']) {
    await board.call('setTensor', name, (await board.tensor(name)).data.map((_, i) => Math.sin(i + name.charCodeAt(2))));
    await board.check();
  }
  const {text} = await board.call('explain', 'q', 0, 1, 0);
  assert.match(text, /W_Q\[:, 1\] \+ b_Q: .* = /);
  await board.drag('b_q', [0, 0, 1], 30, 0);
  await board.check();
  await board.call('set', 'd_out', 4);
  await board.check();
  assert.equal((await board.tensor('output')).shape[2], 4);
  await board.call('set', 'separate_values', true);
  await board.call('setTensor', 'x_v', (await board.tensor('x_v')).data.map((_, i) => Math.cos(i)));
  await board.check();
  await board.call('set', 'output_projection', false);
  await board.settle();
  await board.check();
  await assert.rejects(board.call('locate', 'w_o', 0, 0, 0));
  await board.call('set', 'view', 'block');
  await board.settle();
  await board.call('set', 'view', 'layer');
  await board.call('set', 'score', 'additive');
  await board.call('set', 'additive_dim', 5);
  assert.equal((await board.tensor('u_a')).shape[1], 5);
  await board.check();
  await board.call('set', 'd_q', 7);  // wider than keys
  await board.settle();
  assert.deepEqual([(await board.tensor('w_a')).shape, (await board.tensor('u_a')).shape.slice(1)], [[(await board.get('heads')), 5, 7], [5, await board.get('d_k')]]);
  await board.check();
  await board.drag('w_a', [0, 4, 6], 30, 0);
  await board.check();
  await assert.rejects(board.call('set', 'score', 'scaled'), /score: a dot product needs queries as wide as keys/);
  for (const view of ['block', 'segments', 'dense', 'memory', 'cost']) await board.call('set', 'view', view), await board.settle();
});

onBoard('the width of queries is a control of the scores that have weights; its matrices say their shapes', async (board) => {
  await assert.rejects(board.call('locate', 'd_q+'));
  await board.call('set', 'score', 'general');
  await board.settle();
  for (let i = 0; i < 5; i++) await board.click('d_q+');
  const [heads, dk] = [await board.get('heads'), await board.get('d_k')];
  assert.equal(await board.get('d_q'), 5);
  assert.deepEqual([(await board.tensor('q')).shape[2], (await board.tensor('k')).shape[2], (await board.tensor('w_a')).shape], [5, dk, [heads, 5, dk]]);
  await board.check();
  await board.drag('q', [0, 2, 4], 30, 0);  // a column that keys have not
  await board.check();
  for (const layout of [true, false]) {
    await board.call('set', 'column_layout', layout);
    await board.settle();
    await board.check();
  }
  await board.call('set', 'stepper', 2);
  await board.settle();
  await board.call('set', 'stepper', 0);
  for (const card of ['plane', 'loops', 'values', 'arcs']) await board.call('set', 'card', card), await board.settle();
  const state = await board.call('getState');
  assert.equal(state.d_q, 5);
  await board.call('setState', state);
  await board.check();
});

onBoard('painting cells out of the mask', async (board) => {
  await board.click('paint');
  await board.click('weights', 0, 3, 2);
  assert.equal(await board.value('weights', 0, 3, 2), 0);
  await board.check();
  const from = await board.middle('weights', 0, 3, 0), to = await board.middle('weights', 0, 3, 3);
  await board.page.mouse.move(...from);
  await board.page.mouse.down();
  await board.page.mouse.move(...to, {steps: 12});
  await board.page.mouse.up();
  const {data} = await board.tensor('weights');
  assert.ok(data.every((value) => !Number.isNaN(value)));
  assert.deepEqual(data.slice(12, 16), [0, 0, 0, 0], 'a row with every key masked is all zeros');
  await board.press('Control+z');
  assert.ok(await board.value('weights', 0, 3, 0) > 0, 'a stroke is one step of undo');
  await board.settle();
  await board.click('clear-mask');
});

onBoard('a token label, by double-click', async (board) => {
  await board.doubleClick('label:left:1');
  await board.type('Füchsin');
  await board.press('Enter');
  assert.equal((await board.get('labels'))[1], 'Füchsin');
});

onBoard('a sentence is split into tokens', async (board) => {
  await board.click('labels');
  await board.press('Control+a');
  await board.type("The cat, it's here!");
  await board.press('Enter');
  const labels = await board.get('labels');
  assert.equal(labels.length, await board.get('tokens'));
  assert.deepEqual(labels.slice(0, 3), ['The', 'cat', ',']);
});

onBoard('random numbers from a seed', async (board) => {
  const was = await board.tensor('q');
  await board.click('randomize');
  const once = await board.tensor('q');
  assert.notDeepEqual(once.data, was.data);
  await board.press('Control+z');
  await board.click('randomize');
  assert.deepEqual((await board.tensor('q')).data, once.data);
});

onBoard('every preset, from the menu', async (board) => {
  const names = [];
  await board.click('preset');
  await board.settle();
  for (const {name} of await board.call('items')) if (name.startsWith('preset:')) names.push(name);
  assert.equal(names.length, 32);
  await board.press('Escape');
  for (const name of names) {
    await board.settle();
    await board.click('preset');
    await board.settle();
    await board.click(name);
    assert.equal(`preset:${(await board.call('getState')).preset}`, name);
    await board.check();
    if (await board.call('get', 'experiment') !== 'none') await board.press('Escape');
  }
});

onBoard('theme, by its button, its attribute and the system', async (board) => {
  const shown = async () => {
    await board.settle();
    const [r] = await pixel(board);
    return r > 128 ? 'light' : 'dark';
  };
  assert.equal(await shown(), 'light');
  await board.page.emulateMedia({colorScheme: 'dark'});
  assert.equal(await shown(), 'dark', 'it follows the system at once');
  await board.page.evaluate(() => { document.querySelector('attention-playground').theme = 'light'; });
  assert.equal(await shown(), 'light', 'by its attribute');
  await board.click('theme');
  assert.equal(await shown(), 'dark', 'by its button');
}, {seen: true});

// Everything that a mouse can change in the side panel, the keyboard can: in a wide window, in a drawer, and with scrolling. One pass from
// the first control to the last, expanding sections on the way. (The unit tests do the same at three sizes.)
for (const viewport of [{width: 1100, height: 600}, {width: 390, height: 844}]) {
  onBoard(`every option by keys alone, ${viewport.width} × ${viewport.height}`, async (board) => {
    const focus = async () => (await board.call('items')).find(({name}) => name.startsWith('focus:'))?.name.slice('focus:'.length);
    for (const [option, value] of [['mode', 'x'], ['heads', 2], ['pattern', 'bigbird']]) await board.call('set', option, value);
    await board.press('Tab', 'Shift+O');
    const wanted = ['labels', 'scale', 'normalizer', 'position', 'batch', 'key_length', 'pattern_seed', 'step', 'paint', 'd_v', 'window_left', 'temperature'];
    const reached = new Set(), isMissing = () => wanted.some((name) => !reached.has(name));
    const next = async () => {
      await board.press('ArrowDown');
      await board.settle();
      return focus();
    };
    const change = async (name) => {
      const was = await board.call('get', name).catch(() => undefined);
      if (was === undefined || Array.isArray(was)) return;  // an expander, a button, the sentence
      await board.press('ArrowRight');
      const atLimit = await board.get(name) === was;
      if (atLimit) await board.press('ArrowLeft');
      assert.notEqual(await board.get(name), was, name);
      // With this mistake the board does not show which keys the random pattern excluded.
      if (name !== 'mask_after_softmax') await board.check();
      const isOfView = ['whole_projections', 'decimals', 'step', 'weight_scale', 'weight_by', 'color_map', 'column_layout'].includes(name);
      if (!isOfView) await board.press('Control+z');
      for (let i = 0; isOfView && i < 20 && await board.get(name) !== was; i++) await board.press(atLimit ? 'ArrowRight' : 'ArrowLeft');
      assert.equal(await board.get(name), was, `${name} after undo`);
    };
    let name = await focus();
    // If the machine is so slow that a key repeats, controls that were skipped are reached in the next round.
    for (let i = 0; i < 60 || (isMissing() && i < 300); i++, name = await next()) {
      assert.ok(name, 'some control has the keys');
      if (reached.has(name)) {
        if (isMissing()) continue;
        break;
      }
      reached.add(name);
      const {y, height} = await board.call('locate', `focus:${name}`);
      assert.ok(y >= 0 && y + height <= viewport.height, `${name} is seen: ${y}`);
      if (['more-sizes', 'window', 'more-masks'].includes(name)) await board.press('Enter');
      await change(name);
      if (name !== 'temperature') continue;
      await board.press('Enter', '4', 'Enter');
      assert.equal(await board.get('temperature'), 4, 'typed');
    }
    for (const option of wanted) assert.ok(reached.has(option), `${option} among ${[...reached]}`);
    for (let i = 0; i < 2 && await focus(); i++) {  // the first may close the tooltip of the control
      await board.press('Escape');
      await board.settle();
    }
    assert.equal(await focus(), undefined);
    await board.press('Tab');
    assert.notEqual(await board.page.evaluate(() => document.activeElement.localName), 'attention-playground');
  }, {viewport});
}

/** The colour in the lower right corner of the page. */
async function pixel(board) {
  const {width, height} = board.page.viewportSize();
  const png = await board.page.screenshot({clip: {x: width - 4, y: height - 4, width: 2, height: 2}});
  return board.page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], {type: 'image/png'}));
    const context = new OffscreenCanvas(2, 2).getContext('2d');
    context.drawImage(bitmap, 0, 0);
    return Array.from(context.getImageData(0, 0, 1, 1).data);
  }, png.toString('base64'));
}
