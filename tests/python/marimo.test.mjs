// Boards and recordings in a real marimo, in a browser: page and kernel must know the same.
import assert from 'node:assert/strict';
import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {SCREENSHOTS} from '../browser/harness.mjs';
import {until} from '../until.mjs';
import {marimo, notebook} from './marimo.mjs';
import {models} from './models.mjs';
import {served} from './served.mjs';

const IMPORTS = `import json, os
import marimo as mo, numpy as np, torch, transformers as hf
from attention_playground import Playground, record`;

const RECORDING = `torch.manual_seed(1)
model = hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=100, n_positions=32, n_embd=64, n_layer=3, n_head=4)).eval()
record(model, torch.arange(9)[None] * 7 % 90 + 1).show()`;

const BOARD = `q, k, v = np.random.default_rng(5).normal(size=(3, 2, 4, 3))
board = Playground(q=q, k=k, v=v, tokens=["I", "saw", "a", "saw"], height=560)
def tell(board):
    with open("told.json.new", "w") as file:
        json.dump({"causal": board.state["causal"], "temperature": board.state["temperature"], "weights": board.tensor("weights").tolist(), "error": board.error}, file)
    os.replace("told.json.new", "told.json")
board.observe(tell)
board`;

const BUTTONS = `warmer = mo.ui.button(label="warmer", on_click=lambda _: board.set(temperature=2))
wrong = mo.ui.button(label="wrong", on_click=lambda _: board.set(temperature=-1))
ask = mo.ui.button(label="what is wrong", on_click=lambda _: tell(board))
mo.hstack([warmer, wrong, ask])`;  // marimo keeps what has a name

const here = served('marimo', (folder) => {
  notebook(folder, 'app.py', ['', IMPORTS, 'Playground, hf, json, mo, np, os, record, torch'], ['hf, record, torch', RECORDING, ''],
    ['Playground, json, np, os', BOARD, 'board, tell'], ['board, mo, tell', BUTTONS, 'ask, warmer, wrong']);
  return marimo(models(), folder, 'app.py');
}), {told} = here;

/** The app in a page whose reader's system is dark, as marimo is not; close() fails if anything was complained of. */
async function app() {
  const page = await here.browser.newPage({viewport: {width: 1300, height: 1400}, colorScheme: 'dark'}), complaints = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(here.server.address);
  return {page, async close() {
    await page.close();
    assert.deepEqual(complaints, []);
  }};
}

test('a board in marimo is drawn, tells the kernel what the reader changes, and takes what the kernel sets', async () => {
  const {page, close} = await app(), board = page.locator('attention-playground');  // in a shadow of marimo's own element
  await board.waitFor({timeout: 120_000});
  assert.equal(await board.evaluate((one) => one.ready.then(() => one.get('causal'))), false);
  const first = await until('the weights in the kernel', told);
  const weights = await board.evaluate((one) => ({shape: one.getTensor('weights').shape, data: Array.from(one.getTensor('weights').data)}));
  assert.deepEqual(weights.shape, [2, 4, 4]);
  first.weights.flat(2).forEach((x, i) => assert.ok(Math.abs(x - weights.data[i]) < 1e-5, `${x} and ${weights.data[i]}`));
  const [width, height] = await board.evaluate((one) => [one.shadowRoot.querySelector('canvas').width, one.shadowRoot.querySelector('canvas').height]);
  assert.ok(width > 600 && height === 560, `${width} × ${height}`);
  mkdirSync(SCREENSHOTS, {recursive: true});
  await page.screenshot({path: join(SCREENSHOTS, 'marimo.png')});

  await board.evaluate((one) => one.set('causal', true));
  assert.deepEqual((await until('the mask in the kernel', () => told()?.causal && told())).weights[0][0], [1, 0, 0, 0]);
  await page.getByRole('button', {name: 'warmer'}).click();
  await until('the temperature on the board', async () => await board.evaluate((one) => one.get('temperature')) === 2);
  await until('the temperature in the kernel', () => told().temperature === 2);
  await page.getByRole('button', {name: 'wrong', exact: true}).click();
  await until('the refusal in the kernel', async () => {
    await page.getByRole('button', {name: 'what is wrong'}).click();
    return /temperature/.test(told().error);
  });
  await close();
});

test('a board in marimo has the theme of marimo, which need not be the system\'s', async () => {
  const {page, close} = await app(), board = page.locator('attention-playground');
  await board.waitFor({timeout: 120_000});
  const theme = () => board.evaluate((one) => one.getAttribute('theme'));
  await until('the theme of marimo', async () => await theme() === 'light');
  await page.evaluate(() => { document.body.dataset.theme = 'dark'; });  // as marimo does
  await until('the theme that was chosen', async () => await theme() === 'dark');
  await close();
});

test('a recording in marimo shows its heads, whose switches run the model, and opens a layer on the board', async () => {
  const {page, close} = await app(), cell = page.locator('.attention-heads'), links = cell.locator('.links'), answer = cell.locator('.switches tr:nth-child(2) td');
  await links.getByText('Layer 0, head 0').waitFor({timeout: 120_000});
  await until('what the model says next', async () => await answer.count() === 3);
  const {x, y, width, height} = await cell.locator('canvas.all').boundingBox();
  await page.mouse.click(x + width * 2.5 / 4, y + height * 1.5 / 3);
  await links.getByText('Layer 1, head 2').waitFor();
  await cell.locator('.switches select').selectOption('off');
  await until('the answer without it', async () => await answer.count() === 5);
  await cell.getByText('Open on the board').click();
  const opened = cell.locator('attention-playground');
  await opened.waitFor();
  await until('the layer on the board', () => opened.evaluate((one) => one.ready.then(() => one.get('heads') === 4 && one.get('focus_head') === 2)));
  await page.screenshot({path: join(SCREENSHOTS, 'marimo-heads.png'), fullPage: true});
  await close();
});
