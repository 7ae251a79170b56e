// Short announcements of changes: "weight from saw to a: 0.69, was 0.12".
import {called, capital, say, TENSORS} from './mirror-nodes.js';
import {message} from './message.js';

const SPOKEN = {weights: 'weight', scores: 'score', masked: 'score', raw: 'raw score', softcapped: 'capped score', biased: 'biased score', exponentials: 'exponential', bias: 'bias', head_output: 'output', q: 'query', k: 'key', v: 'value'};

/** Methods of Mirror. */
export class Announcements {
  announce(words) {
    if (words) say(this.live, this.live.textContent === words ? `${words}\u00a0` : words);
  }

  /** What the board says by itself; an error even if it said the same before. */
  sayNotice(before) {
    const {found: {notice}, isRefused} = this;
    this.isRefused = false;
    if (notice && (isRefused || notice !== before)) this.announce(notice);
  }

  valueAt({tensor, head, row, col}) {
    const value = this.board.run('value', tensor === 'scores' ? 'masked' : tensor, head, row, col);
    return Number.isNaN(value) ? undefined : value;
  }

  noteExplained() {
    this.sayChange();  // against what was explained until now
    const e = this.found?.explained;
    this.before = e && {...e, value: this.valueAt(e), whose: this.board.run('whose')};
  }

  /** "weight from saw to a" */
  spoken({tensor, row, col}) {
    const m = this.found.matrices.find((one) => one.tensor === tensor), what = SPOKEN[tensor] ?? TENSORS[tensor] ?? tensor;
    const isPair = m ? m.pairs : /weights|scores|masked/.test(tensor);
    if (isPair) return message`${what} from ${this.tokens(0, row)} to ${this.tokens(1, col)}`;
    const kind = m?.rowKind ?? (tensor === 'k' || tensor === 'v' ? 1 : /^w_|^u_/.test(tensor) ? 2 : 0);
    const line = kind < 2 ? this.tokens(kind, row) : row + 1, place = m?.names?.[col - m.firstCol] ?? col + 1;
    return m?.turned ? message`${what}, row ${place}, column ${line}` : message`${what}, row ${line}, column ${place}`;
  }

  hear(type, detail) {
    if (!this.board.alive || !this.found) return;
    if (type === 'input' || type === 'train') return;  // while it is in progress
    if (type === 'change') return this.waitForChanges(detail);
    this.sayChange();
    if (type === 'select') return this.hearSelection(detail);
    if (type === 'answer') this.announce(this.t(detail.right ? 'Right.' : 'That is not right.'));
    if (type === 'passed') this.announce(this.t('Passed.'));
    if (type === 'error') this.isRefused = true;  // the board has a notice about it
    this.stale();
  }

  /** A script may change the board a thousand times at once: only the last one would be heard, so it alone is put into words. */
  waitForChanges(change) {
    if (!this.change) queueMicrotask(() => this.sayChange());
    this.change = change;
  }

  sayChange() {
    const {change} = this;
    this.change = null;
    if (!change || !this.board.alive || !this.found) return;
    this.hearChange(change);
    this.stale();
  }

  hearSelection(cell) {
    if (!cell) return;
    const target = {tensor: cell.name, head: cell.head, row: cell.row, col: cell.col};
    const m = this.found.matrices.find((one) => one.tensor === cell.name);
    if (m && !m.editable) this.before = {...target, value: this.valueAt(target), whose: this.board.run('whose')};
    const value = this.valueAt(target);
    if (value !== undefined && !this.isIn) this.announce(`${this.t(this.spoken(target))}: ${this.written(value, m?.limit)}`);
    this.stale();
  }

  hearChange({name, option, action, row, col, rows, cols, before, after}) {
    const number = (value) => value === -Infinity ? this.t('masked') : this.digits(value);
    const shown = (value) => value === true ? this.t('on') : value === false ? this.t('off') : Array.isArray(value) ? value.join(' ') : typeof value === 'number' ? option ? String(value).replace('-', '−') : number(value)
      : option && option !== 'title' && /^[\w-]+$/.test(value) ? this.t(called(value)) : String(value);  // a choice, or the reader's text
    const said = [];
    const was = (what, now, earlier) => this.t(message`${what}: ${now}, was ${earlier}`);
    if (option) said.push(before === undefined ? `${this.t(called(option))}: ${this.asRead(shown(after))}` : was(this.t(called(option)), shown(after), shown(before)));
    else if (name && before !== undefined) said.push(was(name === 'mask' ? message`${'mask'} from ${this.tokens(0, row)} to ${this.tokens(1, col)}` : name.endsWith('labels') ? this.t('token') : this.spoken({tensor: name, row, col}), shown(after), shown(before)));
    else if (name) said.push(this.t(rows * cols ? message`${name}: ${rows * cols} numbers changed` : message`${name}: several numbers changed`));
    else if (action) said.push(this.t(capital(action)));
    const seen = this.before, isOther = action === 'open' || action === 'restore', value = isOther ? undefined : seen && this.valueAt(seen), whose = seen && this.board.run('whose');
    const isSame = whose === seen?.whose && !isOther;
    if (isSame && value !== undefined && seen?.value !== undefined && this.written(value) !== this.written(seen.value)) {
      said.push(was(this.spoken(seen), ...[value, seen.value].map(number)));
    }
    if (seen) Object.assign(seen, {value, whose});
    this.announce(said.join('. '));
  }
}
