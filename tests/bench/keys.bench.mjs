// What an arrow key costs the desktop program at 12 heads of 1,024 tokens and 64 dimensions, without a graphics card: the processor time of
// all its threads, from the key until the screen shows what it did; the median of seven, in milliseconds.
//   node keys.bench.mjs [--quick]
import {spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {Session, cost, startDisplay, tensors} from '../desktop/harness.mjs';
import {quick} from './contest.mjs';

const GOAL = 20, MOST_LOOKS = 500;  // at the screen, in case nothing changes there

/** What pressing a key costs until the screen shows it. */
function keyCost(app, key) {
  const look = () => readFileSync(app.display.file);
  let screen;
  return cost(app, async () => {
    spawn('xdotool', ['key', '--delay', '0', key], {env: app.env});
    for (let looks = 0; looks < MOST_LOOKS && look().equals(screen); ++looks) await new Promise(setImmediate);
  }, async () => {
    await app.settled();
    screen = look();
  });
}

const cleanups = [], owner = {after: (call) => cleanups.unshift(call)};
const display = await startDisplay();
cleanups.push(() => display.close());
try {
  const app = await Session.start(owner, display, [tensors(owner, ['q', 'k', 'v'], [12, 1024, 64]), '--size', '1440x900']);
  for (const name of quick ? ['q'] : ['q', 'k', 'v']) {
    await app.click(await app.place(name, 0, 1, 1));
    for (const [what, key] of [['another cell', 'Right'], ['another number', 'Up']]) {
      console.log(`${name.toUpperCase()}, ${what.padEnd(16)}${(await keyCost(app, key)).toFixed(1).padStart(8)} ms  ≤ ${GOAL}`);
    }
  }
} finally {
  for (const cleanup of cleanups) cleanup();
}
