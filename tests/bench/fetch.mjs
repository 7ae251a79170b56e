// Installs what the benchmarks compare with (package.json beside this file), and builds what they measure.
import {execFileSync} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';
import {root} from './contest.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const require = createRequire(import.meta.url);

/** Installs the packages, unless all are there; scripts are not run, because the programs are inside the packages. */
export function install() {
  const {devDependencies} = JSON.parse(readFileSync(`${here}package.json`, 'utf8'));
  if (Object.keys(devDependencies).every((name) => existsSync(`${here}node_modules/${name}/package.json`))) return;
  console.log('fetching what to compare with …');
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {cwd: here, stdio: ['ignore', 'ignore', 'inherit']});
}

export async function bring(name) {
  install();
  return require(name);
}

/** Builds one target of a preset and returns the path of the program. */
export function build(preset, target) {
  const quiet = {cwd: root, stdio: ['ignore', 'ignore', 'inherit']};
  execFileSync('cmake', ['--preset', preset], quiet);
  execFileSync('cmake', ['--build', '--preset', preset, '--target', target], quiet);
  return `${root}build/${preset}/${target}`;
}
