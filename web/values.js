// Reads arguments from outside once, checks them, and then passes them on.
import {inline} from './files.js';
import {failure, message} from './message.js';

export const DISPOSED = 'This playground was disposed of.';
// Longer arguments are refused before they are read, copied or printed; the exact limits are on the C++ side.
export const LONGEST_NAME = 999, LONGEST_LIST = 9999;
const MOST_VALUES = 2 ** 24;

const HERE = import.meta.url;  // not inside new URL(), where bundlers would look for a file of that name
/** The address where index.html, embed.html and element.js of the playground are published: AttentionPlayground.home if the page sets it,
 * otherwise the folder of the scripts; null if that is some other folder, such as that of an application's bundle. */
export function homeIfKnown() {
  const given = customElements.get('attention-playground')?.home ?? inline.get('home');
  if (given === null) return null;
  // A bundle may only know its path on the disk.
  const place = new URL('./', HERE.startsWith('file:') && location.protocol !== 'file:' ? document.baseURI : HERE);
  return new URL(given ?? '', place).href;
}

/** The same; throws a TypeError if it is not known. */
export function home() {
  const found = homeIfKnown();
  if (found === null) throw refusal(TypeError, 'home', 'is not set, and these scripts do not lie beside the pages of the playground; set AttentionPlayground.home to the address where the pages are published, such as "https://example.org/playground/"');
  return found;
}

/** The language of a node: its own `lang`, or that of its nearest ancestor. */
export function languageOf(node) {
  while (node && !node.lang) node = node.parentNode ?? node.host;
  return node?.lang ?? '';
}

export const refusal = (Kind, field, sentence) => failure(Kind, message`${field} ${sentence}.`, {field});

export function wrong(field, wanted, value) {
  const shown = value === null || typeof value === 'number' ? String(value) : `a value of type ${typeof value}`;
  return refusal(TypeError, field, `must be ${wanted}, not ${shown}`);
}

/** Checks the length of a text before anything is done with it. */
export function short(field, text, most) {
  if (text?.length > most) throw refusal(RangeError, field, `is too long: it has ${text.length} characters, and takes at most ${most}`);
  return text;
}

export function nameOf(field, name) {
  if (typeof name !== 'string') throw wrong(field, 'a text', name);
  if (short(field, name, LONGEST_NAME).includes('\0')) throw refusal(RangeError, field, 'holds the character NUL, which no name has');
  return name;
}

const viewLength = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), 'length').get;

/** Copies a list that may be a Proxy, or have getters. */
export function listOf(field, list, most, wanted, isRight) {
  const length = ArrayBuffer.isView(list) ? viewLength.call(list) : Number(list.length);
  if (!(length >= 0 && length <= most)) throw refusal(RangeError, field, `is too long: it has ${length} items, and takes at most ${most}`);
  const copy = [];
  for (let i = 0; i < length; i++) {
    copy.push(list[i]);
    if (!isRight(copy[i])) throw wrong(`${field}[${i}]`, wanted, copy[i]);
  }
  return copy;
}

/** JSON that keeps the sign of -0, which JSON.stringify() drops, so that a matrix is restored bit for bit. */
export function textOf(field, object, wanted) {
  const mark = `\u{F0000}${Math.random()}`;  // cannot occur in the object
  let left = MOST_VALUES;
  const counted = (key, value) => {
    left -= Array.isArray(value) ? Math.max(1, value.length) : 1;
    if (!(left >= 0)) throw new RangeError(`more than ${MOST_VALUES} values`);
    return Object.is(value, -0) ? mark : value;
  };
  let text;
  try {
    text = JSON.stringify(object, counted);
  } catch (error) {
    const refused = refusal(error instanceof RangeError ? RangeError : TypeError, field, `cannot be written as JSON: ${String(error?.message).split('\n')[0]}`);
    throw Object.assign(refused, {cause: error});
  }
  if (text === undefined) throw wrong(field, wanted, object);
  return text.replaceAll(`"${mark}"`, '-0.0');
}
