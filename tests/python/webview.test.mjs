// What a notebook shows in a webview without a network: in a frame as VS Code has one for outputs, and in WebKitGTK from a file address.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {pathToFileURL} from 'node:url';
import {gzipSync} from 'node:zlib';
import {WebKit} from '../browser/engines/drivers.mjs';
import {SCREENSHOTS, launch} from '../browser/harness.mjs';
import {until} from '../until.mjs';
import {fresh, run, script} from './installed.mjs';

const POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob: data:; style-src 'unsafe-inline'; img-src data: blob:; worker-src blob:; connect-src blob: data:";
const MAKE = `import json, os, sys
import numpy as np
import attention_playground as a
r = np.random.default_rng(5)
words = "I saw a saw".split()
a.Recording(a.Layer("h.%d" % i, *r.normal(size=(3, 1, 2, 4, 3)).astype("float32"), 1, causal=True, tokens=[words]) for i in range(3)).to_html(sys.argv[1])
q, k, v = r.normal(size=(3, 2, 4, 3))
print(json.dumps({"place": os.path.dirname(a.__file__), "state": json.dumps(a.Playground(q=q, k=k, v=v, tokens=words).state)}))`;

let home, file, made;
before(() => {
  home = fresh();
  file = join(home.folder, 'heads.html');
  made = JSON.parse(run(home.python, '-c', MAKE, file));
});
after(() => home.remove());

/** What a page has of all layers of the recording, once it has them. */
const shown = () => {
  const board = document.querySelector('attention-playground');
  try {
    return board.get('view') === 'model' && board.get('layer') === 0 && [board.get('batch'), board.get('batch_of'), board.get('heads'), board.get('labels').join(' '), board.getTensor('weights').data.length];
  } catch {
    return false;  // not ready
  }
};
const WHOLE = [3, 'layers', 2, 'I saw a saw', 32];

/** The page of the widget's tests in one text: its script, and what the kernel would give. */
function widgetPage() {
  const part = (name) => readFileSync(join(made.place, name)), base64 = (bytes) => bytes.toString('base64');
  const text = readFileSync(script('notebook.html'), 'utf8').replace("'./widget.js'", `'data:text/javascript;base64,${base64(part('widget.js'))}'`)
    .replace("'standalone.gz'", `'data:application/octet-stream;base64,${base64(gzipSync(part('page/standalone.js')))}'`);
  assert.ok(text.split(';base64,').length === 3, 'both are in it');
  return text;
}

/** A frame as VS Code shows outputs in, in a page whose policy it has too; every request is refused. */
async function inWebview(text, look) {
  const browser = await launch(), requests = [], complaints = [];
  try {
    const page = await browser.newPage({viewport: {width: 1200, height: 800}});
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && !/can escape its sandboxing/.test(message.text()) && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (asked) => requests.push(asked.url()));
    await page.route(/^(?!data:|blob:)/, (route) => route.request().url() === 'https://webview.test/' ? route.fulfill({contentType: 'text/html', headers: {'Content-Security-Policy': POLICY},
      body: '<!doctype html><iframe sandbox="allow-scripts allow-same-origin" style="border:0;position:fixed;inset:0;width:100%;height:100%"></iframe>'}) : route.abort());
    await page.goto('https://webview.test/');
    await page.evaluate((content) => { document.querySelector('iframe').srcdoc = content; }, text);
    const frame = await until('the frame', () => page.frames().find((one) => one.url() === 'about:srcdoc'));
    await page.frameLocator('iframe').locator('body > *').first().waitFor({state: 'attached'});
    await look(frame, page);
    assert.deepEqual(requests.filter((address) => !/^(data|blob|about):/.test(address)), ['https://webview.test/']);
    assert.deepEqual(complaints, []);
  } finally {
    await browser.close();
  }
}

test('to_html() opens all layers in the frame of a webview', () => inWebview(readFileSync(file, 'utf8'), async (frame, page) => {
  assert.deepEqual(await until('the page Model', () => frame.evaluate(shown)), WHOLE);
  await page.screenshot({path: join(SCREENSHOTS, 'webview-heads.png')});
}));

test('the widget of a notebook lives in the frame of a webview', () => inWebview(widgetPage(), async (frame, page) => {
  await until('the script', () => frame.evaluate(() => typeof globalThis.show === 'function'));
  await frame.evaluate((state) => { globalThis.cell = globalThis.show({state, wanted: ['weights']}); }, made.state);
  assert.deepEqual((await until('the weights', () => frame.evaluate(() => globalThis.cell.model.tensors?.weights))).shape, [2, 4, 4]);
  await frame.evaluate(() => globalThis.cell.model.set('options', {causal: true}));
  await until('the option in the kernel', () => frame.evaluate(() => globalThis.cell.model.kernel.causal === true));
  await page.screenshot({path: join(SCREENSHOTS, 'webview-board.png')});
}));

test('to_html() opens all layers in WebKitGTK from a file address, and asks the network for nothing', async () => {
  const asked = [], proxy = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(403).end();
  });
  proxy.on('connect', (request, socket) => {
    asked.push(request.url);
    socket.destroy();
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const before = {...process.env}, browser = new WebKit();
  for (const name of ['http_proxy', 'https_proxy', 'all_proxy']) process.env[name] = `http://127.0.0.1:${proxy.address().port}`;
  process.env.no_proxy = '127.0.0.1';  // its driver speaks to it there
  try {
    await browser.start();
    await browser.open(pathToFileURL(file).href);
    assert.deepEqual(await until('the page Model', () => browser.evaluate(shown)), WHOLE);
    await browser.picture('webview-heads');
    assert.deepEqual(asked, []);
    assert.deepEqual(browser.logged, []);
    await browser.evaluate(() => fetch('http://elsewhere.example/').catch(() => {}).then(() => true));
    assert.deepEqual(asked, ['http://elsewhere.example/'], 'it would have been seen');
  } finally {
    process.env = before;
    await browser.stop();
    proxy.close();
    proxy.closeAllConnections();
  }
});
