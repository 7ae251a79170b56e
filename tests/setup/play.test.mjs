// ./play itself: its commands, its set-up steps, and the page that it serves.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {createConnection} from 'node:net';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {until} from '../until.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const play = (...args) => spawnSync('./play', args, {cwd: root, encoding: 'utf8'});

// Runs shell commands after sourcing play, with its folders in a temporary directory.
function shell(lines) {
  const folder = mkdtempSync(join(tmpdir(), 'play-test-'));
  const script = `source ./play; TC=${folder}/tools; BUILD=${folder}/build; LOGS=$BUILD/log; mkdir -p "$TC"; ${lines}`;
  const result = spawnSync('bash', ['-c', script], {cwd: root, encoding: 'utf8'});
  rmSync(folder, {recursive: true});
  return result;
}

test('an unknown command gets one sentence and status 2', () => {
  const {status, stderr} = play('dance');
  assert.equal(status, 2);
  assert.equal(stderr, 'play: there is no command "dance"; ./play help lists them\n');
});

test('an unknown suite gets one sentence and status 2', () => {
  const {status, stderr} = play('test', 'everything');
  assert.equal(status, 2);
  assert.match(stderr, /^play: no test suite is called "everything".*\n$/);
});

test('the options after one suite go to its runner; after several, or one of several runners, they are refused', () => {
  const options = `-tc='*a mask*' --last`, runner = 'mkdir -p "$BUILD/native"; printf \'#!/bin/sh\\nprintf "<%%s>" "$@"; echo; echo "# pass 1"\' >"$BUILD/native/unit"; chmod +x "$BUILD/native/unit"';
  const {stdout} = shell(`prepare_unit() { :; }; ${runner}; cmd_test unit ${options}`);
  assert.match(stdout, /^<-tc=\*a mask\*><--last>$/m);
  assert.match(stdout, /\n1 passed, 0 failed\n$/);
  assert.match(shell(`prepare_rules() { :; }; tested_node() { echo "<$*>"; }; cmd_test rules --test-name-pattern=picture`).stdout, / --test-name-pattern=picture .*house-rules\.test\.mjs/);
  for (const suites of ['unit rules', 'desktop', '']) {
    const {status, stderr} = shell(`cmd_test ${suites} --quick`);
    assert.deepEqual([status, stderr], [2, 'play: options like --quick go to a single suite, other than asan or fuzz or desktop\n'], suites);
  }
});

test('clang-tidy looks at the files that differ, or at those that are named', () => {
  const changed = (base, files) => `git() { case $1 in merge-base) ${base} ;; diff) shift 3; echo "since $1" >&2; printf '${files}' ;; esac; }
    setup_tidy() { :; }; build() { :; }; PATH=$TC:$PATH; printf '#!/bin/sh\\necho "<$*>"' >"$TC/clang-tidy-19"; chmod +x "$TC/clang-tidy-19"; JOBS=1`;
  const looked = (script) => { const {stdout, stderr, status} = shell(script); return [Array.from(stdout.matchAll(/ --quiet (\S+)>/g), ([, file]) => file), stderr.trim(), status]; };
  const [one, other] = ['src/app/cells.cpp', 'src/app/app.cpp'];
  assert.deepEqual(looked(`${changed('echo 0123', `${one}\\n${other}\\n`)}; cmd_tidy`), [[one, other], 'since 0123', 0]);
  assert.deepEqual(looked(`${changed('false', `${one}\\n`)}; cmd_tidy`), [[one], 'since HEAD', 0]);
  assert.match(shell(`${changed('false', '')}; cmd_tidy`).stdout, /^no \.cpp of src differs from HEAD$/m);
  assert.deepEqual(looked(`${changed('false', '')}; cmd_tidy ${other}`), [[other], '', 0]);
  for (const name of ['src/nothing.cpp', 'src/app/app.h']) {
    assert.deepEqual(looked(`${changed('false', '')}; cmd_tidy ${name}`), [[], `play: there is no source "${name}"; give the name of a .cpp`, 2]);
  }
});

