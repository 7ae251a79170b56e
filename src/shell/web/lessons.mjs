// The list of lessons that the page fetches first, from their files; src/document/lesson_list.h makes the same for other programs.
//   node lessons.mjs WEB_FOLDER FILE
import {readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

/** [{id, kind, title, file, steps, par, about, puzzles}, …], in the order of the places of their files. */
export function lessonsIn(web) {
  const folder = join(web, 'lessons');
  const files = readdirSync(folder).sort().filter((name) => name.endsWith('.json'))
      .map((file) => ({file, ...JSON.parse(readFileSync(join(folder, file), 'utf8'))})).filter(({lesson}) => lesson);
  const all = files.sort((a, b) => a.place - b.place).flatMap(({file, cards, ...lesson}) => (cards ?? [lesson]).map((card) => ({...card, file})));
  const puzzles = new Set(all.filter(({kind}) => kind === 'puzzle').map(({id}) => id));
  return all.map(({id, kind = 'lesson', title, file, steps, par, about, next = []}) => {
    const own = kind === 'lesson' ? next.slice(1).filter((name) => puzzles.has(name)) : [];  // the first only says what to open then
    return {id, kind, title, file, steps: steps.length, par, about, ...own.length && {puzzles: own}};
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [web, out] = process.argv.slice(2);
  writeFileSync(out, `{"lessons": [\n${lessonsIn(web).map((one) => JSON.stringify(one)).join(',\n')}\n]}\n`);
}
