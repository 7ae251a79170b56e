// Passes the reader's input in the mirror to the board: focus, keys, presses and typing.
import {make, say, set} from './mirror-nodes.js';
import {failure, message, saidBy} from './message.js';

const COMMIT = 0;      // app::Entry

/** Methods of Mirror. */
export class MirrorInput {
  entered(e) {
    this.use();
    if (!this.isIn) {
      this.isIn = true;
      this.nodes().forEach((node) => { if (node.tagName !== 'TD' && !node.matches('.row > button')) node.tabIndex = 0; });
      this.stopOnce();
      if (this.staleSince !== null) this.update();
    }
    const node = e.target, item = node.item;
    this.board.run('point', item?.name ?? '');  // whose tooltip opens
    if (node.tagName === 'TD' && node.i !== undefined) this.choose(node);
    else if (item && !this.isPlain) this.circle(item.name.replace(/-value$/, ''), item);
  }

  left(e) {
    if (this.root.contains(e.relatedTarget)) return;
    queueMicrotask(() => {
      if (this.root.activeElement) return;
      this.isIn = false;
      this.ring.hidden = true;
      if (this.board.alive) this.board.run('point', '');
      if (!this.isPlain) this.nodes().forEach((node) => { node.tabIndex = -1; });
    });
  }

  /** Scrolls to the control, and returns its rectangle on the canvas. */
  circle(name, item) {
    const by = this.found.zoom;
    let box = {x: item.x * by, y: item.y * by, width: item.width * by, height: item.height * by};
    try {
      const [x, y, width, height] = JSON.parse(this.board.ask('locate', name, 0, 0, 0));
      box = {x, y, width, height};
    } catch { /* where it was drawn */ }
    const {style} = this.ring;
    for (const [side, value] of Object.entries({left: box.x - 3, top: box.y - 3, width: box.width + 6, height: box.height + 6})) style[side] = `${value}px`;
    this.ring.hidden = false;
  }

  refOf(cell) {
    const m = cell.closest('table').matrix;
    return {tensor: m.tensor, head: m.head, row: m.firstRow + m.top + cell.i, col: m.firstCol + m.left + cell.j, m};
  }

  choose(cell) {
    const {tensor, head, row, col, m} = this.refOf(cell), s = this.found.selected;
    if (m.isPage || (s && s.tensor === tensor && s.row === row && s.col === col)) return;
    try {
      this.board.ask('select', tensor, head, row, col);
    } catch { /* smaller since */ }
    this.found.selected = {tensor, head, row, col};
    for (const other of this.root.querySelectorAll('td[aria-selected=true]')) set(other, {'aria-selected': 'false'}).tabIndex = -1;
    set(cell, {'aria-selected': true}).tabIndex = 0;
  }

  click(e) {
    const node = e.target.closest('button, td');
    if (!node) return;
    if (node.tagName === 'TD') {
      if (node.i !== undefined && this.refOf(node).m.editable && !node.firstElementChild && (this.isPlain || e.detail > 1)) this.edit(node);
      else if (node.i !== undefined) node.focus();
      return;
    }
    if (node.item) this.press(node);
  }

  press(node) {
    const {item} = node;
    if (!item.enabled) return this.announce(this.t(message`${this.nameOf(item)} cannot be used now.`));
    const was = this.front();
    this.typed = null;
    if (!was) this.opener = item.name;
    this.act(item.name, 0);
    const front = this.front();
    if (front && front !== was) (front.node.querySelector('[aria-checked=true]') ?? front.node.querySelector('button'))?.focus();
    else if (was && !front && !this.board.field) this.back();
  }

  /** From what is closed to the control that opened it. */
  back() {
    const opener = [...this.nodes()].find((node) => node.item?.name === this.opener);
    (opener ?? this.all.querySelector('button'))?.focus();
  }

  act(name, step) {
    this.update(name, step);
  }

  /** Text typed here would otherwise go to a field in front of the canvas. */
  type(input) {
    const {board} = this, {item} = input, words = input.value.trim();
    if (words === input.was || !item.enabled) return;
    let opened = false;
    board.beginText = () => { opened = true; };
    try {
      board.ask('mirror', item.name, 0);
    } finally {
      delete board.beginText;
    }
    if (!opened) return this.update();
    let refused = null;
    board.beginText = (field) => { refused = field; };
    try {
      board.run('end_text', COMMIT, words);
      if (refused) board.run('end_text', 1, '');
    } finally {
      delete board.beginText;
    }
    set(input, {'aria-invalid': refused ? true : null, title: refused?.wrong || null});
    if (refused) return this.announce(refused.wrong);
    input.was = input.value;
    this.update();
  }

  edit(cell, first) {
    const {tensor, row, col, m} = this.refOf(cell), value = m.numbers[cell.i][cell.j];
    this.choose(cell);
    const input = make('input', {type: 'text', inputmode: 'decimal', autocomplete: 'off', 'aria-label': this.t(this.spoken({tensor, row, col}))});
    input.value = first ?? this.asRead(String(+value.toPrecision(6)).replace('-', '−'));
    cell.textContent = '';
    cell.append(input);
    input.focus();
    if (first === undefined) input.select();
    const done = (keeps) => {
      if (!input.isConnected || input.isDone) return;
      if (keeps && !this.enter(m, row, col, input)) return;
      input.isDone = true;
      input.remove();
      say(cell, this.written(value));
      this.update();
    };
    input.addEventListener('keydown', (e) => {
      if (e.key !== 'Enter' && e.key !== 'Escape' && e.key !== 'Tab') return e.stopPropagation();
      done(e.key !== 'Escape');
      if (e.key !== 'Tab' && input.isDone) cell.focus(), e.preventDefault();
      e.stopPropagation();
    });
    input.addEventListener('blur', () => { done(true); if (!input.isDone) done(false); });
  }

