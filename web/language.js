// The language of a board: that of the page around it if web/languages has a table for it, otherwise English.
import {inline} from './files.js';
import {home} from './values.js';

const fetched = new Map();

/** One of our files, requested once. */
function fileOf(name) {
  const get = async () => {
    const response = await fetch(new URL(`languages/${name}`, home()), {credentials: 'same-origin'});
    if (!response.ok) throw new Error(`status ${response.status} for ${name}`);
    return response.json();
  };
  if (!fetched.has(name)) fetched.set(name, get());
  fetched.get(name).catch(() => fetched.delete(name));
  return fetched.get(name);
}

/** The table of a language. */
async function wordsOf(tag) {
  const contained = inline.get(`languages/${tag}.json`);
  return contained ? JSON.parse(await contained()) : fileOf(`${tag}.json`);
}

/** The table for a language such as "de-AT": {tag, words}, with `words` in the format of views::Words. Null for English. */
async function tableOf(wanted) {
  const all = inline.get('languages') ?? await fileOf('index.json');
  const [exact, general] = [wanted, wanted.split('-')[0]].map((tag) => all.find((one) => one.toLowerCase() === tag.toLowerCase()));
  const tag = exact ?? general;
  if (!tag) return null;
  const {messages} = await wordsOf(tag);
  const pairs = Object.values(messages).flatMap(Object.entries);
  return {tag, words: pairs.map((pair) => pair.join('\x1f')).join('\n')};
}

/** The same; undefined, with a warning in the console, if it cannot be loaded: the board speaks English then. */
export async function languageFor(wanted) {
  if (/^(en\b|$)/i.test(wanted)) return null;
  try {
    return await tableOf(wanted);
  } catch (error) {
    console.warn(`<attention-playground> lang: the words of "${wanted.slice(0, 99)}" could not be fetched (${error.message}); the board speaks English.`);
    return undefined;
  }
}

/** The decimal separator of a language. */
export const decimalSign = (tag) => new Intl.NumberFormat(tag).formatToParts(0.5).find(({type}) => type === 'decimal').value;
