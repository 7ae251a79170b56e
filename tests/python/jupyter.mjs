// JupyterLab with notebooks in a folder, for tests in a browser.
import {spawn} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {until} from '../until.mjs';

const code = (source) => ({cell_type: 'code', execution_count: null, id: `c${source.length}`, metadata: {}, outputs: [], source});

/** Writes a notebook with these cells. */
export const notebook = (folder, name, ...cells) =>
  writeFileSync(join(folder, name), JSON.stringify({nbformat: 4, nbformat_minor: 5, metadata: {kernelspec: {name: 'python3', display_name: 'Python 3', language: 'python'}}, cells: cells.map(code)}));

/** Starts the JupyterLab of a Python in a folder, in which it also keeps what it would keep at home; gives its address, its environment, and how it is ended. */
export async function jupyter(python, folder) {
  const env = {...process.env, HOME: folder, JUPYTER_CONFIG_DIR: join(folder, 'config'), JUPYTER_DATA_DIR: join(folder, 'data'), JUPYTER_RUNTIME_DIR: join(folder, 'runtime')};
  const server = spawn(python, ['-m', 'jupyterlab', '--no-browser', '--allow-root', '--ServerApp.port=0', '--ServerApp.ip=127.0.0.1', '--ServerApp.token=', '--ServerApp.password=',
    '--ServerApp.disable_check_xsrf=True', '--LabApp.news_url=', '--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate', `--ServerApp.root_dir=${folder}`],
  {cwd: folder, env});
  const close = async () => {
    if (server.exitCode !== null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await ended;
  };
  let log = '';
  server.stderr.on('data', (data) => { log += data; });
  try {
    const [address] = await until('Jupyter', () => /http:\/\/127\.0\.0\.1:\d+/.exec(log));
    return {address, env, close};
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens a notebook and runs its first cell. */
export async function opened(page, address, name) {
  await page.goto(`${address}/doc/tree/${name}`);
  await page.locator('.jp-Notebook .jp-CodeCell').first().waitFor({timeout: 120_000});
  await until('the kernel', () => page.locator('.jp-Notebook-ExecutionIndicator[data-status=idle]').count(), 120_000);
  await until('the cell to run', async () => {  // what is asked of a kernel that is still connecting is lost
    if (/[*\d]/.test(await page.locator('.jp-CodeCell .jp-InputPrompt').first().textContent())) return true;
    await page.locator('.jp-CodeCell .cm-content').first().click();
    await page.keyboard.press('Shift+Enter');
    return false;
  }, 120_000);
}
