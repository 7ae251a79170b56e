// Boards and recordings in a notebook, as anywidget's front end wants it. Nothing large is a trait: what is wanted is asked of the kernel by message,
// and comes in parts of at most 1 MB.
const NAME = 'attention-playground', LOADING = Symbol.for(`${NAME} of notebooks`), MOST = 2 ** 20;
const EMBED = {hide: 'hide', lock: 'lock', parts: 'show'};

// ---------------------------------------------------------------- messages

/** Calls done(told, bytes) for each message with this id once all of its parts are there, fail(message) for an error; gives back what ends it. */
function hear(model, id, done, fail) {
  let parts = [], told;
  const take = (message, buffers = []) => {
    if (message?.id !== id) return;
    if (message.error !== undefined) return fail?.(new Error(message.error));
    if (message.part === 0) [parts, told] = [[], message.told];
    parts.push(buffers[0]);
    if (message.part + 1 === message.parts) done(told, parts);
  };
  model.on('msg:custom', take);
  return () => model.off('msg:custom', take);
}

/** What the kernel answers to {wants: name, …}. */
const ask = (model, content) => new Promise((resolve, reject) => {
  const id = `${Math.random()}`, settle = (action) => (...told) => {
    end();
    action(...told);
  };
  const end = hear(model, id, settle((told, parts) => resolve({told, parts})), settle(reject));
  model.send({...content, id});
});

/** The numbers of matrices that came as bytes: {name: {shape, data}}, with infinities as the state's text has them. */
async function unpacked({told, parts}) {
  const bytes = await new Blob(parts).arrayBuffer(), state = {...told.values};
  let at = 0;
  for (const [name, isBool, shape] of told.matrices) {
    const count = shape.reduce((a, b) => a * b, 1), size = isBool ? 1 : 4;
    const numbers = isBool ? new Uint8Array(bytes, at, count) : new Float32Array(bytes.slice(at, at + 4 * count));
    state[name] = isBool ? {shape, dtype: 'bool', data: Array.from(numbers, Boolean)} : {shape, data: Array.from(numbers, (x) => Number.isFinite(x) ? x : x < 0 ? '-inf' : 'inf')};
    at += size * count;
  }
  return state;
}

const isMatrix = (value) => Array.isArray(value?.data) && Array.isArray(value?.shape);
const numberOf = (x) => x === '-inf' ? -Infinity : x === 'inf' ? Infinity : x;

/** Sends values and matrices to the kernel, in parts. */
function tell(model, what, state, gone) {
  const matrices = Object.entries(state).filter(([, value]) => isMatrix(value)), blocks = matrices.map(([, {dtype, data}]) => dtype === 'bool' ? Uint8Array.from(data) : Float32Array.from(data, numberOf));
  const values = Object.fromEntries(Object.entries(state).filter(([, value]) => !isMatrix(value)));
  const bytes = new Uint8Array(blocks.reduce((sum, {byteLength}) => sum + byteLength, 0));
  let at = 0;
  for (const {buffer, byteOffset, byteLength} of blocks) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += byteLength;
  }
  const told = {values, gone, matrices: matrices.map(([name, {shape, dtype}]) => [name, dtype === 'bool', shape])}, parts = Math.max(1, Math.ceil(bytes.length / MOST));
  for (let part = 0; part < parts; ++part) model.send({tells: what, part, parts, ...part ? {} : {told}}, undefined, [bytes.slice(part * MOST, (part + 1) * MOST).buffer]);
}

const areSame = (a, b) => isMatrix(a) && isMatrix(b) ? a.data.length === b.data.length && `${a.shape}` === `${b.shape}` && a.data.every((x, i) => x === b.data[i]) : JSON.stringify(a) === JSON.stringify(b);

function refuse(model, {message}) {
  model.set('error', message);
  model.save_changes();
}

// ---------------------------------------------------------------- the element

/** The element's script comes from the kernel, once for all boards of this page. */
function load(model) {
  if (customElements.get(NAME)) return Promise.resolve();
  return globalThis[LOADING] ??= ask(model, {wants: 'page'}).then(async ({parts}) => {
    const bytes = new Blob(parts).stream().pipeThrough(new DecompressionStream('gzip'));
    const address = URL.createObjectURL(new Blob([await new Response(bytes).arrayBuffer()], {type: 'text/javascript'}));
    await import(/* webpackIgnore: true */ address);
    URL.revokeObjectURL(address);
    return customElements.whenDefined(NAME);
  }).catch((error) => {
    delete globalThis[LOADING];
    throw error;
  });
}

