// Lessons, puzzles, questions, examples and terms, from web/lessons.
import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {lessonsIn} from '../../../src/shell/web/lessons.mjs';
import {readJson, root} from '../sources.js';

const cards = lessonsIn(join(root, 'web'));
const of = (kind) => cards.filter((card) => card.kind === kind);
const titles = new Map(cards.map(({id, title}) => [id, title]));
export default {
  lessons: of('lesson').map((lesson) => ({...lesson, puzzles: (lesson.puzzles ?? []).map((id) => ({id, title: titles.get(id) ?? id}))})),
  puzzles: of('puzzle'), questions: of('question'), examples: of('example'),
  /** The languages of the glossary beside English: [{tag, name}]. */
  languages: readdirSync(join(root, 'web/lessons')).flatMap((file) => /^glossary\.(?!en\b)([\w-]+)\.json$/.exec(file)?.[1] ?? [])
      .map((tag) => ({tag, name: readJson(`web/lessons/glossary.${tag}.json`).language})),
  terms: readJson('web/lessons/glossary.en.json').terms.map((term) => ({...term, lessonTitle: titles.get(term.lesson)})),
};
