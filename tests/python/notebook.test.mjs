// A notebook in a real Jupyter, in a browser: kernel and board must show the same.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {launch, SCREENSHOTS} from '../browser/harness.mjs';
import {until} from '../until.mjs';
import {models} from './models.mjs';

let browser, folder, jupyter, address, log = '';
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'notebook-'));
  const code = (source) => ({cell_type: 'code', execution_count: null, id: `c${source.length}`, metadata: {}, outputs: [], source});
  writeFileSync(join(folder, 'board.ipynb'), JSON.stringify({nbformat: 4, nbformat_minor: 5, metadata: {kernelspec: {name: 'python3', display_name: 'Python 3', language: 'python'}}, cells: [
    code('import json, numpy as np\nfrom attention_playground import Playground\nr = np.random.default_rng(5)\nq, k, v = r.normal(size=(3, 2, 4, 3))\n' +
      'board = Playground(q=q, k=k, v=v, tokens=["I", "saw", "a", "saw"], height=560)\n' +
      'def tell(board):\n    json.dump({"causal": board.state["causal"], "labels": board.state["labels"], "weights": board.tensor("weights").tolist()}, open("told.json.new", "w"))\n' +
      '    import os; os.replace("told.json.new", "told.json")\nboard.observe(tell)\nboard'),
    code('board.set(causal=True)'),
    code('board.state = {**board.state, "labels": ["I", "saw", "her", "duck"]}'),
  ]}));
  jupyter = spawn(models(), ['-m', 'jupyterlab', '--no-browser', '--allow-root', '--ServerApp.port=0', '--ServerApp.ip=127.0.0.1', '--ServerApp.token=', '--ServerApp.password=',
    '--ServerApp.disable_check_xsrf=True', '--LabApp.news_url=', '--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate', `--ServerApp.root_dir=${folder}`],
  {cwd: folder, env: {...process.env, HOME: folder, JUPYTER_CONFIG_DIR: join(folder, 'config'), JUPYTER_DATA_DIR: join(folder, 'data'), JUPYTER_RUNTIME_DIR: join(folder, 'runtime')}});
  jupyter.stderr.on('data', (data) => { log += data; });
  address = (await until('Jupyter', () => /http:\/\/127\.0\.0\.1:\d+/.exec(log)))[0];
  browser = await launch();
});
after(async () => {
  await browser?.close();
  if (jupyter.exitCode === null) {
    const ended = new Promise((resolve) => jupyter.once('exit', resolve));
    jupyter.kill('SIGKILL');
    await ended;
  }
  rmSync(folder, {recursive: true, force: true, maxRetries: 5});
});

const told = () => {
  try {
    return JSON.parse(readFileSync(join(folder, 'told.json'), 'utf8'));
  } catch {
    return null;  // not yet
  }
};

test('a board in JupyterLab tells the kernel what it computes, and takes what the kernel sets', async () => {
  const page = await browser.newPage({viewport: {width: 1500, height: 1000}});
  await page.goto(`${address}/doc/tree/board.ipynb`);
  await page.locator('.jp-Notebook .jp-CodeCell').first().waitFor({timeout: 120_000});
  await until('the kernel', () => page.locator('.jp-Notebook-ExecutionIndicator[data-status=idle]').count(), 120_000);
  await page.locator('.jp-CodeCell .cm-content').first().click();
  await page.keyboard.press('Shift+Enter');
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
