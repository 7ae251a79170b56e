// Notebooks in a folder of their own, with a server that runs them and a browser, for the tests of a file.
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before} from 'node:test';
import {launch} from '../browser/harness.mjs';

/** `start` writes the notebooks into the folder and starts their server, {address, close}. What this returns has them once tests run; told() is what a
 * notebook last wrote to told.json, or null. */
export function served(name, start) {
  const all = {told() {
    try {
      return JSON.parse(readFileSync(join(all.folder, 'told.json'), 'utf8'));
    } catch {
      return null;  // not yet
    }
  }};
  before(async () => {
    all.folder = mkdtempSync(join(tmpdir(), `${name}-`));
    all.server = await start(all.folder);
    all.browser = await launch();
  });
  after(async () => {
    await all.browser?.close();
    await all.server?.close();
    rmSync(all.folder, {recursive: true, force: true, maxRetries: 5});
  });
  return all;
}
