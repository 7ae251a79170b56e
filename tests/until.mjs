// The only place where a test waits: for a condition, and much longer than any machine should need.
import assert from 'node:assert/strict';

/** Waits until `condition` gives something true, and gives that back. */
export async function until(what, condition, ms = 60_000) {
  for (const end = Date.now() + ms; ;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) assert.fail(`waited ${ms} ms in vain for ${what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}
