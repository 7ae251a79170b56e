// Two tabs of the Share dialog: figures of the board, and the layer as a program. Each provides its panel, and updates it when it is shown.
import {message, saidBy} from './message.js';
const WHAT = {board: 'The board', weights: 'Weights of one head', heads: 'All heads', arcs: 'Arcs'};
const STYLES = {light: 'Light', dark: 'Dark', print: 'Print'};
const COLORS = {own: 'Purple', cividis: 'Cividis', grey: 'Grey'};
const PARTS = {labels: 'Token labels', numbers: 'Numbers', bar: 'Colour bar', caption: 'Caption', sums: 'Row sums', clear: 'Clear background'};
// The parts available for each figure.
const PARTS_OF = {board: ['clear'], weights: Object.keys(PARTS), heads: ['labels', 'bar', 'clear'], arcs: ['labels', 'clear']};
const FORMATS = {svg: 'SVG', png: 'PNG'};
const WIDTHS = {'': 'As needed', '3.25in': 'A column', '6.75in': 'A page'};  // of many journals
const SCALES = {1: '1×', 2: '2×', 3: '3×', 4: '4×'};
const LANGUAGES = {numpy: 'NumPy', torch: 'PyTorch', jax: 'JAX', latex: 'LaTeX'};
const ENDINGS = {numpy: 'py', torch: 'py', jax: 'py', latex: 'tex'};
const ABOUT = {
  numpy: 'Runs as it is, with NumPy alone.', torch: 'Runs as it is, with PyTorch alone; gradients flow through every step.',
  jax: 'Runs as it is, with JAX alone; the steps can be jitted and differentiated.', latex: 'Needs amsmath. The formulas, and the numbers of the head on the board.',
};

export const styles = `
  label.choice { display: flex; align-items: center; min-height: 2.07em; }
  @media (pointer: coarse) { label.choice { min-height: 44px; } }
  label.choice select { margin-left: auto; }
  label.choice:has(:checked) > span { font-weight: 600; }
  input[type=radio] { width: 1.185em; height: 1.185em; min-height: 0; margin: 0 8px 0 0; accent-color: var(--ink); flex: none; }
  label.tick:has(:disabled) { color: var(--muted); }
  .shown.filled { display: flex; flex-direction: column; min-height: 0; overflow: hidden; padding-bottom: 20px; }
  .stage.figure { flex: 1; min-height: 220px; display: grid; place-items: center; padding: 14px 18px; overflow: auto; }
  .stage.figure img { max-width: 100%; max-height: 100%; min-width: 0; min-height: 0; border: 1px solid var(--border); border-radius: 4px; box-sizing: border-box; }
  .stage.figure img.clear { background: repeating-conic-gradient(#e8e8e8 0 25%, #fff 0 50%) 0 0 / 16px 16px; }
  .foot { display: flex; align-items: center; gap: 8px; margin-top: 16px; min-height: 30px; flex-wrap: wrap; }
  .foot > :first-child { flex: 1 1 120px; font: 0.89em 'JetBrains Mono', ui-monospace, monospace; color: var(--muted); overflow-wrap: anywhere; }
  .foot .main { padding: 0 16px; }
  .foot .main::before { content: '↓\\a0'; }
  .grey { display: flex; gap: 14px; }
  .options section > hr { margin-bottom: 16px; }
  .segments + .note { margin-top: 8px; }
  .grey canvas { width: 80px; height: 80px; flex: none; border: 1px solid var(--border); box-sizing: border-box; image-rendering: pixelated; }
  pre.program { flex: 1; min-height: 200px; max-height: none; white-space: pre; overflow: auto; overflow-wrap: normal; tab-size: 4; }
  .fault { color: light-dark(#b3261e, #f2857c); }
  @container (max-width: 56em) { .shown.filled { overflow: visible; } .stage.figure { min-height: 260px; max-height: 60dvh; } pre.program { max-height: 60dvh; } }
`;

const plainName = (words) => words.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'attention';

