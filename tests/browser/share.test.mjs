// Links that contain a board, code that embeds one, and the page for an iframe, with which a host communicates over a port.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {deflateRawSync, gzipSync} from 'node:zlib';
import {until} from '../until.mjs';
import {SCREENSHOTS, SITE, Board, serve, suite} from './harness.mjs';

const {browser} = suite();
const packed = (value) => deflateRawSync(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

test('a link opens the same board, bit for bit, with its view and what is hidden and locked', async () => {
  const board = await browser.open('/');
  await board.drag('q', [0, 0, 0], 33, 0);
  await board.call('setTensor', 'v', (await board.tensor('v')).data.map((value, i) => i % 2 ? -0 : value + 1 / 3));
  await board.call('set', 'temperature', 1.7);
  const state = await board.call('getState'), tensors = ['q', 'k', 'v', 'weights', 'output'];
  const numbers = await Promise.all(tensors.map((name) => board.tensor(name).catch(() => null)));
  const address = await board.call('link', {hide: 'arcs,heads', lock: ['causal', 'heads'], theme: 'dark', view: 'block'});
  assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/\?view=block&hide=arcs,heads&lock=causal,heads&theme=dark#s=[\w-]+$/);
  await board.close();
  for (const path of [address, address.replace('/?', '/embed.html?')]) {
    const other = await browser.open(path.replace(browser.server.url, ''));
    const {view, theme, ...rest} = await other.call('getState'), {view: ownView, theme: ownTheme, ...own} = state;
    assert.deepEqual(rest, own);
    for (const [i, name] of tensors.entries()) {
      const data = numbers[i]?.data, now = (await other.tensor(name).catch(() => null))?.data;
      const isSame = i < 3 ? Object.is : (a, b) => Math.abs(a - b) <= 1e-6;  // computed numbers may be summed in another order
      assert.ok(data === now || data.every((value, k) => isSame(value, now[k])), name);
    }
    assert.deepEqual(await other.page.evaluate(() => ['hide', 'lock', 'theme', 'view'].map((name) => document.querySelector('attention-playground').getAttribute(name))),
      ['arcs,heads', 'causal,heads', 'dark', 'block']);
    await other.close();
  }
});

test('links are short', async () => {
  const board = await browser.open('/');
  await board.drag('q', [0, 0, 0], 33, 0);
  await board.drag('k', [0, 1, 1], 20, 0);
  const edited = await board.call('link');
  assert.ok(edited.length <= 700, `${edited.length} characters for 4 tokens and 2 heads`);
  for (const [option, value] of [['heads', 1], ['d_k', 8], ['heads', 4], ['tokens', 16]]) await board.call('set', option, value);
  for (const name of ['q', 'k', 'v']) {
    const {data} = await board.tensor(name);
    await board.call('setTensor', name, data.map((_, i) => Math.round(200 * Math.sin(i * i + name.charCodeAt(0))) / 100));
  }
  const large = await board.call('link');
  assert.ok(large.length <= 3000, `${large.length} characters for 16 tokens and 4 heads`);
  await board.close();
});

test('links of every released format are opened', async () => {
  for (const {link, option, value} of JSON.parse(readFileSync(new URL('../golden/links.json', import.meta.url), 'utf8'))) {
    const board = await browser.open(`/${link}`);
    assert.deepEqual(await board.get(option), value, link.slice(0, 40));
    await board.check();
    await board.close();
  }
});

test('a link that is damaged, of a newer version, or far too large leaves the board, and is said', async () => {
  const bomb = deflateRawSync(Buffer.alloc(100 << 20, ' ')).toString('base64url');
  for (const [hash, wanted] of [['#s=AAAA', /damaged|JSON/], ['#s=!!', /damaged/], [`#s=${packed('{"version": 99}')}`, /version/], [`#s=${packed('nothing')}`, /JSON/],
    [`#s=${packed({version: 1}).slice(0, -4)}`, /damaged/], [`#s=${bomb}`, /too large|too long/], [`#s=${packed('{"__proto__": {"polluted": 1}, "version": 1}')}`, null]]) {
    const board = await browser.open('/', {prepare: (page) => page.addInitScript(() => {
      globalThis.said = [];
      customElements.whenDefined('attention-playground').then(() => document.querySelector('attention-playground')
        .addEventListener('error', ({detail}) => globalThis.said.push(detail)));
    })});
    await board.page.evaluate((now) => { location.hash = now; }, hash);
    if (wanted) {
      const [{type, message}] = await until('a sentence', async () => { const said = await board.page.evaluate(() => globalThis.said); return said.length && said; });
      assert.equal(type, 'state');
      assert.match(message, wanted, hash.slice(0, 40));
    }
    await board.settle();
    assert.equal(await board.page.evaluate(() => ({}).polluted), undefined);
    assert.equal((await board.call('getState')).preset, 'i-saw-a-saw');
    await board.check();
    await board.close();
  }
});

test('a link that the reader pastes into the address bar is opened, and can be undone', async () => {
  const board = await browser.open('/');
  const state = await board.call('getState');
  await board.call('set', 'causal', false);
  const address = await board.call('link');
  await board.call('undo');
  await board.page.evaluate((to) => { location.href = to; }, address);
  await until('the link to be open', async () => await board.get('causal') === false);
  await board.call('undo');
  assert.deepEqual(await board.call('getState'), state);
  await board.close();
});

test('the code that embeds a board says what is asked for, and no more', async () => {
  const board = await browser.open('/');
  const element = await board.call('embedCode');
  assert.equal(element, `<script type="module" src="${browser.server.url}/element.js"></script>\n` +
    '<attention-playground preset="i-saw-a-saw" style="width:640px;height:440px"></attention-playground>');
  const frame = await board.call('embedCode', {kind: 'iframe', theme: 'light', lock: 'heads,d_k', title: 'A "board" <b>', width: 800});
  assert.equal(frame, '<iframe width="800" height="440" style="border:0" title="A &quot;board&quot; &lt;b&gt;" sandbox="allow-scripts" ' +
    `src="${browser.server.url}/embed.html?preset=i-saw-a-saw&amp;lock=heads,d_k&amp;theme=light"></iframe>`);
  await board.drag('q', [0, 0, 0], 33, 0);
  const own = await board.value('q', 0, 0, 0);
  const host = await browser.open('/pages/embed.html', {allow: [/inline style/]});  // the inline style with the size, which this host's policy forbids
  for (const kind of ['element', 'iframe']) {
    const code = await board.call('embedCode', {kind, state: true});
    assert.doesNotMatch(code, /preset=/);
    const q = await host.page.evaluate(async ([html, name]) => {
      const holder = document.body.appendChild(document.createElement('div'));
      holder.innerHTML = html.replace('sandbox="allow-scripts"', '');
      const one = holder.querySelector(name);
      if (name === 'attention-playground') return (await one.ready).getTensor('q').data[0];
      return new Promise((resolve) => one.addEventListener('load', async () => {
        await one.contentWindow.customElements.whenDefined('attention-playground');
        resolve((await one.contentDocument.querySelector('attention-playground').ready).getTensor('q').data[0]);
      }));
    }, [code, kind === 'element' ? 'attention-playground' : 'iframe']);
    assert.equal(q, own, kind);
  }
  for (const wrong of [{kind: 'video'}, {width: -1}, {hide: 7}, 7]) await assert.rejects(board.call('embedCode', wrong), /kind|width|hide|options/);
  await host.close();
  await board.close();
});

// ---------------------------------------------------------------- the page for an iframe

/** A host with the embed page in a frame; ask() makes a call over its port. */
async function openHost(query = '', sandbox = 'allow-scripts') {
  const board = await browser.open('/pages/host.html', {wait: false, viewport: {width: 800, height: 700}, seen: true});
  const {page} = board;
  await page.evaluate(async ([address, box]) => {
    const frame = document.createElement('iframe');
    Object.assign(frame, {width: 640, height: 440, src: address, title: 'board'});
    if (box !== null) frame.setAttribute('sandbox', box);
    const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
    document.body.prepend(frame);
    await loaded;
    const {port1, port2} = new MessageChannel();
    const waiting = new Map();
    globalThis.events = [];
    port1.onmessage = ({data}) => data.event ? globalThis.events.push(data) : waiting.get(data.id)?.(data);
    frame.contentWindow.postMessage({attention: 1, connect: true}, '*', [port2]);
    let ids = 0;
    globalThis.ask = (call, ...args) => new Promise((resolve) => {
      waiting.set(++ids, resolve);
      port1.postMessage({id: ids, call, args});
    });
    globalThis.port = port1;
  }, [`/embed.html${query}`, sandbox]);
  const ask = async (...values) => {
    const {result, error} = await page.evaluate((all) => globalThis.ask(...all), values);
    if (error) throw Object.assign(new Error(error.message), error);
    return result;
  };
  return {board, page, ask, events: () => page.evaluate(() => globalThis.events)};
}

for (const sandbox of [null, 'allow-scripts']) {
  test(`embed.html is talked to over a port, ${sandbox ? 'in a sandbox without an origin' : 'in an ordinary frame'}`, async () => {
    const {board, page, ask, events} = await openHost('?preset=uniform&theme=dark&hide=heads', sandbox);
    assert.equal((await ask('getState')).preset, 'uniform');
    await ask('set', 'causal', true);
    assert.equal(await ask('get', 'causal'), true);
    const change = (await events()).findLast(({event}) => event === 'change');
    assert.deepEqual([change.detail.source, change.detail.option, change.detail.after], ['script', 'causal', true]);
    const {data, shape} = await ask('getTensor', 'weights');
    assert.equal(Object.keys(data).length, shape[0] * shape[1] * shape[2]);
    const rect = await ask('locate', 'q', 0, 0, 0);
    assert.ok(rect.width > 10);
    const watch = await ask('observe', {tensor: 'weights', row: 1, col: 0});
    const was = await ask('getTensor', 'q');
    await ask('setTensor', 'q', Object.values(was.data).map((value, i) => value + i / 10));
    await until('to be told', async () => (await events()).some(({event, detail}) => event === 'observe' && detail.watch === watch && detail.before !== undefined));
    assert.equal(await ask('stop', watch), true);
    // An id is never used again: each of three, of which the first was stopped, can be stopped by its own.
    const watches = [];
    for (const col of [0, 1]) watches.push(await ask('observe', {tensor: 'weights', row: 2, col}));
    assert.equal(await ask('stop', watches[0]), true);
    watches.push(await ask('observe', {tensor: 'weights', row: 2, col: 2}));
    assert.equal(new Set([watch, ...watches]).size, 4);
    for (const [i, stopped] of [false, true, true].entries()) assert.equal(await ask('stop', watches[i]), stopped);
    for (const [call, args, name, field] of [['set', ['causal', 7], 'TypeError', 'causal'], ['get', ['nothing'], 'RangeError', 'option'], ['constructor', [], 'TypeError'],
      ['__proto__', [], 'TypeError'], ['dispose', [], 'TypeError'], ['set', ['temperature', 'hot'], 'TypeError', 'temperature']]) {
      const error = await ask(call, ...args).catch((caught) => caught);
      assert.equal(error.name, name, `${call}: ${error.message}`);
      if (field) assert.equal(error.field, field);
    }
    await page.evaluate(() => { document.querySelector('iframe').width = 500; });
    await until('the new size to be told', async () => (await events()).some(({event, detail}) => event === 'resize' && detail.width === 500));
    if (sandbox) await page.screenshot({path: `${SCREENSHOTS}/web-sandbox.png`});
    await board.close();
  });
}

for (const sandbox of ['', 'sandbox="allow-scripts"']) {
  test(`embed.html allows only its own files by itself, ${sandbox ? 'in a sandbox by their address' : 'in an ordinary frame'}`, async () => {
    const bare = await serve(SITE, {policy: false}), other = await serve(SITE, {policy: false});
    const board = await browser.open('/empty', {wait: false, allow: [/Content Security Policy/]}), {page} = board;
    await page.goto(`${bare.url}/empty`);
    await page.setContent(`<iframe src="${bare.url}/embed.html" ${sandbox} width="700" height="300"></iframe>`);
    const frame = await until('the frame', () => page.frames().find((one) => one.url().endsWith('/embed.html')));
    const [refused, policy] = await frame.evaluate(async (address) => {
      await customElements.whenDefined('attention-playground').then(() => document.querySelector('attention-playground').ready);
      const violations = [];
      addEventListener('securitypolicyviolation', ({effectiveDirective, blockedURI}) => violations.push(`${effectiveDirective} ${blockedURI}`));
      document.body.append(Object.assign(document.createElement('script'), {textContent: '0'}), Object.assign(document.createElement('script'), {src: `${address}/embed.js`}));
      document.body.append(Object.assign(document.createElement('img'), {src: `${address}/board.png`}));
      await fetch(`${address}/index.html`).catch(() => {});
      while (violations.length < 4) await new Promise(requestAnimationFrame);
      return [violations.sort(), document.querySelector('meta[http-equiv=Content-Security-Policy]').content];
    }, other.url);
    assert.deepEqual(refused, [`connect-src ${other.url}/index.html`, `img-src ${other.url}/board.png`, 'script-src-elem inline', `script-src-elem ${other.url}/embed.js`].sort());
    const ours = sandbox ? `${bare.url}/` : "'self'";
    assert.equal(policy, `default-src 'none'; script-src ${ours} 'wasm-unsafe-eval'; style-src ${ours}; img-src data:; connect-src ${ours}; base-uri 'none'; form-action 'none'`);
    await board.close();
    await Promise.all([bare.close(), other.close()]);
  });
}

test('the embed page answers nobody but a parent that connects', async () => {
  const {board, page, ask} = await openHost();
  await ask('getState');
  const heard = await page.evaluate(async () => {
    const messages = [];
    addEventListener('message', ({data}) => messages.push(data));
    const {contentWindow} = document.querySelector('iframe');
    for (const data of [{id: 1, call: 'getState', args: []}, {attention: 2, connect: true}, {attention: 1}, null, 'hello', [1]]) {
      const {port1, port2} = new MessageChannel();
      port1.onmessage = () => messages.push('port');
      contentWindow.postMessage(data, '*', [port2]);
      port1.postMessage({id: 1, call: 'getState', args: []});
    }
    const stranger = document.body.appendChild(document.createElement('iframe'));
    stranger.srcdoc = '<p>stranger</p>';
    await new Promise((resolve) => stranger.addEventListener('load', resolve));
    await globalThis.ask('getState');
    await globalThis.ask('getState');
    return messages;
  });
  assert.deepEqual(heard, []);
  // A flood of calls is answered, some with errors, and the board survives.
  const [fine, refused] = await page.evaluate(async () => {
    const answers = await Promise.all(Array.from({length: 3000}, () => globalThis.ask('get', 'causal')));
    return [answers.filter(({error}) => !error).length, answers.filter(({error}) => error?.name === 'RangeError').length];
  });
  assert.equal(fine + refused, 3000);
  assert.ok(fine >= 1000);
  assert.equal(typeof await ask('get', 'causal'), 'boolean');
  await board.close();
});

test('a frame at the end of its board hands the wheel on to the page', async () => {
  const {board, page, ask} = await openHost('', null);
  await ask('getState');
  await page.evaluate(() => { document.body.style.height = '3000px'; });
  await page.mouse.move(300, 300);
  await page.mouse.wheel(0, 200);
  await until('the page to scroll', () => page.evaluate(() => scrollY > 50));
  await page.evaluate(() => scrollTo(0, 0));
  await page.mouse.click(300, 300);
  for (let i = 0; i < 60 && await page.evaluate(() => scrollY) < 50; i++) {
    await page.mouse.wheel(0, 300);
    await board.settle();
  }
  await until('the page to scroll at the end', () => page.evaluate(() => scrollY > 50));
  await board.close();
});

test('the standalone file works from a disk, without a server, whatever characters the page is written in', async () => {
  const page = await (await browser.browser.newContext({viewport: {width: 1440, height: 900}})).newPage();
  await page.addInitScript(() => {  // opens a closed shadow root to the test
    const {attachShadow} = Element.prototype;
    Element.prototype.attachShadow = function (options) { return attachShadow.call(this, {...options, mode: 'open'}); };
  });
  await page.goto(`file://${SITE}/index.html`);
  await page.evaluate((address) => new Promise((resolve, reject) => {
    const script = document.createElement('script');
    Object.assign(script, {src: address, charset: 'windows-1252', onload: resolve, onerror: reject});
    document.head.append(script);
  }), `file://${SITE}/standalone.js`);
  const board = new Board(page, 'attention-playground');
  await page.evaluate(() => document.querySelector('attention-playground').ready.then(() => true));
  await board.drag('q', [0, 0, 0], 30, 0);
  await board.check();
  const told = await page.evaluate(async () => {
    const el = document.querySelector('attention-playground');
    const bytes = async (format) => (await el.toBlob({format})).size;
    return [await bytes('svg'), await bytes('npz'), await el.toCode('numpy')];
  });
  assert.ok(told[0] > 1000 && told[1] > 1000, 'files are written');
  assert.match(told[2], /import numpy/);
  await board.press('?');
  await board.rest();  // the list gets its size
  await board.click('help-notices');
  await until('the licences, which are in the file', () => page.evaluate(() => {
    const places = [...document.querySelector('attention-playground').shadowRoot.querySelectorAll('div')];
    return places.some((place) => place.shadowRoot?.querySelector('dialog.notices pre')?.textContent.includes('SIL OPEN FONT LICENSE'));
  }));
  await board.press('Escape');
  await page.evaluate(() => document.querySelector('attention-playground').openLesson('query'));
  await assert.rejects(board.call('embedCode'), {field: 'home'}, 'no other page could load the element from this disk');
  await page.evaluate(() => { document.querySelector('attention-playground').lang = 'de'; });
  await until('German words', () => page.evaluate(() => document.querySelector('attention-playground').shadowRoot.querySelector('.hidden')?.shadowRoot.textContent.includes('Rückgängig')));
  await page.context().close();
});

test('the standalone file stays as small as it is', () => {
  const size = gzipSync(readFileSync(`${SITE}/standalone.js`), {level: 9}).length;
  assert.ok(size <= 1024 * 1001, `${size} bytes after gzip`);  // 87 KB of them are the lessons and the glossary, 10 KB more with seventeen questions and numbers in motion, 24 KB tooltips in three languages, 30 KB the palette and typeset formulas, 14 KB the licences, 20 KB what attention is used for, figures, the picture and the lesson on training, 10 KB the recurrent decoder, classes, keypad, timings, 11 KB the heads of a model, measured and searched, and what a trained model computes, 5 KB its heads switched off, 6 KB layers whose scores are not stored, 3 KB logits, targets and fingers, 12 KB boards of 131,072 tokens, two heads side by side, other ways to change a head, and long work in words, 9 KB rows with NaN that are marked, first pictures of heads, and rows of long boards that are made some in each frame, 8 KB messages as ids with arguments, what keeps a large board in parts, and edits of long boards that compute what they change, 1 KB tokens in the palette, 4 KB pages of long boards in windows and slices, 2 KB weights with numbers on the page Model, what is seen of every row, and messages that go
});

// ---------------------------------------------------------------- the dialog

const dialog = (board, more = '') => board.page.locator(`attention-playground dialog ${more}`);
const openDialog = async (board) => {
  await board.click('share');
  await until('the dialog', () => dialog(board).isVisible());
};
/** Records what is copied to the clipboard in a list. */
const noteCopies = (board) => board.page.evaluate(() => {
  globalThis.copied = [];
  addEventListener('copy', (e) => queueMicrotask(() => globalThis.copied.push(e.clipboardData.getData('text/plain'))), true);
  const {setData} = DataTransfer.prototype;
  DataTransfer.prototype.setData = function (type, text) { globalThis.copied.push(text); return setData.call(this, type, text); };
});
const copied = (board) => until('a copy', () => board.page.evaluate(() => globalThis.copied.find(Boolean)));

test('Share shows the link of the board, copies it and draws its QR code', async () => {
  const board = await browser.open('/');
  await board.drag('q', [0, 0, 0], 33, 0);
  await noteCopies(board);
  await openDialog(board);
  const address = await board.call('link');
  await until('the link', async () => await dialog(board, 'pre').first().textContent() === address);
  await dialog(board, 'button.main').first().click();
  assert.equal(await copied(board), address);
  const {encode} = await import('uqr');
  const {data} = encode(address, {ecc: 'L', border: 4});
  const squares = await dialog(board, '.qr path').getAttribute('d');
  assert.equal(squares.match(/M/g).length, data.flat().filter(Boolean).length, 'dark modules of its QR code');
  await board.page.keyboard.press('Escape');
  await until('the dialog to be gone', async () => await dialog(board).count() === 0);
  assert.equal(await board.page.evaluate(() => document.activeElement.shadowRoot.activeElement.localName), 'canvas');
  await board.close();
});

test('without a connection the button still copies the link', async () => {
  const board = await browser.open('/', {allow: [/ERR_INTERNET_DISCONNECTED/]});
  await noteCopies(board);
  const before = await board.call('link');
  await board.page.context().setOffline(true);
  await board.click('share');
  assert.equal(await copied(board), before);
  await board.close();
});

test('where the browser lets nothing be copied, the button and an error say so', async () => {
  const board = await browser.open('/');
  await board.page.evaluate(() => {
    document.execCommand = () => false;
    navigator.clipboard.writeText = () => Promise.reject(new DOMException('It is denied.', 'NotAllowedError'));
  });
  const noted = await board.listen('error');
  await openDialog(board);
  for (const [tab, place] of [[0, 'button.main'], [1, '.code button']]) {
    await dialog(board, '[role=tab]').nth(tab).click();
    await dialog(board, place).locator('visible=true').first().click();
    await until('the truth', () => dialog(board).getByText('Not copied').first().isVisible());
  }
  await dialog(board, '[role=tab]').nth(3).click();
  await dialog(board).getByRole('button', {name: 'Copy', exact: true}).locator('visible=true').click();
  await until('the truth of the code', async () => (await dialog(board).getByText('Not copied').locator('visible=true').count()) > 0);
  assert.ok((await noted()).length >= 3);
  assert.match((await noted())[0].detail.message, /did not let the text be copied: It is denied\./);
  await board.close();
});

test('code that is copied before it is shown is whole, and what was said of it stays', async () => {
  const board = await browser.open('/');
  await noteCopies(board);
  await board.page.evaluate(() => {
    const element = document.querySelector('attention-playground'), toCode = element.toCode.bind(element);
    const shown = new Promise((resolve) => { globalThis.show = resolve; });
    let asked = 0;
    element.toCode = async (...values) => {
      if (asked++ === 0) await shown;  // what the tab itself shows comes late
      return toCode(...values);
    };
  });
  await openDialog(board);
  await dialog(board, '[role=tab]').nth(3).click();
  const said = dialog(board).getByText('Copied to the clipboard.').locator('visible=true');
  await dialog(board).getByRole('button', {name: 'Copy', exact: true}).locator('visible=true').click();
  assert.match(await copied(board), /^import numpy[^]*output/m);
  await until('the word of it', async () => await said.count() === 1);
  await board.page.evaluate(() => globalThis.show());
  await until('the program', async () => /import numpy/.test(await dialog(board, 'pre.program').textContent()));
  assert.equal(await said.count(), 1, 'what was said stays');
  await board.close();
});

test('Embed shows what the code will show, and the code is that of embedCode()', async () => {
  const board = await browser.open('/');
  await openDialog(board);
  await dialog(board, '[role=tab]').nth(1).click();
  for (const words of ['Arcs', 'Heads']) await board.page.locator('attention-playground dialog label.tick', {hasText: words}).click();
  await board.page.locator('attention-playground dialog [aria-label="Lock another one"]').selectOption('heads');
  await board.page.locator('attention-playground dialog [role=tabpanel]:not([hidden]) [role=radio]', {hasText: 'Dark'}).click();
  const options = {theme: 'dark', lock: ['heads'], hide: ['arcs', 'heads'], width: 640, height: 440};
  for (const [i, kind] of ['element', 'iframe'].entries()) {
    const code = await board.call('embedCode', {...options, kind});
    await until(`the code of ${kind}`, async () => await board.page.locator('attention-playground dialog [role=tabpanel]:not([hidden]) pre').nth(i).textContent() === code);
  }
  const preview = board.page.locator('attention-playground dialog attention-playground');
  await until('the preview', () => preview.evaluate((element) => element.getAttribute('lock') === 'heads' && element.getAttribute('hide') === 'arcs,heads' && element.getAttribute('theme') === 'dark'));
  await preview.evaluate((element) => element.ready.then(() => true));
  const [width, height] = await preview.evaluate((element) => { const box = element.getBoundingClientRect(); return [box.width, box.height]; });
  assert.deepEqual([width, height], [640, 440], 'at 1:1');
  await board.close();
});

test('the address bar follows the board when it is asked to, and then opens it', async () => {
  const board = await browser.open('/');
  await openDialog(board);
  await board.page.locator('attention-playground dialog label.tick', {hasText: 'address bar'}).click();
  await until('the address', () => board.page.url().includes('#s='));
  await board.page.keyboard.press('Escape');
  const was = board.page.url();
  await board.call('set', 'temperature', 2.5);
  await until('it to follow', () => board.page.url() !== was);
  await board.page.reload();
  await board.page.evaluate(() => document.querySelector('attention-playground').ready.then(() => true));
  assert.equal(await board.get('temperature'), 2.5);
  await board.close();
});

const FINGER = {hasTouch: true, isMobile: true};
for (const [name, options] of [['small', {viewport: {width: 640, height: 440}}], ['phone', {viewport: {width: 390, height: 844}, ...FINGER}]]) {
  test(`the dialog of a ${name} window has everything in reach${options.hasTouch ? ', and nothing below 44 pixels for a finger' : ''}`, async () => {
    const board = await browser.open('/', options);
    await board.click('more');
    await board.rest();  // the menu has reached its position
    await openDialog(board);
    for (const tab of [0, 1, 2, 3]) {
      await dialog(board, '[role=tab]').nth(tab).click();
      const out = await board.page.evaluate(() => {
        const root = [...document.querySelector('attention-playground').shadowRoot.querySelectorAll('div')].find((div) => div.shadowRoot?.querySelector('dialog')).shadowRoot;
        return [...root.querySelectorAll('button, select, input, pre')].filter((node) => node.offsetParent).map((node) => [node.getBoundingClientRect(), node.outerHTML.slice(0, 80)])
          .filter(([box]) => box.left < 0 || box.right > innerWidth).map(([, html]) => html);
      });
      assert.deepEqual(out, []);
      if (!options.hasTouch) continue;
      const small = await board.page.evaluate(() => {
        const root = [...document.querySelector('attention-playground').shadowRoot.querySelectorAll('div')].find((div) => div.shadowRoot?.querySelector('dialog')).shadowRoot;
        return [...root.querySelectorAll('button, select, input, a, [role=tab], [role=radio]')].filter((node) => node.offsetParent)
          .map((node) => node.matches('[type=checkbox], [type=radio]') ? node.closest('label') : node)  // a label is pressed for its box
          .map((node) => [node.getBoundingClientRect(), node.outerHTML.slice(0, 80)])
          .filter(([box]) => box.width < 44 || box.height < 44).map(([box, html]) => `${box.width} × ${box.height}: ${html}`);
      });
      assert.deepEqual(small, []);
    }
    await board.close();
  });
}

test('links and code have the step of a lesson and the height of the board; both are read', async () => {
  const board = await browser.open('/');
  const address = await board.call('link', {lesson: 'query', step: 2});
  assert.match(address, /\?lesson=query&step=2#s=/);
  assert.match(await board.call('embedCode', {fit: true, lesson: 'query', step: 1}), /<attention-playground preset="i-saw-a-saw" lesson="query" step="1" fit style=/);
  assert.match(await board.call('embedCode', {kind: 'iframe', fit: true}), /embed\.html\?preset=i-saw-a-saw&amp;fit="/);
  for (const [option, value] of [['step', -1], ['step', 0.5], ['step', '2'], ['fit', 'yes']]) {
    const {name, message} = await board.page.evaluate(([key, one]) => document.querySelector('attention-playground').link({[key]: one}).catch(({name, message}) => ({name, message})), [option, value]);
    assert.equal(name, 'TypeError');
    assert.match(message, new RegExp(`^${option} must be`));
  }
  await board.close();
  const other = await browser.open(address.replace(browser.server.url, ''), {guide: true});
  await until('the third step', () => other.page.evaluate(() => JSON.parse(localStorage['attention-playground'] ?? '{}').step === 2));
  await other.close();
});

test('a link opens the steps where they were', async () => {
  const board = await browser.open('/');
  await board.call('set', 'stepper', 3);
  const address = await board.call('link');
  await board.close();
  const other = await browser.open(address.replace(browser.server.url, ''));
  assert.equal(await other.get('stepper'), 3);
  await other.close();
});

test('the dialog asks from which step of a lesson, and whether the board is as high as it takes', async () => {
  const board = await browser.open('/', {seen: true});
  await board.click('share');
  const dialog = board.page.locator('dialog.share'), step = dialog.getByLabel('Step of the lesson').first(), link = dialog.locator('pre[aria-label="Link"]');
  assert.equal(await step.isDisabled(), true);
  await dialog.getByLabel('Lesson', {exact: true}).first().selectOption('query');
  await step.fill('3');
  await until('the step in the link', async () => /lesson=query&step=2/.test(await link.textContent()));
  await dialog.getByRole('tab', {name: 'Embed'}).click();
  await dialog.getByLabel('As high as the board').check();
  await until('fit in the code', async () => / fit style=/.test(await dialog.locator('pre[aria-label="Code of the element"]').textContent()));
  assert.equal(await dialog.getByLabel('Height in pixels').isDisabled(), true);
  await board.page.screenshot({path: `${SCREENSHOTS}/share-fit.png`});
  await board.close();
});
