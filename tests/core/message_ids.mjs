// The ids of messages. In C++: the pieces in braces that are given to base::message(), base::refuse() and the like; literals belong to the id, also those between
// which "?" decides, and all else is an argument, "{}". In JavaScript: the templates that are tagged with `message` (web/message.js).
import {readFileSync} from 'node:fs';

const TOKEN = /\/\/[^\n]*|\/\*[^]*?\*\/|^[ \t]*#[^\n]*|"((?:[^"\\\n]|\\.)*)"|'(?:[^'\\\n]|\\.)+'|\d[\w.']*|[A-Za-z_]\w*|::|->|[^\s]/gm;
const CLOSED = {'(': ')', '{': '}', '[': ']'};
const TAKES_PIECES = new Set(['message', 'Message', 'refuse', 'refuseAt', 'fail', 'wrongType', 'unknown']);

/** Adjacent literals are one; comments and directives are left out. */
function tokensOf(source) {
  const tokens = [];
  for (const match of source.matchAll(TOKEN)) {
    const [all, literal] = match;
    if (/^(\/\/|\/\*|[ \t]*#)/.test(all)) continue;
    if (literal === undefined) {
      tokens.push({sign: all});
      continue;
    }
    const text = literal.replace(/\\n/g, '\n').replace(/\\(.)/g, '$1');
    if (tokens.at(-1)?.text !== undefined) tokens.at(-1).text += text;
    else tokens.push({text});
  }
  return tokens;
}

/** Where the bracket at `from` is closed. */
function closing(tokens, from) {
  let depth = 0;
  for (let at = from; at < tokens.length; ++at) {
    if (CLOSED[tokens[at].sign]) ++depth;
    else if (/^[)}\]]$/.test(tokens[at].sign ?? '') && --depth === 0) return at;
  }
  return tokens.length;
}

/** The parts between such signs that stand in no brackets. */
function split(tokens, sign) {
  const parts = [[]];
  for (let at = 0; at < tokens.length; ++at) {
    const end = CLOSED[tokens[at].sign] ? closing(tokens, at) : at;
    if (tokens[at].sign === sign) parts.push([]);
    else parts.at(-1).push(...tokens.slice(at, end + 1));
    at = end;
  }
  return parts;
}

/** What a piece may add to the id. */
function alternatives(piece) {
  if (piece.length === 1 && piece[0].text !== undefined) return [piece[0].text];
  if (piece[0]?.sign === '(' && closing(piece, 0) === piece.length - 1) return alternatives(piece.slice(1, -1));
  const [, ...rest] = split(piece, '?');
  if (rest.length === 0) return ['{}'];
  const [first, ...others] = split(piece.slice(split(piece, '?')[0].length + 1), ':');
  if (rest.length === 1) return [...alternatives(first), ...alternatives(others.flatMap((part, i) => i ? [{sign: ':'}, ...part] : part))];
  return ['{}'];
}

/** The name before the bracket in which `at` stands: of the call that it is an argument of. */
function callOf(tokens, at) {
  let depth = 0;
  for (let i = at - 1; i >= 0 && tokens[i].sign !== ';'; --i) {
    if (/^[)}\]]$/.test(tokens[i].sign ?? '')) ++depth;
    else if (CLOSED[tokens[i].sign] && --depth < 0) return tokens[i - 1]?.sign ?? '';
  }
  return '';
}

/** A template may have others in its values. */
const TEMPLATE = /\bmessage`((?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\})*)`/g;
const scriptIds = (source) => Array.from(source.matchAll(TEMPLATE), ([, words]) => words.replace(/\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}/g, '{}').trim());

/** All ids of a file, without spaces at their ends. */
export function messageIds(file) {
  const source = readFileSync(file, 'utf8'), ids = [];
  if (file.endsWith('.js')) return [...new Set(scriptIds(source))];
  const tokens = tokensOf(source);
  for (let at = 1; at < tokens.length; ++at) {
    if (tokens[at].sign !== '{') continue;
    const before = tokens[at - 1].sign ?? '';
    const call = before === 'Message' || tokens[at - 2]?.sign === 'Message' ? 'Message' : before === '(' || before === ',' ? callOf(tokens, at) : '';
    const inner = tokens.slice(at + 1, closing(tokens, at));
    if (!TAKES_PIECES.has(call) || inner.some((token) => token.sign === ';')) continue;
    const pieces = split(inner, ',').filter((piece) => piece.length > 0).map(alternatives);
    ids.push(...pieces.reduce((all, words) => all.flatMap((id) => words.map((word) => id + word)), ['']).map((id) => id.trim()));
  }
  return [...new Set(ids)];
}
