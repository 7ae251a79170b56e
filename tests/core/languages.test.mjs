// The tables of web/languages against the sources: no table lacks a message, or has one that is not used, and placeholders agree. English
// texts are literals in the sources, in pieces if values are inserted: each piece must be part of a message. languages.json lists the
// sources that are checked, and names that are the same in all languages.
import assert from 'node:assert/strict';
import {readFileSync, readdirSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {messageIds} from './message_ids.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const text = (file) => readFileSync(join(root, file), 'utf8');
const filesOf = (place) => statSync(join(root, place)).isFile() ? [place] : readdirSync(join(root, place)).flatMap((name) => filesOf(`${place}/${name}`));

const {covered, also, names, markup} = JSON.parse(text('tests/core/languages.json'));
const sources = (places) => places.flatMap(filesOf).filter((file) => /\.(cpp|h|def|js)$/.test(file));
const tags = readdirSync(join(root, 'web/languages')).map((name) => name.replace('.json', ''));
const tables = Object.fromEntries(tags.map((tag) => {
  const {language, plurals = {}, messages} = JSON.parse(text(`web/languages/${tag}.json`));
  const all = Object.values(messages).flatMap(Object.entries);
  const forms = new Set(new Intl.PluralRules(tag).resolvedOptions().pluralCategories);
  assert.ok(Object.keys(plurals).every((form) => forms.has(form)), `${tag} has these plural forms: ${[...forms].join()}`);
  assert.equal(typeof language, 'string');
  assert.equal(new Set(all.map(([english]) => english)).size, all.length, `${tag} has a message twice`);
  return [tag, new Map(all)];
}));
const lessonTexts = (json) => typeof json === 'string' ? [] : Object.entries(json).flatMap(([field, value]) =>
  typeof value !== 'string' ? (Array.isArray(value) && /^(choices|because)$/.test(field) ? value : []).concat(lessonTexts(value)) : /^(title|about|text|question|because|task|hint|label)$/.test(field) ? [value] : []);
/** Of each lesson and card, the lines that readers see. */
const lessons = readdirSync(join(root, 'web/lessons')).filter((name) => /^(?!glossary|schema).*\.json$/.test(name)).map((name) => JSON.parse(text(`web/lessons/${name}`)))
  .flatMap((file) => file.cards ?? [file]).map((lesson) => ({title: lesson.title, about: lesson.about ?? lesson.title, lines: lessonTexts(lesson).flatMap((words) => words.split('\n')).filter(Boolean)}));
const PLACE = /\{[A-Za-z0-9]\}/;
const MARKS = /^[\s.,:;?!·=%)]+/;
const placesOf = (words) => (words.match(new RegExp(PLACE, 'g')) ?? []).sort().join();

