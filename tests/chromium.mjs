// Which Chromium the tests and benchmarks use: the one that $CHROMIUM names, or the first that is on the PATH.
import {execFileSync} from 'node:child_process';

// Without a window of its own around the page, a page takes 0.7 s of processor in place of 1.6; the page itself is drawn by the same code.
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

export function findChromium() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const name of NAMES) {
    try {
      return execFileSync('which', [name], {encoding: 'utf8'}).trim();
    } catch { /* the next name */ }
  }
  throw new Error('Chromium is needed: apt-get install chromium-headless-shell, or set CHROMIUM to its path.');
}
