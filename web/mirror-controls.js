// Switches, menus, sliders, steppers and fields as native controls, and the sentences between them.
import {called, capital, isFormula, make, nameFormula, say, set} from './mirror-nodes.js';
import {message} from './message.js';

// Names for controls that show a picture, or have their text beside them.
const NAMES = {
  search: 'Find', undo: 'Undo', redo: 'Redo', reset: 'Start again', theme: 'Light or dark colours', help: 'Keys and pointer', 'help-close': 'Close', present: 'Present',
  fullscreen: 'Full screen', panel: 'Controls', more: 'More', 'lab-close': 'Back to the layer', paint: 'Paint the mask', preset: 'Example', views: 'View', 'views:more': 'View', 'panel-close': 'Close',
  gradient: 'What would raise it', labels: 'Sentence', key_labels: 'Sentence of the keys', mode: 'Input', view: 'View', 'editing-less': 'One step down', 'editing-more': 'One step up', 'editing-slider': 'Value', 'editing-value': 'Type a number', 'key:sign': 'Change the sign', 'key:erase': 'Delete digit', 'key:previous': 'Number before', 'key:next': 'Next number', 'guide-close': 'Close', 'guide-back': 'Back', 'guide-next': 'Next',
  'view:play': 'Play', 'stepper-track': 'Steps of the row', head: 'Heads', 'model:by': 'Order of the heads', 'model:show:previous': 'Previous token', 'model:show:induction': 'Induction',
  'model:show:first': 'First token', 'model:show:same': 'Same word', 'model:show:broad': 'Broad', 'model:show:none': 'No pattern', export: 'Save', 'card:arcs': 'Arcs', 'card:plane': 'Plane', 'card:values': 'Values', 'card:changes': 'Changes', 'card:loops': 'Loops',
};

const LINK = /^guide:(text|question|because|task|hint|sentence):\d+$/;  // within a sentence

const CELLS = 4;  // of a table take as long to create as a choice

const LONG = 50000;  // letters that a field has only once it is focused: to lay out a megabyte of them takes a third of a second

const FAR = 12;  // pixels between formulas that are none of one another

/** Does a piece of text continue the sentence before it, in the same or the next row? */
function goesOn(line, {words, kind, x, y}) {
  if (!line || line.kind !== 0 || kind !== 0) return false;
  if (Math.abs(line.y - y) < 5) return x >= line.right - 4 && !(x - line.right > FAR && (isFormula(line.words) || isFormula(words)));
  return y > line.y && y - line.y < 24 && Math.abs(x - line.x) < 3 && !/[.:!?。：！？]$/.test(line.words);
}

/** Pieces of text, and links between them, that form one sentence. */
class Line {
  words = '';
  content = [];  // strings and nodes

  constructor(kind, node) { Object.assign(this, {kind, node: node(kind)}); }

  /** `link`: the node that replaces the text. */
  add({words, x, y, width}, link) {
    const isNext = this.words && Math.abs(this.y - y) >= 5, gap = this.words && (isNext || x - this.right >= 2) ? ' ' : '';
    if (!this.words || isNext) Object.assign(this, {x: this.x ?? x, y});
    this.words += gap + words;
    this.right = x + width;
    const {content} = this, text = gap + (link ? '' : words);
    if (typeof content.at(-1) === 'string') content[content.length - 1] += text;
    else if (text) content.push(text);
    if (link) content.push(link);
  }