test('clang-format is brought unless one of version 19 is there', () => {
  const asked = (versions) => shell(`need_packages() { echo "need $*"; }; ${versions}; setup_format`).stdout;
  const version = (name, number) => `${name}() { echo 'Debian clang-format version ${number} (1)'; }`, none = 'clang-format-19() { false; }; clang-format() { false; }';
  assert.equal(asked(none), 'need clang-format-19\n');
  assert.equal(asked(`${none}; ${version('clang-format', '14.0.6')}`), 'need clang-format-19\n');
  assert.equal(asked(`${none}; ${version('clang-format', '19.1.7')}`), '');
  assert.equal(asked(`${none}; ${version('clang-format-19', '19.1.7')}`), '');
});

/** A shell that waits for its turn and has it until its input ends: {child, said}. */
function turn(folder, lines) {
  const script = `source ./play; BUILD=${folder}; ${lines}; take_turn && { echo mine; tail -f /dev/null & echo $!; cat; kill $!; }`;
  const one = {child: spawn('bash', ['-c', script], {cwd: root, env: {...process.env, AP_PLAY_HOLDS: ''}}), said: ''};
  one.child.stdout.setEncoding('utf8').on('data', (text) => { one.said += text; });
  return one;
}

for (const [name, lines] of [['flock', ':'], ['the number of the process', 'have() { [ "$1" != flock ]; }']]) {
  test(`one command at a time works in a folder, and one that is killed leaves nothing behind: by ${name}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'play-turn-')), WAITS = /^ {2}waiting for another \.\/play in this folder to finish\n/, MINE = /mine\n(\d+)\n/;
    const all = [], says = (one, what) => until(`${what}`, () => what.test(one.said)), begin = (what) => says(all[all.push(turn(folder, lines)) - 1], what);
    try {
      await begin(MINE);
      await begin(WAITS);
      const nested = spawnSync('bash', ['-c', `source ./play; BUILD=${folder}; ${lines}; AP_PLAY_HOLDS=$ROOT; take_turn && echo mine`], {cwd: root, encoding: 'utf8'});
      assert.equal(nested.stdout, 'mine\n', 'what a command calls itself does not wait for it');
      all[0].child.kill('SIGKILL');
      await says(all[1], MINE);
      assert.doesNotThrow(() => process.kill(MINE.exec(all[0].said)[1], 0), 'what the first one started goes on');
      await begin(WAITS);
      all[1].child.stdin.end();
      await says(all[2], MINE);
    } finally {
      for (const {child, said} of all) {
        child.kill('SIGKILL');
        if (MINE.test(said)) spawnSync('kill', [MINE.exec(said)[1]]);
      }
      rmSync(folder, {recursive: true});
    }
  });
}

test('an unknown benchmark gets one sentence and status 2', () => {
  const {status, stderr} = play('bench', 'everything');
  assert.equal(status, 2);
  assert.match(stderr, /^play: no benchmark is called "everything".*\n$/);
});

test('what is kept of a benchmark is a whole run', () => {
  const {status, stderr} = play('bench', 'keys', '--write', '--quick');
  assert.deepEqual([status, stderr], [2, 'play: --write keeps whole runs, so it cannot be used with --quick\n']);
});

test('help names every command', () => {
  const {status, stdout} = play('help');
  assert.equal(status, 0);
  for (const name of ['desktop', 'test', 'fuzz', 'tidy', 'bench', 'docs', 'dist', 'release', 'setup', 'help']) assert.match(stdout, new RegExp(`\\./play ${name}`));
});

test('the packages name the addresses that are given, and ./play dist says which are not', () => {
  const given = 'AP_REPOSITORY=https://example.org/playground.git AP_HOMEPAGE=https://example.org/playground/';
  const packed = (addresses) => shell(`mkdir -p "$BUILD/package" && sed "s/@PROJECT_VERSION@/$(version)/" web/package.json >"$BUILD/package/package.json"; ${addresses}; pack_package >/dev/null 2>&1 || exit 1
    tar -xzOf "$BUILD"/package/*.tgz package/package.json; echo ---; addresses_for_python`).stdout.split('---\n');
  const [npm, python] = packed(given);
  assert.deepEqual([JSON.parse(npm).repository, JSON.parse(npm).homepage], [{type: 'git', url: 'git+https://example.org/playground.git'}, 'https://example.org/playground/']);
  assert.equal(python, '\n[project.urls]\nRepository = "https://example.org/playground.git"\nHomepage = "https://example.org/playground/"\n');
  const [plain, nothing] = packed('unset AP_REPOSITORY AP_HOMEPAGE');
  assert.deepEqual([JSON.parse(plain).repository, JSON.parse(plain).homepage, nothing], [undefined, undefined, '']);
  assert.equal(shell(`${given}; check_addresses`).stdout, '');
  assert.match(shell('unset AP_REPOSITORY AP_HOMEPAGE; check_addresses').stdout, /^ {2}no address of the repository is known, so the packages name none; AP_REPOSITORY=https:\/\/… gives it$/m);
  for (const [wrong, sentence] of [['/srv/playground', 'like https://example.org/playground, not /srv/playground'], ['https://example.org/"', 'like https://example.org/playground, not https://example.org/"'],
    ['https://me:secret@example.org/playground', 'without a name and a password, like https://example.org/playground']]) {
    const {status, stderr} = shell(`AP_HOMEPAGE='${wrong}' AP_REPOSITORY=; check_addresses`);
    assert.deepEqual([status, stderr], [1, `play: AP_HOMEPAGE wants an address ${sentence}\n`]);
  }
});

test('a second set-up does no work', () => {
  assert.equal(play('setup').status, 0);
  const {status, stdout} = play('setup');
  assert.equal(status, 0);
  assert.equal(stdout, 'set up: everything\n');
});

test('a step runs once, again when it was interrupted, and again when it or its files changed', () => {
  const {stdout} = shell(`
    count() { cat "$TC/count" 2>/dev/null | wc -l; }
    step() { echo >>"$TC/count"; [ ! -e "$TC/fails" ]; }
    touch "$TC/fails"; once step 'a step' step >/dev/null || echo "failed after $(count)"
    rm "$TC/fails";    once step 'a step' step >/dev/null; echo "done after $(count)"
                       once step 'a step' step >/dev/null; echo "still $(count)"
    step() { echo >>"$TC/count"; true; }
                       once step 'a step' step >/dev/null; echo "changed: $(count)"
    echo 1 >"$TC/file"; once step 'a step' step "$TC/file" >/dev/null; once step 'a step' step "$TC/file" >/dev/null; echo "with a file: $(count)"
    echo 2 >"$TC/file"; once step 'a step' step "$TC/file" >/dev/null; echo "another file: $(count)"`);
  assert.deepEqual(stdout.trim().split('\n'),
      ['failed after 1', 'done after 2', 'still 2', 'changed: 3', 'with a file: 4', 'another file: 5']);
});

test('packages of npm are brought once, and again if their folder is gone', () => {
  const {stdout} = shell(`
    ROOT=$TC/root; mkdir -p "$ROOT/some/place"; echo {} >"$ROOT/some/place/package-lock.json"
    npm() { mkdir -p node_modules; echo "$PWD $1" | sed "s|$ROOT/||"; echo >>"$TC/count"; }
    bring() { bring_packages some 'some packages' some/place >/dev/null; cat "$LOG" | tail -n 1; wc -l <"$TC/count"; }
    bring; bring; rm -r "$ROOT/some/place/node_modules"; bring; echo '{"a": 1}' >"$ROOT/some/place/package-lock.json"; bring`);
  assert.deepEqual(stdout.trim().split(/\s*\n\s*/), ['some/place ci', '1', 'some/place ci', '1', 'some/place ci', '2', 'some/place ci', '3']);
});

