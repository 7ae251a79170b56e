// Notebooks in a real Jupyter, in a browser: kernel and board must show the same; and exported by nbconvert.
import assert from 'node:assert/strict';
import {mkdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {SCREENSHOTS} from '../browser/harness.mjs';
import {until} from '../until.mjs';
import {run} from './installed.mjs';
import {jupyter, notebook, opened} from './jupyter.mjs';
import {models} from './models.mjs';
import {served} from './served.mjs';

const LARGE = `import numpy as np
from attention_playground import Layer, Recording
r = np.random.default_rng(5)
layers = Recording(Layer("h.%d" % i, *r.normal(size=(3, 1, 12, 256, 64)).astype("float32"), 0.125, causal=True, tokens=[["t%d" % j for j in range(256)]]) for i in range(12))
layers.show()`;

const LIVE = `import json, torch, transformers as hf
from attention_playground import record
torch.manual_seed(1)
model = hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=100, n_positions=32, n_embd=64, n_layer=3, n_head=4)).eval()
for one in model.parameters():
    one.data *= 3
ids = torch.arange(9)[None] * 7 % 90 + 1
def off(module, args):  # head 2
    out = args[0].clone()
    out[..., 32:48] = 0
    return (out,)
found = []
for hook in (None, off):
    held = hook and model.transformer.h[1].attn.c_proj.register_forward_pre_hook(hook)
    with torch.no_grad():
        found.append(model(ids).logits[0, -1].tolist())
    if held:
        held.remove()
json.dump(found, open("hooks.json", "w"))
record(model, ids).show()`;

const here = served('notebook', (folder) => {
  notebook(folder, 'large.ipynb', LARGE);
  notebook(folder, 'live.ipynb', LIVE);
  notebook(folder, 'board.ipynb',
    'import json, numpy as np\nfrom attention_playground import Playground\nr = np.random.default_rng(5)\nq, k, v = r.normal(size=(3, 2, 4, 3))\n' +
      'board = Playground(q=q, k=k, v=v, tokens=["I", "saw", "a", "saw"], height=560)\n' +
      'def tell(board):\n    json.dump({"causal": board.state["causal"], "labels": board.state["labels"], "weights": board.tensor("weights").tolist()}, open("told.json.new", "w"))\n' +
      '    import os; os.replace("told.json.new", "told.json")\nboard.observe(tell)\nboard',
    'board.set(causal=True)',
    'board.state = {**board.state, "labels": ["I", "saw", "her", "duck"]}');
  return jupyter(models(), folder);
}), {told} = here;

test('a board in JupyterLab tells the kernel what it computes, and takes what the kernel sets', async () => {
  const page = await here.browser.newPage({viewport: {width: 1500, height: 1000}});
  await opened(page, here.server.address, 'board.ipynb');
  const first = await until('the weights in the kernel', told, 120_000);
  assert.equal(first.causal, false);
  assert.deepEqual([first.weights.length, first.weights[0].length, first.weights[0][0].length], [2, 4, 4]);
  for (const row of first.weights.flat()) assert.ok(Math.abs(row.reduce((a, b) => a + b) - 1) < 1e-5);
  mkdirSync(SCREENSHOTS, {recursive: true});
  await page.screenshot({path: join(SCREENSHOTS, 'notebook.png')});
  await page.locator('.jp-CodeCell .cm-content').nth(1).click();
  await page.keyboard.press('Shift+Enter');
  const second = await until('the mask in the kernel', () => told()?.causal && told());
  assert.deepEqual(second.weights[0][0], [1, 0, 0, 0]);
  await page.keyboard.press('Shift+Enter');  // the next cell gets the focus
  await until('the labels in the kernel', () => told()?.labels.join() === 'I,saw,her,duck');
  assert.deepEqual(await page.evaluate(() => document.querySelector('attention-playground').get('labels')), ['I', 'saw', 'her', 'duck']);
});

const PICTURE = '.jp-RenderedSVG img, .jp-RenderedSVG svg';

test('12 layers × 12 heads × 256 tokens in a cell: what is looked at is asked for, and no message has more than 2 MB', async () => {
  const page = await here.browser.newPage({viewport: {width: 1500, height: 1000}}), sizes = [];
  page.on('websocket', (socket) => ['framereceived', 'framesent'].forEach((event) => socket.on(event, ({payload}) => sizes.push(payload.length))));
  await opened(page, here.server.address, 'large.ipynb');
  const text = () => page.locator('.attention-heads .links').textContent({timeout: 120_000});
  await until('the first head', async () => /Layer 0, head 0/.test(await text()), 120_000);
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) < 3e6, `${sizes.reduce((sum, size) => sum + size, 0)} bytes of a recording of 28 MB`);
  assert.equal(await page.locator(PICTURE).first().isVisible(), false, 'the widget stands for it');
  const {x, y, width, height} = await page.locator('.attention-heads canvas.all').boundingBox();
  await page.mouse.click(x + width * 5.5 / 12, y + height * 3.5 / 12);
  await until('the head that was clicked', async () => /Layer 3, head 5/.test(await text()));
  const rows = await page.locator('.attention-heads .row').allTextContents();
  assert.equal(rows.length, 5);
  for (const row of rows) assert.match(row, /^t(\d+) \1 → t(\d+) \2[01]\.\d\d$/, 'the strongest links, by words and numbers');
  await page.screenshot({path: join(SCREENSHOTS, 'notebook-heads.png')});
  await page.getByText('Open on the board').click();
  await until('the layer on the board', () => page.evaluate(() => {
    const board = document.querySelector('attention-playground');
    try {
      return board.get('heads') === 12 && board.get('focus_head') === 5;
    } catch {
      return false;  // not ready
    }
  }), 120_000);
  await page.screenshot({path: join(SCREENSHOTS, 'notebook-layer.png')});
  assert.ok(Math.max(...sizes) < 2e6, `the largest message has ${Math.max(...sizes)} bytes`);
  console.log(`largest message: ${Math.max(...sizes)} bytes`);
  await page.close();
});

