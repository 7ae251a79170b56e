// The command line, as the programs print it: from the same table as their manual pages.
import {printed} from '../sources.js';

/** Lines such as "  --out OUT   The file to write", some of which go on below: [{name, words}]. */
const rowsOf = (text) => text.split('\n').reduce((rows, line) => {
  const [, name, words] = /^ {2}(\S.*?)(?: {2,}(.*))?$/.exec(line) ?? [];
  if (name) rows.push({name, words: words ?? ''});
  else if (line.trim() && rows.length) rows.at(-1).words += ` ${line.trim()}`;
  return rows;
}, []);

function helpOf(program, args = []) {
  const text = printed(program, [...args, '--help']), about = text.split('\n')[0], usage = /^Usage: (.*)$/m.exec(text)[1];
  const part = (name) => rowsOf(new RegExp(`^${name}:\\n([^]*?)(?=^\\S|$(?![^]))`, 'm').exec(text)?.[1] ?? '');
  const lists = ['Positionals', 'Options', 'Subcommands'].map(part);
  const end = /^(?:Examples:|Exit status:)[^]*/m.exec(text)?.[0].trim() ?? '';
  const [, examples = '', after = end] = /^Examples:\n((?: {2}.*\n)+)([^]*)/.exec(end) ?? [];
  return {about, usage, arguments: lists[0], options: lists[1].filter(({name}) => name !== '-h,--help'), commands: lists[2], examples: examples.replace(/^ {2}/gm, '').trim(), after: after.trim()};
}

const attn = helpOf('attn');
export default {
  attn, desktop: helpOf('attention-playground'),
  all: attn.commands.map(({name}) => ({name, ...helpOf('attn', [name])})),
};
