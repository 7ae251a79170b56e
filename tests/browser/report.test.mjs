// After a fault the reader can copy what those need who put it right, and nothing is sent.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {until} from '../until.mjs';
import {SCREENSHOTS, suite} from './harness.mjs';
import {version} from '../setup/tree.mjs';

const {browser} = suite({seen: true});

/** A board whose drawing fails as the module does where it is broken, once it is told to. */
async function stopped({viewport} = {}) {
  const board = await browser.open('/', {allow: [/./], viewport, permissions: ['clipboard-read', 'clipboard-write'], prepare: (page) => page.addInitScript(() => {
    const {drawElements} = WebGL2RenderingContext.prototype;
    WebGL2RenderingContext.prototype.drawElements = function (...values) {
      if (globalThis.isBroken) throw new WebAssembly.RuntimeError('unreachable');
      return drawElements.apply(this, values);
    };
  })});
  await board.call('set', 'temperature', 2);
  await board.call('setState', 'nothing').catch(() => {});
  await board.page.evaluate(() => document.querySelector('attention-playground').setAttribute('preset', 'nothing'));
  const before = board.requests.length, state = await board.call('getState');
  await board.page.evaluate(() => {
    globalThis.isBroken = true;
    document.querySelector('attention-playground').set('causal', false);
  }).catch(() => {});
  const button = (name) => board.page.locator('attention-playground').getByRole('button', {name, exact: true});
  await until('the sentence', () => button('Copy report').isVisible());
  return {board, button, state, sent: () => board.requests.slice(before)};
}

test('the report has version, browser, kernel, fault, messages and state, and is copied', async () => {
  const {board, button, state, sent} = await stopped();
  await board.page.screenshot({path: `${SCREENSHOTS}/web-fault.png`});
  await button('Copy report').click();
  await until('it to be copied', () => button('Copied').isVisible());
  const lines = (await board.page.evaluate(() => navigator.clipboard.readText())).split('\n');
  assert.equal(lines[0], `Attention Playground ${version}`);
  assert.match(lines[1], /^Browser: Mozilla\/5\.0 .*Chrome/);
  assert.match(lines[2], /^Kernel: wasm-/);
  assert.equal(lines[3], 'Fault: unreachable');
  assert.match(lines[4], /^Message: .*nothing/);
  const kept = JSON.parse(/^State: ([^]*)$/m.exec(lines.slice(5).join('\n'))[1]);
  assert.deepEqual({...kept, causal: true}, state);
  assert.deepEqual(sent().filter((address) => !/\/(NOTICES\.txt|dialog\.js)$/.test(address)), [], 'nothing is sent');
  await board.page.evaluate(() => { globalThis.isBroken = false; });
  await button('Retry').click();
  await until('the board', () => board.page.evaluate(() => document.querySelector('attention-playground').ready.then(() => true)));
  assert.equal(await button('Copied').count(), 0);
  await board.close();
});

test('where nothing may be copied, the text stands there to be taken by hand', async () => {
  const {board, button} = await stopped({viewport: {width: 390, height: 844}});
  await board.page.evaluate(() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); });
  await button('Copy report').click();
  const text = board.page.locator('attention-playground textarea');
  await until('the text', () => text.isVisible());
  assert.match(await text.inputValue(), /^Attention Playground [\d.]+\nBrowser: /);
  assert.ok(await text.evaluate((area) => area.selectionEnd > 200));
  const {left, right} = await text.evaluate((area) => area.getBoundingClientRect().toJSON());
  assert.ok(left >= 0 && right <= 390, `from ${left} to ${right}`);
  await board.page.screenshot({path: `${SCREENSHOTS}/web-fault-phone.png`});
  await board.close();
});

test('Help copies the report of a board that works, with its messages, and sends nothing', async () => {
  const board = await browser.open('/', {allow: [/./], permissions: ['clipboard-read', 'clipboard-write']});
  await board.call('setState', 'nothing').catch(() => {});
  await board.page.evaluate(() => document.querySelector('attention-playground').setAttribute('preset', 'nothing'));
  await board.click('help');
  await board.until('the list of keys', () => document.querySelector('attention-playground').items().some(({name}) => name === 'help-report'));
  await board.rest();
  await board.page.evaluate(() => navigator.clipboard.writeText('nothing yet'));
  const before = board.requests.length;
  await board.click('help-report');
  const lines = (await until('the report', async () => /^State: /m.test(await board.page.evaluate(() => navigator.clipboard.readText())) && board.page.evaluate(() => navigator.clipboard.readText()))).split('\n');
  assert.equal(lines[0], `Attention Playground ${version}`);
  assert.match(lines[1], /^Browser: Mozilla\/5\.0 .*Chrome/);
  assert.match(lines[2], /^Kernel: wasm-/);
  assert.match(lines[3], /^Message: .*nothing/);
  assert.deepEqual(JSON.parse(/^State: ([^]*)$/m.exec(lines.slice(4).join('\n'))[1]), await board.call('getState'));
  assert.doesNotMatch(lines.join('\n'), /^Fault/m);
  assert.deepEqual(board.requests.slice(before).filter((address) => !/\/(NOTICES\.txt|dialog\.js)$/.test(address)), [], 'nothing is sent');
  await board.close();
});
