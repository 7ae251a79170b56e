// What earlier releases wrote is read, and says the same: a state, a link, a lesson, and the messages of a host. The files of golden/released are
// never written again.
import assert from 'node:assert/strict';
import {readFileSync, readdirSync} from 'node:fs';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {until} from '../until.mjs';
import {converse, whatIsOn} from './conversation.mjs';
import {suite} from './harness.mjs';

const {browser} = suite({seen: true});
const folder = fileURLToPath(new URL('../golden/released', import.meta.url));

/** Everything that was said then is said now: more may be said, and numbers may differ in their last places. */
function agrees(now, then, within, path = '') {
  if (typeof then === 'number') return assert.ok(Math.abs(now - then) <= within * Math.max(1, Math.abs(then)), `${path} is ${now}, was ${then}`);
  if (then === null || typeof then !== 'object') return assert.equal(now, then, path);
  assert.ok(now !== null && typeof now === 'object', `${path} is ${now}`);
  if (Array.isArray(then)) assert.equal(now.length, then.length, path);
  Object.entries(then).forEach(([key, value]) => agrees(now[key], value, within, `${path}.${key}`));
}

test('what would not agree is noticed', () => {
  for (const [now, then] of [[{a: 1}, {a: 1, b: 2}], [[1, 2], [1]], [1.01, 1], ['a', 'b'], [null, {}]]) assert.throws(() => agrees(now, then, 1e-6));
  agrees({a: [1 + 1e-9], b: 2}, {a: [1]}, 1e-6);
});

for (const release of readdirSync(folder)) {
  const read = (name) => JSON.parse(readFileSync(`${folder}/${release}/${name}.json`, 'utf8'));

  test(`a state of ${release}`, async () => {
    const board = await browser.open('/'), {text, shown} = read('state');
    await board.call('setState', text);
    agrees(await board.page.evaluate(whatIsOn), shown, 1e-6);
    await board.close();
  });

  test(`a link of ${release}, on the page and in a frame`, async () => {
    const {address, shown} = read('link');
    for (const page of ['/', '/embed.html']) {
      const board = await browser.open(address.replace('/', page));
      agrees(await board.page.evaluate(whatIsOn), {...shown, state: {...shown.state, theme: 'dark'}}, 1e-6);
      assert.equal(await board.page.evaluate(() => document.querySelector('attention-playground').hide), 'heads');
      await board.close();
    }
  });

  test(`a lesson of ${release}: each of its steps opens`, async () => {
    const board = await browser.open('/'), lesson = read('lesson');
    for (const step of lesson.steps.keys()) await board.call('openLesson', lesson, step);
    await until('the Guide', async () => (await board.call('items')).some(({name}) => name === 'guide-next'));
    await board.close();
  });

  test(`the messages of a host of ${release} get its answers`, async () => {
    const messages = read('messages'), board = await browser.open('/empty', {wait: false});
    const said = await board.page.evaluate(converse, ['/embed.html?preset=i-saw-a-saw', messages.map(({call, args}) => [call, ...args])]);
    messages.forEach(({events, ...then}, i) => {
      const now = then.result === '' ? {...said[i], result: said[i].result && ''} : said[i];
      agrees(now, then, then.call === 'train' ? 1e-2 : 1e-5, then.call);
    });
    const heard = (all) => new Set(all.flatMap(({events}) => events)), now = heard(said);
    assert.deepEqual([...heard(messages)].filter((event) => !now.has(event)), [], 'events that are no longer sent');
    await board.close();
  });
}
