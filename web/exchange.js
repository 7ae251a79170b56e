// Files that are opened or saved by a board. Their content is read and written by reader.js, in a worker if possible.
import {inline, script} from './files.js';
import {failure, message, saidBy} from './message.js';

const LARGE = 2 ** 24;  // bytes: less is there before one could see how far it is

let worker, told, last = 0;  // told: the worker that has the parts of the module, which take time to be handed over
const waiting = new Map();

function startWorker() {
  const made = new Worker(new URL('./reader.js', import.meta.url), {type: 'module'});
  made.onmessage = ({data: {id, reply, error, done}}) => {
    const {resolve, reject} = waiting.get(id);
    if (done) return void (waiting.get(id).done = done);
    waiting.delete(id);
    if (error === undefined) resolve(reply);
    else reject(failure(Error, error));
  };
  // If it cannot be loaded, for example because of a content policy or another origin, the page reads files itself from now on.
  made.onerror = () => {
    worker = null;
    for (const {resolve, reject, parts, call, values} of waiting.values()) here(parts, call, values).then(resolve, reject);
    waiting.clear();
  };
  return made;
}

async function here(parts, call, values) {
  const reader = await script('reader.js', () => import('./reader.js')).catch((error) => {
    if (worker === null && !inline.has('reader.js')) worker = undefined;  // it was not the worker's fault
    throw failure(Error, message`What reads files could not be loaded (${error.message}): perhaps there is no connection. Please try again.`);
  });
  reader.use(parts);
  return reader.ask(call, ...values);
}

/** The loaded and compiled parts of the page's module, from which the reader is created too. */
const partsOf = (board) => ({kind: board.ask('kernel') === 'wasm-relaxed' ? 'playground-relaxed' : 'playground', modules: board.modules, calls: board.wasm._playground_files()});

function ask(board, call, ...values) {
  try {
    worker ??= worker === undefined && !inline.has('reader.js') ? startWorker() : null;
  } catch {
    worker = null;
  }
  const parts = partsOf(board);
  if (!worker) return here(parts, call, values);
  return new Promise((resolve, reject) => {
    waiting.set(++last, {resolve, reject, parts, call, values});
    worker.postMessage({id: last, call, values, ...told !== worker && {parts}});
    told = worker;
  });
}

/** Shows in each frame how much of a large file has been read. Where the reader cancels that, another worker takes its place and does what else was asked. */
function follow(board, file) {
  const id = last, all = Math.ceil(file.size / 1e6);
  const look = () => {
    const one = waiting.get(id);
    if (!one || !board.alive) return;
    if (board.run('reading', Math.floor((one.done ?? 0) / 1e6), all)) return void requestAnimationFrame(look);
    waiting.delete(id);
    worker.terminate();
    told = worker = startWorker();
    for (const [number, {call, values, parts}] of waiting) worker.postMessage({id: number, call, values, parts});
    one.reject(new Error('reading it was cancelled; the board is as it was.'));
  };
  look();
}

let known;
/** The formats of files, by the endings of their names: {type, isOne}, where one holds a single tensor. */
export const formats = (board) => known ??= new Map(board.ask('formats').trimEnd().split('\n').map((line) => line.split(' '))
    .map(([ending, type, holds]) => [ending, {type, isOne: holds === 'one' || holds === 'table'}]));
export const formatOf = (board, name) => formats(board).get(name.split('.').at(-1).toLowerCase());
const SVG = {type: 'image/svg+xml'};

/** Passes the result of reading a file to the board: a state, a form to fill in, JSON or cells. */
function take(board, {kind, content, heading}, name, whole) {
  if (!board.alive) return undefined;
  if (kind === 'error') return board.tell(message`${name}: ${content}`);
  if (kind === 'cells') return board.run('paste', content);
  if (kind === 'text') return whole(content);
  const bytes = kind === 'form' ? new TextEncoder().encode(content) : content;
  const address = board.wasm._malloc(bytes.length);
  if (!address) return board.tell(message`${name}: ${'there is not enough memory for it; give smaller tensors.'}`);
  board.wasm.HEAPU8.set(bytes, address);
  return board.run('take', address, bytes.length, name, heading);  // which frees it
}

async function attempt(board, name, action) {
  try {
    return await action();
  } catch (error) {
    return board.tell(message`${name}: ${saidBy(error)}`, 'load');
  }
}

/** Opens a File or a Blob; if several are opened in succession, the last one wins. `isCertain`: nothing is asked where what is proposed is possible. */
export async function open(board, file, name, isCertain = false) {
  const turn = board.turn = (board.turn ?? 0) + 1;
  board.choosesFor = name;
  await attempt(board, name, async () => {
    const asked = ask(board, 'open', file, name);
    if (worker && file.size >= LARGE) follow(board, file);
    let reply = await asked;
    const choices = isCertain && reply.kind === 'form' && proposed(reply.content);
    if (choices) reply = await ask(board, 'choose', choices);
    if (turn !== board.turn) return;
    await take(board, reply, name, async () => {
      if (file.size > board.maxText) return board.tell(message`${name} has ${file.size} bytes; the playground reads up to ${board.maxText}.`);
      const text = await file.text();
      return board.alive && board.run('open', text, name);
    });
  });
}