test('what was half unpacked is not taken as done', () => {
  const {stdout} = shell(`
    step() { fresh_dir thing && echo 1 >"$TC/new/thing/a" && [ -e "$TC/go" ] && echo 2 >"$TC/new/thing/b" && put_in_place thing; }
    once thing 'a thing' step >/dev/null; ls "$TC/thing" 2>/dev/null; echo "--"
    touch "$TC/go"; once thing 'a thing' step >/dev/null; ls "$TC/thing"`);
  assert.deepEqual(stdout.trim().split('\n'), ['--', 'a', 'b']);
});

test('versions of Emscripten are compared as versions', () => {
  const {stdout} = shell(`for v in 3.1.6 3.1.68 3.1.69 3.1.70 4.0.1 10.0.0 ''; do new_enough "$v" && echo "$v"; done`);
  assert.deepEqual(stdout.trim().split('\n'), ['3.1.69', '3.1.70', '4.0.1', '10.0.0']);
});

test('an Emscripten that arrives configures the page anew, and leaves what is built natively', () => {
  const {stdout} = shell(`
    cmake() { mkdir -p "$BUILD/$4"; }
    configure native >/dev/null; configure web >/dev/null
    touch "$BUILD/native/program" "$BUILD/web/page"
    echo 'include(a)' >"$TC/emscripten.cmake"
    configure native >/dev/null; configure web >/dev/null
    ls "$BUILD/native" "$BUILD/web"`);
  assert.match(stdout, /native:\n(.*\n)*program\n/);
  assert.doesNotMatch(stdout, /page/);
});