/** The theme of JupyterLab or marimo, which need not be the system's. */
function themeOf(model) {
  const {jpThemeLight, theme} = document.body.dataset, wanted = model.get('theme');
  if (wanted !== 'auto') return wanted;
  return jpThemeLight ? jpThemeLight === 'true' ? 'light' : 'dark' : ['light', 'dark'].includes(theme) ? theme : 'auto';
}

/** Calls action whenever the notebook gets another theme; gives back what ends it. */
function watchTheme(action) {
  const watch = new MutationObserver(action);
  watch.observe(document.body, {attributeFilter: ['data-jp-theme-light', 'data-theme']});
  return () => watch.disconnect();
}

/** The picture that stands in the output before this one, for those without a kernel: JupyterLab has it as an image, others as it is. */
function hidePicture(model) {
  const id = model.get('picture');
  const shown = id && (document.getElementById(id) ?? [...document.querySelectorAll('img[src^="data:image/svg"]')].find(({src}) => src.includes(id)));
  const place = shown?.closest?.('.jp-OutputArea-child') ?? shown;
  if (place) place.style.display = 'none';
}

// ---------------------------------------------------------------- a board

const views = new WeakMap();  // of each model: what its boards take from each other

function begin(model, el) {
  const board = document.createElement(NAME);
  const dress = () => {
    board.style.height = `${model.get('height')}px`;
    board.setAttribute('theme', themeOf(model));
    for (const [trait, attribute] of Object.entries(EMBED)) {
      if (model.get(trait)) board.setAttribute(attribute, model.get(trait));
      else board.removeAttribute(attribute);
    }
  };
  dress();
  board.setAttribute('loading', 'eager');
  const ends = [watchTheme(dress)];
  const on = (event, action) => {
    model.on(event, action);
    ends.push(() => model.off(event, action));
  };
  for (const trait of ['height', 'theme', ...Object.keys(EMBED)]) on(`change:${trait}`, dress);
  el.append(board);
  let known = {}, isAsked = false, isGone = false;

  const attempt = (action) => {
    try {
      action();
    } catch (error) {
      refuse(model, error);
    }
  };
  const tellWanted = () => {
    const found = (model.get('wanted') ?? []).flatMap((name) => {
      try {
        const {data, shape} = board.getTensor(name);
        return [[name, {shape, data: Array.from(data)}]];
      } catch {
        return [];  // not of this layer
      }
    });
    if (found.length > 0) tell(model, 'tensors', Object.fromEntries(found), []);
  };
  /** To the kernel: at most once a frame, and only what has changed. */
  const tellState = () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      if (isGone) return;
      const state = board.getState(), before = known;
      const changed = Object.entries(state).filter(([name, value]) => !areSame(value, before[name])), gone = Object.keys(before).filter((name) => !(name in state));
      known = state;
      if (changed.length + gone.length === 0) return;
      tell(model, 'state', Object.fromEntries(changed), gone);
      tellWanted();
      for (const other of views.get(model) ?? []) if (other !== takeState) other(state, true);
    });
  };
  const takeState = (state, isOfBoard) => {
    if (!isOfBoard) known = state;
    attempt(() => board.setState(state, {undoable: true}));
    if (isOfBoard) known = board.getState();
    else tellState();
  };
  const takeOptions = () => {
    const options = Object.entries(model.get('options') ?? {});
    if (options.length === 0) return;
    for (const [option, value] of options) attempt(() => board.set(option, value));
    model.set('options', {});
    model.save_changes();
    tellState();
  };

  board.ready.then(() => ask(model, {wants: 'state'})).then(unpacked).then((state) => {
    if (isGone) return;
    known = state;
    attempt(() => board.setState(state, {undoable: false}));
    takeOptions();
    board.addEventListener('change', tellState);
    board.addEventListener('error', ({detail}) => refuse(model, detail));
    ends.push(hear(model, 'state', async (told, parts) => takeState(await unpacked({told, parts}))));
    on('change:options', takeOptions);
    on('change:wanted', tellWanted);
    if (!views.has(model)) views.set(model, new Set());
    views.get(model).add(takeState);
    hidePicture(model);
    tellState();
  }).catch((error) => refuse(model, error));
  return () => {
    isGone = true;
    views.get(model)?.delete(takeState);
    for (const end of ends) end();
    board.dispose();
    board.remove();
  };
}

