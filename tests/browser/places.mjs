// The positions of the named items of a board: none is cut off, none overlaps another.
import assert from 'node:assert/strict';

const SLACK = 1;  // pixels of rounding
const isInside = (a, b) => a.x >= b.x - SLACK && a.y >= b.y - SLACK && a.x + a.width <= b.x + b.width + SLACK && a.y + a.height <= b.y + b.height + SLACK;
const doOverlap = (a, b) => Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) > SLACK &&
  Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > SLACK;
/** Names at 45° above columns: their boxes overlap, but the texts, a line apart, do not. */
const SLANTED = 18;
const areSlanted = (a, b) => /^label:(above|below|keys):/.test(a.name) && a.name.split(":")[1] === b.name.split(":")[1] &&
  Math.max(a.rect.height, b.rect.height) > SLANTED && Math.abs(a.rect.x - b.rect.x) >= SLANTED;
/** The selected bar with its number and name, which may be wider than the area of the bar. */
const areBars = (a, b) => [a, b].some(({name}) => name === 'bar:chosen') && /^bar:/.test(a.name) && /^bar:/.test(b.name);
const shown = ({name, rect: {x, y, width, height}}) => `${name} (${[x, y, width, height].map(Math.round)})`;

/** What can be seen of an item: the board scrolls under the bar at the bottom of a phone, whose own items are as high as the bar. */
function aboveBar({name, rect}, bar) {
  return !bar || isInside(rect, bar.rect) && rect.height > bar.rect.height - SLACK ? {name, rect} : {name, rect: {...rect, height: Math.min(rect.height, bar.rect.y - rect.y)}};
}

/** No two named items overlap, except that one may contain another; and none is cut off by an edge, unless it can be scrolled. */
export function checkPlaces(items, width, height) {
  const bar = items.find(({name}) => name === 'toolbar');
  const seen = items.map((item) => aboveBar(item, bar)).filter(({rect}) => rect.height > 0 && rect.y < height && rect.y + rect.height > 0);
  assert.ok(seen.length > 5, 'there is something on the board');
  for (const [i, a] of seen.entries()) {
    assert.ok(a.rect.x >= -SLACK && a.rect.x + a.rect.width <= width + SLACK, `${shown(a)} is cut at the side of ${width}x${height}`);
    for (const b of seen.slice(i + 1)) {
      const fine = !doOverlap(a.rect, b.rect) || areSlanted(a, b) || areBars(a, b) || isInside(a.rect, b.rect) || isInside(b.rect, a.rect);
      assert.ok(fine, `${shown(a)} and ${shown(b)} overlap at ${width}x${height}`);
    }
  }
}
