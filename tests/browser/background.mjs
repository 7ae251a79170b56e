// Checks that a picture of the board is empty outside of all named items and the text around them.
import assert from 'node:assert/strict';

const HEADER = 44, SIDE = 232, SCROLLBAR = 14;

/** Boards whose drawing once failed, or might: various numbers of tokens, one head and many, masked and not. */
export const BOARDS = [16, 21, 25, 32, 40, 64, 256, 1024].flatMap((tokens, i) => [
  {tokens, heads: i % 2 ? 1 : 16, causal: false}, {tokens, heads: i % 2 ? 16 : 1, causal: true},
  ...([25, 1024].includes(tokens) ? [{tokens, heads: i % 2 ? 16 : 1, causal: false}, {tokens, heads: i % 2 ? 1 : 16, causal: true}] : []),
]);
export const named = ({tokens, heads, causal}) => `${tokens} tokens, ${heads} ${heads === 1 ? 'head' : 'heads'}, ${causal ? 'causal' : 'no mask'}`;

/** `at(x, y)` is a colour [r, g, b]; `items` are names with their boxes. */
export function checkBackground({width, height, at}, items, what) {
  const matrices = items.filter(({name}) => name.startsWith('matrix:'));
  assert.ok(matrices.length >= 3, `${what}: the matrices are on the board`);
  const boxes = items.filter(({name, x, y}) => x >= SIDE && y >= HEADER - 60 && !name.startsWith('focus:')).map(({name, ...box}) => {
    if (name.startsWith('matrix:')) return grown(box, 26, name === 'matrix:weights' ? 50 : 26);  // captions, labels, sums
    if (name.startsWith('head:')) return grown(box, 28, 28);
    return grown(box, 8, 8);
  });
  const left = matrices.find(({name}) => name === 'matrix:scores'), right = matrices.find(({name}) => name === 'matrix:weights');
  if (left && right) boxes.push({x: left.x, y: left.y - 26, width: right.x - left.x, height: left.height + 60});  // softmax ⟶
  for (const {x, y, width: w, height: h} of matrices) boxes.push({x: x - 100, y, width: w + 200, height: h});  // row labels
  for (const {x, y, width: w, height: h} of matrices) boxes.push({x: x + w / 2 - 200, y: y + h, width: 400, height: 28});  // captions
  const free = new Uint8Array(width * height).fill(1);
  for (const box of boxes) {
    const [x0, x1] = [Math.max(0, Math.floor(box.x)), Math.min(width, Math.ceil(box.x + box.width))];
    for (let y = Math.max(0, Math.floor(box.y)); y < Math.min(height, box.y + box.height); y++) if (x1 > x0) free.fill(0, y * width + x0, y * width + x1);
  }
  const [red, green, blue] = at(SIDE + 3, HEADER + 3);
  let seen = 0, stray = 0, first = '';
  for (let y = HEADER + 40; y < height - 2; y++) {
    for (let x = SIDE + 4; x < width - SCROLLBAR; x++) {
      if (!free[y * width + x]) continue;
      seen++;
      const [r, g, b] = at(x, y);
      if ((r !== red || g !== green || b !== blue) && stray++ === 0) first = `${x}, ${y}`;
    }
  }
  assert.ok(seen > 10_000, `${what}: there is something to look at (${seen})`);
  assert.equal(stray, 0, `${what}: ${stray} of ${seen} pixels of the background are drawn over, first at ${first}`);
}

const grown = ({x, y, width, height}, by, right) => ({x: x - by, y: y - by, width: width + by + right, height: height + 2 * by});