// ---------------------------------------------------------------- all heads of a recording

const DARK = [58, 28, 104];
const STYLE = `.attention-heads{font:13px Inter,system-ui,sans-serif;color:#1f2328;background:#fff;border:1px solid #d8d9dc;border-radius:8px;padding:12px 16px;display:flex;gap:16px;flex-wrap:wrap;align-items:flex-start;max-width:900px}
.attention-heads canvas{image-rendering:pixelated;border:1px solid #d8d9dc}
.attention-heads canvas.all{cursor:pointer;border:0}
.attention-heads .links{min-width:200px;flex:1}
.attention-heads h4{margin:0 0 8px;font:600 13px Inter,system-ui,sans-serif}
.attention-heads .bar{height:3px;background:#7b52ab;border-radius:2px;margin:2px 0 8px}
.attention-heads .row{display:flex;justify-content:space-between}
.attention-heads .query{color:#0072b2}.attention-heads .key{color:#a8480a}
.attention-heads button{font:inherit;height:28px;padding:0 10px;border:1px solid #c9cbd0;border-radius:6px;background:#fff;color:inherit;cursor:pointer}
.attention-heads .board{flex-basis:100%}
.attention-heads .switches{flex-basis:100%;display:flex;gap:12px 24px;flex-wrap:wrap;border-top:1px solid #d8d9dc;padding-top:12px}
.attention-heads .switches>div{flex:1 1 190px}.attention-heads .switches>.next{flex:2 1 340px}.attention-heads .switches>.sweep{flex-basis:210px}
.attention-heads .field{display:flex;gap:8px;align-items:center;margin:8px 0}
.attention-heads .field select,.attention-heads .field .targets{flex:1;min-width:0}
.attention-heads select,.attention-heads input{font:inherit;height:28px;box-sizing:border-box;padding:0 8px;border:1px solid #c9cbd0;border-radius:6px;background:#fff;color:inherit}
.attention-heads .factor{width:72px}
.attention-heads p{margin:4px 0;color:#5c6370}
.attention-heads p.wrong{color:#a8280a}
.attention-heads table{border-collapse:collapse;width:100%}
.attention-heads th{font-weight:400;color:#5c6370}
.attention-heads th,.attention-heads td{text-align:right;padding:1px 0 1px 12px;font-variant-numeric:tabular-nums}
.attention-heads th:first-child,.attention-heads td:first-child{text-align:left;padding-left:0;max-width:120px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.attention-heads tr.all td{border-top:1px solid #d8d9dc;padding-top:4px}
.attention-heads tr.all+tr.all td{border-top:0;padding-top:1px}
.attention-heads progress{width:100%;accent-color:#7b52ab}
.attention-heads button.head{display:flex;justify-content:space-between;align-items:center;width:100%;margin-bottom:4px}
.attention-heads :focus-visible{outline:2px solid #0072b2;outline-offset:1px}`;

/** Levels 0 to 1 as pixels from white to the colour of weights. */
function paint(canvas, width, height, level) {
  Object.assign(canvas, {width, height});
  const context = canvas.getContext('2d'), pixels = context.createImageData(width, height);
  for (let i = 0; i < width * height; ++i) {
    const by = Math.max(0, level(i)) ** 0.85;
    DARK.forEach((dark, channel) => { pixels.data[4 * i + channel] = Math.round(255 + (dark - 255) * by); });
    pixels.data[4 * i + 3] = 255;
  }
  context.putImageData(pixels, 0, 0);
}

const make = (parent, name, className = '', text = '') => parent.appendChild(Object.assign(document.createElement(name), {className, textContent: text}));

// What a head can be made to do instead of what was recorded; as edit.off(…) and the others do it.
const CHANGES = {recorded: 'As recorded', off: 'Off: its output is 0', scale: 'Output times a number', uniform: 'Uniform over what it sees', mean: 'Its mean over the prompt'};
const MARKED = 8;  // heads that the sweep names

/** A row of texts, the first of them a name. */
function addRow(table, kind, texts, className = '') {
  const row = make(table, 'tr', className);
  for (const text of texts) make(row, kind, '', text);
}

