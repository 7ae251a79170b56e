// Callbacks that follow a board: el.observe() for a cell, el.on() for a check. They belong to the element, so that they continue after it
// was disconnected and connected again.
import {nameOf, refusal, wrong} from './values.js';

/** The Playground of an element, while there is one. */
export const boards = new WeakMap();

const ROWS_OF_KEYS = new Set(['k', 'v', 'x_kv', 'k_rotated', 'x_kv_positioned']);
const OF_PAIRS = new Set(['raw', 'scores', 'softcapped', 'biased', 'masked', 'exponentials', 'weights', 'bias']);
const AXES = ['head', 'row', 'column'];

/** Calls `look` now and whenever a number of the board may have changed; returns a function that ends it. */
function follow(host, look) {
  const ends = new AbortController();
  const again = () => boards.get(host)?.alive && look(boards.get(host));
  for (const type of ['input', 'change', 'train', 'ready']) host.addEventListener(type, again, {signal: ends.signal});
  queueMicrotask(() => ends.signal.aborted || again());
  return () => ends.abort();
}

function needsCallback(callback) {
  if (typeof callback !== 'function') throw wrong('callback', 'a function', callback);
}

/** The labels beside the rows (axis 1) or above the columns (axis 2) of a tensor; null if these are not tokens. */
function labelsOf(board, tensor, axis) {
  if (axis === 2 && !OF_PAIRS.has(tensor)) return null;
  const ofKeys = axis === 2 || ROWS_OF_KEYS.has(tensor), isCross = JSON.parse(board.ask('get', 'cross'));
  return JSON.parse(board.ask('get', ofKeys && isCross ? 'key_labels' : 'labels'));
}

/** The index of a row or column that is given as a number, or by its token: the first one with this text. */
function indexOf(board, tensor, axis, place) {
  if (typeof place !== 'string') return place;
  const labels = labelsOf(board, tensor, axis), index = labels?.indexOf(place) ?? -1;
  if (!labels) throw refusal(RangeError, 'col', `must be a whole number: the columns of ${tensor} are no tokens`);
  if (index < 0) throw refusal(RangeError, axis === 1 ? 'row' : 'col', `names no token of this board, which has ${labels.map((label) => `"${label}"`).join(', ').slice(0, 200)}`);
  return index;
}

/** The numbers of the cells at [head, row, column]; null for an index means all of them, in order. */
function numbersAt(board, tensor, at, field = 'at') {
  const places = at.map((place, axis) => indexOf(board, tensor, axis, place));
  return board.answer('tensor', [tensor], (reply) => {
    const [address, ...shape] = JSON.parse(reply);
    const spans = shape.map((size, axis) => {
      const place = places[axis] ?? null;
      if (place !== null && (!Number.isInteger(place) || place < 0 || place >= size)) {
        throw refusal(RangeError, `${field}[${axis}]`, `must be a ${AXES[axis]} of ${tensor}, from 0 to ${size - 1}, not ${place}`);
      }
      return place === null ? [0, size] : [place, place + 1];
    });
    const [heads, rows, cols] = spans, numbers = [];
    for (let head = heads[0]; head < heads[1]; head++) {
      for (let row = rows[0]; row < rows[1]; row++) {
        for (let col = cols[0]; col < cols[1]; col++) numbers.push(board.wasm.HEAPF32[address / 4 + (head * shape[1] + row) * shape[2] + col]);
      }
    }
    return numbers;
  });
}

// ---------------------------------------------------------------- a cell

/** Calls back with the number of a cell, and with {tensor, head, row, col, value, before}: soon, and then whenever it changes. Row and
 * column may be given by their tokens. A cell that no longer exists has the number undefined. */
