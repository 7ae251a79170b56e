// show="…" shows only the given parts, from 200 × 120 up, with nothing cut off or overlapping.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {SCREENSHOTS, suite} from './harness.mjs';

const {browser} = suite({seen: true});

const overlaps = (a, b) => a.x + a.width > b.x + 1 && b.x + b.width > a.x + 1 && a.y + a.height > b.y + 1 && b.y + b.height > a.y + 1;

/** The visible parts, by name. */
const parts = async (board) => new Map((await board.call('items')).filter(({name}) => /^(matrix:|arcs$|inspector$|brief$|heads$|panel|causal)/.test(name)).map(({name, rect}) => [name, rect]));

const CASES = [
  ['q,k,weights,output', 480, 320, ['q', 'k', 'weights', 'head_output']],
  ['q,k,v,weights,output', 640, 440, ['q', 'k', 'v', 'weights', 'head_output']],
  ['weights', 200, 120, ['weights']],
  ['q,k,weights', 260, 220, ['q', 'k', 'weights']],
  ['weights,inspector', 560, 260, ['weights']],
  ['v', 200, 160, ['v']],
  ['scores,weights', 420, 160, ['scores', 'weights']],
  ['arcs', 320, 160, []],
  ['inspector', 360, 240, []],
];

for (const [show, width, height, matrices] of CASES) {
  test(`show="${show}" in ${width} × ${height}`, async () => {
    const board = await browser.open(`/?show=${show}`, {viewport: {width, height}});
    const all = await parts(board), shown = [...all.keys()].filter((name) => name.startsWith('matrix:')).map((name) => name.slice(7));
    assert.deepEqual(shown.sort(), [...matrices].sort());
    if (show.includes('arcs')) assert.ok(all.has('arcs'));
    assert.ok(!all.has('causal'), 'no header');
    const boxes = [...all].filter(([name]) => name.startsWith('matrix:'));
    for (const [i, [name, box]] of boxes.entries()) {
      assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height, `${name} is on the screen: ${JSON.stringify(box)}`);
      for (const [other, place] of boxes.slice(i + 1)) assert.ok(!overlaps(box, place), `${name} and ${other}`);
    }
    await board.page.screenshot({path: `${SCREENSHOTS}/web-show-${show.replaceAll(',', '-')}.png`});
    if (matrices.includes('q')) {
      const was = await board.value('q', 0, 1, 1);
      await board.drag('q', [0, 1, 1], 30, 0);
      assert.ok(Math.abs(await board.value('q', 0, 1, 1) - was - 0.3) < 1e-6);
    }
    await board.check();
    await board.close();
  });
}

test('five tokens still stand together in 640 × 440', async () => {
  const board = await browser.open('/?show=q,k,v,weights,output', {viewport: {width: 640, height: 440}});
  await board.call('set', 'tokens', 5);
  await board.settle();
  for (const [name, box] of await parts(board)) assert.ok(box.x >= 0 && box.x + box.width <= 640 && box.y + box.height <= 440, name);
  assert.ok((await board.call('locate', 'weights', 0, 4, 4)).width >= 28, 'its numbers can be read');
  await board.page.screenshot({path: `${SCREENSHOTS}/web-show-five.png`});
  await board.close();
});

test('an element never collapses: it has a least width and height', async () => {
  const board = await browser.open('/pages/embed.html');
  const sizes = await board.page.evaluate(() => {
    const flex = document.body.appendChild(document.createElement('div'));
    flex.style.display = 'flex';
    const one = flex.appendChild(document.createElement('attention-playground'));
    one.style.height = '1px';
    return [one.offsetWidth, one.offsetHeight];
  });
  assert.deepEqual(sizes, [200, 120]);
  await board.close();
});
