// How long a command takes: by the clock, which other programs change, and by the seconds that processors work for it, which they hardly do.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';

/** Runs a command, which must succeed; returns its seconds, those of processors, and what it printed. */
export function timed(command, options) {
  const began = performance.now(), {status, stdout, stderr} = spawnSync('bash', ['-c', 'TIMEFORMAT="%U %S"; time "$@"', 'bash', ...command], {encoding: 'utf8', timeout: 600_000, maxBuffer: 1 << 26, ...options});
  assert.equal(status, 0, `${command.join(' ')}: ${stderr || stdout}`);
  return {seconds: (performance.now() - began) / 1000, processor: stderr.trim().split('\n').at(-1).split(' ').reduce((sum, part) => sum + Number(part), 0), stdout};
}
