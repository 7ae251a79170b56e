// The desktop program with real events: what is dragged, typed, pasted and dropped is saved and shown.
import assert from 'node:assert/strict';
import {copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {until} from '../until.mjs';
import {Session, SCREENSHOTS, folder, readPng, run, startDisplay, weights} from './harness.mjs';

let display;
before(async () => { display = await startDisplay(); });
after(() => display?.close());

const BOARD = ['--size', '1440x900', '--theme', 'light'];
const start = (t, args = BOARD, options = {}) => Session.start(t, display, args, options);

/** The rows of one head of a saved tensor. */
function rows(tensor, head = 0) {
  const [, n, d] = tensor.shape, flat = tensor.data.flat(Infinity);
  return Array.from({length: n}, (_, i) => flat.slice((head * n + i) * d, (head * n + i + 1) * d));
}

const darkness = ([r, g, b]) => 765 - r - g - b;

test('dragging a cell of Q changes the number, the weights of its row, and nothing else', async (t) => {
  const app = await start(t);
  const old = await app.saved();
  const colors = async () => Promise.all([0, 1, 2, 3].flatMap((r) => [0, 1, 2].map((c) => app.cellColor('weights', 0, r, c))));
  const before = await colors();
  await app.drag(await app.place('q', 0, 3, 2), 60, 0);
  const now = await app.saved();
  assert.ok(rows(now.q)[3][2] > rows(old.q)[3][2], `${rows(old.q)[3][2]} grew to ${rows(now.q)[3][2]}`);
  const expected = rows(old.q);
  expected[3][2] = rows(now.q)[3][2];
  assert.deepEqual(rows(now.q), expected);
  assert.deepEqual([now.k, now.v], [old.k, old.v]);

  const after = await colors();
  assert.deepEqual(after.slice(0, 9), before.slice(0, 9), 'the rows above look as before');
  const [was, is] = [weights(old, 0)[3], weights(now, 0)[3]];
  for (let c = 0; c < 3; ++c) {
    const change = darkness(after[9 + c]) - darkness(before[9 + c]);
    if (Math.abs(is[c] - was[c]) > 0.02) assert.equal(Math.sign(change), Math.sign(is[c] - was[c]), `weight ${c}`);
  }
  assert.ok(Math.max(...is.map((w, c) => Math.abs(w - was[c]))) > 0.02, 'the drag was long enough to see');
});

test('a number is typed after a double click; Ctrl+Z takes it back, Ctrl+Shift+Z brings it again', async (t) => {
  const app = await start(t);
  const old = await app.saved();
  await app.doubleClick(await app.place('k', 0, 1, 0));
  await app.key('ctrl+a');
  await app.type('-2.5');
  await app.key('Return');
  const typed = await app.saved();
  assert.equal(rows(typed.k)[1][0], -2.5);
  await app.key('ctrl+z');
  assert.deepEqual(await app.saved(), old);
  await app.key('ctrl+shift+z');
  assert.deepEqual(await app.saved(), typed);
});

test('a control is clicked, and the upper triangle gets its weights', async (t) => {
  const app = await start(t);
  const hidden = await app.cellColor('weights', 0, 0, 3);
  await app.click(await app.place('causal'));
  assert.equal((await app.saved()).causal, false);
  assert.notDeepEqual(await app.cellColor('weights', 0, 0, 3), hidden);
});

test('cells are copied, pasted and cut', async (t) => {
  const app = await start(t);
  await app.click(await app.place('v', 0, 2, 2));
  await app.key('ctrl+c');
  await app.click(await app.place('q', 0, 0, 0));
  await app.key('ctrl+v');
  const pasted = await app.saved();
  assert.equal(rows(pasted.q)[0][0], rows(pasted.v)[2][2]);
  await app.key('ctrl+x');
  assert.equal(rows((await app.saved()).q)[0][0], 0);
});

test('a tensor as it is printed is pasted into cells, and a layer as a whole', async (t) => {
  const app = await start(t);
  // The clipboard is filled as a person does it: words of a field, all of them chosen and copied.
  const copied = async (text) => {
    await app.click(await app.place('labels'));
    await app.key('ctrl+a');
    await app.type(text);
    await app.key('ctrl+a', 'ctrl+c', 'Escape');
  };
  await copied('array([[9., -8.5], [7e-1, 6]], dtype=float32)');
  await app.click(await app.place('q', 0, 1, 0));
  await app.key('ctrl+v');
  const q = rows((await app.saved()).q);
  assert.deepEqual([q[1].slice(0, 2), q[2].slice(0, 2)], [[9, -8.5], [0.7, 6]]);
  await copied("{'q': tensor([[1., 2.], [3., 4.]]), 'k': [[1, 0], [0, 1]], 'v': [[1, 1], [2, 2]], 'tokens': ['a', 'b']}");
  await app.click(await app.place('q', 0, 0, 0));
  await app.key('ctrl+v');
  const layer = await app.saved();
  assert.deepEqual([layer.tokens, layer.labels, rows(layer.q)[1]], [2, ['a', 'b'], [3, 4]]);
});

test('Ctrl+S saves to the file of --state, through its links, and never over another', async (t) => {
  const home = folder(t);
  writeFileSync(join(home, 'attention.json'), 'somebody else\'s');
  const first = await start(t, BOARD, {home});
  await first.saved(join(home, 'attention-1.json'));
  assert.equal(readFileSync(join(home, 'attention.json'), 'utf8'), 'somebody else\'s');
  await first.close();

  const file = join(home, 'mine.json');
  copyFileSync(join(home, 'attention-1.json'), file);
  const second = await start(t, [...BOARD, '--state', file], {home});
  assert.match(second.tool('getwindowname', second.window), /^mine\.json — /);
  await second.click(await second.place('causal'));
  assert.match(second.tool('getwindowname', second.window), /^• mine\.json — /);
  assert.equal((await second.saved(file)).causal, false);
  assert.match(second.tool('getwindowname', second.window), /^mine\.json — /);
  assert.deepEqual(readdirSync(home).filter((name) => name.endsWith('.json')).sort(), ['attention-1.json', 'attention.json', 'mine.json']);
});

test('a tensors file dropped on the window is opened; what was dropped is not written over', async (t) => {
  const app = await start(t);
  const tensors = {q: {shape: [2, 2], data: [1, 2, 3, 4]}, k: {shape: [2, 2], data: [0, 1, 1, 0]}, v: {shape: [2, 2], data: [5, 6, 7, 8]}};
  const file = join(app.home, 'tensors.json');
  writeFileSync(file, JSON.stringify(tensors));
  assert.equal(app.drop(file), 0, 'the window took it');
  await app.settled();
  const state = await app.saved();
  assert.deepEqual([state.q.shape, rows(state.q), rows(state.v)], [[1, 2, 2], [[1, 2], [3, 4]], [[5, 6], [7, 8]]]);
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), tensors);
});

