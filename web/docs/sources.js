// Where the facts of these pages come from: files of the repository, and what `attn` prints.
import {execFileSync} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));
const build = process.env.AP_BUILD ?? join(root, 'build');
export const site = join(build, 'site');
export const isThere = (path) => existsSync(join(root, path));
export const read = (path) => readFileSync(join(root, path), 'utf8');
export const readJson = (path) => JSON.parse(read(path));
/** The addresses by which texts name a copy of the playground, and how a page of the documentation reaches the one beside it. */
export const EXAMPLE = 'https://example.org/playground/';

/** What a program of the build prints. Its language does not depend on this machine. */
export const printed = (program, args, input) =>
  execFileSync(join(build, 'native', program), args, {encoding: 'utf8', input: input ?? '', env: {...process.env, LC_ALL: 'C.UTF-8'}, maxBuffer: 1 << 26});
export const attn = (args, input) => printed('attn', args, input);

/** What ./play bench --write has kept, by the name of the benchmark: its report, the day, and the machine. */
export const measured = readJson('tests/bench/measured.json');

/** The comment at the start of a source, without its marks: what a module says of itself. */
export const introduction = (path) => {
  const lines = read(path).split('\n'), first = lines.findIndex((line) => line.startsWith('//'));
  const end = lines.findIndex((line, i) => i > first && !line.startsWith('//'));
  return lines.slice(first, end).map((line) => line.replace(/^\/\/ ?/, '')).join(' ');
};

/** As GitHub makes it, so that links into the READMEs work in both places. */
export const slugOf = (text) => text.toLowerCase().replace(/<[^>]+>|[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-');
