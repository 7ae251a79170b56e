// Apps of marimo, each a notebook in a folder, for tests in a browser.
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {until} from '../until.mjs';

/** Writes a notebook with these cells: [the names that it takes, its source, the names that it gives]. */
export const notebook = (folder, name, ...cells) => writeFileSync(join(folder, name), ['import marimo', 'app = marimo.App()',
  ...cells.map(([takes, source, gives]) => `@app.cell\ndef _(${takes}):\n${source.replace(/^/gm, '    ')}\n    return ${gives}`), 'if __name__ == "__main__":\n    app.run()', ''].join('\n\n'));

/** A port that is free; marimo cannot say which one the system gave it. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Runs a notebook as an app, with what marimo keeps at home in its folder; gives its address and how it is ended. */
export async function marimo(python, folder, name) {
  const address = `http://127.0.0.1:${await freePort()}`;
  const env = {...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder, XDG_STATE_HOME: folder, MARIMO_SKIP_UPDATE_CHECK: '1'};
  const server = spawn(python, ['-m', 'marimo', '--yes', 'run', '--headless', '--no-token', '--no-sandbox', '--port', new URL(address).port, name], {cwd: folder, env});
  const close = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
  };
  let log = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (data) => { log += data; });
  try {
    await until('marimo', async () => {
      if (server.exitCode !== null) throw new Error(`marimo has ended: ${log}`);
      return fetch(`${address}/health`).then(({ok}) => ok, () => false);
    }, 120_000);
    return {address, close, log: () => log};
  } catch (error) {
    await close();
    throw error;
  }
}
