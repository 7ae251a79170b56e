// Opens a page in Chromium for a benchmark, with files served from folders.
import {createServer} from 'node:http';
import {createRequire} from 'node:module';
import {findChromium} from '../chromium.mjs';

const require = createRequire(new URL('../package.json', import.meta.url));
const {chromium} = require('playwright-core'), sirv = require('sirv');

/** Serves {'/prefix/': folder} and opens `path`: {page, version, close}. */
export async function openPage(path, folders, args = []) {
  const serving = Object.entries(folders).map(([prefix, folder]) => [prefix, sirv(folder, {dev: true})]);
  const server = createServer((request, response) => {
    const missing = () => response.writeHead(404).end();
    for (const [prefix, files] of serving) {
      if (!request.url.startsWith(prefix)) continue;
      request.url = request.url.slice(prefix.length - 1);
      return files(request, response, missing);
    }
    missing();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const browser = await chromium.launch({executablePath: findChromium(),
    args: ['--disable-background-networking', '--no-first-run', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), ...args]});
  const page = await browser.newPage();
  page.on('pageerror', (error) => console.error('page:', error.message));
  page.setDefaultTimeout(0);
  await page.goto(`http://127.0.0.1:${server.address().port}${path}`);
  return {page, version: browser.version(), close: async () => { await browser.close(); server.close(); }};
}