  /** Writes a cell on behalf of the reader. False if it was refused, after showing the reason. */
  enter(m, row, col, input) {
    try {
      if (m.isPage) this.enterParameter(m, row, col, input.value);
      else this.board.ask('paste', input.value.trim().replace(this.board.decimal ?? '.', '.') || '0');
      return true;
    } catch (error) {
      const why = this.t(saidBy(error));
      set(input, {'aria-invalid': true, title: why});
      this.announce(why);
      return false;
    }
  }

  enterParameter({tensor}, row, col, words) {
    const {host} = this.board.root, {data, shape} = host.getTensor(tensor), value = Number(words.replace(',', '.').replace('\u2212', '-'));
    if (!Number.isFinite(value)) throw failure(RangeError, message`${tensor}: "${words.slice(0, 40)}" is no number; type one such as 0.5.`);
    data[row * shape[2] + col] = value;
    host.setTensor(tensor, data, shape);
  }

  key(e) {
    const node = e.target, cell = node.tagName === 'TD' ? node : null;
    if (e.key === 'Escape') return this.escape(e);
    if (e.key === 'Tab' && this.help()) return this.stay(e);
    if (cell && cell.i !== undefined) return this.keyInCell(e, cell);
    if (node.tagName === 'INPUT') return this.keyInInput(e, node);
    const menu = node.closest('[role=menu]');
    if (menu && /^Arrow(Up|Down)$|^Home$|^End$/.test(e.key)) {
      const all = [...menu.querySelectorAll('button')], at = all.indexOf(node);
      const to = {ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1}[e.key];
      all[to % all.length].focus();
      e.preventDefault();
    }
    const radios = node.closest('[role=radiogroup]');
    if (radios && /^Arrow/.test(e.key)) {
      const all = [...radios.querySelectorAll('button')], by = /Down|Right/.test(e.key) ? 1 : all.length - 1;
      const next = all[(all.indexOf(node) + by) % all.length];
      e.preventDefault();
      [node.tabIndex, next.tabIndex] = [-1, 0];  // the choice itself is made by Enter or Space: an answer in the Guide is final
      next.focus();
    }
  }

  /** Tab leads around in the list of keys. */
  stay(e) {
    const all = [...this.help().node.querySelectorAll('button')], at = all.indexOf(e.target), by = e.shiftKey ? all.length - 1 : 1;
    e.preventDefault();
    all[(at + by) % all.length].focus();
  }

  escape(e) {
    e.preventDefault();
    if (this.parts.has('menu')) {
      this.board.run('key', 1, 'Escape', 0);
      this.board.run('key', 0, 'Escape', 0);
      this.update();
      return this.back();
    }
    if (this.help()) {
      this.act('help-close', 0);
      return this.back();
    }
    if (this.isPlain) return this.root.activeElement?.blur();
    this.ring.hidden = true;
    this.board.canvas.focus({preventScroll: true});
  }

  keyInCell(e, cell) {
    const step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[e.key], {m} = this.refOf(cell);
    if (step) {
      e.preventDefault();
      this.move(cell, ...m.turned ? step.reverse() : step);
    } else if (m.editable && (e.key === 'Enter' || e.key === 'F2')) {
      e.preventDefault();
      this.edit(cell);
    } else if (m.editable && /^[-−\d.,]$/.test(e.key) && !e.ctrlKey && !e.metaKey && !e.altKey) {
      e.preventDefault();
      this.edit(cell, e.key);
    } else if ((e.ctrlKey || e.metaKey) && /^[zy]$/i.test(e.key)) {
      e.preventDefault();
      this.board.run(/y/i.test(e.key) || e.shiftKey ? 'redo' : 'undo');
      this.update();
    }
  }

  /** Moves to another cell; at the edge of the visible part of a large matrix, the part moves. */
  move(cell, down, across) {
    const table = cell.closest('table'), {tensor, head, m} = this.refOf(cell), {i, j} = cell;
    const row = m.top + i + down, col = m.left + j + across;
    if (row < 0 || col < 0 || row >= m.rows || col >= m.cols) return;
    const [at, beside] = m.turned ? [j + across, i + down] : [i + down, j + across], inside = table.tBodies[0].rows[at]?.cells[beside + 1];
    if (inside?.i !== undefined) return inside.focus();
    if (m.isPage) return;
    this.board.ask('select', tensor, head, m.firstRow + row, m.firstCol + col);
    this.update();
    this.root.querySelector('td[aria-selected=true]')?.focus();
  }

  keyInInput(e, input) {
    const {item} = input, by = {ArrowUp: 1, ArrowDown: -1}[e.key];
    if (input.type === 'range') return;
    if (e.key === 'Enter') {
      e.preventDefault();
      this.type(input);
    } else if (by && item?.less) {
      e.preventDefault();
      const to = by > 0 ? item.more : item.less;
      if (to.enabled) this.act(to.name, 0);
    }
  }

  /** Moves the slider to its new position in steps, as keys do. */
  slide(input) {
    const {item} = input, aim = Number(input.value), by = Math.sign(aim - input.at);
    for (let i = 0, at = input.at; by && i < 60; i++) {
      this.update(item.name, by);
      const now = this.found.controls.find((c) => c.name === item.name)?.value;
      if (now === undefined || now === at || (now - aim) * by >= 0) break;
      at = now;
    }
  }
}