test('a damaged file dropped on the window changes nothing', async (t) => {
  const app = await start(t);
  const old = await app.saved();
  const file = join(app.home, 'damaged.json');
  writeFileSync(file, '{"version": 1, "q": ');
  assert.equal(app.drop(file), 0);
  await app.settled();
  assert.deepEqual(await app.saved(), old);
});

test('idle is idle: no CPU time in three seconds, also after use', async (t) => {
  const app = await start(t);
  await app.drag(await app.place('q', 0, 1, 1), 40, 0);
  await app.settled();
  const {used} = app.ticks(), began = Date.now();
  await until('three seconds to pass', () => Date.now() > began + 3000);
  assert.equal(app.ticks().used, used);
});

test('the size of the window is remembered, and a damaged note of it is not', async (t) => {
  const home = folder(t);
  const first = await start(t, [], {home});
  first.tool('windowsize', '--sync', first.window, 1010, 720);
  await first.settled();
  assert.equal(await first.close(), 0);
  const second = await start(t, [], {home});
  assert.deepEqual([second.geometry().width, second.geometry().height], [1010, 720]);
  await second.close();

  const note = join(home, 'config', 'attention-playground', 'window');
  for (const damaged of ['', 'window 1\nsize 1 1\n', 'window 1\nsize 99999999999 5\nposition 0 0 0\nmaximized 0\n', '\0\xff'.repeat(5000)]) {
    writeFileSync(note, damaged);
    const third = await start(t, [], {home});
    assert.deepEqual([third.geometry().width, third.geometry().height], [1440, 900]);
    await third.close();
  }
});

