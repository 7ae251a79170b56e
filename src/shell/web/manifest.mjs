// custom-elements.json for editors: types that it has by name are spelt out, from element.d.ts.
//   node manifest.mjs WEB_FOLDER PACKAGE_FOLDER
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

/** The manifest as text, where `web` is the folder of both. */
export function manifestIn(web) {
  const [manifest, types] = ['custom-elements.json', 'element.d.ts'].map((name) => readFileSync(join(web, name), 'utf8'));
  const namesOf = (type) => new RegExp(`^export type ${type} =([^;]+);`, 'm').exec(types)[1].match(/'[^']+'/g);
  return manifest.replace(/"text": "(\w+Name)"/g, (_, type) => `"text": ${JSON.stringify(namesOf(type).join(' | '))}`)
      .replace(/\{(\w+Name)\}/g, (_, type) => namesOf(type).join(', ').replaceAll("'", ''));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [web, out] = process.argv.slice(2);
  writeFileSync(join(out, 'custom-elements.json'), manifestIn(web));
}
