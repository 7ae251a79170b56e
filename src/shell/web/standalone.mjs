// Packs everything into a single file, for places that cannot load modules or fetch: a sandbox without an origin, a file on a disk, slides.
//   node standalone.mjs ESBUILD WEB_FOLDER SITE_FOLDER MODULE [ESBUILD_OPTION…]
// MODULE is the unsplit module that every engine can run. Beside it standalone.json tells what was packed.
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {gzipSync} from 'node:zlib';

const [esbuild, ...options] = process.argv.slice(2);
const [web, site, module] = options.splice(0, 3).map((path) => resolve(path));
const output = join(site, 'standalone.js');
// The folder of installed packages that scripts of the page bundle.
const packages = resolve(web, '../tests/node_modules');
const text = JSON.stringify, scratch = mkdtempSync(join(tmpdir(), 'standalone-'));

const hasXz = existsSync(join(packages, 'xz-decompress'));
const EMPTY = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);  // an empty module
const tables = (folder) => readdirSync(join(site, folder)).filter((name) => name.endsWith('.json') && name !== 'schema.json' && `${folder}/${name}` !== 'languages/index.json').map((name) => `${folder}/${name}`);
const languages = tables('languages').map((name) => /(\w+)\.json/.exec(name)[1]);
const textsOf = (folder) => tables(folder).map((name) => [name, readFileSync(join(site, name))]);

/** Several files in one stream, and their places in it. LZMA makes it a quarter smaller than the compression that browsers can decode
 * themselves, which is used if the package for decoding LZMA is not installed. The overhead of base64 is recovered by the server's compression. */
function pack(stem, pieces) {
  const bytes = Buffer.concat(pieces.map(([, content]) => content)), file = join(scratch, `${stem}.packed`);
  writeFileSync(file, hasXz ? execFileSync('xz', ['-c', '--check=crc32', '--lzma2=preset=9e,dict=4MiB,lc=4,pb=0'], {input: bytes, maxBuffer: 2 ** 28}) :
    gzipSync(bytes, {level: 9}));
  let end = 0;
  return {file, places: pieces.map(([name, content]) => [name, end, end += content.length])};
}
const first = pack('first', [['playground.wasm', readFileSync(module)], ['playground.rest.wasm', EMPTY], ['playground.files.wasm', EMPTY],
  ['NOTICES.txt', readFileSync(join(site, 'NOTICES.txt'))], ...textsOf('languages')]);
const lessons = pack('lessons', textsOf('lessons'));  // unpacked only when one is opened

const entry = `
${hasXz ? "import {XzReadableStream} from 'xz-decompress';" : ''}
import create from ${text(join(site, 'playground.js'))};
import first from ${text(first.file)};
import lessons from ${text(lessons.file)};
import * as later from ${text(join(web, 'later.js'))};
import * as guide from ${text(join(web, 'guide.js'))};
import * as dialog from ${text(join(web, 'dialog.js'))};
import * as share from ${text(join(web, 'share.js'))};
import * as reader from ${text(join(web, 'reader.js'))};
import {inline} from ${text(join(web, 'files.js'))};

// Beside it are the pages of the playground, unless it was copied without them: to a disk, under another name, or into a script.
const {src} = document.currentScript ?? {};
const home = /^https?:.*\\/standalone\\.js([?#]|$)/.test(src) ? new URL('.', src).href : null;
/** What contains the pieces of a stream, which is unpacked once. */
function contain(packed, places) {
  let unpacked;
  const unpack = () => unpacked ??= new Response(${hasXz ? 'new XzReadableStream(new Blob([packed]).stream())' :
    "new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))"}).arrayBuffer();
  for (const [name, begin, end] of places) {
    const bytes = async () => new Uint8Array(await unpack(), begin, end - begin);
    inline.set(name, name.endsWith('.json') ? async () => new TextDecoder().decode(await bytes()) : bytes);
  }
}
inline.set('kind', 'playground').set('home', home).set('playground.js', {default: create})
  .set('guide.js', guide).set('dialog.js', dialog).set('later.js', later).set('share.js', share).set('reader.js', reader).set('languages', ${text(languages)});
contain(first, ${text(first.places)});
contain(lessons, ${text(lessons.places)});
import(${text(join(web, 'element.js'))});
`;
execFileSync(esbuild, ['--bundle', '--minify', '--format=iife', '--target=es2022', '--loader:.packed=binary', '--log-level=error',
  '--define:import.meta.url=document.baseURI', `--outfile=${output}`, `--metafile=${join(dirname(module), 'standalone.json')}`, '--external:./playground*.js', ...options],
{input: entry, cwd: web, env: {...process.env, NODE_PATH: packages}, stdio: ['pipe', 'inherit', 'inherit']});
// esbuild leaves regular expressions as they are, in which other characters are written too: a page that is not UTF-8 would read others.
writeFileSync(output, readFileSync(output, 'utf8').replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt().toString(16).padStart(4, '0')}`));
rmSync(scratch, {recursive: true});