test('a scaled window puts the pointer where the cells are', async (t) => {
  const app = await start(t, ['--size', '700x500', '--scale', '2', '--theme', 'light']);
  const {width, height, x, y} = app.geometry();
  assert.deepEqual([width, height], [1400, 1000]);
  const place = run(['--size', '700x500', '--locate', 'q,0,0,0'], {display: display.name, home: app.home});
  const [left, top, w, h] = place.stdout.split(' ').map(Number);
  const old = await app.saved();
  await app.drag({x: Math.round(x + (left + w / 2) * 2), y: Math.round(y + (top + h / 2) * 2)}, 80, 0);
  const now = await app.saved();
  assert.ok(rows(now.q)[0][0] > rows(old.q)[0][0]);
});

// ---------------------------------------------------------------- pictures

for (const size of ['1440x900', '640x440', '390x844']) {
  for (const scale of [1, 2]) {
    for (const theme of ['light', 'dark']) {
      test(`a picture of ${size} at ${scale}, ${theme}`, () => {
        const file = join(SCREENSHOTS, `desktop-${size}@${scale}-${theme}.png`);
        const result = run(['--screenshot', file, '--size', size, '--scale', String(scale), '--theme', theme], {display: display.name, home: SCREENSHOTS});
        assert.deepEqual([result.status, result.stderr], [0, '']);
        const png = readPng(file), [width, height] = size.split('x').map((n) => n * scale);
        assert.deepEqual([png.width, png.height], [width, height]);
        const seen = new Set();
        let light = 0, count = 0;
        for (let y = 0; y < height; y += 3) {
          for (let x = 0; x < width; x += 3) {
            const pixel = png.at(x, y);
            seen.add(pixel.join());
            light += darkness(pixel) < 382, ++count;
          }
        }
        assert.ok(seen.size > 60, `${seen.size} colours`);
        assert.ok(theme === 'light' ? light / count > 0.7 : light / count < 0.3, `${light} of ${count} pixels are light`);
      });
    }
  }
}

test('no two controls or captions overlap, at the design sizes', (t) => {
  const home = folder(t);
  for (const size of ['1440x900', '1100x700', '640x440', '390x844', '320x320']) {
    const result = run(['--items', '--size', size], {display: display.name, home});
    assert.equal(result.status, 0, result.stderr);
    const all = JSON.parse(result.stdout), [width] = size.split('x').map(Number);
    assert.ok(all.length >= 3, size);
    const inside = (a, b) => a.x >= b.x - 1 && a.y >= b.y - 1 && a.x + a.width <= b.x + b.width + 1 && a.y + a.height <= b.y + b.height + 1;
    const apart = (a, b) => a.x + a.width <= b.x + 1 || b.x + b.width <= a.x + 1 || a.y + a.height <= b.y + 1 || b.y + b.height <= a.y + 1;
    // The board scrolls under the bar at the bottom of a phone.
    const bar = all.find(({name}) => name === 'toolbar'), isOfBar = ({y, height}) => y === bar?.y && height === bar?.height;
    const cut = (item) => (!bar || isOfBar(item) ? item : {...item, height: Math.min(item.height, bar.y - item.y)});
    const items = all.map(cut).filter(({height}) => height > 0);
    for (const [i, a] of items.entries()) {
      assert.ok(a.x >= -1 && a.x + a.width <= width + 1, `${size}: ${a.name} is cut off`);
      for (const b of items.slice(i + 1)) {
        assert.ok(apart(a, b) || inside(a, b) || inside(b, a), `${size}: ${JSON.stringify(a)} and ${JSON.stringify(b)} overlap`);
      }
    }
  }
});

