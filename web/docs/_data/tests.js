// What is tested and measured, from what the tests and the benchmarks say of themselves.
import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {introduction, measured, read, root} from '../sources.js';

const play = read('play'), names = (variable) => new RegExp(`^${variable}="([^"]*)"`, 'm').exec(play)[1].split(' ');
const own = (folder, pattern) => readdirSync(join(root, 'tests', folder)).filter((name) => pattern.test(name)).sort();
const counted = (folder, pattern, test) => own(folder, pattern).reduce((sum, name) => sum + (read(`tests/${folder}/${name}`).match(test) ?? []).length, 0);
const withoutUsage = (text) => text.replace(/\s*node \S+\.bench\.mjs.*$/, '');

export default {
  suites: names('SUITES'), more: names('MORE_SUITES'),
  unitCases: counted('unit', /\.cpp$/, /^\s*TEST_CASE\b/gm),
  browserTests: own('browser', /\.test\.mjs$/).map((name) => ({name: name.replace('.test.mjs', ''), words: introduction(`tests/browser/${name}`)})),
  benches: [...names('BENCHES'), ...names('MORE_BENCHES')].map((name) => ({name, words: withoutUsage(introduction(`tests/bench/${name}.bench.mjs`)), measured: measured[name]})),
};
