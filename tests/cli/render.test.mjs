// `attn render`: figures without a display.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {spawnSync} from 'node:child_process';
import {python} from '../numpy.mjs';
import {attn, file, folder, layer, refusal, run} from './harness.mjs';

const labels = ['I', 'saw <b>', 'a "cat"'], keyLabels = ['k & 1', 'k2', 'k3', 'k4'];
const content = layer({labels, key_labels: keyLabels});
const render = (...args) => {
  const done = attn('render', file(content), ...args);
  assert.deepEqual([done.status, done.stderr], [0, '']);
  return done.stdout;
};
const words = (svg) => [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text]) =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&'));

test('the weights are text, with labels, a bar and a caption', () => {
  const svg = render('--head', '1'), found = words(svg);
  const {weights: {data}} = run(content, '--outputs', 'weights');
  for (const label of [...labels, ...keyLabels, '0.00', '0.25', '1.00', 'query', 'key', 'Attention weights, head 1']) assert.ok(found.includes(label), label);
  for (const weight of data.slice(12)) assert.ok(found.includes(weight.toFixed(2)), String(weight));
  assert.match(found.join(' '), /Rows are queries and sum to 1; the row “[^”]*” puts 0\.\d\d on “[^”]*”\./);
});

test('heads and arcs, in each style, at a scale', () => {
  for (const what of ['heads', 'arcs']) {
    const grounds = ['light', 'dark', 'print'].map((style) => {
      const svg = render('--what', what, '--style', style), large = render('--what', what, '--style', style, '--scale', '2');
      const width = (text) => Number(/ width="([\d.]+)"/.exec(text)[1]);
      assert.ok(Math.abs(width(large) - 2 * width(svg)) < 0.02);
      return /height="100%" fill="(#\w+)"/.exec(svg)[1];
    });
    assert.deepEqual(grounds, ['#ffffff', '#1d2026', '#ffffff']);
  }
  assert.equal((render('--what', 'arcs').match(/<path d="M[^"]*C/g) ?? []).length > 3, true);
});

test('the print style keeps its order in grey', () => {
  const svg = render(), greys = [...svg.matchAll(/<rect [^>]*height="[\d.]+" fill="#(\w\w)(\w\w)(\w\w)" shape-rendering/g)].map(([, ...parts]) => {
    const [red, green, blue] = parts.map((part) => parseInt(part, 16));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  });
  assert.equal(greys.length, 64);
  for (let i = 1; i < greys.length; ++i) assert.ok(greys[i] > greys[i - 1], 'the bar goes from dark to light');
});

test('a file is written whole, and what there is not is refused by name', () => {
  const out = join(folder, 'figure.svg');
  assert.equal(render('-o', out), '');
  assert.match(readFileSync(out, 'utf8'), /^<svg [\s\S]*<\/svg>\n$/);
  for (const [args, sentence] of [[['--what', 'legs'], /--what: "legs" is no figure; use board, weights, heads or arcs/], [['--style', 'neon'], /--style: "neon" is no style/],
    [['--scale', '0'], /--scale: "0" is no scale; use 0\.1 to 20/], [['-o', 'a.eps'], /let the name end in \.svg, \.pdf or \.png/],
    [['--with', 'labels,legs'], /--with: "legs" is no part of a figure; use labels, numbers/], [['--colors', 'jet'], /--colors: "jet" is no colour map; use own, cividis or grey/]])
    assert.match(refusal(2, attn('render', file(content), ...args)), sentence);
  assert.match(refusal(1, attn('render', file(content), '--head', '7')), /head: 7 is not one of 2 heads/);
});

/** Parses XML strictly. */
function parses(svg) {
  const parsed = spawnSync(python, ['-c', 'import sys\nimport xml.etree.ElementTree as tree\ntree.fromstring(sys.stdin.buffer.read())'], {input: svg, encoding: 'utf8'});
  assert.equal(parsed.stderr, '');
}

