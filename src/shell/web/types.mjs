// The parts of web/element.d.ts that list what is told elsewhere: the formats of files and the examples. Each stands between two lines,
// "// made: NAME" and "// end".
//   node types.mjs --write   writes them anew; a test holds that they are as they would be written
import {readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

const at = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url)), read = (path) => readFileSync(at(path), 'utf8');
const WIDTH = 150, TYPES = 'web/element.d.ts';

/** A type that is one of these texts, in lines of at most WIDTH characters. */
function union(name, comment, texts) {
  const lines = [''];
  for (const text of texts) {
    const part = `${lines.at(-1) ? ' ' : '  '}| '${text}'`;
    if (lines.at(-1).length + part.length < WIDTH) lines[lines.length - 1] += part;
    else lines.push(`  | '${text}'`);
  }
  return `/** ${comment} */\nexport type ${name} =\n${lines.join('\n')};\n`;
}

const MADE = {
  formats: () => union('FormatName', 'The formats of files, by the endings of their names.',
    Array.from(read('src/files/formats/formats.def').matchAll(/^FORMAT\((\w+)/gm), ([, name]) => name)),
  examples: () => union('PresetName', 'The examples.', JSON.parse(read('web/lessons/examples.json')).cards.map(({id}) => id)),
};

/** The file, and what it should be. */
export const types = () => {
  const before = read(TYPES);
  return {before, after: before.replace(/^(\/\/ made: (\w+)\n)[^]*?(?=^\/\/ end$)/gm, (_, begin, name) => begin + MADE[name]())};
};

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[2] === '--write') writeFileSync(at(TYPES), types().after);
