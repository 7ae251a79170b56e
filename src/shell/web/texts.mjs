// Writes lessons and languages as modules, which bundlers take along, and texts.js, which knows them by name.
//   node texts.mjs SITE_FOLDER PACKAGE_FOLDER
import {mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const [site, out] = process.argv.slice(2);
const text = (file) => readFileSync(file, 'utf8'), json = (file) => JSON.parse(text(file));
const languages = json(join(site, 'languages/index.json'));
const glossaries = readdirSync(join(site, 'lessons')).filter((name) => name.startsWith('glossary.'));
const lessons = new Set(['index.json', ...glossaries, ...json(join(site, 'lessons/index.json')).lessons.map(({file}) => file)]);
const names = [...languages.map((tag) => `languages/${tag}.json`), ...[...lessons].map((file) => `lessons/${file}`)];
const moduleOf = (name) => `./texts/${name.replace(/json$/, 'js')}`;

rmSync(join(out, 'texts'), {recursive: true, force: true});
for (const folder of ['lessons', 'languages']) mkdirSync(join(out, 'texts', folder), {recursive: true});
for (const name of names) writeFileSync(join(out, moduleOf(name)), `export default ${JSON.stringify(text(join(site, name)))};\n`);
writeFileSync(join(out, 'texts.js'), `import {inline} from './files.js';

const textOf = (module) => module.default;
inline.set('languages', ${JSON.stringify(languages)});
${names.map((name) => `inline.set('${name}', () => import('${moduleOf(name)}').then(textOf));`).join('\n')}
`);
