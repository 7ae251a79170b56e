// Packs everything into a single file, for places that cannot load modules or fetch: a sandbox without an origin, a file on a disk, slides.
//   node standalone.mjs ESBUILD WEB_FOLDER SITE_FOLDER MODULE [ESBUILD_OPTION…]
// MODULE is the unsplit module that every engine can run.
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {gzipSync} from 'node:zlib';

const [esbuild, ...options] = process.argv.slice(2);
const [web, site, module] = options.splice(0, 3).map((path) => resolve(path));
const output = join(site, 'standalone.js');
// The folder of installed packages that scripts of the page bundle.
const packages = resolve(web, '../tests/node_modules');
const text = JSON.stringify, scratch = mkdtempSync(join(tmpdir(), 'standalone-'));

// Everything that is not a script, in one stream: LZMA makes it a quarter smaller than the compression that browsers can decode themselves,
// which is used if the package for decoding LZMA is not installed. The overhead of base64 is recovered by the server's compression.
const EMPTY = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);  // an empty module
const folder = join(web, 'languages');
const languages = readdirSync(folder).filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -5));
const pieces = [['playground.wasm', readFileSync(module)], ['playground.rest.wasm', EMPTY], ['playground.files.wasm', EMPTY],
  ...languages.map((tag) => [tag, Buffer.from(JSON.stringify(JSON.parse(readFileSync(join(folder, `${tag}.json`), 'utf8')))) ])];
const bytes = Buffer.concat(pieces.map(([, bytes]) => bytes)), packed = join(scratch, 'pieces.packed');
const hasXz = existsSync(join(packages, 'xz-decompress'));
writeFileSync(packed, hasXz ? execFileSync('xz', ['-c', '--check=crc32', '--lzma2=preset=9e,dict=4MiB,lc=4,pb=0'], {input: bytes, maxBuffer: 2 ** 28}) :
  gzipSync(bytes, {level: 9}));
let end = 0;
const places = pieces.map(([name, bytes]) => [name, end, end += bytes.length]);

const entry = `
${hasXz ? "import {XzReadableStream} from 'xz-decompress';" : ''}
import create from ${text(join(site, 'playground.js'))};
import packed from ${text(packed)};
import * as later from ${text(join(web, 'later.js'))};
import * as guide from ${text(join(web, 'guide.js'))};
import * as dialog from ${text(join(web, 'dialog.js'))};
import * as share from ${text(join(web, 'share.js'))};
import * as reader from ${text(join(web, 'reader.js'))};
import {inline} from ${text(join(web, 'files.js'))};

let unpacked;
const unpack = () => unpacked ??= new Response(${hasXz ? 'new XzReadableStream(new Blob([packed]).stream())' :
    "new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))"}).arrayBuffer();
const piece = (begin, end) => async () => new Uint8Array(await unpack(), begin, end - begin);
inline.set('kind', 'playground').set('playground.js', {default: create})
  .set('guide.js', guide).set('dialog.js', dialog).set('later.js', later).set('share.js', share).set('reader.js', reader).set('languages', ${text(languages)});
for (const [name, begin, end] of ${text(places)}) inline.set(name, piece(begin, end));
import(${text(join(web, 'element.js'))});
`;
execFileSync(esbuild, ['--bundle', '--minify', '--format=iife', '--target=es2022', '--loader:.packed=binary', '--log-level=error',
  '--define:import.meta.url=document.baseURI', `--outfile=${output}`, '--external:./playground*.js', ...options],
{input: entry, cwd: web, env: {...process.env, NODE_PATH: packages}, stdio: ['pipe', 'inherit', 'inherit']});
rmSync(scratch, {recursive: true});
