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
  for (const label of [...labels, ...keyLabels, '0.00', '0.25', '1.00', 'query', 'key', 'Attention weights, head 2']) assert.ok(found.includes(label), label);
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
    [['--scale', '0'], /--scale: "0" is no scale; use 0\.1 to 20/], [['-o', 'a.pdf'], /let the name end in \.svg or \.png/],
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