test('every figure is XML, in every style and with every part, whatever the labels hold', () => {
  const odd = layer({labels: ['\uffff', ']]>', '&amp;<!--'], key_labels: ['السلام', '你好', '👩‍👩‍👧', '"\'']});
  for (const what of ['weights', 'heads', 'arcs', 'board']) {
    for (const args of [['--style', 'dark'], ['--style', 'light', '--with', 'none'], ['--with', 'labels,numbers,bar,caption,sums,clear', '--colors', 'cividis'], ['--colors', 'grey']]) {
      const done = attn('render', file(odd), '--what', what, ...args);
      assert.deepEqual([done.status, done.stderr], [0, '']);
      parses(done.stdout);
    }
  }
});

test('labels in five scripts are text in every figure, which rsvg draws without a word of warning', () => {
  const scripts = ['Ελλάδα', 'привет', 'السلام', 'नमस्ते', '你好'];
  const numbers = Array.from({length: 5}, (_, i) => [Math.sin(i), Math.cos(2 * i)]), state = file({q: numbers, k: numbers, v: numbers, labels: scripts});
  for (const what of ['weights', 'heads', 'arcs', 'board']) {
    for (const style of ['print', 'light', 'dark']) {
      const done = attn('render', state, '--what', what, '--style', style);
      assert.deepEqual([done.status, done.stderr], [0, '']);
      if (what !== 'heads') for (const label of scripts) assert.ok(words(done.stdout).includes(label), `${label} in ${what}`);
      const drawn = spawnSync('rsvg-convert', ['--format', 'png'], {input: done.stdout});
      assert.deepEqual([drawn.error, drawn.status, String(drawn.stderr)], [undefined, 0, ''], `${what}, ${style}`);
      const [width, height] = ['width', 'height'].map((side) => Number(new RegExp(`<svg [^>]*${side}="([\\d.]+)"`).exec(done.stdout)[1]));
      assert.ok(Math.abs(drawn.stdout.readUInt32BE(16) - width) <= 1 && Math.abs(drawn.stdout.readUInt32BE(20) - height) <= 1);
    }
  }
});

test('the board is drawn without a display, with the numbers as text', () => {
  const done = attn('render', file(content), '--what', 'board', {env: {...process.env, DISPLAY: '', WAYLAND_DISPLAY: ''}});
  assert.deepEqual([done.status, done.stderr], [0, '']);
  const found = words(done.stdout), {weights: {data}} = run(content, '--outputs', 'weights');
  for (const label of [...labels, ...keyLabels]) assert.ok(found.includes(label), label);
  for (const weight of data.slice(0, 12)) assert.ok(found.includes(weight.toFixed(2)), String(weight));
  for (const title of ['Q', 'V']) assert.ok(found.some((one) => one.startsWith(title)), title);
});

test('the caption says what was computed, and no formula that was not', () => {
  const captionOf = (more) => words(attn('render', file(layer({labels, key_labels: keyLabels, ...more}))).stdout).join(' ');
  assert.match(captionOf({}), /Weights softmax\(Q·Kᵀ ÷ √2\) of “I saw/);
  for (const more of [{options: {temperature: 2}}, {options: {softcap: 3}}, {options: {position: 'alibi'}}, {options: {score: 'cosine'}}, {mask: {shape: [3, 4], data: Array(12).fill(0.5)}}])
    assert.match(captionOf(more), /Weights of “I saw/, JSON.stringify(more));
});

test('many tokens are one image, and not a million shapes', () => {
  const length = 300, many = (rows) => ({shape: [1, rows, 2], data: Array.from({length: 2 * rows}, (_, i) => Math.sin(i))});
  const large = file({q: many(length), k: many(length), v: many(length)});
  for (const what of ['weights', 'heads', 'board']) {
    const svg = attn('render', large, '--what', what).stdout;
    parses(svg);
    assert.ok(svg.includes('data:image/png;base64,'), what);
    assert.ok(svg.length < 2e6, `${svg.length} characters of ${what}`);
  }
});