// ---------------------------------------------------------------- bad input

test('what cannot be done gets one sentence and an exit status, and no file', (t) => {
  const home = folder(t);
  let number = 0;
  const state = (text) => {
    const name = `${++number}.state.json`;
    writeFileSync(join(home, name), text);
    return ['--state', name];
  };
  mkdirSync(join(home, 'folder'));
  const cases = [
    [2, /--bogus/, ['--bogus']],
    [2, /--size 12 .*1440x900/, ['--size', '12']],
    [2, /--size 10x10 .*200/, ['--size', '10x10']],
    [2, /--scale/, ['--scale', '99']],
    [2, /--theme.*light/, ['--theme', 'pink']],
    [2, /--locate q,x/, ['--locate', 'q,x']],
    [2, /--state/, ['--state', 'a.json', '--preset', 'uniform']],
    [2, /--screenshot/, ['--screenshot']],
    [1, /no "nothing"; use one of \d+ others/, ['--preset', 'nothing']],
    [1, /missing\.json.*No such file/, ['--state', 'missing.json']],
    [1, /folder.*directory/i, ['--state', 'folder']],
    [1, /state\.json: ./, state('')],
    [1, /state\.json: ./, state('{"version": 1, "q"')],
    [1, /state\.json: .*version/, state('{"version": 99}')],
    [1, /state\.json: ./, state('[1, 2]')],
    [1, /state\.json: .*heads/, state('{"version": 1, "heads": 1e9}')],
    [1, /No such file/, ['--screenshot', 'nowhere/picture.png']],
    [1, /pixels/, ['--screenshot', 'picture.png', '--size', '8192x8192', '--scale', '4']],
    [1, /nonsense/, ['--locate', 'nonsense,0,0,0']],
    [1, /./, ['--locate', 'q,0,99,0']],
  ];
  for (const [status, words, args] of cases) {
    const result = run(args, {display: display.name, home});
    assert.equal(result.status, status, `${args.join(' ')}: ${result.stderr}`);
    assert.match(result.stderr, words);
    assert.match(result.stderr, /^attention-playground: .*[.?]\n$/, 'one line, a sentence');
    assert.equal(result.stdout, '');
  }
  assert.ok(!existsSync(join(home, 'picture.png')));
});

test('without a display: a sentence, and data is still checked first', (t) => {
  const home = folder(t);
  const nothing = run([], {home});
  assert.equal(nothing.status, 1);
  assert.match(nothing.stderr, /^attention-playground: There is no display .*\.\n$/);
  assert.match(run(['--preset', 'nothing'], {home}).stderr, /use one of \d+ others/);
});

test('--help and --version', (t) => {
  const home = folder(t);
  const help = run(['--help'], {home});
  assert.equal(help.status, 0);
  for (const option of ['--state', '--preset', '--theme', '--size', '--scale', '--screenshot', '--type', '--locate', '--items', '--lang'])
    assert.ok(help.stdout.includes(option), option);
  const version = run(['--version'], {home});
  assert.equal(version.status, 0);
  assert.match(version.stdout, /^Attention Playground \d+\.\d+\.\d+, kernel \w+\n$/);
});

test('the window speaks the language that is asked for, or that of the system', (t) => {
  const home = folder(t), picture = (options, env) => {
    const file = join(home, 'picture.png');
    const {status, stderr} = run(['--screenshot', file, '--size', '640x440', ...options], {display: display.name, home, env});
    assert.deepEqual([status, stderr], [0, '']);
    return readFileSync(file).toString('base64');
  };
  const english = picture([]), german = picture(['--lang', 'de']), chinese = picture(['--lang', 'zh']);
  assert.ok(new Set([english, german, chinese]).size === 3);
  assert.equal(picture([], {LC_ALL: 'de_DE.UTF-8'}), german);
  assert.equal(picture(['--lang', 'en'], {LC_ALL: 'de_DE.UTF-8'}), english);
  const refused = run(['--lang', 'fr', '--items'], {display: display.name, home});
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /--lang.*fr/);
});
