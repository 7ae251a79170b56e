// What an edit costs against recomputing everything; incremental.cpp says how it is measured.
//   node incremental.bench.mjs [arguments of the program]
import {execFileSync} from 'node:child_process';
import {mkdirSync} from 'node:fs';
import {results} from './contest.mjs';
import {build} from './fetch.mjs';

const program = process.env.BENCH_INCREMENTAL ?? build('native', 'incremental');
mkdirSync(results, {recursive: true});
execFileSync(program, ['--json', `${results}/incremental.json`, ...process.argv.slice(2)], {stdio: 'inherit'});