test('switches of a recorded model run it again in the kernel, as hooks written by hand do, and all heads are tried', async () => {
  const page = await here.browser.newPage({viewport: {width: 1500, height: 1000}});
  await opened(page, here.server.address, 'live.ipynb');
  const cell = (selector) => page.locator(`.attention-heads .switches ${selector}`), rows = async () => (await cell('tr').allTextContents()).length;
  await until('what the model says next', async () => await rows() === 11, 120_000);
  const [before, after] = JSON.parse(readFileSync(join(here.folder, 'hooks.json'), 'utf8'));
  const {x, y, width, height} = await page.locator('.attention-heads canvas.all').boundingBox();
  await page.mouse.click(x + width * 2.5 / 4, y + height * 1.5 / 3);
  await until('the head', async () => /Layer 1, head 2/.test(await page.locator('.attention-heads .links').textContent()));
  await cell('select').selectOption('off');
  await until('the answer without it', async () => (await cell('tr:nth-child(2) td').allTextContents()).length === 5);
  const fixed = (value, digits) => value.toFixed(digits).replace('-', '−'), share = (logits, i) => Math.exp(logits[i]) / logits.reduce((sum, one) => sum + Math.exp(one), 0);
  const best = before.map((_, i) => i).sort((a, b) => before[b] - before[a]).slice(0, 10);
  for (const [i, token] of best.entries()) {
    assert.deepEqual(await cell(`tr:nth-child(${i + 2}) td`).allTextContents(), [`${token}`, fixed(before[token], 2), fixed(after[token], 2), share(before, token).toFixed(3), share(after, token).toFixed(3)]);
  }
  await cell('button:text("Try all heads")').click();
  await until('all heads', async () => /Each of 12 heads was off alone/.test(await cell('p').allTextContents().then(String)), 120_000);
  await page.screenshot({path: join(SCREENSHOTS, 'notebook-live.png')});
  await page.close();
});

test('the picture stays in what nbconvert makes of it, without a kernel, a script or a network', async () => {
  run(models(), {cwd: here.folder, env: here.server.env}, '-m', 'nbconvert', '--to', 'html', '--execute', '--log-level', 'ERROR', 'large.ipynb');
  const context = await here.browser.newContext({javaScriptEnabled: false, offline: true}), page = await context.newPage();
  await page.setViewportSize({width: 1200, height: 700});
  await page.goto(`file://${join(here.folder, 'large.html')}`, {waitUntil: 'domcontentloaded'});
  const picture = page.locator(PICTURE).first(), {width} = await picture.boundingBox();
  assert.ok(await picture.isVisible() && width > 700, `${width} pixels`);
  await page.screenshot({path: join(SCREENSHOTS, 'notebook-exported.png')});
  await context.close();
});