/** Switches of the heads of a model that stands behind the widget: {show(layer, head)}; `grid` has layers, choose(layer, head), draw(), and `changes`, by "layer.head". */
function beginSwitches(model, parent, {layers, changes, choose, draw}) {
  const root = make(parent, 'div', 'switches'), ours = make(root, 'div'), next = make(root, 'div', 'next'), sweep = make(root, 'div', 'sweep');
  let at = [0, 0], isRunning = false, isStale = false, isGone = false;

  make(ours, 'h4', '', 'Change this head in the model');
  const field = make(ours, 'div', 'field'), what = make(field, 'select'), factor = Object.assign(make(field, 'input', 'factor'), {type: 'number', step: '0.1', value: '0.5'});
  what.setAttribute('aria-label', 'What the head does');
  factor.setAttribute('aria-label', 'By which number its output is multiplied');
  for (const [value, text] of Object.entries(CHANGES)) make(what, 'option', '', text).value = value;
  const inForce = make(ours, 'div');

  make(next, 'h4', '', 'What the model says next');
  const said = make(next, 'div'), aims = make(next, 'div', 'field');
  said.setAttribute('aria-live', 'polite');
  const targets = make(aims, 'input', 'targets');
  targets.placeholder = 'Loss on: one token, or one for each';
  targets.setAttribute('aria-label', 'Targets of the loss: one token that comes next, or one for each token');

  make(sweep, 'h4', '', 'How much the answer depends on each head');
  const start = make(sweep, 'button', '', 'Try all heads'), progress = make(sweep, 'progress'), told = make(sweep, 'p'), found = make(sweep, 'div');
  const count = layers.reduce((sum, [, heads]) => sum + heads, 0), places = layers.flatMap(([, heads], layer) => Array.from({length: heads}, (_, head) => [layer, head]));
  Object.assign(progress, {max: count, value: 0, hidden: true});
  let sweeping = null;

  const show = (layer, head) => {
    at = [layer, head];
    const [, , kind, by] = changes.get(at.join('.')) ?? [0, 0, 'recorded', 0.5];
    what.value = kind;
    factor.hidden = kind !== 'scale';
    if (kind === 'scale') factor.value = by;
  };
  const list = () => {
    inForce.replaceChildren();
    for (const [name, [, , kind, by]] of changes) {
      const row = make(inForce, 'div', 'row'), remove = (make(row, 'span', '', `${name} ${kind === 'scale' ? `output × ${by}` : kind}`), make(row, 'button', '', '×'));
      remove.setAttribute('aria-label', `Head ${name} as recorded`);
      remove.onclick = () => {
        changes.delete(name);
        changed();
      };
    }
    if (changes.size > 1) {
      make(inForce, 'button', '', 'All as recorded').onclick = () => {
        changes.clear();
        changed();
      };
    }
    if (changes.size > 0) make(inForce, 'p', '', `${changes.size} of ${count} heads changed. layer.head, counted from 0.`);
  };
  const tellAnswer = ({told: {top, kl, loss}}) => {
    const isChanged = changes.size > 0, two = (before, after) => isChanged ? [before, after] : [before], fixed = (digits) => (x) => x.toFixed(digits).replace('-', '−');
    said.replaceChildren();
    const table = make(said, 'table');
    addRow(table, 'th', ['', ...two('logit', 'now'), ...two('probability', 'now')]);
    for (const [token, before, after, logit, logitAfter] of top) addRow(table, 'td', [token, ...two(logit, logitAfter).map(fixed(2)), ...two(before, after).map(fixed(3))]);
    const blanks = isChanged ? ['', ''] : [''];
    if (isChanged) addRow(table, 'td', ['KL divergence, bit', ...blanks, '', fixed(3)(kl)], 'all');
    if (loss) addRow(table, 'td', ['Loss, nat', ...blanks, ...two(...loss).map(fixed(3))], 'all');
  };
  const wrong = (place, error) => {
    refuse(model, error);
    place.replaceChildren();
    make(place, 'p', 'wrong', error.message);
  };
  /** One run at a time; what changes in the meantime is in the next one. */
  const run = async () => {
    isStale = true;
    if (isRunning) return;
    isRunning = true;
    while (isStale && !isGone) {
      isStale = false;
      try {
        const answer = await ask(model, {wants: 'changed', changes: [...changes.values()], targets: targets.value});
        if (!isGone) tellAnswer(answer);
      } catch (error) {
        if (!isGone) wrong(said, error);
      }
    }
    isRunning = false;
  };
  const changed = () => {
    list();
    show(...at);
    draw();
    run();
  };
  const take = () => {
    const name = at.join('.'), by = Number(factor.value);
    if (what.value === 'recorded') changes.delete(name);
    else if (what.value !== 'scale' || factor.value !== '' && Number.isFinite(by)) changes.set(name, [...at, what.value, by]);
    changed();
  };
  what.onchange = take;
  factor.onchange = take;
  targets.onchange = run;
  for (const one of [what, factor, targets]) one.onkeydown = (event) => event.stopPropagation();  // Jupyter has keys of its own

  const tellFound = (values, isWhole, unit) => {
    found.replaceChildren();
    const order = values.map((value, i) => [value, i]).sort((a, b) => b[0] - a[0]).slice(0, MARKED);
    for (const [value, i] of order) {
      const button = make(found, 'button', 'head');
      make(button, 'span', '', `Layer ${places[i][0]}, head ${places[i][1]}`);
      make(button, 'span', '', `${value.toFixed(3).replace('-', '−')} ${unit}`);
      button.onclick = () => choose(...places[i]);
    }
    told.textContent = isWhole ? `Each of ${count} heads was off alone.` : `${values.length} of ${count} heads`;
  };
  const tryAll = async () => {
    const own = {}, values = [], aims = targets.value;  // as they are now, for all heads
    sweeping = own;
    start.textContent = 'Stop';
    progress.hidden = false;
    try {
      while (values.length < count && sweeping === own && !isGone) {
        progress.value = values.length;
        const answer = await ask(model, {wants: 'effect', first: values.length, targets: aims});
        values.push(...answer.told.found);
        if (!isGone) tellFound(values, values.length === count, aims.trim() ? 'nat more loss' : 'bit');
      }
    } catch (error) {
      if (!isGone) wrong(found, error);
    }
    sweeping = null;
    start.textContent = 'Try all heads';
    progress.hidden = true;
  };
  start.onclick = () => {
    if (sweeping) sweeping = {};  // Stop: what is asked for comes, and no more
    else tryAll();
  };
  show(0, 0);
  run();
  return {show, end: () => { isGone = true; }};
}

