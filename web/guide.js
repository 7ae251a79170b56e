// Lessons of the Guide; fetched when one is opened. The work is done by the WebAssembly module behind `board`, a Playground.
import {inline} from './files.js';
import {home} from './values.js';
import {failure, message, saidBy} from './message.js';

const LONGEST_LESSON = 1 << 20;  // the limit of the C++ side
const refusal = (sentence) => failure(RangeError, message`lesson: ${sentence}`, {field: 'lesson'});

function short(text, what) {
  if (text.length > LONGEST_LESSON) throw refusal(message`${what} has ${text.length} characters; at most ${LONGEST_LESSON} are read.`);
  return text;
}

/** Reads no more of a response, which may never end, than the limit for lessons. */
async function shortOf(body, what) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ''; ;) {
    const {done, value} = await reader.read();
    if (done) return text;
    text += value;
    if (text.length <= LONGEST_LESSON) continue;
    reader.cancel();
    throw refusal(message`${what} has more than ${LONGEST_LESSON} characters; no more are read.`);
  }
}

const unreachable = (what) => (error) => { throw refusal(message`${what} could not be fetched (${error.message}); check the address and the connection.`); };

async function textOf(address, what) {
  const response = await fetch(address, {credentials: 'same-origin'}).catch(unreachable(what));
  if (!response.ok) throw refusal(message`${what} could not be fetched (status ${response.status}); check its address.`);
  return shortOf(response.body, what);
}

const fetched = new Map();

/** One of our files, requested once. */
function fileOf(name) {
  const contained = inline.get(`lessons/${name}`);
  if (!fetched.has(name)) fetched.set(name, contained ? contained().catch(unreachable(name)) : textOf(new URL(`lessons/${name}`, home()), name));
  fetched.get(name).catch(() => fetched.delete(name));
  return fetched.get(name);
}

/** Our list of lessons: [{id, title, file, steps, …}, …]. */
export const list = async () => JSON.parse(await fileOf('index.json')).lessons;

/** Opens a lesson by its id in our list ("" is the first one), or by the address of a file ("my-lesson.json"); one of ours only if
 * `isWanted()` still holds when it has arrived. */
export async function open(board, which, step, keeps = 0, isWanted = () => true) {
  if (/[./]/.test(which)) {
    const text = await textOf(new URL(which, document.baseURI), which);
    return board.alive && board.ask('open_lesson', text, which, '', step, keeps);
  }
  const all = await list(), entry = which === '' ? all[0] : all.find(({id}) => id === which);
  if (!entry) throw refusal(message`there is no "${which}"; use one of ${all.slice(0, 3).map(({id}) => `"${id}"`).join(', ')} …, or the address of a file such as "my-lesson.json".`);
  const text = await fileOf(entry.file);
  return board.alive && isWanted() && board.ask('open_lesson', text, '', entry.id, step, keeps);
}

export function openText(board, text, step) { board.ask('open_lesson', short(text, 'it'), '', '', step, 0); }

/** The same for requests of the module, for a lesson or the list; if it cannot be loaded, the board shows an error. */
export async function bring(board, id, step) {
  try {
    await open(board, id, step);
  } catch (error) {
    if (board.alive) board.run('fail_lesson', saidBy(error));
  }
}

export async function bringList(board) {
  try {
    const text = await fileOf('index.json');
    if (board.alive) board.ask('lessons', text);
  } catch (error) {
    if (board.alive) board.run('fail_lesson', saidBy(error));
  }
}

/** The texts of all lessons, puzzles and questions, to be searched: they are fetched when a reader first searches, one after the other, and
 * what cannot be fetched is not searched. */
export async function bringTexts(board) {
  try {
    for (const file of new Set((await list()).filter(({kind}) => kind !== 'example').map(({file}) => file))) {
      const text = await fileOf(file);
      if (!board.alive) return;
      board.ask('lesson_texts', text);
    }
  } catch { /* titles and what each is about are searched nevertheless */ }
}

/** The glossary, in the language of the board if we have it in that. */
export async function bringGlossary(board) {
  try {
    const [english, own] = await Promise.all([fileOf('glossary.en.json'), board.language ? fileOf(`glossary.${board.language}.json`).catch(() => '') : '']);
    if (board.alive) board.ask('glossary', english, own);
  } catch {
    if (board.alive) board.ask('glossary', '', '');  // a lesson can be read without it; it is asked for again with the next one
  }
}

/** The lesson that is open at the start: the one asked for; otherwise the one that was open last, or the first. `keeps`: after the page was
 * reloaded it continues where it was, with the board as the reader left it. If `isEdited()` by the time that it arrives, a lesson that nobody
 * asked for is not opened over the edits: the Guide shows its list. */
export async function begin(board, asked, askedStep, keeps, isEdited) {
  let {lesson = '', step = 0} = {};
  try {
    ({lesson = '', step = 0} = JSON.parse(localStorage['attention-playground']));
  } catch { /* the first visit */ }
  try {
    if (keeps && lesson && (asked === null || asked === lesson)) return await open(board, lesson, step, 1);
    if (asked !== null) return await open(board, asked, Math.trunc(askedStep) || 0);
    let comesLate = false;
    const unlessEdited = () => !(comesLate = isEdited());
    await open(board, lesson, step, 0, unlessEdited).catch((error) => lesson === '' ? Promise.reject(error) : open(board, '', 0, 0, unlessEdited));
    if (comesLate) await bringList(board);
  } catch (error) {
    if (!board.alive) return;
    board.run('guide', 0);
    if (asked !== null) board.tell(saidBy(error));
  }
}
