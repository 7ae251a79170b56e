// How large the npm package is for who uses it: node sizes.mjs FOLDER prints, for each entry point of package.json, the bytes of its scripts and of
// those that they import at once, as they are, by gzip and by Brotli; and the same for each module of WebAssembly, which are fetched by themselves.
import {existsSync, readFileSync, readdirSync} from 'node:fs';
import {join, normalize} from 'node:path';
import {brotliCompressSync, gzipSync} from 'node:zlib';

const [folder] = process.argv.slice(2);
const IMPORTS = /(?:^|[;}\n])\s*(?:import|export)\b(?:[^'"();]*?\bfrom)?\s*['"](\.[^'"]+)['"]/g;

/** A script and all that it imports, other than by import(), each once. */
function wholeOf(name, seen = new Set()) {
  if (seen.has(name) || !existsSync(join(folder, name))) return seen;
  seen.add(name);
  for (const [, other] of readFileSync(join(folder, name), 'utf8').matchAll(IMPORTS)) wholeOf(normalize(other), seen);
  return seen;
}
function row(title, names) {
  const files = names.map((name) => readFileSync(join(folder, name)));
  const sum = (of) => files.map(of).reduce((a, b) => a + b, 0);
  return [title, String(names.length), ...[sum((file) => file.length), sum((file) => gzipSync(file, {level: 9}).length), sum((file) => brotliCompressSync(file).length)].map((bytes) => bytes.toLocaleString('en'))];
}

const {exports} = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const scripts = Object.entries(exports).map(([entry, to]) => [entry, to.default ?? to]).filter(([, to]) => typeof to === 'string' && /^[^*]*\.js$/.test(to));
const modules = readdirSync(folder).filter((name) => name.endsWith('.wasm')).sort();
const rows = [['entry point', 'files', 'bytes', 'gzip', 'Brotli'], ...scripts.map(([entry, to]) => row(entry, [...wholeOf(normalize(to))])), ...modules.map((name) => row(name, [name]))];
const widths = rows[0].map((_, i) => Math.max(...rows.map((cells) => cells[i].length)));
for (const cells of rows) console.log(`  ${cells.map((cell, i) => i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])).join('  ')}`);
