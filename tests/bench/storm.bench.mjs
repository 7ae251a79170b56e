// Ten minutes of calls and input without a pause, in each browser, all three at once: does the memory of a board grow? First its history is
// filled to its limit, because until then every edit is kept.
//   node storm.bench.mjs [--quick]
import {Chromium, Firefox, WebKit} from '../browser/engines/drivers.mjs';
import {serve} from '../browser/harness.mjs';
import {quick} from './contest.mjs';

const MINUTES = quick ? 0.05 : 10;
const server = await serve(), browsers = [new Chromium(), new Firefox(), new WebKit()];

/** Fills the history with edits that differ, and returns to a small board. */
async function fill(count) {
  await customElements.whenDefined('attention-playground');
  const el = document.querySelector('attention-playground');
  await el.ready;
  el.set('tokens', 512);
  el.set('d_k', 64);
  const {data, shape} = el.getTensor('q');
  for (let i = 0; i < count; i++) el.setTensor('q', data.map((value) => value + i), shape);
  el.set('d_k', 3);
  el.set('tokens', 4);
  return el.stats().heapBytes;
}

/** Calls and events for some milliseconds, with a frame after every few; returns how many there were, and what was refused by which. */
async function storm(ms, seed) {
  const el = document.querySelector('attention-playground'), canvas = el.shadowRoot.querySelector('canvas');
  const roll = (n) => (seed = (seed * 48271) % 2147483647) % n;  // Park and Miller's generator
  const one = (list) => list[roll(list.length)];
  const pointer = (type) => {
    const {left, top, width, height} = canvas.getBoundingClientRect();
    const where = {clientX: left + roll(width), clientY: top + roll(height), bubbles: true, cancelable: true, composed: true, button: 0, pointerId: 1, isPrimary: true, pointerType: 'mouse'};
    canvas.dispatchEvent(type.startsWith('pointer') ? new PointerEvent(type, where) : new MouseEvent(type, {...where, detail: 1}));
  };
  const key = (name) => { for (const type of ['keydown', 'keyup']) canvas.dispatchEvent(new KeyboardEvent(type, {key: name, bubbles: true, cancelable: true, composed: true})); };
  const presets = ['i-saw-a-saw', 'translation', 'pronoun', 'grouped-query'], views = ['layer', 'block', 'segments', 'train', 'spread', 'cost', 'memory'];
  const acts = [
    () => el.set('causal', roll(2) === 1), () => el.set('heads', 1 + roll(4)), () => el.set('tokens', 1 + roll(24)), () => el.set('temperature', 0.1 + roll(30) / 10),
    () => el.set('view', one(views)), () => el.set('normalizer', one(['softmax', 'sparsemax', 'sigmoid'])), () => el.set('mode', one(['qkv', 'x'])),
    () => { const {data, shape} = el.getTensor('v'); el.setTensor('v', data.map(() => roll(200) / 100 - 1), shape); },
    () => el.undo(), () => el.redo(), () => el.reset(), () => el.setState(el.getState()), () => { el.preset = one(presets); },
    () => el.explain('weights', 0, 0, 0), () => el.gradient({tensor: 'output', head: 0, row: 0, col: 0}, 'q'), () => el.items(), () => el.locate('q', 0, 0, 0),
    () => el.link(), () => el.toCode('numpy'), () => el.toBlob({what: 'weights'}), () => el.observe({tensor: 'weights'}, () => {})(),
    () => { pointer('pointermove'); pointer('pointerdown'); pointer('mousedown'); for (let i = 0; i < 5; i++) pointer('pointermove'); pointer('pointerup'); },
    () => canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: roll(200) - 100, bubbles: true, cancelable: true})),
    () => { canvas.focus(); key(one(['c', 'ArrowUp', 'ArrowRight', 'Delete', 'y', 'P', 'a', '?', 'Escape', 'u', 'i', 'Tab'])); },
  ];
  let count = 0;
  const refused = {};
  for (const end = performance.now() + ms; performance.now() < end;) {
    for (let i = 0; i < 10; i++, count++) {
      const act = one(acts);
      try {
        await Promise.race([act(), new Promise((done) => setTimeout(done, 2000))]);
      } catch (error) {
        refused[error.message.slice(0, 80)] = (refused[error.message.slice(0, 80)] ?? 0) + 1;
      }
    }
    await new Promise(requestAnimationFrame);
  }
  return {count, refused, heap: el.stats().heapBytes, seed};
}

const megabytes = (bytes) => (bytes / 2 ** 20).toFixed(1);

async function run(browser) {
  await browser.start();
  await browser.open(`${server.url}/embed.html`, {width: 1000, height: 600});
  await browser.evaluate(fill, 0);
  const before = await browser.evaluate(fill, quick ? 5 : 700), heaps = [], refused = {};
  let seed = 7, calls = 0;
  for (const end = Date.now() + MINUTES * 60_000; Date.now() < end;) {
    const round = await browser.evaluate(storm, quick ? 1000 : 2000, seed);
    ({seed} = round);
    calls += round.count;
    heaps.push(round.heap);
    for (const [message, times] of Object.entries(round.refused)) refused[message] = (refused[message] ?? 0) + times;
  }
  const soon = heaps[Math.floor(heaps.length / 10)], last = heaps.at(-1);
  if (process.env.SHOW_REFUSED) console.log(refused);
  return `${`memory, ${browser.name} ${browser.version}`.padEnd(44)}${megabytes(last).padStart(8)} MB after ${calls} calls and events; ${megabytes(before)} MB before, ${megabytes(soon)} MB after a tenth of the time: ${(last / soon).toFixed(2)}   1.00`;
}

// Each is stopped by itself: a driver that is stopped while it starts would wait for a browser that it never got to know.
const reports = await Promise.allSettled(browsers.map((browser) => run(browser).finally(() => browser.stop())));
await server.close();
for (const {reason} of reports) if (reason) throw reason;
for (const {value} of reports) console.log(value);