function beginHeads(model, el) {
  const root = make(el, 'div', 'attention-heads'), layers = model.get('layers'), most = Math.max(...layers.map(([, heads]) => heads));
  make(root, 'style', '', STYLE);
  const all = make(root, 'canvas', 'all'), large = make(root, 'canvas', 'large'), links = make(root, 'div', 'links'), place = make(root, 'div', 'board');
  const step = Math.max(8, Math.min(20, Math.floor(400 / Math.max(most, layers.length))));
  const changes = new Map();  // "layer.head": [layer, head, what, by]
  let thumbnails = null, chosen = [0, 0], end = null, switches = null, isGone = false, turn = 0;
  all.tabIndex = 0;
  all.setAttribute('aria-label', `${layers.length} layers; the arrow keys choose a head`);

  const attempt = (promise) => promise.catch((error) => {
    if (isGone) return;
    refuse(model, error);
    links.replaceChildren();
    make(links, 'p', '', error.message);
  });
  const drawAll = () => {
    const {bytes, size} = thumbnails, pitch = size + 2, width = most * pitch, starts = [];
    layers.reduce((sum, [, heads], i) => (starts[i] = sum) + heads, 0);
    paint(all, width, layers.length * pitch, (i) => {
      const x = i % width, y = Math.floor(i / width), layer = Math.floor(y / pitch), head = Math.floor(x / pitch), column = x % pitch, row = y % pitch;
      return column < size && row < size && head < layers[layer][1] ? bytes[((starts[layer] + head) * size + row) * size + column] / 255 : head < layers[layer][1] ? 0.08 : 0;
    });
    Object.assign(all.style, {width: `${most * step}px`, height: `${layers.length * step}px`});
    const context = all.getContext('2d');
    Object.assign(context, {strokeStyle: '#1f2328', lineWidth: 2});
    for (const [layer, head] of changes.values()) {  // struck through
      context.beginPath();
      context.moveTo(head * pitch, layer * pitch + size);
      context.lineTo(head * pitch + size, layer * pitch);
      context.stroke();
    }
    Object.assign(context, {strokeStyle: '#7b52ab', lineWidth: 2});
    context.strokeRect(chosen[1] * pitch, chosen[0] * pitch, size + 1, size + 1);
  };
  const drawHead = ({weights, rows, keys, tokens, keyTokens, positions}) => {
    const [height, width] = weights.shape;
    paint(large, width, height, (i) => Math.sqrt(Math.min(1, weights.data[i])));
    const by = 240 / Math.max(width, height);
    Object.assign(large.style, {width: `${width * by}px`, height: `${height * by}px`});
    links.replaceChildren();
    make(links, 'h4', '', `${model.get('title')} Layer ${chosen[0]}, head ${chosen[1]}`.trim()).title = layers[chosen[0]][0];
    const isWhole = rows === height && keys === width;
    if (!isWhole) make(links, 'p', '', `${rows} × ${keys} weights, as means of blocks`);
    else {
      const found = weights.data.map((value, i) => [value, Math.floor(i / width), i % width]).filter(([value, i, j]) => j > 0 && value > 0).sort((a, b) => b[0] - a[0]).slice(0, 5);
      for (const [value, i, j] of found) {
        const row = make(links, 'div', 'row'), names = make(row, 'span');
        make(names, 'span', 'query', `${tokens?.[i] ?? ''} ${i}`);
        names.append(' → ');
        make(names, 'span', 'key', `${keyTokens?.[j] ?? ''} ${j}`);
        make(row, 'span', '', value.toFixed(2));
        make(links, 'div', 'bar').style.width = `${100 * value}%`;
      }
      if (found.length > 0) make(links, 'p', '', 'Without the first token. Counted from 0.');
    }
    if (positions) make(links, 'p', '', `Positions: ${positions}.`);
    const button = make(links, 'button', '', 'Open on the board');
    button.onclick = () => attempt(openBoard());
  };
  const choose = async (layer, head) => {
    chosen = [layer, head];
    drawAll();
    switches?.show(layer, head);
    model.set('chosen', chosen);
    model.save_changes();
    const now = ++turn, found = await ask(model, {wants: 'head', layer, head}).then(unpacked);
    if (!isGone && now === turn) drawHead(found);
  };
  const openBoard = async () => {
    const [layer, head] = chosen, state = await ask(model, {wants: 'layer', layer}).then(unpacked);
    await load(model);
    if (isGone) return;
    end?.();
    const board = document.createElement(NAME);
    const dress = () => board.setAttribute('theme', themeOf(model));
    dress();
    board.setAttribute('loading', 'eager');
    board.setAttribute('hide', 'guide');
    board.style.height = '600px';
    place.append(board);
    const unwatch = watchTheme(dress);
    end = () => {
      unwatch();
      board.dispose();
      board.remove();
    };
    await board.ready;
    board.setState(state, {undoable: false});
    board.set('focus_head', head);
  };
  all.onclick = ({offsetX, offsetY}) => {
    const layer = Math.floor(offsetY / step), head = Math.floor(offsetX / step);
    if (layer < layers.length && head < layers[layer][1]) attempt(choose(layer, head));
  };
  all.onkeydown = (event) => {
    const move = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    const layer = chosen[0] + move[0], head = chosen[1] + move[1];
    if (layers[layer] && head >= 0 && head < layers[layer][1]) attempt(choose(layer, head));
  };
  attempt(ask(model, {wants: 'thumbnails'}).then(async ({told, parts}) => {
    thumbnails = {...told, bytes: new Uint8Array(await new Blob(parts).arrayBuffer())};
    if (isGone) return undefined;
    hidePicture(model);
    if (model.get('live')) {
      switches = beginSwitches(model, root, {layers, changes, choose: (layer, head) => attempt(choose(layer, head)), draw: drawAll});
      root.append(place);  // the board last
    }
    return choose(0, 0);
  }));
  return () => {
    isGone = true;
    switches?.end();
    end?.();
    root.remove();
  };
}

/** Called for every view: the same widget may be shown in several cells. */
function render({model, el}) {
  if (model.get('kind') === 'heads') return beginHeads(model, el);
  let end = null, isGone = false;
  load(model).then(() => {
    if (!isGone) end = begin(model, el);
  }, (error) => {
    refuse(model, error);
    el.textContent = `The Attention Playground could not be loaded from the kernel (${error.message}); please run the cell again.`;
  });
  return () => {
    isGone = true;
    end?.();
  };
}

export default {render};
