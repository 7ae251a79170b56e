// Many tokens on the desktop: nothing is drawn outside the matrices.
import {writeFileSync} from 'node:fs';
import assert from 'node:assert/strict';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {BOARDS, checkBackground, named} from '../browser/background.mjs';
import {folder, readPng, run, startDisplay} from './harness.mjs';

let display;
before(async () => { display = await startDisplay(); });
after(() => display.close());

/** Numbers that are neither equal nor ordered. */
const tensor = (...shape) => ({shape, data: Array.from({length: shape.reduce((a, b) => a * b)}, (_, i) => Math.round(1000 * Math.sin(i * 1.7)) / 1000)});

test('no number of tokens draws where nothing should be', (t) => {
  const home = folder(t);
  for (const board of BOARDS) {
    const {tokens, heads, causal} = board, dim = heads === 1 ? 4 : 2;
    const state = join(home, 'board.json'), picture = join(home, 'board.png');
    writeFileSync(state, JSON.stringify({q: tensor(heads, tokens, dim), k: tensor(heads, tokens, dim), v: tensor(heads, tokens, dim), options: {causal}}));
    const args = ['--state', state, '--size', '1440x900', '--theme', 'light'];
    const drawn = run([...args, '--screenshot', picture], {display: display.name, home});
    assert.equal(drawn.status, 0, drawn.stderr);
    const listed = run([...args, '--items'], {display: display.name, home});
    assert.equal(listed.status, 0, listed.stderr);
    checkBackground(readPng(picture), JSON.parse(listed.stdout), named(board));
  }
});