test('without root, missing packages are named in one sentence', () => {
  const {status, stderr, stdout} = shell(`is_root() { false; }; need_packages cmake ninja-build`);
  assert.equal(status, 1);
  assert.equal(stdout, '');
  assert.equal(stderr, 'play: these packages are missing and only root can install them: sudo apt-get install --no-install-recommends cmake ninja-build\n');
});

test('a source tarball with another checksum is refused', () => {
  const {stdout} = shell(`
    private_apt() { true; }; mkdir -p "$TC/apt/archives"; echo other >"$TC/apt/archives/imgui_${'${IMGUI_VERSION}'}+ds.orig.tar.xz"
    once imgui 'a source' unpack_imgui; ls "$TC/imgui" 2>/dev/null; grep -h FAILED "$LOGS"/*`);
  assert.match(stdout, /failed\s*\n.*: FAILED\n$/);
});

test('test reports are added up, and a suite that ran nothing is noticed', () => {
  const {stdout} = shell(`
    printf '[doctest] test cases: 12 | 11 passed | 1 failed | 3 skipped\\n' >"$TC/a"; count_tests "$TC/a"
    printf '# tests 5\\n# pass 4\\n# fail 1\\n# cancelled 0\\n' >"$TC/a"; count_tests "$TC/a"
    printf '\\033[34mℹ pass 7\\033[39m\\nℹ fail 0\\n' >"$TC/a"; count_tests "$TC/a"
    printf 'nothing\\n' >"$TC/a"; count_tests "$TC/a"`);
  assert.deepEqual(stdout.trim().split('\n'), ['11 1', '4 1', '7 0', '0 0']);
});

test('a suite that cannot be built is one failure, and the others run', () => {
  const {stdout, stderr} = shell(`
    SUITES='good bad last'
    prepare_good() { :; }; suite_good() { printf '# pass 2\\n# fail 0\\n'; }
    prepare_bad() { die 'there is no compiler'; }; suite_bad() { printf '# pass 9\\n'; }
    prepare_last() { :; }; suite_last() { printf '# pass 3\\n# fail 0\\n'; }
    cmd_test; echo "status $?"`);
  assert.match(stdout, /good +2 passed +0 failed.*\nbad +0 passed +1 failed.*\nlast +3 passed +0 failed.*\n\n5 passed, 1 failed\nstatus 1\n$/);
  assert.match(stderr, /there is no compiler/);
});

