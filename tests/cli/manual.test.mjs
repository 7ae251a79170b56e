// The manual pages and the completions: that they can be used, and say the same as the help.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join, resolve} from 'node:path';
import {test} from 'node:test';
import {attn, file, folder, here, layer, refusal} from './harness.mjs';

const build = process.env.ATTN ? dirname(resolve(process.env.ATTN)) : resolve(here, '../../build/native');
const programs = ['attn', 'attention-playground'];
const print = (name, ...args) => {
  const done = spawnSync(join(build, name), args, {encoding: 'utf8', timeout: 60_000});
  assert.equal(done.status, 0, done.stderr);
  assert.equal(done.stderr, '');
  return done.stdout;
};
const has = (program) => spawnSync('which', [program]).status === 0;
const shell = (program, script, args = [], options = {}) => {
  const done = spawnSync(program, ['-c', script, program, ...args], {encoding: 'utf8', timeout: 60_000, ...options});
  assert.equal(done.stderr, '', script);
  assert.equal(done.status, 0);
  return done.stdout;
};
/** The long options in a help text. */
const optionsIn = (help) => [...help.matchAll(/^ {2}(?:-\w,)?(--[\w-]+)/gm)].map(([, option]) => option);
const commands = () => [...attn('--help').stdout.split('Subcommands:')[1].matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name);

for (const name of programs) {
  test(`${name} --man has every command and option of the help, and roff has nothing to say about it`, () => {
    const page = print(name, '--man');
    const helps = [print(name, '--help'), ...name === 'attn' ? commands().map((command) => attn(command, '--help').stdout) : []];
    for (const option of helps.flatMap(optionsIn)) assert.ok(page.includes(`\\fB${option.replaceAll('-', '\\-')}\\fR`) || page.includes(option.replaceAll('-', '\\-')), option);
    if (name === 'attn') for (const command of commands()) assert.match(page, new RegExp(`^\\.SS attn ${command}$`, 'm'));
    for (const section of ['NAME', 'SYNOPSIS', 'OPTIONS', 'EXIT STATUS', 'SEE ALSO']) assert.match(page, new RegExp(`^\\.SH ${section}$`, 'm'));
    if (!has('groff')) return;
    const shown = spawnSync('groff', ['-man', '-ww', '-Kutf8', '-Tutf8', '-P-c', '-P-b', '-P-u'], {input: page, encoding: 'utf8'});
    assert.equal(shown.stderr, '');
    assert.match(shown.stdout, name === 'attn' ? /attn render board\.json -o figure\.svg/ : /attention-playground - Change a number in Q, K or V/);
    assert.match(shown.stdout, /--completion SHELL/);
  });
}

test('bash completes commands, options, values and files', () => {
  const script = join(folder, 'attn.bash'), place = join(folder, 'completed');
  writeFileSync(script, print('attn', '--completion', 'bash'));
  mkdirSync(place);
  for (const name of ['layer.npz', 'two words.json']) writeFileSync(join(place, name), '');
  const complete = (...words) => shell('bash', `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _attn; printf '%s\\n' "\${COMPREPLY[@]}"`, [script, ...words], {cwd: place})
    .split('\n').filter(Boolean).sort();
  for (const command of commands()) assert.ok(complete('attn', '').includes(command), command);
  assert.deepEqual(complete('attn', 'ren'), ['render']);
  assert.deepEqual(complete('attn', '--v'), ['--version']);
  for (const command of commands()) {
    const options = complete('attn', command, '--');
    assert.deepEqual(options, optionsIn(attn(command, '--help').stdout).sort(), command);
  }
  assert.deepEqual(complete('attn', 'render', '--what', ''), ['arcs', 'board', 'heads', 'weights']);
  assert.deepEqual(complete('attn', 'render', 'lay'), ['layer.npz']);
  assert.deepEqual(complete('attn', 'convert', 'two'), ['two words.json']);
  assert.deepEqual(complete('attn', 'run', 'layer.npz', '--out', 'l'), ['layer.npz']);
  assert.deepEqual(complete('attn', 'train', '--steps', ''), [], 'a number is nobody\'s to guess');
  // In an interactive shell, by the Tab key.
  const typed = spawnSync('bash', ['--norc', '-i'], {cwd: place, encoding: 'utf8', timeout: 60_000, env: {...process.env, PS1: '', HISTFILE: ''},
    input: `source ${script}; complete -p attn\nexit\n`});
  assert.match(typed.stdout, /complete -F _attn attn/);
});

test('every value that is offered is one that attn takes', () => {
  const script = print('attn', '--completion', 'bash');
  const values = (command, option) => new RegExp(`'${command} ${option}'[^\\n]*-W '([^']*)'`).exec(script)[1].split(' ');
  const state = file(layer());
  for (const language of values('code', '--as')) assert.equal(attn('code', state, '--as', language).status, 0, language);
  for (const what of values('render', '--what')) assert.equal(attn('render', state, '--what', what).status, 0, what);
  for (const style of values('render', '--style')) assert.equal(attn('render', state, '--style', style).status, 0, style);
  for (const colors of values('render', '--colors')) assert.equal(attn('render', state, '--colors', colors).status, 0, colors);
  for (const task of values('train', '--task')) assert.equal(attn('train', '--task', task, '--steps', '1').status, 0, task);
});

