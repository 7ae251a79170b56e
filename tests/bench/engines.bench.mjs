// The first frame in Firefox and WebKit as a ratio to Chromium's, in one run: the same page is loaded again, round by round in turn, so that
// files and compiled code come from each browser's cache. All three draw without a graphics processor.
//   node engines.bench.mjs [--quick]
import {Chromium, Firefox, WebKit} from '../browser/engines/drivers.mjs';
import {serve} from '../browser/harness.mjs';
import {until} from '../until.mjs';
import {median} from './contest.mjs';

const rounds = process.argv.includes('--quick') ? 2 : 9;
const server = await serve(), browsers = [new Chromium(), new Firefox(), new WebKit()], times = new Map(browsers.map((browser) => [browser, []]));

/** Milliseconds from the beginning of a navigation until a board has drawn its first frame and answers. */
const measure = () => document.querySelector('attention-playground').ready.then(() => new Promise(requestAnimationFrame)).then(() => performance.now());

try {
  for (const browser of browsers) {
    await browser.start();
    await browser.open(`${server.url}/embed.html`, {width: 1200, height: 800});
    await browser.evaluate(measure);
  }
  for (let i = 0; i < rounds; i++) {
    for (const browser of browsers) {
      const was = await browser.evaluate(() => performance.timeOrigin);
      await browser.evaluate(() => { setTimeout(() => location.reload()); });
      // In between there is a moment without a page, in which nothing can be evaluated.
      await until('the page again', () => browser.evaluate((last) => performance.timeOrigin !== last && Boolean(document.querySelector('attention-playground')?.ready), was)
        .catch(() => false));
      times.get(browser).push(await browser.evaluate(measure));
    }
  }
  const [chromium] = [...times.values()].map(median);
  for (const [{name, version}, list] of times) {
    const time = median(list), ratio = (time / chromium).toFixed(2);
    console.log(`${`first frame, ${name} ${version}`.padEnd(44)}${time.toFixed(0).padStart(8)} ms${name === 'chromium' ? '' : `${ratio.padStart(8)} of Chromium's   ≤ 1.5`}`);
  }
} finally {
  for (const browser of browsers) await browser.stop();
  await server.close();
}
