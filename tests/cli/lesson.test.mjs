// `attn lesson` checks lessons against the board.
import assert from 'node:assert/strict';
import {readdirSync, mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {lessonsIn} from '../../src/shell/web/lessons.mjs';
import {attn, file, folder, here} from './harness.mjs';

const lesson = (more = {}, attempt = {}) => ({lesson: 1, id: 'sharp', title: 'Sharp', steps: [{
  preset: 'i-saw-a-saw', text: 'The last [q:3|saw].',
  predict: {question: 'Which?', choices: ['I', 'a'], answer: 1, claim: {tensor: 'weights', at: [0, 3], argmax: [0, 2]}},
  try: {task: 'Look.', check: {tensor: 'weights', at: [0, 3, 2], min: 0.8}, solution: [{tensor: 'q', at: [0, 3, 2], value: 3}], ...attempt}}], ...more});

test('a true lesson is said to be so, step by step', () => {
  const done = attn('lesson', file(lesson()));
  assert.equal(done.status, 0, done.stderr + done.stdout);
  assert.match(done.stdout, /step 1: predict: largest of W\[saw₄\] is a₃ \(a₃\); try: W\[saw₄, a₃\] is 0\.69, then 0\.87 \(≥ 0\.80\)/);
  assert.match(done.stdout, /1 lesson, nothing wrong\n$/);
});

for (const [name, content, says] of [
  ['a solution that does not solve', lesson({}, {solution: [{tensor: 'q', at: [0, 3, 2], value: 1.5}]}), 'step 1, try.solution: after it'],
  ['a cell that is not there', lesson({}, {check: {tensor: 'weights', at: [0, 7, 2], min: 0.8}}), 'step 1, try.check: there is no row 7 in weights'],
  ['a field that is not known', lesson({author: 'me'}), 'the field "author" is unknown'],
  ['what is no lesson', {version: 1}, 'lesson: it is missing'],
  ['what is no JSON', '{"lesson": 1,', 'ends too early'],
]) {
  test(`refuses ${name}`, () => {
    const done = attn('lesson', '--quiet', file(content));
    assert.equal(done.status, 1);
    assert.ok(done.stdout.includes(says), done.stdout);
    assert.match(done.stderr, /^attn: \d+ things? (is|are) wrong with the lessons; each is named above\.\n$/);
  });
}

test('two lessons of one id, and an id that leads nowhere', () => {
  const done = attn('lesson', file(lesson()), file(lesson({next: ['nowhere']})));
  assert.equal(done.status, 1);
  assert.match(done.stdout, /is the id of another lesson too/);
  assert.match(done.stdout, /there is no lesson "nowhere" among these files/);
});

test('a folder is read without its list and its schema, and --index writes the list, in the order of places', () => {
  const path = join(folder, 'lessons');
  mkdirSync(path);
  writeFileSync(join(path, 'b.json'), JSON.stringify(lesson({id: 'b', place: 30, about: 'Of b.'})));
  writeFileSync(join(path, 'a.json'), JSON.stringify({lesson: 1, place: 200, cards: [lesson({id: 'a'}), lesson({id: 'c'})].map(({lesson, ...card}) => card)}));
  writeFileSync(join(path, 'index.json'), 'no lesson');
  const done = attn('lesson', '--index', path);
  assert.equal(done.status, 0, done.stderr);
  assert.deepEqual(JSON.parse(done.stdout).lessons.map(l => [l.id, l.file, l.kind, l.steps]), [['b', 'b.json', 'lesson', 1], ['a', 'a.json', 'lesson', 1], ['c', 'a.json', 'lesson', 1]]);
});

const ours = join(here, '../../web/lessons');
test('every lesson, puzzle, question and card of ours is true', () => {
  const files = readdirSync(ours).filter(f => f.endsWith('.json') && f !== 'schema.json' && !f.startsWith('glossary.'));
  if (!files.length) return;
  const done = attn('lesson', '--quiet', ours);
  assert.equal(done.status, 0, done.stdout);
});

test('the list of ours is the same for the page and for other programs', () => {
  assert.deepEqual(JSON.parse(attn('lesson', '--index', ours).stdout).lessons, lessonsIn(join(ours, '..')).map(one => JSON.parse(JSON.stringify(one))));
});
