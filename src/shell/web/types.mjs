// What TypeScript and editors know of options, pages, mechanisms, formats and examples, from the tables of the program as `attn mechanisms` prints them,
// src/files/formats/formats.def and lessons/examples.json: in element.d.ts and core.d.ts what stands between "// made: NAME" and "// end", in
// lessons/schema.json the pages. The target `types` of the native build writes them anew:
//   node types.mjs ATTN WEB_FOLDER
import {execFileSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const TYPES = {boolean: 'boolean', integer: 'number', real: 'number', scale: 'boolean | number', labels: 'string | string[]', names: 'string | string[]',
  heads: 'number[]', ids: 'number[]', text: 'string'};
const WIDTH = 150;
const union = (names) => names.map((name) => `'${name}'`).join(' | ');

/** The same in lines of at most WIDTH characters. */
function unionLines(names) {
  const lines = [''];
  for (const name of names) {
    const part = `${lines.at(-1) ? ' ' : '  '}| '${name}'`;
    if (lines.at(-1).length + part.length < WIDTH) lines[lines.length - 1] += part;
    else lines.push(`  | '${name}'`);
  }
  return lines.join('\n');
}

function optionLines({name, type, min, max, choices, help}) {
  const range = ['integer', 'real', 'scale'].includes(type) ? ` ${min} to ${max}.` : '';
  return `  /** ${help}.${range} */\n  ${name}: ${name === 'view' ? 'ViewName' : TYPES[type] ?? union(choices)};\n`;
}

/** The text with what `make` gives between the marks of that name. */
const between = (text, name, made) => text.replace(new RegExp(`(?<=^// made: ${name}\n)[^]*?(?=^// end$)`, 'm'), () => made);
const MAKERS = {
  'element.d.ts': (text, {options}, {formats, examples}) => {
    const listed = between(text, 'options',
      `/** What is open: the board of the layer, or one of the pages. */\nexport type ViewName = ${union(options.find(({name}) => name === 'view').choices)};\n` +
      `export interface PlaygroundOptions {\n${options.map(optionLines).join('')}}\n`);
    const named = between(listed, 'examples', `/** The examples. */\nexport type PresetName =\n${unionLines(examples)};\n`);
    return between(named, 'formats', `/** The formats of files, by the endings of their names. */\nexport type FormatName =\n${unionLines(formats)};\n`);
  },
  'core.d.ts': (text, {scores, normalizers}) => between(text, 'mechanisms', [['Score', scores], ['Normalizer', normalizers]].map(([type, all]) =>
    `export type ${type} = ${union(all.map(({name}) => name))};\n`).join('')),
  'lessons/schema.json': (text, {options}) => text.replace(/("view": \{"enum": \[)[^\]]*/, (_, begin) =>
    begin + options.find(({name}) => name === 'view').choices.map((name) => `"${name}"`).join(', ')),
};

/** The formats and examples, by their names, as the folder of the page and that of the program have them. */
const namesIn = (web) => ({
  formats: Array.from(readFileSync(join(web, '../src/files/formats/formats.def'), 'utf8').matchAll(/^FORMAT\((\w+)/gm), ([, name]) => name),
  examples: JSON.parse(readFileSync(join(web, 'lessons/examples.json'), 'utf8')).cards.map(({id}) => id),
});

/** The files with what is made anew, as {path, is, made}: the text that they have, and that they should have. */
export function typesFrom(tables, web) {
  return Object.entries(MAKERS).map(([name, make]) => {
    const path = join(web, name), is = readFileSync(path, 'utf8');
    return {path, is, made: make(is, tables, namesIn(web))};
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [attn, web] = process.argv.slice(2);
  for (const {path, is, made} of typesFrom(JSON.parse(execFileSync(attn, ['mechanisms'], {encoding: 'utf8'})), web)) if (is !== made) writeFileSync(path, made);
}