for (const name of programs) {
  test(`the completions of ${name} for zsh and fish name the same options; the shells read them where they are there`, () => {
    const bash = print(name, '--completion', 'bash');
    const wanted = new Set(bash.match(/--[a-z][\w-]*/g));
    const zsh = print(name, '--completion', 'zsh'), fish = print(name, '--completion', 'fish');
    for (const option of wanted) {
      assert.ok(zsh.includes(`'${option}[`), `${option} in zsh`);
      assert.match(fish, new RegExp(` -l ${option.slice(2)}\\b`), `${option} in fish`);
    }
    assert.ok(zsh.startsWith(`#compdef ${name}\n`));
    for (const [program, text] of [['zsh', zsh], ['fish', fish], ['bash', bash]]) {
      const path = join(folder, `completion.${program}`);
      writeFileSync(path, text);
      if (has(program)) assert.equal(spawnSync(program, ['-n', path], {encoding: 'utf8'}).stderr, '');
    }
    // Quotes are balanced, on each line or in total.
    assert.equal((zsh.replaceAll("'\\''", '').match(/'/g).length) % 2, 0);
    for (const line of fish.split('\n')) assert.equal((line.replaceAll("\\'", '').match(/'/g) ?? []).length % 2, 0, line);
  });
}

// Types lines in a zsh that has a terminal of its own, as a person's has, and presses Tab after each, once its line editor waits for keys. What is
// handed to compadd is what is offered, but for calls that only look something up (-O, -A, -D).
const typing = `
  zmodload zsh/zpty
  zpty shell zsh -f -i
  {
    zpty -w shell "PS1=; source $1"
    zpty -r shell seen '*READY*'
    for line in "\${@:2}"; do
      zpty -w -n shell "$line"$'\\t'
      zpty -w -n shell $'\\C-u\\n'
      zpty -r shell seen '*READY*'
    done
  } always { zpty -d shell }`;
const offering = (offered, load) => `
  bindkey -e
  LISTMAX=10000
  exec 3>${offered}
  ${load}
  compadd() {
    local -a found
    if [[ \${@[1,(i)(-|--)]} != *-(O|A|D)\\ * ]]; then builtin compadd -A found "$@"; (( $#found == 0 )) || print -u 3 -rl -- $found; fi
    builtin compadd "$@"
  }
  zle-line-init() { print -u 3 END; print READY; }
  zle -N zle-line-init`;

for (const [way, load] of [
  ['from a folder of fpath, as it is installed', (place) => `fpath=(${place} $fpath); autoload -Uz compinit; compinit -u -D`],
  ['sourced in ~/.zshrc', (place) => `autoload -Uz compinit; compinit -u -D; source ${place}/_attn; source ${place}/_attention-playground`]]) {
  test(`zsh offers the commands, the options, their values and files, ${way}`, () => {
    const home = mkdtempSync(join(folder, 'zsh-')), place = join(home, 'site-functions'), start = join(home, 'start'), offered = join(home, 'offered');
    mkdirSync(place);
    for (const name of programs) writeFileSync(join(place, `_${name}`), print(name, '--completion', 'zsh'));
    for (const name of ['layer.npz', 'two words.json']) writeFileSync(join(home, name), '');
    writeFileSync(start, offering(offered, load(place)));
    const wanted = {
      'attn ': commands(),
      'attn ren': ['render'],
      'attn render --': [...new Set(optionsIn(attn('render', '--help').stdout))],
      'attn render --what ': ['arcs', 'board', 'heads', 'weights'],
      'attn code layer.npz --as ': ['jax', 'latex', 'numpy', 'torch'],
      'attn convert tw': ['two\\ words.json'],
      'attn run layer.npz --out l': ['layer.npz'],
      'attn train --steps ': [],
      'attention-playground --lang ': ['de', 'en', 'zh'],
      'attention-playground lay': ['layer.npz'],
    };
    shell('zsh', typing, [start, ...Object.keys(wanted)], {cwd: home});
    const found = readFileSync(offered, 'utf8').split('END\n').slice(1).map((one) => one.split('\n').filter(Boolean).sort());
    assert.deepEqual(Object.fromEntries(Object.keys(wanted).map((line, i) => [line, found[i]])), Object.fromEntries(Object.entries(wanted).map(([line, all]) => [line, all.sort()])));
  });
}

test('fish offers the commands, the options and their values', () => {
  const path = join(folder, 'attn.fish');
  writeFileSync(path, print('attn', '--completion', 'fish'));
  const offered = (line) => {
    const done = spawnSync('fish', ['-N', '-c', `source ${path}; complete -C '${line}'`], {encoding: 'utf8', timeout: 60_000, env: {...process.env, HOME: dirname(path)}});
    assert.deepEqual([done.status, done.stderr], [0, ''], 'is fish installed?');
    return done.stdout.trim().split('\n').map((one) => one.split('\t')[0]);
  };
  assert.deepEqual(offered('attn re'), ['render']);
  assert.deepEqual(offered('attn render --wh'), ['--what']);
  assert.deepEqual(offered('attn render --what '), ['arcs', 'board', 'heads', 'weights']);
  assert.ok(offered('attn train --task ').includes('tags'));
});

test('a shell without completions is refused by name', () => {
  assert.match(refusal(2, attn('--completion', 'csh')), /csh is not known; use bash, zsh or fish/);
});