function save(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Common to both tabs: a panel of options, the preview beside it, and a line with Copy and Save at its foot. */
class Tab {
  constructor(dialog, make, segments) {
    Object.assign(this, {dialog, make, segments, host: dialog.host});
    this.name = make('span');
    this.said = make('p', {className: 'note', role: 'status'});
  }

  panel(options, shown, words, actions) {
    const {make} = this;
    const copy = make('button', {type: 'button', textContent: 'Copy'}), keep = make('button', {type: 'button', className: 'main', textContent: words});
    for (const [button, act, done] of [[copy, actions.copy, 'Copied to the clipboard.'], [keep, actions.save, '']]) {
      button.addEventListener('click', async () => {
        try {
          if (await act() === false) throw new Error('Not copied');
          this.said.textContent = done && this.dialog.t(done);
        } catch (error) {
          this.said.textContent = this.dialog.t(saidBy(error));
        }
      });
    }
    return make('div', {className: 'body'}, make('div', {className: 'options'}, options),
      make('div', {className: 'shown filled'}, shown, make('div', {className: 'foot'}, this.name, this.said, copy, keep)));
  }

  preset() { return plainName(this.host.getState().preset || 'attention'); }
}

export class FigureTab extends Tab {
  asked = {what: 'weights', style: 'print', colors: 'own', width: '', format: 'svg', scale: 2};
  with = new Set(['labels', 'numbers', 'bar', 'caption']);

  constructor(...values) {
    super(...values);
    this.asked.head = this.host.get('focus_head');
    const {make, segments, dialog, asked} = this, pick = (name, title, choices) => dialog.field(title, segments(title, choices, String(asked[name]), (value) => this.ask({[name]: value})));
    this.image = make('img');
    this.stage = make('div', {className: 'stage figure', tabIndex: -1}, this.image);
    this.size = make('p', {className: 'note'});
    this.scales = pick('scale', 'Scale', SCALES);
    this.scales.append(this.size);
    this.grey = make('canvas', {width: 1, height: 1, role: 'img', 'aria-label': 'The weights in grey'});
    this.without = make('section', {'aria-label': 'Without colour'}, make('hr'), make('h3', {textContent: 'Without colour'}),
      make('div', {className: 'grey'}, this.grey, make('p', {className: 'note', textContent: 'The darker the cell, the larger the weight: a grey printer or copier keeps the order.'})));
    const colors = pick('colors', 'Colours', COLORS);
    this.widths = pick('width', 'Width', WIDTHS);
    this.node = this.panel([this.whatChoice(), pick('style', 'Style', STYLES), colors, dialog.field('With', this.partTicks()), this.widths, pick('format', 'Format', FORMATS), this.scales, this.without],
      this.stage, 'Save figure', {copy: () => this.copy(), save: async () => save(await this.blob(), this.name.textContent)});
    this.colors = colors;
  }

  whatChoice() {
    const {make, host, asked} = this, heads = host.get('heads');
    this.head = make('select', {'aria-label': 'Head'}, Array.from({length: heads}, (_, i) => make('option', {value: i, textContent: `Head ${i + 1}`})));
    this.head.value = asked.head;
    this.head.addEventListener('change', () => this.ask({head: +this.head.value}));
    const rows = Object.entries(WHAT).map(([key, words]) => {
      const radio = make('input', {type: 'radio', name: 'what', value: key, checked: key === asked.what});
      radio.addEventListener('change', () => this.ask({what: key}));
      const label = make('label', {className: 'choice'}, radio, make('span', {textContent: words}));
      return key === 'weights' ? make('div', {className: 'line', style: 'justify-content:space-between;flex-wrap:nowrap'}, label, this.head) : label;
    });
    this.head.style.flex = 'none';
    return this.dialog.field('What to draw', make('div', {role: 'radiogroup', 'aria-label': 'What to draw'}, rows));
  }

  partTicks() {
    const {make} = this;
    this.ticks = {};
    return make('div', {className: 'ticks'}, Object.entries(PARTS).map(([part, words]) => {
      const tick = this.ticks[part] = make('input', {type: 'checkbox', checked: this.with.has(part)});
      tick.addEventListener('change', () => {
        if (tick.checked) this.with.add(part);
        else this.with.delete(part);
        this.ask({});
      });
      return make('label', {className: 'tick'}, tick, words);
    }));
  }

  ask(more) {
    Object.assign(this.asked, more);
    this.dialog.update();
  }

  options(more = {}) {
    const {what, style, colors, width, format, scale, head} = this.asked;
    return {what, style, colors, format, head, width: what === 'board' || !width ? undefined : width, scale: format === 'png' ? +scale : 1, with: [...this.with], ...more};
  }

  blob() { return this.host.toBlob(this.options()); }

  async copy() {
    const {format} = this.asked;
    if (format === 'svg') return this.dialog.board.copy(await (await this.blob()).text());
    if (!globalThis.ClipboardItem) throw new Error('This browser cannot copy pictures; save the figure instead.');
    return navigator.clipboard.write([new ClipboardItem({'image/png': this.blob()})]);  // some browsers require this before anything asynchronous
  }

  /** The smaller of the two formats determines its size; the preview ignores the scale. */
  async update(isLatest) {
    const {what, format, scale, style} = this.asked;
    for (const [part, tick] of Object.entries(this.ticks)) tick.disabled = !PARTS_OF[what].includes(part);
    this.head.disabled = what === 'board' || what === 'heads';
    this.colors.hidden = what === 'board';
    this.scales.hidden = format === 'svg';
    this.widths.hidden = what === 'board';
    this.without.hidden = style === 'dark' || what === 'board' || what === 'arcs' || this.asked.colors === 'cividis';
    const isOfLayers = this.host.get('batch_of') === 'layers' && this.host.get('batch') > 1;
    this.name.textContent = [this.preset(), what, ...isOfLayers ? ['layer', this.host.get('layer') + 1] : [], ...this.head.disabled ? [] : ['head', this.asked.head + 1]].join('-') + `.${format}`;
    this.said.textContent = '';
    try {
      const svg = await (await this.host.toBlob(this.options({format: 'svg', scale: 1}))).text();
      if (!isLatest()) return;
      const [, width, height] = / width="([\d.]+)" height="([\d.]+)"/.exec(svg).map(Number), caption = [...svg.matchAll(/<text[^>]* font-size="12"[^>]*>([^<]*)/g)].map(([, words]) => words).filter((words) => !['key', 'query'].map((name) => this.dialog.t(name)).concat('Σ').includes(words)).join(' ');
      this.image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
      this.image.alt = `${/<title>([^<]*)/.exec(svg)[1]}. ${what === 'weights' && this.with.has('caption') ? caption : ''}`;
      this.image.className = this.with.has('clear') ? 'clear' : '';
      await this.image.decode().catch(() => {});
      if (!isLatest()) return;
      const pixels = [width, height].map((side) => Math.round(side * scale));
      this.size.textContent = this.dialog.t(message`${pixels.map((side) => side.toLocaleString('en')).join(' × ')} px, 300 dpi at ${(pixels[0] / 300 * 2.54).toFixed(1)} cm`);
      this.drawGrey();
    } catch (error) {
      if (isLatest()) this.said.textContent = this.dialog.t(saidBy(error));
    }
  }

  /** A preview of the weights as printed without colours. */
  drawGrey() {
    if (this.without.hidden) return;
    const {data, shape: [, rows, cols]} = this.host.getTensor('weights'), from = this.asked.head * rows * cols;
    Object.assign(this.grey, {width: cols, height: rows});
    const context = this.grey.getContext('2d'), picture = context.createImageData(cols, rows);
    const dark = this.asked.colors === 'grey' ? 0 : this.asked.style === 'print' ? 0.2126 * 58 + 0.7152 * 28 + 0.0722 * 104 : 110;
    for (let i = 0; i < rows * cols; i++) picture.data.set([...Array(3).fill(255 - (255 - dark) * Math.min(1, Math.max(0, data[from + i])) ** 0.85), 255], 4 * i);
    context.putImageData(picture, 0, 0);
  }
}

export class CodeTab extends Tab {
  language = 'numpy';

  constructor(...values) {
    super(...values);
    const {make, segments, dialog} = this;
    this.program = make('pre', {className: 'program', tabIndex: 0, role: 'region', 'aria-label': 'Program'});
    this.about = make('p', {className: 'note'});
    this.node = this.panel([dialog.field('Language', segments('Language', LANGUAGES, this.language, (language) => { this.language = language; dialog.update(); })), this.about, make('hr'),
      make('p', {className: 'note', textContent: 'The layer as it stands on the board: its numbers, its mask, its score, its normaliser. The result is left in output, and is that of the board to the last digits of a 32-bit number.'})],
    this.program, 'Save', {
      copy: async () => dialog.board.copy(await this.code()),
      save: async () => save(new Blob([await this.code()], {type: 'text/plain'}), this.name.textContent),
    });
  }

  code() { return this.host.toCode(this.language); }

  async update(isLatest) {
    const {language} = this;
    this.about.textContent = this.dialog.t(ABOUT[language]);
    this.name.textContent = `${this.preset()}.${ENDINGS[language]}`;
    this.said.textContent = '';
    try {
      const text = await this.code();
      if (isLatest()) this.program.textContent = text;
    } catch (error) {
      if (isLatest()) this.said.textContent = this.dialog.t(saidBy(error));
    }
  }
}
