// The one diagram of the pages, layers and what they include, drawn from its text in Mermaid: each layer below all that include it.
const WIDTH = 132, HEIGHT = 34, ACROSS = 168, DOWN = 62;

/** [x, y] of each name, in columns and rows. Beside each other, in the order of what is below them, so that arrows do not cross. */
function placed(arrows) {
  const names = [...new Set(arrows.flat())], row = (name) => Math.max(0, ...arrows.filter(([, to]) => to === name).map(([from]) => row(from) + 1)), at = new Map();
  for (let y = Math.max(...names.map(row)); y >= 0; --y) {
    const below = (name) => arrows.filter(([from]) => from === name).reduce((sum, [, to], _, {length}) => sum + at.get(to)[0] / length, 0);
    names.filter((name) => row(name) === y).sort((a, b) => below(a) - below(b)).forEach((name, x) => at.set(name, [x, y]));
  }
  return at;
}

/** A straight line to the layer below, or down beside others and into the side of one that is farther away. */
function line([x, y], [toX, toY]) {
  const middle = (column) => column * ACROSS + WIDTH / 2 + 1, from = `M${middle(x)} ${y * DOWN + HEIGHT + 1}`;
  if (toY - y > 1 && toX < x) return `${from}V${toY * DOWN + HEIGHT / 2 + 1}H${toX * ACROSS + WIDTH + 9}`;
  return `${from}L${middle(toX) + Math.sign(x - toX) * WIDTH / 4} ${toY * DOWN - 7}`;
}

/** SVG for a flowchart whose arrows say what includes what. */
export function diagram(text) {
  const arrows = Array.from(text.matchAll(/(\w+) --> (\w+)/g), ([, from, to]) => [from, to]), at = placed(arrows), all = [...at.values()];
  const size = [Math.max(...all.map(([x]) => x)) * ACROSS + WIDTH + 2, Math.max(...all.map(([, y]) => y)) * DOWN + HEIGHT + 2];
  const boxes = [...at].map(([name, [x, y]]) => `<rect x="${x * ACROSS + 1}" y="${y * DOWN + 1}" width="${WIDTH}" height="${HEIGHT}" rx="6"/><text x="${x * ACROSS + WIDTH / 2 + 1}" y="${y * DOWN + HEIGHT / 2 + 6}">${name}</text>`);
  return `<figure class="picture"><svg class="diagram" role="img" aria-label="${arrows.map(([from, to]) => `${from} includes ${to}`).join(', ')}" viewBox="0 0 ${size.join(' ')}" width="${size[0]}" height="${size[1]}">` +
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>' +
    `${arrows.map(([from, to]) => `<path class="arrow" marker-end="url(#arrow)" d="${line(at.get(from), at.get(to))}"/>`).join('')}${boxes.join('')}</svg></figure>\n`;
}