test('suites that run beside others are reported after them, with what they printed and how they ended', () => {
  const {stdout} = shell(`
    SUITES='first beside broken last' BESIDE='beside broken'
    for suite in $SUITES; do eval "prepare_$suite() { :; }"; done
    suite_first() { printf '# pass 1\\n# fail 0\\n'; }
    suite_beside() { printf 'words\\n# pass 2\\n# fail 0\\n'; }
    suite_broken() { printf '# pass 3\\n# fail 0\\n'; return 7; }
    suite_last() { printf '# pass 4\\n# fail 0\\n'; }
    cmd_test; echo "status $?"
    cmd_test beside`);
  assert.match(stdout, /== first\n# pass 1\n# fail 0\n== last\n# pass 4\n# fail 0\n== beside\nwords\n# pass 2\n# fail 0\n== broken\n/);
  assert.match(stdout, /first +1 passed +0 failed.*\nlast +4 passed +0 failed.*\nbeside +2 passed +0 failed.*\nbroken +3 passed +1 failed.*\n\n10 passed, 1 failed\nstatus 1\n/);
  assert.match(stdout, /status 1\n== beside\nwords\n[^]*\n2 passed, 0 failed\n$/, 'alone it prints while it runs');
});

test('the suite that builds a release waits until no other looks at what is built', () => {
  const {stdout} = shell(`
    SUITES='setup first beside' BESIDE=beside
    for suite in $SUITES; do eval "prepare_$suite() { :; }; suite_$suite() { echo '# pass 1'; }"; done
    cmd_test`);
  assert.match(stdout, /^== first\n[^]*== beside\n[^]*== setup\n[^]*\n3 passed, 0 failed\n$/);
});

// Names of folders that occur in practice.
const ODD = ["it's here", 'a "quoted" one', 'two  spaces', '$HOME `id` $(id)', 'Größe 我', 'semi;colon & [x] #1'];

for (const name of ODD) {
  test(`a folder called ${JSON.stringify(name)} does no harm`, () => {
    const outside = mkdtempSync(join(tmpdir(), 'play-odd-')), inside = join(outside, name);
    try {
      mkdirSync(inside);
      copyFileSync(join(root, 'play'), join(inside, 'play'));
      mkdirSync(join(outside, 'bin'));
      symlinkSync(join(inside, 'play'), join(outside, 'bin', 'far'));
      symlinkSync('far', join(outside, 'bin', 'linked play'));
      for (const path of [join(inside, 'play'), join(outside, 'bin', 'linked play')]) {
        const found = spawnSync('bash', ['-c', 'source "$1"; printf %s "$ROOT"', 'test', path], {encoding: 'utf8'});
        assert.deepEqual([found.stdout, found.stderr], [inside, ''], 'the folder of the script itself');
        assert.equal(spawnSync(path, ['help'], {encoding: 'utf8'}).status, 0);
      }
      // Emscripten's configuration is Python, Binaryen's wrappers are shell, and CMake's file is CMake.
      const written = spawnSync('bash', ['-c', `source "$1"; emscripten_config "$ROOT" >"$ROOT/config.py"
        binaryen_wrapper "$ROOT/load" "$ROOT/libraries" "$ROOT/program" >"$ROOT/wrapper"
        mkdir -p "$ROOT/cmake/Modules/Platform"; echo 'message("read")' >"$ROOT/cmake/Modules/Platform/Emscripten.cmake"; use_emscripten "$ROOT"`,
      'test', join(inside, 'play')], {encoding: 'utf8'});
      assert.deepEqual([written.status, written.stderr], [0, '']);
      const python = spawnSync('python3', ['-c', 'exec(open("config.py").read()); print(BINARYEN_ROOT, end="")'], {cwd: inside, encoding: 'utf8'});
      assert.equal(python.stdout, `${inside}/binaryen`, python.stderr);
      writeFileSync(join(inside, 'load'), '#!/bin/sh\nprintf "%s\\n" "$@"\n', {mode: 0o755});
      const ran = spawnSync('sh', ['wrapper', "an 'argument'"], {cwd: inside, encoding: 'utf8'});
      assert.deepEqual(ran.stdout.split('\n'), ['--library-path', `${inside}/libraries`, `${inside}/program`, "an 'argument'", ''], ran.stderr);
      const cmake = spawnSync('cmake', ['-P', join(inside, '.toolchain', 'emscripten.cmake')], {encoding: 'utf8'});
      assert.match(cmake.stderr, /^read\n/);
    } finally {
      rmSync(outside, {recursive: true});
    }
  });
}

test('a path that apt cannot take is refused before anything is fetched', () => {
  for (const folder of [`'/a"b'`, `'/a\\b'`, `$'/a\nb'`]) {
    const {status, stderr} = shell(`check_for_apt ${folder}`);
    assert.equal(status, 1, folder);
    assert.match(stderr, /^play: apt cannot work in .*move this folder/s);
  }
  assert.equal(shell(`check_for_apt "/it's \\$here"`).status, 0);
});

test('fuzzing names its targets, and wants whole seconds', () => {
  const unknown = play('fuzz', 'everything');
  assert.equal(unknown.status, 2);
  assert.match(unknown.stderr, /^play: no fuzz target is called "everything"; there are: csv edits npy /);
  for (const seconds of ['0', '-1', 'x', '1.5', '']) {
    const {status, stderr} = play('fuzz', '--seconds', seconds);
    assert.equal(status, 2);
    assert.equal(stderr, `play: --seconds wants a whole number from 1, not "${seconds}"\n`);
  }
});

test('the fuzz suite leaves its seeds as they are', () => {
  const {stdout} = shell(`
    ROOT=$TC; FUZZ_TARGETS='one two'; mkdir -p "$BUILD/asan" "$ROOT/tests/fuzz/corpus/one" "$ROOT/tests/fuzz/corpus/two"
    for name in one two; do
      # As libFuzzer does: what is new goes to the first folder, and the later ones are only read.
      printf '%s\\n' '#!/bin/sh' 'for word; do case $word in -*) ;; *) ls "$word"; echo >"$word/new"; exit ;; esac; done' >"$BUILD/asan/fuzz_$name"
      chmod +x "$BUILD/asan/fuzz_$name"
    done
    fuzz_all 1 10; fuzz_all 1 10; find "$ROOT/tests" -type f`);
  const once = 'fuzz one\nfuzz two\n# pass 2\n# fail 0\n';
  assert.equal(stdout, once + once);
});

// Starts ./play, and resolves to its address.
function serve() {
  const child = spawn('./play', [], {cwd: root, detached: true, stdio: ['ignore', 'pipe', 'pipe']});
  return new Promise((resolve, reject) => {
    let text = '';
    const heard = data => {
      text += data;
      const address = text.match(/http:\/\/127\.0\.0\.1:\d+\//);
      if (address) resolve({child, address: address[0]});
    };
    child.stdout.on('data', heard);
    child.stderr.on('data', heard);
    child.on('exit', () => reject(new Error(text)));
  });
}

const ended = child => new Promise(resolve => child.on('exit', (code, signal) => resolve(code ?? signal)));
const refused = port => new Promise(resolve =>
  createConnection(port, '127.0.0.1').on('connect', () => resolve(false)).on('error', () => resolve(true)));

test('the page is served on a free port, with the right types, until Ctrl-C', async () => {
  const first = await serve();
  const second = await serve();
  try {
    assert.notEqual(first.address, second.address);
    for (const [file, type] of [['', 'text/html'], ['element.js', 'text/javascript'], ['playground.js', 'text/javascript'],
      ['playground.wasm', 'application/wasm'], ['playground-relaxed.js', 'text/javascript'], ['playground-relaxed.wasm', 'application/wasm'],
      ['playground.rest.wasm', 'application/wasm'], ['playground-relaxed.rest.wasm', 'application/wasm'],
      ['playground.files.wasm', 'application/wasm'], ['playground-relaxed.files.wasm', 'application/wasm']]) {
      const answer = await fetch(first.address + file);
      assert.equal(answer.status, 200, file);
      assert.equal(answer.headers.get('content-type').split(';')[0], type, file);
      await answer.arrayBuffer();
    }
  } finally {
    for (const {child, address} of [first, second]) {
      const began = Date.now();
      const end = ended(child);
      process.kill(-child.pid, 'SIGINT');  // like a terminal on Ctrl-C
      assert.equal(await end, 0);
      assert.ok(Date.now() - began < 2000);
      assert.ok(await refused(Number(new URL(address).port)));
    }
  }
});