export function observe(board, target, callback) {
  if (typeof target !== 'object' || target === null) throw wrong('target', 'an object with tensor, head, row and col', target);
  const {tensor, head = 0, row = 0, col = 0} = target;
  nameOf('tensor', tensor);
  for (const [name, place] of Object.entries({row, col})) {
    if (typeof place !== 'string' && !Number.isInteger(place)) throw wrong(name, 'a whole number or a token', place);
  }
  if (!Number.isInteger(head)) throw wrong('head', 'a whole number', head);
  needsCallback(callback);
  numbersAt(board, tensor, [head, row, col]);
  let before, isFirst = true;
  return follow(board.root.host, (now) => {
    let value;
    try {
      [value] = numbersAt(now, tensor, [head, row, col]);
    } catch { /* the board is smaller now */ }
    if (!isFirst && Object.is(value, before)) return;
    const detail = {tensor, head, row, col, value, before};
    [before, isFirst] = [value, false];
    callback(value, detail);
  });
}

// ---------------------------------------------------------------- a check

const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);
const TEST_FIELDS = ['min', 'max', 'near', 'like', 'argmax', 'change', 'is'];

/** Converts a check to the format of the board (src/app/watched.h), except for tokens in place of indices. */
function readCheck(check, field) {
  if (typeof check !== 'object' || check === null) throw wrong(field, 'an object: {tensor, at, min}, {option, is} or {edits}', check);
  const {tensor, option, edits, at = []} = check;
  if ([tensor, option, edits].filter((one) => one !== undefined).length !== 1) throw refusal(TypeError, field, 'must have one of tensor, option and edits');
  if (tensor !== undefined) nameOf(`${field}.tensor`, tensor);
  if (option !== undefined) nameOf(`${field}.option`, option);
  if (!Array.isArray(at) || at.length > 3) throw wrong(`${field}.at`, 'a list of head, row and column', at);
  const all = edits === undefined ? {...check} : {...check, ...edits, edits: true};  // lessons write {edits: {max: 2}}
  for (const name of ['min', 'max', 'within', 'argmax']) {
    if (all[name] !== undefined && !isNumber(all[name])) throw wrong(`${field}.${name}`, 'a finite number', all[name]);
  }
  if (all.near !== undefined && ![all.near].flat().every(isNumber)) throw wrong(`${field}.near`, 'a finite number, or a list of them', all.near);
  if (!TEST_FIELDS.some((name) => all[name] !== undefined)) throw refusal(TypeError, field, `must say what should hold: ${TEST_FIELDS.join(', ')}`);
  if (tensor === undefined) return all;
  for (const place of at) {
    if (place !== null && typeof place !== 'string' && !(Number.isInteger(place) && place >= 0)) throw wrong(`${field}.at`, 'a list of whole numbers from 0, tokens and null', at);
  }
  const places = [...at];
  while (places.length && places.at(-1) === null) places.pop();  // trailing ones stand for all indices anyway
  return {...all, at: places};
}

/** Evaluates checks: do they hold, and what are their numbers or values? */
function judge(board, checks, isList, start) {
  const placed = checks.map((check) => check.tensor === undefined ? check :
    {...check, at: check.at.map((place, axis) => indexOf(board, check.tensor, axis, place) ?? -1)});
  return JSON.parse(board.ask('judge', JSON.stringify({check: isList ? placed : placed[0]}), start));
}

/** Calls back each time that a check begins to hold, with [{value, holds}, …]; of a list, all must hold. Calls back soon if it holds
 * already. The checks are those of lessons: {tensor, at, min, max, near, within, like, argmax, of, change}, {option, is}, {edits: {max}}.
 * */
export function on(board, check, callback) {
  const isList = Array.isArray(check), all = [check].flat().map((one, i) => readCheck(one, isList ? `check[${i}]` : 'check'));
  needsCallback(callback);
  const counts = ({edits, change, of}) => edits !== undefined || change !== undefined || of === 'change';
  const start = all.some(counts) ? board.ask('state') : '';
  judge(board, all, isList, start);
  let held = false;
  return follow(board.root.host, (now) => {
    let verdicts = [];
    try {
      verdicts = judge(now, all, isList, start);
    } catch { /* of cells that the board has no more */ }
    const holds = verdicts.length > 0 && verdicts.every((verdict) => verdict.holds);
    if (holds && !held) callback(verdicts);
    held = holds;
  });
}
