// Parses what the module records of a frame (src/app/mirror.h): controls with their text, matrices, and the part of the screen that they
// are on.

const ROLES = {b: 'button', s: 'switch', o: 'radio', m: 'menu', i: 'entry', d: 'fold', r: 'slider', f: 'field'};

export function read(reply) {
  const found = {controls: [], words: [], boxes: {}, matrices: [], pages: [], notice: ''};
  let order = 0;
  for (const line of reply.split('\n')) {
    const [kind, ...f] = line.split('\x1f');
    const box = (from) => ({x: +f[from], y: +f[from + 1], width: +f[from + 2], height: +f[from + 3]});
    if (kind === 'C') found.controls.push({order: order++, role: ROLES[String.fromCharCode(f[0])], value: +f[1], enabled: f[2] === '1', name: f[3], place: f[4], ...box(5), about: f[9]});
    if (kind === 'T') found.words.push({order: order++, kind: +f[0], words: f[1], place: f[2], ...box(3)});
    if (kind === 'B') found.boxes[f[0]] = box(1);
    if (kind === 'V') Object.assign(found, {onPage: f[0] === '1', decimals: +f[1], zoom: f[2] / 100});
    if (kind === 'M') {
      const [address, stride, top, high, left, wide, rows, cols, firstRow, firstCol, head, editable, rowKind, pairs, turned, limit] = f.slice(2).map(Number);
      found.matrices.push({tensor: f[0], title: f[1], address, stride, top, high, left, wide, rows, cols, firstRow, firstCol, head, editable, rowKind, pairs, turned, limit: Math.fround(limit) || Infinity, names: []});
    }
    if (kind === 'H') found.matrices.at(-1).names[f[0]] = f[1];
    if (kind === 'D') {
      const [address, stride, top, high, left, wide, rows, cols] = f.slice(2).map(Number);
      found.pages.push({tensor: f[0], editable: f[1] === '1', address, stride, top, high, left, wide, rows, cols, head: 0, heads: 1, firstRow: 0, firstCol: 0, isPage: true});
    }
    if (kind === 'S' || kind === 'E') found[kind === 'S' ? 'selected' : 'explained'] = {tensor: f[0], head: +f[1], row: +f[2], col: +f[3]};
    if (kind === 'N') found.notice = f[0];
  }
  return found;
}

const middle = ({x, y, width, height}) => ({x: x + width / 2, y: y + height / 2});
const holds = (box, {x, y}) => box && x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;

/** The part of the screen that an item is on. */
function partOf(found, item) {
  if (/Popup|Menu/.test(item.place)) return 'menu';
  const own = /##(side|help|notice|term|palette)/.exec(item.place)?.[1];
  if (own) return own === 'term' || own === 'palette' ? 'help' : own;  // a window over the board, as Help is
  if (/##page/.test(item.place)) return 'page';
  if (!/##playground/.test(item.place)) return 'side';
  const at = middle(item), {header, inspector, brief, arcs} = found.boxes;
  if (holds(header, at)) return 'header';
  if (holds(inspector, at)) return 'inspector';
  if (holds(brief, at)) return 'brief';
  if (holds(arcs, at)) return 'arcs';
  return found.onPage ? 'page' : 'board';
}

const BAND = 32;  // pixels

/** Text by where it is, so that of many controls, as the heads of a model, each is compared only with what is near it. */
class Near {
  bands = new Map();

  constructor(words) {
    for (const w of words) {
      const key = `${w.place} ${Math.floor(w.middle.y / BAND)}`, band = this.bands.get(key);
      if (band) band.push(w);
      else this.bands.set(key, [w]);
    }
  }

  /** In the order in which it was drawn. */
  between(place, from, to) {
    const words = [];
    for (let band = Math.floor(from / BAND); band <= Math.floor(to / BAND); band++) words.push(...this.bands.get(`${place} ${band}`) ?? []);
    return words.sort((a, b) => a.order - b.order);
  }
}

/** Assigns text to controls: what is inside of each, and what is before it in its row. The remaining text is independent, and has the part of the
 * screen that it is on. */
export function label(found) {
  for (const w of found.words) w.middle = middle(w);
  const near = new Near(found.words);
  const controls = found.controls.filter((c) => !/^(guide-strip|stepper:\d+)$/.test(c.name));
  for (const c of controls) {
    const box = {x: c.x - 2, y: c.y, width: c.width + 4, height: c.height};
    c.part = partOf(found, c);
    const inside = near.between(c.place, c.y, c.y + c.height).filter((w) => w.y > c.y - 4 && holds(box, w.middle));
    // A wide row may contain smaller controls with text of their own.
    c.inside = inside.filter((w) => !controls.some((o) => o !== c && o.place === c.place && o.width < c.width && o.width * o.height < c.width * c.height && holds(o, w.middle)));
    c.inside.forEach((w) => { w.owner ??= c; });
  }
  for (const c of controls) {
    // Text before a link in a lesson belongs to the lesson.
    const at = c.y + c.height / 2, words = c.name.startsWith('guide:') ? [] : near.between(c.place, at - 9, at + 9);
    const before = words.filter((w) => Math.abs(w.middle.y - at) < 9 && !w.owner && w.kind === 0 && w.x + w.width <= c.x + 8 && (c.part !== 'header' || c.x - w.x - w.width < 12));
    c.before = before.at(-1)?.words.trim() ?? '';
    c.beside = before.at(-1);
    c.words = c.inside.map((w) => w.words.trim()).join(' ');
  }
  controls.forEach((c) => { if (c.beside) c.beside.owner ??= c; });
  for (const w of found.words) if (!w.owner) w.part = partOf(found, w);
  return controls;
}
