// Many boards embedded in one page: how soon they are ready, how much memory they take, how smoothly the page scrolls, how soon a further
// board can be used, and whether the tutorial ever blocks its reader.
//   node guests.bench.mjs [--quick]
import {createServer} from 'node:http';
import {fileURLToPath} from 'node:url';
import sirv from 'sirv';
import {launch, SITE} from '../browser/harness.mjs';
import {median, quick} from './contest.mjs';

// Cross-origin isolated, which browsers require to measure a page's memory.
const setHeaders = (response) => {
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
};
const files = sirv(SITE, {dev: true, setHeaders});
const html = (body) => `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><style>main > * { display: block; height: 440px; margin: 40px auto; width: 640px; background: #eee }</style>${body}`;
const pages = {
  '/boards': html(`<script type="module" src="/element.js"></script><main>${'<attention-playground loading="eager"></attention-playground>'.repeat(24)}</main>`),
  '/none': html(`<main>${'<div></div>'.repeat(24)}</main>`),
  '/one': html('<script type="module" src="/element.js"></script><main><attention-playground></attention-playground></main>'),
};
const server = createServer((request, response) => {
  const page = pages[request.url];
  if (!page) return files(request, response, () => response.writeHead(404).end());
  setHeaders(response);
  response.writeHead(200, {'Content-Type': 'text/html'}).end(page);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const browser = await launch();

const line = (what, value, unit, goal) => console.log(`${what.padEnd(52)}${String(value).padStart(10)} ${unit.padEnd(6)}${goal}`);
async function visit(path) {
  const page = await (await browser.newContext({viewport: {width: 1280, height: 800}})).newPage();
  await page.addInitScript(() => {
    globalThis.long = [];
    new PerformanceObserver((list) => list.getEntries().forEach(({startTime, duration}) => globalThis.long.push([startTime, duration]))).observe({type: 'longtask', buffered: true});
  });
  await page.goto(`http://127.0.0.1:${server.address().port}${path}`);
  return page;
}
const ready = (page) => page.evaluate(() => customElements.whenDefined('attention-playground')
  .then(() => Promise.all([...document.querySelectorAll('attention-playground')].map((element) => element.ready))).then(() => performance.now()));
const scrolling = (page) => page.evaluate(async (by) => {
  const times = [], frame = () => new Promise(requestAnimationFrame);
  let last = await frame();
  for (let y = 0; y + innerHeight < document.documentElement.scrollHeight; y += by) {
    scrollTo(0, y);
    const now = await frame();
    times.push(now - last);
    last = now;
  }
  return times.sort((a, b) => a - b)[times.length >> 1];
}, quick ? 600 : 60);
/** In bytes; NaN if the browser cannot measure it (chromium-headless-shell cannot; CHROMIUM=chromium names one that can). */
const memory = (page) => page.evaluate(() => performance.measureUserAgentSpecificMemory().then(({bytes}) => bytes, () => NaN));

const times = [], ratios = [];
let bytes = 0;
for (let i = 0; i < (quick ? 1 : 3); i++) {
  const page = await visit('/boards'), none = await visit('/none');
  times.push(await ready(page));
  await scrolling(page);  // each board draws its first picture
  ratios.push(await scrolling(page) / await scrolling(none));
  if (!i) bytes = await memory(page);
  await page.context().close();
  await none.context().close();
}
line('24 boards, all ready after', Math.round(median(times)), 'ms', '≤ 3000');
line('24 boards, memory as the browser measures it', ...Number.isNaN(bytes) ? ['unknown', ''] : [(bytes / 1e6).toFixed(0), 'MB'], '≤ 200');
line('scrolling, median frame ÷ without boards', median(ratios).toFixed(2), '', '≤ 1.2');

const one = await visit('/one');
await ready(one);
const reveals = [];
for (let i = 0; i < (quick ? 3 : 9); i++) {
  reveals.push(await one.evaluate(async () => {
    const element = document.createElement('attention-playground'), start = performance.now();
    document.querySelector('main').prepend(element);
    await element.ready;
    element.set('causal', false);
    const time = performance.now() - start;
    element.remove();
    return time;
  }));
}
line('a further board can be used after', median(reveals).toFixed(0), 'ms', '≤ 60');

const tutorial = await visit('/tutorial.html');
await tutorial.evaluate(() => new Promise((resolve) => document.readyState === 'complete' ? resolve() : addEventListener('load', resolve)));
const loaded = await tutorial.evaluate(() => performance.now());
await scrolling(tutorial);
await ready(tutorial);
await scrolling(tutorial);
const tasks = (await tutorial.evaluate(() => globalThis.long)).filter(([start]) => start > loaded).map(([, duration]) => duration);
line('tutorial, longest task after load', Math.max(0, ...tasks), 'ms', '≤ 100');

await browser.close();
server.close();
server.closeAllConnections();
