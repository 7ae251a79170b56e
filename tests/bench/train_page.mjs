// The page while it trains, including drawing, for training.bench.mjs. Seconds are wall-clock time on the machine as it is; processor time
// of the page's whole process is a lower bound for an idle machine.
import {launch, serve} from '../browser/harness.mjs';
import {quick, table} from './contest.mjs';

/** What must be reached, and within how many seconds of Play. The conditions are computed in the page. */
const TASKS = {
  induction: {most: 8, what: 'prefix matching ≥ 0.4 (Olsson et al. 2022)'},
  tags: {most: 5, what: '99 % of the held-out words'},
  translate: {most: 20, what: '99 % of the held-out words, and half of a head on the right word'},
};

const quantile = (values, q) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(q * values.length))];

/** Records the duration of each animation frame's callback. */
const noteFrames = (page) => page.addInitScript(() => {
  globalThis.took = [];
  const ask = globalThis.requestAnimationFrame.bind(globalThis);
  globalThis.requestAnimationFrame = (call) => ask((time) => {
    const began = performance.now();
    call(time);
    globalThis.took.push(performance.now() - began);
  });
});

/** In the page: trains until the task is learned, or for a minute. */
async function learn(task) {
  const el = document.querySelector('attention-playground');
  /** How much weight the best head puts on what followed the same token, for the best matching period. */
  const prefixMatching = () => {
    let best = 0;
    for (const layer of [1, 2]) {
      const {data, shape: [heads, rows, keys]} = el.getTensor(`train:weights:${layer}`);
      for (let h = 0; h < heads; h++) {
        for (let period = 8; period <= 16; period++) {
          let sum = 0;
          for (let i = period; i < rows; i++) sum += data[(h * rows + i) * keys + i - period + 1];
          best = Math.max(best, sum / (rows - period));
        }
      }
    }
    return best;
  };
  /** For the cross-attention: the largest weight of each word over heads and layers, averaged. */
  const alignment = () => {
    let best = 0;
    for (const layer of [4, 6]) {  // two encoder layers, then twice a decoder's self-attention and its cross-attention
      const {data, shape: [heads, rows, keys]} = el.getTensor(`train:weights:${layer}`);
      for (let h = 0; h < heads; h++) {
        let sum = 0;
        for (let i = 0; i < rows; i++) sum += Math.max(...data.slice((h * rows + i) * keys, (h * rows + i + 1) * keys));
        best = Math.max(best, sum / rows);
      }
    }
    return best;
  };
  const slices = [];
  let frames = 0, steps = 0;
  globalThis.took.length = 0;
  const began = performance.now();
  const learned = await new Promise((resolve) => {
    el.addEventListener('train', function look({detail}) {
      frames++, steps = detail.step, slices.push(detail.sliceMs);
      const isThere = task === 'induction' ? frames % 8 === 0 && prefixMatching() >= 0.4
        : detail.heldOut.accuracy >= 0.99 && (task !== 'translate' || alignment() >= 0.5);
      if (!isThere && performance.now() - began < 60_000) return;
      el.removeEventListener('train', look);
      resolve(isThere);
    });
    el.set('train_running', true);
  });
  const seconds = (performance.now() - began) / 1e3;
  el.set('train_running', false);
  return {learned, seconds, frames, steps, slices, took: globalThis.took.slice()};
}

/** Targets in the format of verdicts(). */
export async function trainPage() {
  const [server, browser] = await Promise.all([serve(), launch()]);
  const page = await (await browser.newContext({viewport: {width: 1440, height: 900}})).newPage(), session = await browser.newBrowserCDPSession();
  page.setDefaultTimeout(0);
  await noteFrames(page);
  await page.goto(`${server.url}/?view=train`);
  await page.evaluate(() => customElements.whenDefined('attention-playground').then(() => document.querySelector('attention-playground').ready));
  const processor = async () => (await session.send('SystemInfo.getProcessInfo')).processInfo.filter(({type}) => type === 'renderer').reduce((sum, {cpuTime}) => sum + cpuTime, 0);
  const settle = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

  const lines = [], targets = [];
  for (const [task, {most, what}] of Object.entries(TASKS).filter(([task]) => !quick || task === 'tags')) {
    const found = [];
    for (let round = 0; round < (quick ? 1 : 3); ++round) {
      await page.evaluate((name) => {
        const el = document.querySelector('attention-playground');
        el.set('train_task', name);
        el.resetTraining();
      }, task);
      await settle();
      const before = await processor();
      const run = await page.evaluate(learn, task);
      found.push({...run, processor: await processor() - before});
    }
    found.sort((a, b) => a.seconds - b.seconds);
    const {learned, seconds, frames, steps, took, processor: used} = found[found.length >> 1];
    const slices = found.flatMap((run) => run.slices);  // of all runs, because the 99th percentile of 50 slices is the longest one
    lines.push([task, seconds, used, steps, frames, quantile(took, 0.5), quantile(took, 0.99), quantile(slices, 0.5), quantile(slices, 0.99)]);
    targets.push([`${task}: s from Play until ${what}`, learned ? seconds : Infinity, most, {most: true}]);
    targets.push([`${task}: a slice of training, 99th percentile, ms`, quantile(slices, 0.99), 12, {most: true}]);
  }
  table('in the page, from Play on (medians of runs)', ['', 's', 's of the processor', 'steps', 'frames', 'frame ms', '99 %', 'slice ms', '99 %'], lines);

  // A hundred thousand steps of a small model: memory must not grow after the first third.
  const steps = quick ? [300, 1000] : [30_000, 100_000];
  const heap = await page.evaluate(async ([some, all]) => {
    const el = document.querySelector('attention-playground');
    for (const [option, value] of Object.entries({train_task: 'tags', train_layers: 1, train_heads: 1, train_batch: 1, train_d_model: 4, train_feed_forward: false,
      train_layer_norm: false, train_optimizer: 'sgd', train_rate: 0.01})) el.set(option, value);
    await el.train(some);
    const early = el.stats().heapBytes;
    await el.train(all - some);
    return [early, el.stats().heapBytes];
  }, steps);
  console.log(`memory of the module after ${steps[0]} steps ${heap[0]} bytes, after ${steps[1]} ${heap[1]}`);
  targets.push([`bytes of memory after ${steps[1]} steps ÷ after ${steps[0]}`, heap[1] / heap[0], 1, {most: true}]);
  await browser.close();
  await server.close();
  return targets;
}