/** All literals of a C++ or JavaScript source; adjacent C++ literals are joined; of templates the parts between placeholders. */
function literals(file) {
  const source = text(file).replace(/^\s*#\s*include.*$/gm, '').replace(/R"\([^]*?\)"/g, '""'), found = [];
  const isScript = file.endsWith('.js');
  let last = -1;
  const add = (words, at, end, joins) => {
    const plain = words.replace(/\\u\{?([0-9a-f]+)\}?/gi, (all, code) => String.fromCodePoint(parseInt(code, 16))).replace(/\\n/g, '\n').replace(/\\(.)/g, '$1');
    if (joins && last >= 0 && /^\s*$/.test(source.slice(last, at))) found.push(found.pop() + plain);
    else found.push(plain);
    last = end;
  };
  const token = isScript
    ? /\/\/[^\n]*|\/\*[^]*?\*\/|'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^{}`]|`(?:[^`\\]|\\.)*`|\{[^{}]*\})*\})*)`|\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g
    : /\/\/[^\n]*|\/\*[^]*?\*\/|"((?:[^"\\\n]|\\.)*)"|'(?:[^'\\\n]|\\.)+'/g;
  for (const match of source.matchAll(token)) {
    const [all, ...groups] = match, words = groups.find((one) => one !== undefined);
    if (words === undefined) continue;
    if (isScript && all[0] === '`') words.split(/\$\{(?:[^{}`]|`(?:[^`\\]|\\.)*`|\{[^{}]*\})*\}/).forEach((part) => add(part, match.index, 0, false));
    else add(words, match.index, match.index + all.length, !isScript);
  }
  return found;
}

const known = new Set(names), notSaid = new Set(markup);

/** Identifiers, markup, names and formulas are not text. */
function isMessage(words) {
  const bare = words.trim();
  const isCode = /^[a-z0-9_:.#+\-/*,=%()[\]'"\\]+$/i.test(bare) && !/^([A-Z][a-z]{2,}|[A-Z]{4,})[.?!]?$/.test(bare);
  return !isCode && !notSaid.has(bare) && /^[^{}<>\n]*$/.test(bare) && (bare.match(/[A-Za-z]{3,}/g) ?? []).some((word) => !known.has(word));
}

const escaped = (words) => words.replace(/[.*+?^$(){}|[\]\\]/g, '\\$&');
const patternOf = (key) => new RegExp(`^${key.split(/(\{[A-Za-z0-9]\})/).map((part) => /^\{\d\}$/.test(part) ? '[-−+]?\\d[^A-Za-z]*' : PLACE.test(part) ? '.+' : escaped(part)).join('')}$`, 'u');

/** The literals that no message of a table contains. Sentences, and the parts around a colon, may be separate messages. */
function lacks(keys) {
  const patterns = keys.map(patternOf), bare = (words) => words.trim().replace(/^[\d\s),;.]+|[\s(]+$| [a-z]$/g, '');
  const isFound = (words) => keys.some((key) => key.includes(words)) || patterns.some((pattern) => pattern.test(words));
  return [...new Set(sources(covered).flatMap(literals))].filter((words) => isMessage(words) &&
    !isFound(words.trim()) && !words.split(/, so | : |(?<=\.) /).map(bare).every((part) => part === '' || !isMessage(part) || isFound(part)));
}

test('no table lacks a message', () => {
  for (const [tag, table] of Object.entries(tables)) assert.deepEqual(lacks([...table.keys()]), [], `what ${tag}.json lacks`);
});

test('all tables have the same messages, and the same places in them', () => {
  const [first, ...others] = Object.entries(tables);
  for (const [tag, table] of others) assert.deepEqual([...table.keys()].sort(), [...first[1].keys()].sort(), `${tag} and ${first[0]}`);
  for (const [tag, table] of Object.entries(tables)) {
    for (const [english, words] of table) {
      for (const form of typeof words === 'string' ? [words] : Object.values(words)) {
        assert.equal(placesOf(form), placesOf(english), `${tag}: ${english}`);
        assert.ok(form.trim() === form && form !== '' && !/[\n\x1e\x1f]/.test(form), `${tag}: ${english}`);
      }
    }
  }
});

test('a lesson is translated whole, or not at all, with the same cells, numbers and bold words', () => {
  const markup = (words) => [...words.matchAll(/\[[^\]]*\]|\{[^}]*\}|\*\*[^*]*\*\*/g)].map(String).sort();
  for (const [tag, table] of Object.entries(tables)) {
    const translated = lessons.filter(({about}) => table.has(about));
    assert.ok(translated.length > 0, tag);
    for (const {title, lines} of translated) {
      for (const line of lines) {
        if (!table.has(line)) assert.ok(!/[a-z]{4}/i.test(line), `${tag} lacks of the lesson ${title}: ${line}`);
        else assert.deepEqual(markup(table.get(line)), markup(line), `${tag}: ${line}`);
      }
    }
  }
});

test('no table has a message that nobody says', () => {
  // In the column layout, "row" in a label becomes "column".
  const turned = (one) => [one, one.replace(/\brow\b/, 'column')];
  const said = [...new Set([...sources([...covered, ...also]).flatMap(literals).flatMap(turned), ...lessons.flatMap(({lines}) => lines)])].filter((one) => one.trim()), all = said.join('\x1f');
  const stripped = said.map((one) => one.trim().replace(MARKS, '').replace(/[.,:;]$/, '')).filter((one) => one.length > 1).sort((a, b) => b.length - a.length);
  /** Does it consist of pieces in the sources? Punctuation and spaces between them may be inserted by anything. */
  const isSaid = (part) => {
    const rest = part.trim().replace(MARKS, '');
    if (rest.length < 3 || all.includes(rest) || all.toLowerCase().includes(rest.toLowerCase())) return true;
    const piece = stripped.find((one) => rest.startsWith(one));
    return piece !== undefined && isSaid(rest.slice(piece.length));
  };
  const options = Array.from(text('src/document/options.def').matchAll(/^OPTION\((\w+)/gm), ([, name]) => name);
  const names = [...said, ...options].flatMap((one) => one.split(',')).map((one) => one.replace(/[-_:]+/g, ' ').trim().toLowerCase());  // the mirror's names for controls without text
  const unsaid = [...tables[tags[0]].keys()].filter((key) => !key.split(PLACE).every(isSaid) && !names.some((name) => name === key.replace(/ ?\{1\}/, '').toLowerCase()));
  assert.deepEqual(unsaid, []);
});

test('what looks like a message of the tables has its id', () => {
  const keys = [...tables[tags[0]].keys()], idOf = (key) => key.replace(new RegExp(PLACE, 'g'), '{}'), ids = new Set(keys.map(idOf));
  const said = (words) => (words.replace(new RegExp(PLACE, 'g'), ' ').match(/[A-Za-z]{3,}/g) ?? []).length;
  // Of a key with less than two words almost any text would be one.
  const patterns = keys.filter((key) => PLACE.test(key) && said(key) > 1).map((key) => new RegExp(`^${key.split(PLACE).map(escaped).join('.+')}$`, 'u'));
  const guessed = ['src', 'web'].flatMap(filesOf).filter((file) => /\.(cpp|h|js)$/.test(file)).flatMap((file) => messageIds(join(root, file)).filter((id) =>
    id.includes('{}') && !ids.has(id) && patterns.some((pattern) => pattern.test(id))).map((id) => `${file}: ${id}`));
  assert.deepEqual(guessed, []);
});
