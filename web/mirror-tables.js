// Every matrix as a table with row and column headings by token.
import {make, nameFormula, say, set, spaced, TENSORS} from './mirror-nodes.js';
import {message} from './message.js';

const MOST = 32;  // rows and columns of a table of what is trained; those of others are chosen where their numbers are (src/views/mirror.h)

/** Methods of Mirror. */
export class Tables {
  /** The numbers of a matrix; if it is larger than a table can be, a part of them. */
  numbersOf({address, stride, high, wide}) {
    const {board: {wasm: {HEAPF32}}} = this;
    return Array.from({length: high}, (_, i) => Array.from(HEAPF32.subarray(address / 4 + i * stride, address / 4 + i * stride + wide)));
  }

  tokens(kind, at) { return this.labels.at(kind === 1 ? -1 : 0)[at] ?? `t${at + 1}`; }

  boardTables(part) {
    for (const m of this.found.matrices) {
      const title = this.t(m.tensor === 'weights' ? message`${m.title}, weights` : TENSORS[m.tensor] ?? m.title);
      this.table(part, m, {
        title: this.changeable(title, m),
        row: (i) => m.rowKind < 2 ? this.tokens(m.rowKind, m.firstRow + i) : String(m.firstRow + i + 1),
        col: (j) => m.pairs ? this.tokens(1, m.firstCol + j) : m.names[j] ?? String(m.firstCol + j + 1),
      });
    }
    const {arithmetic} = this;
    if (!arithmetic) return;
    const node = this.keyed(part, 'arithmetic', () => make('div', {role: 'group', 'aria-label': this.t('Arithmetic')}));
    const lines = [[arithmetic.text.split('\n')[0]], ...arithmetic.terms.map(({label: name, text}) => [name, text])];
    lines.forEach((parts, i) => {
      const line = node.children[i] ?? node.appendChild(i === 0 ? make('p', {}, make('span')) : make('p', {}, make('span'), ': ', make('span')));
      parts.forEach((words, j) => {
        say(line.children[j], words);
        nameFormula(line.children[j], (sign) => this.t(sign));
      });
    });
    while (node.children.length > lines.length) node.lastChild.remove();
  }

  pageTables(part) {
    const {controls, pages} = this.found, sentence = controls.find((c) => /^train:/.test(c.name) && c.before.includes(' '))?.before.split(' ');
    for (const m of pages) this.pageTable(part, {...m, numbers: this.numbersOf(m)}, this.labels[0]);
    const layers = controls.some((c) => c.name.startsWith('train:')) ? JSON.parse(this.board.ask('get', 'train_layers')) : 0;
    for (let layer = 1; layer <= layers; layer++) this.trainedTables(part, `train:weights:${layer}`, sentence);
  }

  /** The weights of all heads of a layer that is trained. */
  trainedTables(part, tensor, sentence) {
    const all = [];
    try {
      this.board.answer('tensor', [tensor], (reply) => {
        const [address, heads, rows, cols] = JSON.parse(reply), high = Math.min(rows, MOST), wide = Math.min(cols, MOST);
        for (let head = 0; head < heads; head++) {
          const m = {tensor, editable: false, head, heads, rows, cols, stride: cols, top: 0, left: 0, high, wide, address: address + 4 * head * rows * cols, firstRow: 0, firstCol: 0, isPage: true, pairs: true};
          all.push({...m, numbers: this.numbersOf(m)});
        }
      });
    } catch { /* not made yet */ }
    for (const m of all) this.pageTable(part, m, sentence);
  }

  changeable(title, {editable}) { return editable ? this.t(message`${title}, can be changed`) : title; }

  pageTable(part, m, words) {
    const isTokens = m.rows === words?.length;
    this.table(part, m, {
      title: this.changeable(this.t(this.pageTitle(m)), m),
      row: (i) => isTokens ? words[i] : String(i + 1),
      col: (j) => isTokens && m.cols === words.length && m.pairs ? words[j] : String(j + 1),
    });
  }

  pageTitle({tensor, heads, head}) {
    const layer = /^train:weights:(\d+)$/.exec(tensor)?.[1];
    if (layer) return message`${message`Layer ${+layer}, head ${head + 1}`}, weights`;
    return heads > 1 ? message`${spaced(tensor)}, head ${head + 1}` : spaced(tensor);
  }

  table(part, m, {title, row, col}) {
    // If tokens are columns on the board, they are here too; cells keep their row and column in the tensor.
    const seen = (down, across) => m.turned ? [across, down] : [down, across];
    const [rows, cols] = seen(m.numbers.length, m.numbers[0]?.length ?? 0), [allRows, allCols] = seen(m.rows, m.cols);
    const [top, left] = seen(m.top, m.left), [down, across] = seen(row, col), shape = `${rows} × ${cols}`;
    const key = `table ${m.tensor} ${m.head} ${shape} ${m.turned}`, isThere = part.keyed.has(key), isShown = this.found.shown.has(key);
    const work = rows * cols, waits = !isShown && this.room < work;
    this.isPart ||= waits;
    if (waits && !isThere) return;
    const node = this.keyed(part, key, () => {
      const table = make('table', {role: 'grid'}, make('caption'));
      const head = table.createTHead().insertRow();
      head.append(make('td'));
      for (let j = 0; j < cols; j++) head.append(make('th', {scope: 'col'}));
      const body = table.createTBody();
      for (let i = 0; i < rows; i++) {
        const line = body.insertRow();
        line.append(make('th', {scope: 'row'}));
        for (let j = 0; j < cols; j++) Object.assign(line.insertCell(), m.turned ? {i: j, j: i} : {i, j}).tabIndex = -1;
      }
      return table;
    });
    if (isShown || waits) return;
    this.room -= work;
    this.found.shown.add(key);
    node.matrix = m;
    const span = (from, count, all, words) => all > count ? `, ${this.t(words(from + 1, from + count, all))}` : '';
    say(node.caption, title + span(top, rows, allRows, (from, to, all) => from === to ? message`row ${from} of ${all}` : message`rows ${from} to ${to} of ${all}`) + span(left, cols, allCols, (from, to, all) => message`columns ${from} to ${to} of ${all}`));
    const s = this.found.selected, isBig = allRows > rows || allCols > cols;
    set(node, {'aria-rowcount': isBig ? allRows + 1 : null, 'aria-colcount': isBig ? allCols + 1 : null});
    const heads = node.tHead.rows[0].cells;
    for (let j = 0; j < cols; j++) say(heads[j + 1], across(left + j));
    for (let at = 0; at < rows; at++) {
      const {cells} = node.tBodies[0].rows[at];
      say(cells[0], down(top + at));
      for (const cell of [...cells].slice(1)) {
        const {i, j} = cell, isSelected = s && s.tensor === m.tensor && s.row === m.firstRow + m.top + i && s.col === m.firstCol + m.left + j;
        if (!cell.firstElementChild) say(cell, this.written(m.numbers[i][j], m.limit));
        set(cell, {'aria-selected': isSelected ? true : 'false', 'aria-readonly': m.editable ? 'false' : 'true'});
        if (this.isIn || this.isPlain) cell.tabIndex = isSelected || (!s && !i && !j) ? 0 : -1;
      }
    }
    if ((this.isIn || this.isPlain) && !node.querySelector('td[tabindex="0"]') && rows && cols) node.tBodies[0].rows[0].cells[1].tabIndex = 0;
  }
}
