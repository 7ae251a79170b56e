// Labels in any script in the window: shaped by Pango, typed into the field, and saved as they were typed.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {SCREENSHOTS, Session, folder, readPng, run, startDisplay} from './harness.mjs';

let display;
before(async () => { display = await startDisplay(); });
after(() => display.close());

const SENTENCES = {
  chinese: ['我', '看见', '一把', '锯子'], arabic: ['رأيت', 'منشارا', 'في', 'الحديقة'], cyrillic: ['Я', 'увидел', 'пилу', 'опять'],
  devanagari: ['मैंने', 'एक', 'आरी', 'देखी'], emoji: ['👩‍🚀', '👀', '🪚', '🇩🇪'],
};

function stateOf(labels) {
  const tensor = (...shape) => ({shape, data: Array.from({length: shape.reduce((a, b) => a * b)}, (_, i) => Math.round(Math.sin(i * 7.3) * 200) / 100)});
  const n = labels.length;
  return {version: 1, tokens: n, labels, heads: 1, d_k: 4, theme: 'light', q: tensor(1, n, 4), k: tensor(1, n, 4), v: tensor(1, n, 4)};
}

for (const scale of [1, 1.5, 2]) {
  test(`labels in five scripts, ratio ${scale}`, (t) => {
    const home = folder(t);
    for (const [script, labels] of Object.entries(SENTENCES)) {
      const state = join(home, `${script}.json`), file = join(SCREENSHOTS, `desktop-script-${script}@${scale}.png`);
      writeFileSync(state, JSON.stringify(stateOf(labels)));
      const args = ['--state', state, '--size', '1440x900', '--scale', String(scale)];
      const items = run([...args, '--items'], {display: display.name, home});
      const drawn = run([...args, '--screenshot', file], {display: display.name, home});
      assert.equal(drawn.status, 0, drawn.stderr);
      const picture = readPng(file), places = JSON.parse(items.stdout);
      const shown = labels.map((_, token) => {
        const box = places.find(({name}) => name === `label:left:${token}`);
        const [left, top, width, height] = [box.x, box.y, box.width, box.height].map((v) => Math.round(v * scale));
        const background = picture.at(left, top);
        let ink = 0, colourful = 0, text = '';
        for (let y = top; y < top + height; ++y) {
          for (let x = left; x < left + width; ++x) {
            const rgb = picture.at(x, y);
            ink += rgb.some((v, i) => Math.abs(v - background[i]) > 40) ? 1 : 0;
            colourful += Math.max(...rgb) - Math.min(...rgb) > 80 ? 1 : 0;
            text += rgb[1] > 128 ? ' ' : '#';
          }
        }
        return {ink, colourful, text};
      });
      for (const {ink} of shown) assert.ok(ink > 8 * scale * scale, `${script}: something is drawn`);
      assert.equal(new Set(shown.map(({text}) => text)).size, 4, `${script}: four words, four pictures; no question marks`);
      assert.equal(shown.some(({colourful}) => colourful > 10), script === 'emoji', `${script}: only emoji have colours of their own`);
    }
  });
}

test('a sentence is typed in another script, and the caret goes by whole characters', async (t) => {
  // A keyboard layout with these letters: otherwise xdotool creates a key for each letter, and removes it before it is processed.
  execFileSync('setxkbmap', ['-display', display.name, '-layout', 'us,ru']);
  const session = await Session.start(t, display);
  await session.click(await session.place('labels'));
  await session.key('ctrl+a');
  await session.type('Я вижу пилуx');
  await session.key('Left', 'Right', 'BackSpace', 'Return');
  assert.deepEqual((await session.saved()).labels, ['Я', 'вижу', 'пилу']);
  assert.equal(await session.close(), 0);
});