export const paste = (board, text) => attempt(board, board.choosesFor = 'The clipboard', async () =>
  take(board, await ask(board, 'paste', text), 'The clipboard', (json) => board.run('open', json || text, 'The clipboard')));

/** Passes on the choices made in the form; undefined: it was closed. */
export const choose = (board, choices) => attempt(board, board.choosesFor, async () => {
  if (choices) take(board, await ask(board, 'choose', choices), board.choosesFor);
  else await ask(board, 'forget');
});

/** The choices that a form proposes, as a final answer; undefined where they are not possible. Its lines, as these, are those of document::toLines(). */
function proposed(form) {
  const [, says, ...fields] = form.split('\n').filter(Boolean);
  return says.startsWith('1') ? ['!', ...fields.map((field) => field.split('\t')).map(([name, , chosen]) => `${name}\t${chosen}`)].join('\n') : undefined;
}

/** For src="…": a file of the page's own site, or of one that allows it. Its author may know that what would be asked is as it is proposed: "…#proposed". */
export const fetchFile = (board, address) => attempt(board, address, async () => {
  const response = await fetch(address), {pathname} = new URL(response.url || address, document.baseURI);
  if (!response.ok) throw failure(Error, message`the server answered with status ${response.status}.`);
  await open(board, await response.blob(), decodeURIComponent(pathname.split('/').at(-1)) || 'file', address.endsWith('#proposed'));
});

const refused = (field, words) => failure(RangeError, words, {field});

/** All tensors of the board as a file of that name; where a file holds one, the one called `only`. */
export async function write(board, name, only) {
  const size = board.run('tensors');
  if (!size) {
    const {field, said} = JSON.parse(board.reply());
    throw refused(field, said);
  }
  const at = board.wasm._playground_reply(), bytes = board.wasm.HEAPU8.slice(at, at + size);
  const {kind, field, content} = await ask(board, 'write', bytes, name, only);
  if (kind === 'error') throw refused(field, content);
  return new Blob([content], formatOf(board, name) ?? SVG);
}

/** A figure as SVG, or rendered to PNG; or the board as on the screen, at `scale` times the resolution. */
export async function figure(board, {format, what = 'weights', style, scale = 1, head = JSON.parse(board.ask('get', 'focus_head')), with: parts, colors = 'own', width, range, tokens, pool, title}) {
  if (what === 'board' && format === 'png' && style === undefined) return picture(board, scale);
  const listed = parts === undefined ? '' : Array.isArray(parts) ? parts.join() || 'none' : String(parts) || 'none';
  const between = (value, sign) => value === undefined ? '' : Array.isArray(value) ? value.join(sign) : value;
  const words = [what, style ?? 'print', scale, head, listed, colors].map(String);
  const more = [width ?? '', between(range, ','), between(tokens, ':'), pool ?? '', ...title === undefined ? [] : [title]].map((word) => String(word).replace(/[\n\x1f]/g, ' '));
  const field = what === 'board' && Object.entries({width, range, tokens, pool, title}).find(([, value]) => value !== undefined)?.[0];
  if (field) throw refused(field, message`${field}: ${'the board is drawn as it is on the screen; leave this out, or draw weights, heads or arcs.'}`);
  const svg = what === 'board' ? new Blob([board.ask('figure', ...words)], SVG) :
    await write(board, 'figure.svg', `${[...words, ...more].join('\x1f')}\n${board.table ?? ''}`);
  if (format === 'svg') return svg;
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(await svg.text())}`;
  await image.decode();
  const canvas = Object.assign(document.createElement('canvas'), {width: image.naturalWidth, height: image.naturalHeight});
  canvas.getContext('2d').drawImage(image, 0, 0);
  return blobOf(canvas);
}

/** The layer as the text of a program. */
export async function code(board, language) {
  const {kind, field, content} = await ask(board, 'code', board.ask('state'), language);
  if (kind === 'error') throw refused(field, content);
  return content;
}

const blobOf = (canvas) => new Promise((resolve, reject) => canvas.toBlob((blob) => {
  if (blob) resolve(blob);
  else reject(refused('scale', 'scale: the picture would be larger than this browser draws; give a smaller one.'));
}, 'image/png'));

function picture(board, scale) {
  const {canvas} = board, wanted = Number(scale) * (devicePixelRatio || 1);
  if (!(wanted >= 0.1 && wanted <= 20)) throw refused('scale', message`scale: ${scale} is no scale; use 0.1 to 20.`);
  board.resize(Math.round(canvas.clientWidth * wanted), Math.round(canvas.clientHeight * wanted), wanted);
  const made = blobOf(canvas);  // of the present content
  board.pixels = [0, 0];
  board.measure();
  return made;
}
