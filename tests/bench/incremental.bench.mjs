// The cost of an edit against recomputing everything; see incremental.cpp for the method.
//   node incremental.bench.mjs [--quick] [arguments of the program]
import {execFileSync} from 'node:child_process';
import {mkdirSync, readFileSync} from 'node:fs';
import {quick, results, save} from './contest.mjs';
import {build} from './fetch.mjs';

const program = process.env.BENCH_INCREMENTAL ?? build('native', 'incremental');
const file = `${results}/incremental.json`;
mkdirSync(results, {recursive: true});
const given = process.argv.slice(2).filter((word) => word !== '--quick');
execFileSync(program, ['--json', file, ...quick ? ['--rounds', '1'] : [], ...given], {stdio: 'inherit'});

const measured = JSON.parse(readFileSync(file, 'utf8'));
save('incremental', measured, {
  title: 'Edits, against recomputing everything', unit: 'times faster, on a logarithmic scale', log: true,
  groups: [{name: measured.shape.join('×'), bars: measured.edits.map(({name, ratio}) => ({name, value: ratio, ours: true}))}],
});
