// The only place where tests wait: for a condition, with a limit much longer than any machine should need.
import assert from 'node:assert/strict';

/** Waits until `condition` returns something truthy, and returns that. */
export async function until(what, condition, ms = 60_000) {
  for (const end = Date.now() + ms; ;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) assert.fail(`waited ${ms} ms in vain for ${what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