for (const what of ['weights', 'heads', 'arcs', 'board']) {
  test(`a PNG of ${what} has the size of the SVG, many times, and is no blank sheet`, () => {
    const out = join(folder, `${what}.PNG`), [, width, height] = / width="([\d.]+)" height="([\d.]+)"/.exec(render('--what', what)).map(Number);
    assert.equal(render('--what', what, '--scale', '2', '-o', out), '');
    const png = readFileSync(out);
    assert.equal(png.toString('latin1', 1, 4), 'PNG');
    for (const [at, side] of [[16, width], [20, height]]) assert.ok(Math.abs(png.readUInt32BE(at) - 2 * side) <= 1);
    assert.ok(png.length > 4000, `${png.length} bytes`);
  });
}

const sizeOf = (svg) => / width="([\d.]+)" height="([\d.]+)"/.exec(svg).slice(1).map(Number);
const many = (length, heads = 1) => {
  const rows = (phase) => ({shape: [heads, length, 2], data: Array.from({length: 2 * length * heads}, (_, i) => 2 * Math.sin(i + phase))});
  return {q: rows(0), k: rows(1), v: rows(2), labels: Array.from({length}, (_, i) => `w${i}`)};
};

test('a figure is as wide as asked, in every unit, and its text stays legible', () => {
  const state = file(many(25, 3));
  for (const [width, pixels] of [['3.25in', 312], ['6.75in', 648], ['8.255cm', 312], ['82.55mm', 312], ['234pt', 312], ['312px', 312]]) {
    for (const what of ['weights', 'heads', 'arcs']) {
      const svg = attn('render', state, '--what', what, '--width', width).stdout;
      assert.ok(Math.abs(sizeOf(svg)[0] - pixels) < 0.01, `${what} at ${width}: ${sizeOf(svg)}`);
      const sizes = [...svg.matchAll(/font-size="([\d.]+)"/g)].map(([, size]) => Number(size));
      assert.ok(Math.min(...sizes) >= 8, `${what} at ${width}: ${Math.min(...sizes)} px, less than 6 points`);
      for (const [, x, length] of svg.matchAll(/<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"/g)) assert.ok(Number(x) + Number(length) <= pixels + 0.5);
    }
  }
  for (const [width, pixels] of [['3.25in', 312], ['6.75in', 648]]) {
    const svg = attn('render', state, '--what', 'board', '--width', width).stdout, [, drawn] = /viewBox="0 0 ([\d.]+)/.exec(svg);
    assert.ok(Math.abs(sizeOf(svg)[0] - pixels) < 0.01);
    const points = Math.min(...[...svg.matchAll(/font-size="([\d.]+)"/g)].map(([, size]) => size * 0.75 * pixels / drawn));
    assert.ok(points >= 5, `the board at ${width}: ${points} points`);
  }
});

test('long labels that are left out take no room from the cells, and those that are drawn stay within', () => {
  const slanted = (labels) => [...attn('render', file({...many(40), labels}), '--width', '3.25in').stdout.matchAll(/rotate\(-45 ([\d.]+) ([\d.]+)\)">([^<]*)/g)].map(([, x, y, label]) => [Number(x), Number(y), label]);
  const short = Array.from({length: 40}, () => 'abc');
  assert.deepEqual(slanted(short.map((label, i) => i % 6 === 1 || i % 6 === 5 ? 'internationalization' : label)), slanted(short), 'of every second or third token there are labels');
  // Some that are not the last one stand out to the right.
  const long = slanted(short.map((label, i) => i > 29 && i < 39 ? 'unquestionably_so' : label)).filter(([, , label]) => label.startsWith('unquestionably'));
  assert.ok(long.length > 0);
  const reach = 17 * 8 * 0.5 * Math.SQRT1_2;
  for (const [x, y] of long) assert.ok(x + reach <= 312 && y - reach >= 0, `${x}, ${y}, ${reach}`);
  // Short labels may be of wide letters.
  const [, x, size] = /<text x="([\d.]+)" [^>]*font-size="([\d.]+)"[^>]*text-anchor="end"[^>]*>WMWM</.exec(attn('render', file({...many(12, 12), labels: Array.from({length: 12}, () => 'WMWM')}), '--what', 'heads', '--width', '3.25in').stdout);
  assert.ok(Number(x) - 4 * 0.94 * Number(size) >= 0, `${x}, ${size}`);
});

test('a figure for a column is no longer than a page of 9 inches', () => {
  for (const width of ['3.25in', '6.75in']) {
    for (const [what, state] of [['heads', many(13, 12)], ['heads', many(64, 16)], ['arcs', many(200)], ['arcs', many(1000)], ['weights', many(600)]]) {
      const [, height] = sizeOf(attn('render', file(state), '--what', what, '--width', width).stdout);
      assert.ok(height <= 9 * 96, `${what} of ${state.labels.length} tokens at ${width}: ${height / 96} in`);
    }
  }
});

test('what is typed is what is printed: heads, layers and tokens from 0 or from 1', () => {
  const layers = 3, heads = 2, length = 4, state = file({weights: {shape: [layers, heads, length, length], data: Array.from({length: layers * heads * length * length}, (_, i) => [0.5, 0.25, 0.125, 0.125][(i + Math.floor(i / 16)) % 4])}, tokens: ['a', 'b', 'c', 'd']});
  const titled = (...args) => words(attn('render', state, ...args).stdout)[0];
  assert.equal(titled('--layer', '2', '--head', '1'), 'Attention weights, layer 2, head 1');
  assert.equal(titled('--layer', '2', '--head', '1', '--base', '1'), 'Attention weights, layer 2, head 1');
  assert.equal(attn('render', state, '--layer', '1', '--head', '0', '--base', '0').stdout.replaceAll('layer 1, head 0', ''),
    attn('render', state, '--layer', '2', '--head', '1', '--base', '1').stdout.replaceAll('layer 2, head 1', ''), 'the same layer and head');
  assert.deepEqual(words(attn('render', state, '--what', 'heads', '--base', '1').stdout).filter((one) => one.startsWith('head ')), ['head 1', 'head 2']);
  assert.match(refusal(1, attn('render', state, '--layer', '4', '--base', '1')), /layer: 4 is not one of 3 layers, which are counted from 1/);
  assert.match(refusal(1, attn('render', state, '--head', '3', '--base', '1')), /head: 3 is not one of 2 heads, which are counted from 1/);
  assert.match(refusal(2, attn('render', state, '--head', '0', '--base', '1')), /--head: "0" is no head; count from 1/);
  // A board counts from 1, as on the screen.
  for (const [head, shown] of [['0', '1'], ['1', '2']]) assert.ok(words(attn('render', state, '--what', 'board', '--head', head).stdout).some((one) => one.includes(`head ${shown}`)), head);
  assert.match(refusal(1, attn('render', state, '--what', 'board', '--head', '2')), /head: 2 is not one of 2 heads, which are counted from 0/);
  assert.match(refusal(2, attn('render', state, '--base', '2')), /--base: "2" is no number to count from; use 0 or 1/);
});

test('only some tokens, and the weights are those of the whole', () => {
  const state = file({...many(12), options: {causal: true}}), {weights: {data}} = run(many(12), '--set', 'causal=true', '--outputs', 'weights');
  const numbers = (svg) => [...svg.matchAll(/<text [^>]*JetBrains[^>]*>([\d.]+)</g)].map(([, text]) => text);
  const shownAt = (...args) => numbers(attn('render', state, '--with', 'labels,numbers', ...args).stdout);
  const expected = (from, end) => [...Array(144).keys()].filter((i) => Math.floor(i / 12) >= from && Math.floor(i / 12) < end && i % 12 >= from && i % 12 < end && i % 12 <= Math.floor(i / 12)).map((i) => data[i].toFixed(2));
  assert.deepEqual(shownAt('--tokens', '3:7'), expected(3, 7));
  assert.deepEqual(shownAt('--tokens', '4:8', '--base', '1'), expected(3, 7));
  assert.deepEqual(shownAt('--tokens', '9:'), expected(9, 12));
  assert.deepEqual(words(attn('render', state, '--tokens', '5:6,2:4').stdout).filter((one) => /^w\d+$/.test(one)), ['w2', 'w3', 'w5']);
  for (const [range, sentence] of [['3:40', /tokens: 3:40 is not within the 12 queries; give 0:12 or a part of it/], ['7:3', /--tokens: "7:3" is no range of tokens/], ['x', /--tokens: "x" is no range of tokens/], ['5', /as in 40:80/]])
    assert.match(refusal(range === '3:40' ? 1 : 2, attn('render', state, '--tokens', range)), sentence);
  assert.match(refusal(1, attn('render', file(content), '--tokens', '0:2')), /tokens: keys are another sequence than queries; give the range of each, as in 0:3,0:4/);
});

test('colours follow the range and the scale of the weights, and the bar says so', () => {
  const colours = (svg) => [...svg.matchAll(/<rect [^>]*fill="(#\w+)" stroke/g)].map(([, one]) => one);
  const ticks = (svg) => words(svg).filter((one) => /^(−?[\d.]+|\d+ %)$/.test(one)).slice(-5);
  const state = file(many(4)), drawnBy = (...args) => attn('render', state, ...args).stdout;
  const drawn = Object.fromEntries(['linear', 'sqrt', 'row'].map((scale) => [scale, drawnBy('--weight-scale', scale, '--with', 'bar,caption')]));
  assert.equal(new Set(Object.values(drawn).map((svg) => colours(svg).join())).size, 3, 'three scales, three pictures');
  assert.deepEqual(ticks(drawn.linear), ['0.00', '0.25', '0.50', '0.75', '1.00']);
  assert.deepEqual(ticks(drawn.sqrt), ['0.00', '0.06', '0.25', '0.56', '1.00']);
  assert.deepEqual(ticks(drawn.row), ['0 %', '25 %', '50 %', '75 %', '100 %']);
  assert.match(words(drawn.sqrt).join(' '), /Colours follow the square root of the weight\./);
  assert.match(words(drawn.row).join(' '), /Colours are relative to the largest weight of each row\./);
  for (const row of [0, 1, 2, 3]) assert.ok(colours(drawn.row).slice(4 * row, 4 * row + 4).includes('#3a1c68'), 'the largest of each row is darkest');
  const narrow = drawnBy('--with', 'bar', '--range', '0,0.25');
  assert.deepEqual(ticks(narrow), ['0.00', '0.06', '0.12', '0.19', '0.25']);
  assert.notEqual(colours(narrow).join(), colours(drawn.linear).join());
  assert.match(refusal(1, attn('render', state, '--weight-scale', 'row', '--range', '0,0.5')), /range: each row has colours of its own by the option weight_scale; set it to linear or sqrt/);
  assert.match(refusal(2, attn('render', state, '--weight-scale', 'log')), /--weight-scale: "log" is no scale of weights; use linear, sqrt, row or auto/);
  for (const range of ['1,0', '0.5', 'a,b', '0,inf']) assert.match(refusal(2, attn('render', state, '--range', range)), /--range: .* is no range of weights; give the smaller and the larger end, as in 0,0\.5/);
});

test('many tokens are put together until a cell can be seen, by their largest weight or their mean', () => {
  const length = 300, state = file(many(length)), {weights: {data}} = run(many(length), '--outputs', 'weights');
  for (const pool of ['max', 'mean']) {
    const svg = attn('render', state, '--width', '3.25in', '--pool', pool, '--colors', 'grey').stdout;
    const block = Number(/of (\d+) × \d+ weights/.exec(words(svg).join(' '))[1]), side = Math.ceil(length / block);
    assert.ok(block > 2 && side * 4 <= 312, `${block}`);
    const cells = [...svg.matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="\3" fill="#(\w\w)/g)];
    const first = [...Array(block * block).keys()].map((i) => data[Math.floor(i / block) * length + i % block]);
    const wanted = pool === 'max' ? Math.max(...first) : first.reduce((sum, one) => sum + one) / first.length;
    assert.equal(parseInt(cells[0][4], 16), Math.round(255 * (1 - Math.sqrt(wanted) ** 0.85)), 'the first cell, of 64 tokens on by √');
  }
  assert.match(refusal(2, attn('render', state, '--pool', 'median')), /--pool: "median" is no way to put tokens together; use max or mean/);
});

test('a title of one\'s own, or none', () => {
  assert.equal(words(render('--title', 'Where “it” looks'))[0], 'Where “it” looks');
  const without = render('--title', '');
  assert.ok(!without.includes('Attention weights') && sizeOf(without)[1] < sizeOf(render())[1]);
  for (const option of ['title', 'range', 'tokens', 'pool'])
    assert.match(refusal(2, attn('render', file(content), '--what', 'board', `--${option}`, {title: 'A', range: '0,1', tokens: '0:2', pool: 'max'}[option])), new RegExp(`--${option}: the board is drawn as it is on the screen`));
});

test('arcs of a thousand tokens fit a page', () => {
  const [, height] = sizeOf(attn('render', file(many(1000)), '--what', 'arcs').stdout);
  assert.ok(height < 1600, `${height} px`);
});

test('a PDF has its fonts in it, the size that was asked for, and the same bytes each time; outlines need no font', () => {
  const pdfOf = (...args) => {
    const out = join(folder, 'figure.pdf');
    assert.equal(render(...args, '-o', out), '');
    return readFileSync(out, 'latin1');
  };
  for (const what of ['weights', 'heads', 'arcs', 'board']) {
    const pdf = pdfOf('--what', what, '--width', '3.25in');
    assert.match(pdf, /^%PDF-1\.[\s\S]*%%EOF\s*$/);
    assert.match(pdf, /\/MediaBox \[ 0 0 234 /, '3.25 inches are 234 points');
    const fonts = [...pdf.matchAll(/\/Type \/FontDescriptor[^>]*/g)];
    assert.ok(fonts.length > 0 && fonts.every(([font]) => /\/FontFile/.test(font)), 'every font is embedded');
    assert.equal(pdfOf('--what', what, '--width', '3.25in'), pdf);
    assert.doesNotMatch(pdfOf('--what', what, '--outlines'), /\/FontDescriptor/);
  }
  const outlined = render('--outlines');
  parses(outlined);
  assert.doesNotMatch(outlined, /<text|font-family/);
});

test('of a recording, whose layers have names, --layer takes one in the order of their numbers', () => {
  const made = spawnSync(python, ['-c', `
import sys
import numpy as np
rng = np.random.default_rng(2)
layers = {f"h.{i}.attn.{name}": rng.normal(size=(3, 6, 4)).astype(np.float32) for i in range(12) for name in "qkv"}
np.savez(sys.argv[1], **layers)
`, join(folder, 'layers.npz')], {encoding: 'utf8'});
  assert.equal(made.stderr, '');
  assert.equal(attn('convert', join(folder, 'layers.npz'), join(folder, 'layers.safetensors')).status, 0);  // in the order of letters
  for (const kind of ['npz', 'safetensors']) {
    const of = (...args) => {
      const done = attn('render', join(folder, `layers.${kind}`), ...args);
      assert.deepEqual([done.status, done.stderr], [0, '']);
      return done.stdout;
    };
    for (const [what, title] of [['weights', 'Attention weights, layer 10, head 2'], ['heads', 'Attention weights of all heads of layer 10'], ['arcs', 'Who attends to whom, layer 10, head 2']]) {
      const figure = of('--what', what, '--layer', '10', '--head', '2');
      assert.equal(words(figure)[0], title);
      assert.equal(figure, of('--what', what, '--prefix', 'h.10.attn', '--head', '2', '--title', title));
    }
    assert.equal(of('--layer', '11', '--head', '3', '--base', '1', '--title', 'x', '--with', 'none'), of('--layer', '10', '--head', '2', '--title', 'x', '--with', 'none'));
    assert.match(refusal(1, attn('render', join(folder, `layers.${kind}`), '--layer', '12')), /layer: 12 is not one of 12 layers, which are counted from 0/);
    assert.match(attn('code', join(folder, `layers.${kind}`), '--layer', '10').stdout, /^output = /m);
  }
});

test('layers and recordings of more tokens than the board takes are drawn without one', () => {
  const made = spawnSync(python, ['-c', `
import sys
import numpy as np
n, folder = 3000, sys.argv[1]
rng = np.random.default_rng(1)
q, k = rng.normal(size=(2, n, 4)).astype(np.float32), rng.normal(size=(2, n, 4)).astype(np.float32)
np.savez(folder + "/long.npz", q=q, k=k, v=k, causal=True)
weights = np.tril(np.ones((n, n), dtype=np.float32))
weights /= weights.sum(-1, keepdims=True)
np.savez(folder + "/recorded.npz", weights=np.stack([np.stack([np.eye(n, dtype=np.float32)]), np.stack([weights])]), tokens=[f"t{i}" for i in range(n)])
long = rng.normal(size=(2, 20000, 4)).astype(np.float32)
long[:, :, 0] = np.arange(20000) / 2  # the last key that is seen has the largest scores
np.savez(folder + "/longer.npz", q=long, k=long, v=long, causal=True)
`, folder], {encoding: 'utf8'});
  assert.equal(made.stderr, '');
  const drawn = (name, ...args) => {
    const done = attn('render', join(folder, name), '--width', '3.25in', '--pool', 'max', ...args);
    assert.deepEqual([done.status, done.stderr], [0, '']);
    return done.stdout;
  };
  const computed = drawn('long.npz', '--head', '1');
  assert.equal(words(computed)[0], 'Attention weights, head 1');
  assert.match(words(computed).join(' '), /sum to 1/);
  // Of so many keys the square root of most weights would be white.
  const shaded = drawn('long.npz', '--head', '1', '--with', 'bar,caption');
  assert.match(words(shaded).join(' '), /Colours follow the fourth root of the weight\./);
  assert.deepEqual(words(shaded).filter((one) => /^[\d.]+$/.test(one)).slice(-5), ['0', '0.004', '0.063', '0.316', '1']);
  const recorded = drawn('recorded.npz', '--layer', '1', '--head', '0');
  assert.equal(words(recorded)[0], 'Attention weights, layer 1, head 0');
  assert.ok(words(recorded).includes('t0'));
  assert.notEqual(recorded, drawn('recorded.npz', '--layer', '0').replace('layer 0', 'layer 1'));
  assert.deepEqual(words(drawn('recorded.npz', '--tokens', '2000:2003')).filter((one) => /^t\d+$/.test(one)), ['t2000', 't2001', 't2002', 't2000', 't2001', 't2002']);
  assert.match(refusal(1, attn('render', join(folder, 'recorded.npz'), '--layer', '2')), /layer: 2 is not one of 2 layers/);
  // Of more than can be drawn, a part, of which nothing else is computed: a matrix of 20,000 tokens has 1.6 GB.
  const longer = join(folder, 'longer.npz');
  assert.match(refusal(1, attn('render', longer)), /tokens: 20000 are too many for a figure; name at most 4096 of them, as in --tokens 0:4096\./);
  assert.match(refusal(1, attn('render', longer, '--tokens', '3:20001')), /3:20001 is not within the 20000 queries; give 0:20000/);
  assert.match(refusal(1, attn('render', longer, '--head', '2', '--tokens', '0:4')), /head: 2 is not one of 2 heads, which are counted from 0\./);
  const part = ['15000:15003', '14999:15002'], run = attn('run', longer, '--outputs', `weights[1, ${part}]`);
  const numbers = JSON.parse(run.stdout).weights.data.map((weight) => weight.toFixed(2)), limits = {limits: 'ulimit -v 900000'};
  const shown = attn('render', longer, '--head', '1', '--tokens', `${part}`, '--with', 'labels,numbers,caption', ...(process.platform === 'linux' ? [limits] : []));
  assert.equal(shown.status, 0, shown.stderr);
  const texts = words(shown.stdout);
  for (const label of ['15000', '15002', '14999', '15001']) assert.ok(texts.includes(label), label);
  assert.deepEqual(texts.filter((one) => /^[01]\.\d\d$/.test(one)), numbers.filter((_, i) => ![2].includes(i)));  // the future of the first query is not drawn
  assert.match(texts.join(' '), /Weights of “15000 … 15002”\./);
});
