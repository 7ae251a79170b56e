// The picture of the layers in src/README.md, made from the includes of the sources: an arrow leads from each layer to what it includes,
// except where a longer way along other arrows says the same.
//   node layers.mjs --write      puts it into src/README.md
import {readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const src = fileURLToPath(new URL('../../src', import.meta.url)), readme = join(src, 'README.md');

/** For each folder of src, or of the layer `inside`, the set of other folders that it includes. */
export function includesOf(inside = '') {
  const folder = join(src, inside), includes = new RegExp(`^#include "${inside && `${inside}/`}(\\w+)/`, 'gm');
  const layers = readdirSync(folder, {withFileTypes: true}).filter((entry) => entry.isDirectory()).map(({name}) => name);
  return new Map(layers.map((layer) => {
    const files = readdirSync(join(folder, layer), {recursive: true}).filter((file) => /\.(cpp|h)$/.test(file));
    const texts = files.map((file) => readFileSync(join(folder, layer, file), 'utf8'));
    const included = texts.flatMap((text) => Array.from(text.matchAll(includes), ([, name]) => name));
    return [layer, new Set(included.filter((name) => name !== layer && layers.includes(name)))];
  }));
}

const reached = (includes, from) => new Set([...includes.get(from)].flatMap((name) => [name, ...reached(includes, name)]));

/** The block of Mermaid between ``` and ```, lowest layer last. */
export function picture(includes = includesOf()) {
  const height = (layer) => reached(includes, layer).size;
  const layers = [...includes.keys()].sort((a, b) => height(b) - height(a) || (a < b ? -1 : 1));
  const arrows = layers.flatMap((layer) => layers.filter((to) => includes.get(layer).has(to) &&
    ![...includes.get(layer)].some((other) => reached(includes, other).has(to))).map((to) => `  ${layer} --> ${to}`));
  return `\`\`\`mermaid\nflowchart TD\n${arrows.join('\n')}\n\`\`\`\n`;
}

/** A text with its picture replaced by this one. */
export const withPicture = (text, drawn = picture()) => text.replace(/```mermaid\n[^]*?```\n/, () => drawn);

if (process.argv[2] === '--write') writeFileSync(readme, withPicture(readFileSync(readme, 'utf8')));