  /** Updates the element; parts that have not changed are not written again. */
  show() {
    let at = this.node.firstChild;
    this.content.forEach((one, i, {length}) => {
      if (typeof one === 'string') {
        let words = one.replace(/\s+/g, ' ');
        if (i === 0) words = words.trimStart();
        if (i === length - 1) words = words.trimEnd();
        if (at?.nodeType !== Node.TEXT_NODE) at = this.node.insertBefore(document.createTextNode(words), at);
        else if (at.data !== words) at.data = words;
      } else if (at !== one) {
        at = this.node.insertBefore(one, at);
      }
      at = at.nextSibling;
    });
    while (at) {
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
  }
}

/** Methods of Mirror. */
export class Controls {
  items(part, items, name) {
    const isMenu = name === 'menu', taken = new Set(), groups = new Set();
    let group = null, lastRadio = null, line = null;
    const lines = [];
    const titles = new Set(this.found.matrices.flatMap(({title}) => [title, `${title}ᵀ`])), told = this.arithmetic ? [this.arithmetic.text, ...this.arithmetic.terms.flatMap(({label: name, text}) => [name, text])].join('\n') : '';
    const heads = new Set([this.t('mean'), ...Array.from({length: this.found.controls.filter((c) => c.name.startsWith('head:')).length}, (_, i) => this.t(message`head ${i + 1}`))]);
    for (const item of items) {
      if (item.words !== undefined && item.role === undefined) {
        // Pieces of text in a row form one sentence; content of tables is not repeated.
        if (isMenu) continue;
        const isNumber = /^[-−+\d.,%Σ∞\s]*$/.test(item.words), isOnBoard = /^(board|arcs|inspector|brief)$/.test(name);
        if (isOnBoard && (isNumber || this.names.has(item.words) || titles.has(item.words) || told.includes(item.words) || heads.has(item.words))) continue;
        if (goesOn(line, item)) {
          line.add(item);
        } else {
          lines.push(line = new Line(item.kind, (kind) => this.keyed(part, `text ${part.wanted.length} ${kind}`, () => make('p', kind ? {role: 'heading', 'aria-level': 3} : {}))));
          line.add(item);
        }
        continue;
      }
      if (LINK.test(item.name) && item.inside.length) {
        const [first] = item.inside;
        if (!goesOn(line, {...first, kind: 0})) lines.push(line = new Line(0, () => this.keyed(part, `text ${part.wanted.length} 0`, () => make('p'))));
        line.add({...first, words: item.words, width: item.inside.at(-1).x + item.inside.at(-1).width - first.x}, this.inner(part, item, item.role));
        continue;
      }
      const above = line?.kind === 0 && line.words.length < 40 ? line.words : '';
      line = null;
      if (taken.has(item)) continue;
      if (item.role === 'radio') {
        if (!this.hasRoom(part, item)) continue;
        if (!group || !lastRadio || Math.abs(lastRadio.y - item.y) > 6) {
          const name = item.name.split(':')[0], title = NAMES[name] ? this.t(NAMES[name]) : above || item.before || this.t(called(name));
          group = this.keyed(part, `radios ${item.name}`, () => make('div', {role: 'radiogroup', class: 'row'}));
          set(group, {'aria-label': title});
          group.wanted = new Set();
          groups.add(group);
        }
        lastRadio = item;
        const node = this.inner(part, item, 'radio');
        if (node.parentNode !== group) group.append(node);
        group.wanted.add(node);
        continue;
      }
      group = null;
      const base = /^(.*)(-value|-|\+)$/.exec(item.name);
      if (base && items.some((o) => o.name === `${base[1]}-`) && items.some((o) => o.name === `${base[1]}+`)) {
        const of = (end) => items.find((o) => o.name === base[1] + end);
        ['-value', '-', '+'].map(of).filter(Boolean).forEach((o) => taken.add(o));
        this.stepper(part, base[1], of('-value'), of('-'), of('+'));
        continue;
      }
      if (/-value$/.test(item.name) || item.role === 'field') this.field(part, item);
      else if (item.role === 'slider') this.slider(part, item);
      else this.control(part, item, isMenu ? 'entry' : item.role);
    }
    // At the end, because a choice may have moved to another group: to ask for each choice whether one needs the others takes seconds for 1,024.
    for (const {children, wanted} of groups) for (const old of [...children]) if (!wanted.has(old)) old.remove();
    for (const one of lines) {
      one.show();
      if (one.kind === 0 && !one.node.firstElementChild) nameFormula(one.node, (sign) => this.t(sign));
    }
    this.stopOnce();
  }

  /** Is that choice there already, or created now? Of many new ones some come later. */
  hasRoom(part, {name}) {
    if (part.keyed.has(`control ${name}`)) return true;
    this.isPart ||= this.room <= 0;
    return this.room > 0 && (this.room -= CELLS, true);
  }

  /** Of a group of radios Tab reaches one: where the focus is, else the one that is on, or the first; arrow keys choose among them. */
  stopOnce() {
    for (const group of this.root.querySelectorAll('[role=radiogroup]')) {
      const radios = [...group.children], stop = radios.find((radio) => radio === this.root.activeElement) ?? radios.find((radio) => radio.ariaChecked === 'true') ?? radios[0];
      for (const radio of radios) if (radio !== stop) radio.tabIndex = -1;
    }
  }

  /** A control inside a group or a sentence. */
  inner(part, item, role) {
    const node = this.control(part, item, role);
    part.wanted.pop();
    part.inner.add(node);
    return node;
  }

  nameOf(item) {
    const own = this.t(NAMES[item.name] ?? '');
    if (item.name === 'stepper') return this.t('Stepper');  // the title beside it is not its name
    const head = /^head:(\d+|mean)$/.exec(item.name);
    if (head) return this.t(head[1] === 'mean' ? 'Mean of the heads' : message`Head ${+head[1] + 1}`);
    const ofLayer = /^(?:layer|train:map):(\d+):(\d+)$/.exec(item.name);
    if (ofLayer) return this.t(message`Layer ${+ofLayer[1] + 1}, head ${+ofLayer[2] + 1}`);
    const hide = /^hide-head:(\d+)$/.exec(item.name);
    if (hide) return this.t(message`Head ${+hide[1] + 1} takes part`);
    const step = /^guide:step:(\d+)$/.exec(item.name);
    if (step) return this.t(message`Step ${+step[1] + 1}`);
    if (item.role === 'menu') return [...new Set([item.before || own || this.t(called(item.name)), item.words])].filter(Boolean).join(': ');
    if (item.role === 'fold') return [item.before, item.words].filter(Boolean).join(' ') || own || this.t(called(item.name));
    if (/^[-−\d.,]+( [-−\d.,]+)+$/.test(item.words)) return this.t(called(item.name));  // a picture with numbers
    return own && item.words.length < 2 ? own : item.words || own || item.before || this.t(called(item.name));
  }

