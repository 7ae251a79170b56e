// The first frame in Firefox and WebKit as a ratio to Chromium's, in one run: the same page is loaded again, round by round in turn, so that
// files and compiled code come from each browser's cache. All three draw without a graphics processor.
//   node engines.bench.mjs [--quick]
import {Chromium, Firefox, WebKit} from '../browser/engines/drivers.mjs';
import {SITE, serve} from '../browser/harness.mjs';
import {until} from '../until.mjs';
import {median, quick} from './contest.mjs';

const rounds = quick ? 1 : 9;
/** Notes when the board is shown, which is in the task that draws its first frame. */
const first = () => {
  const look = () => {
    const canvas = document.querySelector('attention-playground')?.shadowRoot?.querySelector('canvas');
    if (canvas?.style.visibility === '') globalThis.firstFrame = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
};
const server = await serve(SITE, {first: `(${first})();`}), browsers = [new Chromium(), new Firefox(), new WebKit()], times = new Map(browsers.map((browser) => [browser, []]));

/** Milliseconds from the beginning of a navigation to the first frame, and until the whole board answers. */
const measure = () => customElements.whenDefined('attention-playground').then(() => document.querySelector('attention-playground').ready)
  .then(() => [globalThis.firstFrame, performance.now()]);

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
  for (const [i, what, goal] of [[0, 'first frame', '   ≤ 1.5'], [1, 'ready', '']]) {
    const [chromium] = [...times.values()].map((list) => median(list.map((pair) => pair[i])));
    for (const [{name, version}, list] of times) {
      const time = median(list.map((pair) => pair[i])), ratio = (time / chromium).toFixed(2);
      console.log(`${`${what}, ${name} ${version}`.padEnd(44)}${time.toFixed(0).padStart(8)} ms${name === 'chromium' ? '' : `${ratio.padStart(8)} of Chromium's${goal}`}`);
    }
  }
} finally {
  for (const browser of browsers) await browser.stop();
  await server.close();
}
