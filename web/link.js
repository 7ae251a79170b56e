// Links to a board and code that embeds it. A link contains the state after #s= as JSON, deflated (raw), in base64url. The version of the
// state is in the JSON ("version": 1); all versions ever released can be read.
import {home, refusal, wrong} from './values.js';
import {failure, message} from './message.js';

// In characters, of an address and of the JSON in it: what browsers accept, and what a board can hold.
const LONGEST_ADDRESS = 2 ** 22, LONGEST_STATE = 2 ** 26;
// In bytes. Browsers inflate a whole chunk, to as much as 1032 times its size, before they hand on the first part of it.
const CHUNK = 2 ** 12;
const OPTIONS = ['preset', 'view', 'show', 'hide', 'lock', 'theme', 'lesson', 'step', 'wheel', 'lang', 'fit'];

async function through(stream, bytes, most) {
  const writer = stream.writable.getWriter(), reader = stream.readable.getReader();
  const write = async () => {
    for (let at = 0; at < bytes.length; at += CHUNK) await writer.write(bytes.subarray(at, at + CHUNK));  // which waits until what came before is read
    await writer.close();
  };
  write().catch(() => {});  // the reader will report the error
  const parts = [];
  for (let size = 0; ;) {
    const {done, value} = await reader.read();
    if (done) return new Blob(parts);
    size += value.length;
    if (size > most) {
      reader.cancel().catch(() => {});
      throw failure(RangeError, message`${'state'} of this link is too large: it has more than ${most} characters.`, {field: 'state'});
    }
    parts.push(value);
  }
}

/** Encodes JSON text for a link. */
export async function pack(text) {
  const packed = new Uint8Array(await (await through(new CompressionStream('deflate-raw'), new TextEncoder().encode(text), Infinity)).arrayBuffer());
  let binary = '';
  for (let i = 0; i < packed.length; i += 8192) binary += String.fromCharCode(...packed.subarray(i, i + 8192));
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Decodes what follows #s= to JSON text. Throws a RangeError or SyntaxError that names the field `state`. */
export async function unpack(packed) {
  if (packed.length > LONGEST_ADDRESS) throw failure(RangeError, message`${'state'} of this link is too long: it has ${packed.length} characters, and takes at most ${LONGEST_ADDRESS}.`, {field: 'state'});
  try {
    const bytes = Uint8Array.from(atob(packed.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
    return await (await through(new DecompressionStream('deflate-raw'), bytes, LONGEST_STATE)).text();
  } catch (error) {
    if (error.field) throw error;
    throw failure(SyntaxError, message`${'state'} of this link is damaged: perhaps a part of the address is missing; copy all of it.`, {field: 'state'});
  }
}

function queryOf(options, names = OPTIONS) {
  const query = new URLSearchParams();
  for (const name of names) {
    const value = options[name];
    if (value === undefined || value === null || value === '' || value === false) continue;
    if (name === 'fit' && value !== true) throw wrong(name, 'true or false', value);
    if (name === 'step' && !(Number.isInteger(value) && value >= 0)) throw wrong(name, 'a whole number from 0', value);
    if (typeof value !== 'string' && !/^(fit|step)$/.test(name) && !Array.isArray(value)) throw wrong(name, 'a text or a list of texts', value);
    query.set(name, value === true ? '' : String(value));
  }
  // Commas, colons and slashes need not be escaped in a query, and are easier to read unescaped.
  const text = query.toString().replaceAll('%2C', ',').replaceAll('%3A', ':').replaceAll('%2F', '/');
  return text && `?${text}`;
}

function optionsOf(options) {
  if (options === undefined) return {};
  if (typeof options !== 'object' || options === null) throw wrong('options', 'an object', options);
  return options;
}

const pageOf = (element) => element.hasAttribute('page') && location.protocol !== 'about:' && !/\/embed\.html$/.test(location.pathname)
  ? location.href.replace(/[?#].*$/, '') : home();

/** For a model, includes only the layer on the board: the others would make the address too long, but can be saved to a file. */
function forLink(state) {
  if (!/"batch_of": *"layers"/.test(state)) return state;
  const {pages, batch, batch_item, batch_of, ...rest} = JSON.parse(state), signed = '\u0000-0';
  return JSON.stringify(rest, (_, value) => Object.is(value, -0) ? signed : value).replaceAll(JSON.stringify(signed), '-0.0');
}

/** `state` is the text of the state, which preserves the sign of zeros. */
export async function link(element, state, options) {
  const query = optionsOf(options);
  return pageOf(element) + queryOf(query) + '#s=' + await pack(forLink(state));
}

const escaped = (text) => String(text).replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The attribute by which browsers refuse another element.js than today's, where an address with a version promises that there will be none. What
 * element.js imports is not held by it. */
async function integrity(folder) {
  if (!/\/\d+\.\d+\.\d+\/$/.test(folder) || !globalThis.crypto?.subtle) return '';
  const bytes = await fetch(`${folder}element.js`).then((response) => response.ok ? response.arrayBuffer() : null).catch(() => null);
  return bytes ? ` integrity="sha384-${btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.digest('SHA-384', bytes))))}"` : '';
}

/** HTML that embeds the board, without options at their default. */
export async function embedCode(text, options) {
  const {kind = 'element', width = 640, height = 440, title = 'Attention Playground', state = false, ...query} = optionsOf(options);
  if (kind !== 'element' && kind !== 'iframe') throw refusal(RangeError, 'kind', 'must be "element" or "iframe"');
  for (const [name, size] of Object.entries({width, height})) {
    if (!Number.isFinite(size) || size < 1) throw wrong(name, 'a number of pixels', size);
  }
  const asked = {preset: state ? undefined : JSON.parse(text).preset, ...query};
  if (kind === 'iframe') {
    const address = `${home()}embed.html${queryOf(asked)}${state ? `#s=${await pack(forLink(text))}` : ''}`;
    return `<iframe width="${width}" height="${height}" style="border:0" title="${escaped(title)}" sandbox="allow-scripts" src="${escaped(address)}"></iframe>`;
  }
  queryOf(asked);  // throws an error if something is wrong
  const attributes = OPTIONS.filter((name) => ![undefined, null, '', false].includes(asked[name])).map((name) => asked[name] === true ? name : `${name}="${escaped(asked[name])}"`);
  if (state) attributes.push(`state="${escaped(forLink(text))}"`);
  attributes.push(`style="width:${width}px;height:${height}px"`);
  return `<script type="module" src="${escaped(home())}element.js"${await integrity(home())}></script>\n<attention-playground ${attributes.join(' ')}></attention-playground>`;
}