  control(part, item, role) {
    const node = this.keyed(part, `control ${item.name}`, () => make('button', {type: 'button'}));
    node.item = item;
    say(node, this.nameOf(item));
    const isOn = item.value > 0;
    set(node, {
      role: {switch: 'switch', radio: 'radio', entry: isOn ? 'menuitemradio' : 'menuitem'}[role],
      'aria-checked': role === 'switch' || role === 'radio' ? String(isOn) : role === 'entry' && isOn ? true : null,
      'aria-expanded': role === 'fold' || role === 'menu' ? String(isOn) : null,
      'aria-haspopup': role === 'menu' || item.name === 'more' ? 'menu' : null,
      'aria-pressed': role === 'button' && isOn ? true : null,
      'aria-disabled': item.enabled ? null : true,
      title: item.about || null,
      'data-state': role === 'switch' ? this.t(isOn ? 'on' : 'off') : null,
      tabindex: this.isIn || this.isPlain ? 0 : -1,
    });
    return node;
  }

  input(part, item, attributes) {
    const node = this.keyed(part, `control ${item.name}`, () => {
      const row = make('span', {class: 'row'}, make('input', attributes));
      row.input = row.firstChild;
      return row;
    });
    set(node.input, {title: item.about || null, tabindex: this.isIn || this.isPlain ? 0 : -1, 'aria-disabled': item.enabled ? null : true, readonly: item.enabled ? null : ''});
    node.input.item = item;
    return node;
  }

  fill(input, words) {
    if (this.root.activeElement !== input || input.value === input.was) input.value = words;
    input.was = words;
  }

  stepper(part, base, value, less, more) {
    const item = {...(value ?? less), name: value ? `${base}-value` : base, base, less, more, enabled: less.enabled || more.enabled || Boolean(value?.enabled)};
    const words = capital(less.before || (value && value.before) || this.t(NAMES[base] || called(base))), node = this.input(part, item, {type: 'text', role: 'spinbutton', inputmode: 'decimal', autocomplete: 'off'});
    node.input.item = item;
    const shown = value?.words ?? this.between(less, more);
    set(node.input, {'aria-label': words, 'aria-valuenow': Number.isFinite(this.numberIn(shown)) ? this.numberIn(shown) : null, 'aria-valuetext': shown || this.t('none'), readonly: value?.enabled ? null : ''});
    this.fill(node.input, shown);
    if (!node.less) {
      node.less = make('button', {type: 'button'}, '−');
      node.more = make('button', {type: 'button'}, '+');
      node.prepend(make('span', {'aria-hidden': 'true'}, words), node.less);
      node.append(node.more);
    }
    say(node.firstChild, words);
    for (const [button, at, name] of [[node.less, less, message`${words}, less`], [node.more, more, message`${words}, more`]]) {
      button.item = at;
      set(button, {'aria-label': this.t(name), 'aria-disabled': at.enabled ? null : true, tabindex: -1});
    }
  }

  between(less, more) {
    const found = this.found.words.find((w) => w.place === less.place && w.x >= less.x + less.width - 2 && w.x + w.width <= more.x + 2 && Math.abs(w.y + w.height / 2 - less.y - less.height / 2) < 9);
    if (found) found.owner ??= less;
    return found?.words ?? '';
  }

  field(part, item) {
    const base = item.name.replace(/-value$/, ''), node = this.input(part, item, {type: 'text', autocomplete: 'off'});
    const words = (NAMES[base] ? this.t(NAMES[base]) : item.role === 'field' ? '' : item.before) || this.t(called(base));
    set(node.input, {'aria-label': item.role === 'field' ? words : this.t(message`${words}, number`)});
    const whole = base === 'labels' || base === 'key_labels' ? this.sentences.at(base === 'labels' ? 0 : -1) : item.words;
    const isLong = whole.length > LONG;
    this.fill(node.input, isLong && this.root.activeElement !== node.input ? item.words : whole);
    node.input.onfocus = isLong ? () => this.fill(node.input, whole) : null;
  }

  slider(part, item) {
    const node = this.input(part, item, {type: 'range', min: 0, max: 100});
    const typed = this.found.controls.find((c) => c.name === `${item.name.replace(/^slider:/, '')}-value` || c.name === `${item.name}-value`);
    const isTrack = item.name === 'stepper-track', before = isTrack ? '' : item.before;  // the words in it are its value
    set(node.input, {'aria-label': before || this.t(NAMES[item.name] || called(item.name.replace(/^slider:/, ''))), 'aria-valuetext': typed?.words || (isTrack && item.words) || null});
    if (Number(node.input.value) !== item.value) node.input.value = item.value;
    node.input.at = item.value;
  }
}
