// The lessons, puzzles, questions and example cards in web/lessons: each is complete, true on the board, and written consistently. `attn
// lesson` checks them against the board; here it is also tested to notice a mistake.
import assert from 'node:assert/strict';
import {readFileSync, readdirSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {brotliCompressSync} from 'node:zlib';
import {lessonsIn} from '../../src/shell/web/lessons.mjs';
import {attn, file, here} from './harness.mjs';

const folder = join(here, '../../web/lessons');
const files = readdirSync(folder).filter(name => name.endsWith('.json') && name !== 'schema.json' && !name.startsWith('glossary.'));
const read = name => JSON.parse(readFileSync(join(folder, name), 'utf8'));
const cards = files.flatMap(name => { const content = read(name); return content.cards ?? [content]; });
const of = kind => cards.filter(card => (card.kind ?? 'lesson') === kind);
const steps = cards.flatMap(card => card.steps.map((step, i) => ({...step, where: `${card.id}, step ${i + 1}`})));
const list = value => value === undefined ? [] : [].concat(value);
const textsOf = step => [step.text, step.predict?.question, ...list(step.predict?.choices), ...list(step.predict?.because), step.try?.task, step.try?.hint].filter(Boolean);

test('all of them hold on the board: checks fail at the start and hold after the solution, answers are what the board says', () => {
  const done = attn('lesson', '--quiet', folder);
  assert.equal(done.status, 0, done.stdout);
  assert.equal(done.stdout, `${cards.length} lessons, nothing wrong\n`);
});

test('there is a lesson on each subject, of 4 to 8 steps, each predicted or tried', () => {
  const subjects = ['why-attention', 'query', 'dot-product', 'scale', 'softmax', 'values', 'masks', 'heads', 'projections', 'positions', 'cross', 'sparse',
    'around-the-layer', 'hierarchical', 'gradients', 'training', 'training-choices', 'misleading'];
  assert.deepEqual(of('lesson').map(l => l.id).sort(), [...subjects].sort());
  for (const lesson of of('lesson')) {
    assert.ok(lesson.steps.length >= 4 && lesson.steps.length <= 8, `${lesson.id} has ${lesson.steps.length} steps`);
    for (const step of lesson.steps) assert.ok(step.predict || step.try, `${lesson.id}: a step is neither predicted nor tried`);
  }
  const listed = lessonsIn(join(folder, '..')).filter(l => l.kind === 'lesson').map(l => l.id);
  assert.deepEqual(listed, subjects, 'the order of the list');
});

test('each prediction has a claim and a reason, each try a solution, a hint and what may be changed', () => {
  for (const step of steps) {
    if (step.predict) assert.ok(step.predict.claim && step.predict.because, step.where);
    if (step.try) assert.ok(step.try.solution && step.try.hint, step.where);
  }
  const free = steps.filter(step => step.try && !step.try.allow).map(step => step.where);
  assert.deepEqual(free, ['masks, step 2'], 'tries in which everything may be changed');
});

test('the right answer cannot be guessed from its place', () => {
  const answers = steps.filter(step => step.predict?.choices.length === 3).map(step => step.predict.answer);
  for (const place of [0, 1, 2]) {
    const share = answers.filter(answer => answer === place).length / answers.length;
    assert.ok(share > 0.2 && share < 0.45, `place ${place}: ${share}`);
  }
  // A lesson of training runs has only tries.
  for (const lesson of of('lesson')) assert.notEqual(new Set(lesson.steps.filter(step => step.predict).map(step => step.predict.answer)).size, 1, lesson.id);
});

test('sixteen puzzles or more, each with a par that its solution makes', () => {
  const puzzles = of('puzzle');
  assert.ok(puzzles.length >= 16, `${puzzles.length} puzzles`);
  const named = ['look-at-yourself', 'token-before', 'first-token', 'everyone-alike', 'look-up-by-key', 'share-the-work', 'ignore', 'reverse', 'copy-and-cancel',
    'sink', 'sharp-small', 'sort', 'secret', 'cheapest-window', 'undo-a-head', 'fewest-edits'];
  for (const id of named) assert.ok(puzzles.some(p => p.id === id), id);
  for (const puzzle of puzzles) assert.ok(puzzle.par >= 1 && puzzle.steps[0].try.solution.length === puzzle.par, puzzle.id);
});

test('every question of the material has a card', () => {
  const asked = ['how-attention-works', 'attention-or-dense', 'named-columns', 'seq2seq-problem', 'one-context-vector', 'roles-of-qkv', 'scaled-or-additive', 'why-several-heads',
    'why-positions', 'why-layer-norm', 'beside-recurrent', 'self-attention', 'step-by-step', 'three-projections', 'origin-of-formula', 'context', 'how-weights', 'what-is-d-k',
    'what-for-mask', 'relevant-to-me', 'can-a-decoder-cheat', 'does-late-mask-leak', 'do-weights-explain'];
  const there = of('question').map(q => q.id);
  assert.deepEqual(there.slice(0, asked.length), asked);
  for (const question of of('question')) {
    assert.match(question.title, /\?$/, question.id);
    assert.ok(question.steps[0].preset, question.id);
  }
});

test('every example has a card that opens it', () => {
  const ours = of('example').filter(card => !['real-model', 'trained-decoder'].includes(card.id));
  for (const card of ours) assert.equal(card.steps[0].preset, card.id);
  const presets = readFileSync(join(here, '../../src/document/preset.cpp'), 'utf8').split('kExamples[] = {')[1].match(/\{\{"[a-z-]+"/g).map(text => text.slice(3, -1));
  assert.deepEqual(ours.map(card => card.id), presets);
});

test('a real model is an example of its own file, fetched when it is opened, with its licence beside it', () => {
  const [{set}] = cards.find(card => card.id === 'real-model').steps;
  assert.deepEqual([set.q, set.k, set.v].map(heads => [heads.length, heads[0].length, heads[0][0].length]), Array(3).fill([12, 15, 32]));
  assert.ok(readFileSync(join(folder, 'real-model.json')).length <= 150_000);
  assert.match(readFileSync(join(folder, 'real-model.LICENSE.txt'), 'utf8'), /all-MiniLM-L6-v2[^]*Apache License\s+Version 2\.0/);
});

test('a trained decoder, of its own file too, looks at what followed the same letter last time', () => {
  const [{set}] = cards.find(card => card.id === 'trained-decoder').steps;
  for (const [h, q] of set.q.entries()) {
    for (let i = 4; i < 8; i++) {
      const scores = set.k[h].slice(0, i + 1).map(key => key.reduce((sum, value, c) => sum + value * q[i][c], 0));
      assert.equal(scores.indexOf(Math.max(...scores)), i - 3, `head ${h}, ${set.labels[i]}`);
    }
  }
});

const run = content => attn('lesson', '--quiet', file(content));
// A card by itself, without references to others.
const alone = card => ({lesson: 1, ...card, next: undefined});

test('a wrong answer is noticed in every prediction', () => {
  for (const card of cards.filter(card => card.steps.some(step => step.predict))) {
    const wrong = structuredClone(card);
    let count = 0;
    for (const step of wrong.steps)
      if (step.predict) step.predict.answer = (step.predict.answer + 1) % step.predict.choices.length, ++count;
    const done = run(alone(wrong));
    assert.equal(done.status, 1, card.id);
    const named = new Set([...done.stdout.matchAll(/step (\d+), predict/g)].map(match => match[1]));
    assert.equal(named.size, count, `${card.id}:\n${done.stdout}`);
  }
});

test('a try that is solved from the start is noticed, and one that its solution does not solve', () => {
  for (const card of cards.filter(card => card.steps.some(step => step.try))) {
    for (const spoil of [attempt => { attempt.solution = [{option: 'decimals', is: 5}]; }, attempt => { attempt.check = [{option: 'batch', is: 1}]; }]) {
      const wrong = structuredClone(card);
      for (const step of wrong.steps) if (step.try) spoil(step.try);
      const done = run(alone(wrong));
      assert.equal(done.status, 1, card.id);
      const named = new Set([...done.stdout.matchAll(/step (\d+), try/g)].map(match => match[1]));
      assert.equal(named.size, wrong.steps.filter(step => step.try).length, `${card.id}:\n${done.stdout}`);
    }
  }
});

// Numbers in a text that are not on the board shown: those for other settings, and after “Try”.
const cell = (tensor, at, near, within = 0.005) => ({tensor, at, near, within});
const option = (name, is) => ({option: name, is});
const put = (tensor, at, values) => ({tensor, at, values});
const elsewhere = [
  ['i-saw-a-saw', [put('q', [0, 3, 2], -1.6)], [{tensor: 'weights', at: [0, 3], argmax: 0}]],
  ['pronoun', [put('q', [0, 7, 0], 0), put('q', [0, 7, 1], 4)], [{tensor: 'weights', at: [0, 7], argmax: 5}]],
  ['previous-token', [option('temperature', 5)], [cell('weights', [0, 3, 2], 0.55), {tensor: 'weights', at: [0, 3], argmax: 2}]],
  ['look-up', [put('q', [0, 4], [2, 0, 0, -2])], [cell('output', [0, 4], [-0.1, 0.05, 0.55, 0.25], 0.04)]],
  ['uniform', [put('q', [0, 0, 0], 3)], [{tensor: 'weights', at: [0, 0, 3], min: 0.4}, cell('weights', [0, 1], 0.2, 1e-6)]],
  ['saturated', [option('scale', true)], [cell('weights', [0, 0, 4], 0.44)]],
  ['additive', [put('v_a', [0, 0], [-3, 3])], [{tensor: 'weights', at: [0, 1, 3], max: 0.05}, {tensor: 'weights', at: [0, 3, 1], max: 0.05}]],
  ['general', [option('score', 'dot')], [{tensor: 'weights', at: [0, 0], argmax: 0}, {tensor: 'weights', at: [0, 3], argmax: 3}]],
  ['cosine', [option('temperature', 1)], [{tensor: 'weights', at: [0], min: 0.1, max: 0.3}]],
  ['alignment', [put('q', [0, 2, 1], 2.5)], [cell('weights', [0, 2, 1], 0.5), cell('weights', [0, 2, 2], 0.5)]],
  ['local-window', [option('window_left', -1)], [cell('output', [0, 6, 0], 15.43)]],
  ['longformer', [option('pattern_global', 0)], [cell('weights', [0, 11, 0], 0, 0), {tensor: 'weights', at: [0, 11, 10], min: 0.01}]],
  ['bigbird', [option('pattern_seed', 5)], [{tensor: 'weights', at: [0, 1, 6], max: 0}]],
  ['block', [option('pattern_block', 6)], [{tensor: 'weights', at: [0, 4, 5], min: 1e-6}, {tensor: 'weights', at: [0, 5, 6], max: 0}]],
  ['sparsemax', [option('temperature', 3)], [{tensor: 'weights', at: [0, 0, 2], min: 0.01}, {tensor: 'weights', at: [0, 2, 0], min: 0.01}]],
  ['grouped-query', [put('k', [0, 1, 0], 4)], [{tensor: 'weights', at: [0, 3, 1], change: 'up'}, {tensor: 'weights', at: [1, 3, 1], change: 'down'}, {tensor: 'weights', at: [2], change: 'same'}, {tensor: 'weights', at: [3], change: 'same'}]],
  ['multi-query', [put('k', [0, 1, 0], 4)], ['up', 'down', 'down', 'down'].map((change, h) => ({tensor: 'weights', at: [h, 3, 1], change}))],
  ['sinusoidal', [option('causal', false)], [{tensor: 'weights', at: [0, 0], argmax: 5}]],
  ['target-outputs', [option('position', 'none')], [{tensor: 'output', at: [0, 1], like: {tensor: 'output', at: [0, 3]}, within: 1e-6}]],
  ['rotary', [option('position', 'none')], [cell('scores', [0], 6.11)]],
  ['image-patches', [option('position', 'sinusoidal')], [{tensor: 'weights', at: [0, 0, 8], max: 0.15}]],
  ['speech', [option('temperature', 3)], [{tensor: 'weights', at: [0, 1, 2], min: 0.15}, {tensor: 'weights', at: [0, 1, 5], min: 0.05}]],
  ['caption', [put('q', [0, 0, 3], 3)], [cell('weights', [0, 0, 0], 0.49, 0.01), cell('weights', [0, 0, 1], 0.49, 0.01)]],
  ['summary', [put('q', [0, 1, 1], 1.5)], [cell('weights', [0, 1, 2], 0.17)]],
  ['time-series', [put('q', [0, 7], [0, 3])], [cell('output', [0, 7, 0], 13.04)]],
  ['generation', [put('q', [0, 4, 3], 0)], [{tensor: 'weights', at: [0, 4, 3], change: 'down'}]],
  ['segments', [option('segment_by', 'tokens'), option('segment_tokens', 2)], [{tensor: 'token_weights', at: [0, 8, 0], near: 1}]],
  ['mask-after-softmax', [option('mask_after_softmax', false)], [cell('output', [0], 1)]],
  ['transformer-block', [option('block_residual', false)], [{tensor: 'block:norm_1', at: [0, 0], like: {tensor: 'block:norm_1', at: [0, 3]}, within: 1e-4}]],
  ['i-saw-a-saw', [put('q', [0, 3, 0], 0.3)], [cell('weights', [0, 3, 0], 0.094, 0.0005)]],
  ['i-saw-a-saw', [put('q', [0, 3, 1], -0.6)], [cell('weights', [0, 3, 0], 0.091, 0.0005)]],
  ['sinusoidal', [option('position', 'none')], [cell('weights', [0, 5], 0.17)]],
  ['i-saw-a-saw', [option('heads', 1), option('d_k', 1), option('mask_after_softmax', true), put('q', [0], [1, 1, 1, 1]), put('k', [0], [1, 0.5, 0, 3.02])], [cell('weights', [0, 0, 0], 0.105, 0.0005)]],
  ['alibi', [put('q', [0, 5, 0], 3)], [{tensor: 'weights', at: [0, 5, 5], change: 'down'}]],
  ['decoder', [option('window_left', -1)], [{tensor: 'weights', at: [0, 4, 0], min: 0.1}]],
  ['saturated', [], [0, 1, 2, 3, 4, 5].map((row, i) => ({tensor: 'weights', at: [0, row, [4, 1, 5, 0, 1, 3][i]], min: 0.96}))],
];

test('what the texts say of other settings is so', () => {
  const never = {tensor: 'weights', at: [0, 0, 0], near: 1e6};
  const made = elsewhere.map(([preset, after, claim]) => ({preset, text: 'This.', predict: {question: 'True?', choices: ['Yes', 'No'], answer: 0, ...(after.length && {after: after.map(m => m.values?.length === undefined && 'values' in m ? {...m, values: undefined, value: m.values} : m)}), claim: [claim, [never]]}}));
  for (let i = 0; i < made.length; i += 20) {
    const done = run({lesson: 1, id: 'elsewhere', title: 'Elsewhere', steps: made.slice(i, i + 20)});
    assert.equal(done.status, 0, `from ${i}: ${done.stdout}`);
  }
});

test('a sparse table keeps as many scores as the texts say', () => {
  const probe = (preset, set, sum) => ({preset, set, text: 'This.', predict: {question: 'True?', choices: ['Yes', 'No'], answer: 0,
    claim: [[{tensor: 'weights', at: [0], of: 'sum', near: sum, within: 0.01}], [{tensor: 'weights', at: [0], of: 'sum', near: sum + 1, within: 0.01}]]}});
  // With queries of zeros and only the sigmoid as normaliser, each visible key has weight 1/2: twice their sum is their number.
  const zeros = (rows, columns) => [Array.from({length: rows}, () => Array(columns).fill(0))];
  const sigmoid = {normalizer: 'sigmoid'};
  const done = run({lesson: 1, id: 'count', title: 'Count', steps: [
    probe('longformer', {q: zeros(12, 4), ...sigmoid}, 54 / 2), probe('block', {q: zeros(12, 4), ...sigmoid}, 48 / 2),
    probe('local-window', {window_left: -1, ...sigmoid}, 28 / 2), probe('local-window', sigmoid, 18 / 2)]});
  assert.equal(done.status, 0, done.stdout);
});

test('texts are written alike: real minus signs, no doubled spaces, whole sentences, short enough to read', () => {
  for (const step of steps)
    for (const text of textsOf(step)) {
      const where = `${step.where}: ${text}`;
      const shown = text.replace(/\{[^}]*\}|\[[^\]|]*\]/g, '');
      assert.doesNotMatch(shown, /(^|[\s(])-\d/, where);
      assert.doesNotMatch(text, / {2}|\.\.\.|\s$|[“"]{2}/, where);
      assert.doesNotMatch(shown, /\b(just|simply|obviously|magic|magically|super|awesome|cool|basically|tons?|handy|tweak|whack|fancy|nifty)\b/i, where);
      assert.ok(Buffer.byteLength(text) <= 1000, where);
    }
  for (const step of steps) for (const text of [step.text, step.predict?.question, ...list(step.predict?.because), step.try?.task, step.try?.hint].filter(Boolean))
    assert.match(text, /[.?:](\*\*)?\)?$/, `${step.where}: ${text}`);
});

// A negative factor must be in parentheses. The position of its number is found by a claim for `attn lesson`.
test('negative factors of a product stand in parentheses', () => {
  const factors = [];
  for (const card of cards)
    card.steps.forEach((step, i) => {
      const pieces = [{text: step.text, after: []}, ...list(step.predict?.because).map(text => ({text, after: step.predict.after ?? []}))];
      for (const {text, after} of pieces)
        for (const match of (text ?? '').matchAll(/(\(?)\{([a-z_:0-9]+):([\d,]+)\}(\)?)/g)) {
          const [, open, tensor, at] = match, start = match.index, end = start + match[0].length;
          if (open || !(text.slice(0, start).endsWith('× ') || text.slice(end).startsWith(' ×'))) continue;
          const place = at.split(',').map(Number);
          if (place.length < 3) place.unshift(step.set?.focus_head ?? 0);
          factors.push({preset: step.preset, set: step.set, text: 'This.', where: `${card.id}, step ${i + 1}: ${match[0]}`, predict: {question: 'True?', choices: ['Yes', 'No'], answer: 0, ...(after.length && {after}),
            claim: [[{tensor, at: place, min: 0}], [{tensor, at: place, near: 1e6}]]}});
        }
    });
  assert.ok(factors.length > 20, `${factors.length} factors`);
  for (let i = 0; i < factors.length; i += 20) {
    const part = factors.slice(i, i + 20);
    const done = run({lesson: 1, id: 'factors', title: 'Factors', steps: part.map(({where, ...step}) => step)});
    const named = [...done.stdout.matchAll(/step (\d+)/g)].map(match => part[match[1] - 1].where);
    assert.equal(done.status, 0, `${named.join('; ')}\n${done.stdout}`);
  }
});

test('texts use only signs that the built-in faces have', () => {
  const faces = readFileSync(join(here, '../../src/views/fonts/make.py'), 'utf8').match(/SYMBOLS = \(([^)]*)\)/)[1];
  // Inter has no superscript T, though it is requested.
  const known = new Set([...faces].filter(sign => sign !== 'ᵀ'));
  for (const step of steps)
    for (const sign of textsOf(step).join(''))
      assert.ok(sign === '\n' || (sign >= ' ' && sign <= '~') || (sign >= '\u00a0' && sign <= 'ÿ') || known.has(sign), `${step.where}: ${sign}`);
});

test('together they are small: at most 60 KB after Brotli', () => {
  const texts = [...files.filter(name => name !== 'real-model.json').map(name => readFileSync(join(folder, name))), JSON.stringify(lessonsIn(join(folder, '..')))];
  const bytes = texts.reduce((sum, text) => sum + brotliCompressSync(text).length, 0);
  assert.ok(bytes <= 60 * 1024, `${bytes} bytes`);
});
