// The notices of what others made: their list is what the builds compile and link, and they are in every artifact.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {after, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {version} from './tree.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..'), build = join(root, 'build');
const folder = mkdtempSync(join(tmpdir(), 'notices-'));
after(() => rmSync(folder, {recursive: true}));

function run(program, ...args) {
  const done = spawnSync(program, args, {cwd: root, encoding: 'utf8', maxBuffer: 1 << 28, timeout: 120_000});
  assert.equal(done.status, 0, `${program} ${args.join(' ')}: ${done.stderr || done.error}`);
  return done.stdout;
}

// ---------------------------------------------------------------- what is compiled and linked

const IMGUI_STB = 'stb_rect_pack, stb_textedit and stb_truetype, in Dear ImGui', LLVM = 'libc++, libc++abi and compiler-rt, of LLVM';
const MUSL = 'musl, the C library of Emscripten', EMSCRIPTEN = "Emscripten's runtime";
/** The parts that a file belongs to, by the first pattern for its path. Of what the system has, and loads or permits to use, there is no notice. */
const BELONGS = [
  [/\/fonts\/Inter-[^/]*$/, 'Inter'], [/\/fonts\/JetBrainsMono-[^/]*$/, 'JetBrains Mono'], [/\/lessons\/real-model\.json$/, 'Numbers of the model all-MiniLM-L6-v2, in a lesson'],
  [/\/web\/generated\/imgui\/imgui_draw\.cpp$/, 'Dear ImGui'], [/\/imgui_draw\.cpp$/, 'Dear ImGui', 'ProggyClean, a font in Dear ImGui'],
  [/\/imgui_impl_opengl3_loader\.h$/, 'gl3w, in Dear ImGui'], [/\/imstb_[^/]*$/, IMGUI_STB], [/\/(imgui|imconfig)[^/]*\.(h|cpp)$/, 'Dear ImGui'],
  [/\/Eigen\//, 'Eigen'], [/\/nlohmann\//, 'JSON for Modern C++'], [/\/CLI\//, 'CLI11'], [/\/stb_image(_write)?\.h$/, 'stb_image and stb_image_write'],
  [/node_modules\/uqr\//, 'uqr'], [/node_modules\/xz-decompress\//, 'xz-decompress'],
  [/\/sysroot\/include\/c\+\+\//, LLVM], [/\/clang\/\d+\/include\//, LLVM], [/\/sysroot\/include\/(emscripten|compat|GLES3|KHR)\//, EMSCRIPTEN], [/\/sysroot\/include\//, MUSL],
  [/^lib(c\+\+|c\+\+abi|compiler_rt)[-.]/, LLVM], [/^lib(c|bulkmemory)[-._]/, MUSL, EMSCRIPTEN], [/^lib(GL|emmalloc|html5|noexit|standalonewasm|stubs)[-.]/, EMSCRIPTEN],
  [/^\/usr\/lib\/gcc\//], [/^\/usr\/include\/(c\+\+|[a-z0-9_]+-linux-gnu|asm-generic|linux|GL|GLFW|KHR|cairo|fontconfig|freetype2|glib-2\.0|harfbuzz|pango-1\.0)\//],
  [/^\/usr\/lib\/[^/]+\/glib-2\.0\/include\//], [/^\/usr\/lib\/[^/]+\/lib[^/]+\.so(\.[\d.]+)?$/], [/^\/usr\/include\/libdeflate\.h$/],
  [/^\/usr\/include\/(alloca|assert|ctype|dirent|dlfcn|endian|errno|fcntl|features|features-time64|libintl|limits|locale|math|pthread|sched|semaphore|setjmp|signal|spawn|stdc-predef|stdint|stdio|stdlib|string|strings|syscall|time|unistd|wchar|wctype)\.h$/],
];

/** The parts that files belong to; those that are nobody's are reported. */
function partsOf(files) {
  const parts = new Set(), strangers = [];
  for (const file of new Set(files)) {
    const found = BELONGS.find(([pattern]) => pattern.test(file));
    if (found) found.slice(1).forEach((part) => parts.add(part));
    else if (!file.startsWith(`${root}/`) || file.startsWith(join(root, '.toolchain/')) || file.includes('/node_modules/')) strangers.push(file);
  }
  assert.deepEqual(strangers, [], 'each file of others has a line in BELONGS, and its part a notice in CMakeLists.txt');
  return [...parts].sort();
}

/** Everything that goes into targets of a build, and all that is included by it. */
function filesIn(preset, ...targets) {
  const place = join(build, preset), ninja = (...args) => run('ninja', '-C', place, '-t', ...args).split('\n');
  const inputs = ninja('inputs', ...targets).filter((line) => line && !line.startsWith('cmake_object_order'));
  const included = ninja('deps', ...inputs.filter((input) => /\.(o|gch|pch)$/.test(input))).filter((line) => line.startsWith('    ')).map((line) => line.trim());
  return [...inputs, ...included].map((file) => resolve(place, file));
}

/** The archives of Emscripten of which the linker took something, from its lines "reference, extracted, symbol". */
const takenBy = (program) => readFileSync(join(build, 'web', `extracted${program}.txt`), 'utf8').split('\n').slice(1)
    .map((line) => /([^/]+\.a)\(/.exec(line.split('\t')[1])?.[1]).filter((name) => name && !existsSync(join(build, 'web', name)));

/** The names in a list of notices, without versions and licences. */
const listed = (notices) => [...notices.split('It contains')[1].split('\n======')[0].matchAll(/^ {2}(.+): /gm)].map(([, name]) => name.replace(/ \d[\d.]*$/, '')).sort();

test('the notices of the programs are those of what they compile and link', () => {
  const files = filesIn('native', 'attn', 'attention-playground'), notices = readFileSync(join(build, 'native/NOTICES.txt'), 'utf8');
  assert.deepEqual(listed(notices), partsOf(files));
  const loaded = files.map((file) => /\/(lib[^/]+?)\.so(\.[\d.]+)?$/.exec(file)?.[1]).filter(Boolean);
  assert.ok(loaded.includes('libdeflate'));
  for (const library of loaded) assert.match(notices, new RegExp(`system, [^=]*\\b${library}[,.]`), library);
});

test('the notices of the page are those of what it compiles, links and bundles', () => {
  const bundled = readdirSync(join(build, 'site')).filter((name) => name.endsWith('.js.map'))
      .flatMap((name) => JSON.parse(readFileSync(join(build, 'site', name), 'utf8')).sources.map((file) => resolve(build, 'site', file)));
  const packed = Object.keys(JSON.parse(readFileSync(join(build, 'web/split/standalone.json'), 'utf8')).inputs).map((file) => resolve(root, 'web', file)).filter(existsSync);
  assert.ok(bundled.length > 10 && packed.length > 10);
  const archives = ['', '-relaxed', '-core', '-core-relaxed'].flatMap(takenBy);
  for (const name of ['libc.a', 'libemmalloc.a', 'libcompiler_rt.a']) assert.ok(archives.includes(name), name);
  const files = filesIn('web', 'attention-playground', 'attention-playground-relaxed', 'core', 'core-relaxed', 'site');
  assert.deepEqual(listed(readFileSync(join(build, 'web/NOTICES.txt'), 'utf8')), partsOf([...files, ...bundled, ...packed, ...archives]));
});

// ---------------------------------------------------------------- the artifacts

/** What stands in the licences of the parts, and so in their notices. */
const TERMS = {
  'Eigen': /Mozilla Public License Version 2\.0[^]*Exhibit A/, 'JSON for Modern C++': /Niels Lohmann[^]*Permission is hereby granted/, 'CLI11': /University of Cincinnati[^]*Redistributions in binary form/,
  'stb_image and stb_image_write': /Sean Barrett[^]*Permission is hereby granted/, 'Dear ImGui': /Omar Cornut[^]*Permission is hereby granted/, [IMGUI_STB]: /Sean Barrett[^]*Permission is hereby granted/,
  'ProggyClean, a font in Dear ImGui': /Tristan Grimmer[^]*Permission is hereby granted/, 'gl3w, in Dear ImGui': /released into the public domain/,
  'Inter': /The Inter Project Authors[^]*SIL OPEN FONT LICENSE Version 1\.1/, 'JetBrains Mono': /The JetBrains Mono Project Authors[^]*SIL OPEN FONT LICENSE Version 1\.1/,
  'Numbers of the model all-MiniLM-L6-v2, in a lesson': /Apache License\s+Version 2\.0[^]*END OF TERMS AND CONDITIONS/, [EMSCRIPTEN]: /The Emscripten Authors[^]*Permission is hereby granted/i,
  [MUSL]: /Rich Felker[^]*Permission is hereby granted/, [LLVM]: /As an exception,[^]*Apache License\s+Version 2\.0[^]*END OF TERMS AND CONDITIONS/,
  'uqr': /Project Nayuki[^]*Permission is hereby granted/, 'xz-decompress': /Steve Sanderson[^]*Igor Pavlov[^]*Igalia[^]*Permission is hereby granted/,
};

function complete(notices, what) {
  const names = listed(notices), sections = notices.split(/^={78}$/m).slice(1);
  assert.ok(names.length > 10, what);
  assert.equal(sections.length, 2 * names.length, `${what}: a heading and its terms for each name`);
  for (let i = 0; i < sections.length; i += 2) {
    const name = sections[i].trim().split('\n')[0].replace(/ \d[\d.]*$/, '');
    assert.ok(names.includes(name) && TERMS[name], `${what}: ${name}`);
    assert.match(sections[i + 1], TERMS[name], `${what}: ${name}`);
  }
  assert.doesNotMatch(notices, /GNU General Public License as published|\/usr\/share\/common-licenses\/GPL/, `${what}: what is not in it`);
}

const ofPage = () => readFileSync(join(build, 'web/NOTICES.txt'), 'utf8');
const dist = (place, ending) => {
  const found = readdirSync(join(build, place)).filter((name) => name.endsWith(ending));
  assert.equal(found.length, 1, `one ${ending} in ${place}: ${found}`);
  return join(build, place, found[0]);
};
const inTar = (tar, name) => run('tar', '-xzOf', tar, name);

test('the tarball of npm has them', () => {
  const notices = inTar(dist('package', '.tgz'), 'package/NOTICES.txt');
  complete(notices, 'npm');
  assert.equal(notices, ofPage());
});

test('wheel and sdist have them, beside the licence and with the page', () => {
  const read = (name) => run('python3', '-c', 'import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\nsys.stdout.write(z.read(next(n for n in z.namelist() if n.endswith(sys.argv[2]))).decode())', dist('python/dist', '.whl'), name);
  for (const name of ['licenses/NOTICES.txt', 'attention_playground/page/NOTICES.txt']) {
    complete(read(name), name);
    assert.equal(read(name), ofPage());
  }
  const sources = dist('python/dist', '.tar.gz'), [top] = run('tar', '-tzf', sources).split('/');
  for (const name of ['NOTICES.txt', 'attention_playground/page/NOTICES.txt']) assert.equal(inTar(sources, `${top}/${name}`), ofPage(), name);
});

test('the archive of the page has them', () => {
  const archive = join(folder, 'site.tar.gz');
  run('bash', '-c', 'source ./play; pack_site "$1"', 'bash', archive);
  const notices = inTar(archive, `site/${version}/NOTICES.txt`);
  complete(notices, 'the site');
  assert.equal(notices, ofPage());
});

test('the programs print them, also where they are alone, as ./play dist makes them', () => {
  for (const name of ['attn', 'attention-playground']) {
    const alone = join(folder, name);
    run('strip', '-o', alone, join(build, 'native', name));
    const notices = run(alone, '--licenses');
    complete(notices, name);
    assert.equal(notices, readFileSync(join(build, 'native/NOTICES.txt'), 'utf8'));
  }
});

test('cmake --install puts them beside the licence', () => {
  const prefix = join(folder, 'prefix');
  run('cmake', '--install', join(build, 'native'), '--prefix', prefix);
  const [place] = readdirSync(join(prefix, 'share/doc'));
  assert.ok(existsSync(join(prefix, 'share/doc', place, 'LICENSE')));
  complete(readFileSync(join(prefix, 'share/doc', place, 'NOTICES.txt'), 'utf8'), 'the installation');
  assert.equal(readFileSync(join(prefix, 'share/attention-playground/page/NOTICES.txt'), 'utf8'), ofPage());
});

// ---------------------------------------------------------------- what is refused

/** Configures a small project that has src/shell/notices.cmake and these lines. */
function configure(lines) {
  const script = `cmake_minimum_required(VERSION 3.25)\nproject(Small VERSION 1 LANGUAGES NONE)\ninclude("${root}/src/shell/notices.cmake")\n${lines}`;
  const place = mkdtempSync(join(folder, 'small-'));
  writeFileSync(join(place, 'CMakeLists.txt'), script);
  const done = spawnSync('cmake', ['-S', place, '-B', join(place, 'build')], {encoding: 'utf8', timeout: 60_000});
  const notices = join(place, 'build/NOTICES.txt');
  return {status: done.status, said: done.stderr.replace(/\s+/g, ' '), notices: existsSync(notices) ? readFileSync(notices, 'utf8') : ''};
}

test('a library without a notice, and a part without its terms, end the configuration with a sentence', () => {
  const own = 'add_library(own INTERFACE)\nnotices("${CMAKE_BINARY_DIR}/NOTICES.txt" TARGETS own)\n';
  assert.match(configure(own.replace('notices', 'target_link_libraries(own INTERFACE /opt/libz.a)\nnotices')).said, /\/opt\/libz\.a is linked and has no notice; declare it with notice\(\)/);
  const other = 'add_library(other INTERFACE)\nhas_parts(other zlib)\n', linked = `${other}${own.replace('notices', 'target_link_libraries(own INTERFACE other)\nnotices')}`;
  assert.match(configure(linked).said, /There is no notice called zlib/);
  const missing = configure(`notice(zlib "zlib" 1.3 Zlib "https://zlib.net" TEXT "/nowhere/LICENSE")\n${linked}`);
  assert.match(missing.said, /The licence of zlib \(Zlib\) must come with what is built from it, and is not on this machine\. Looked for: \/nowhere\/LICENSE Give the file with its text: -DAP_LICENCE_zlib=FILE/);
  assert.notEqual(missing.status, 0);
  const given = configure(`set(AP_LICENCE_zlib "${join(root, 'LICENSE')}" CACHE FILEPATH "")\nnotice(zlib "zlib" 1.3 Zlib "https://zlib.net" TEXT "/nowhere/LICENSE")\n${linked}`);
  assert.equal(given.status, 0, given.said);
  assert.match(given.notices, /^ {2}zlib 1\.3: Zlib$[^]*MIT License/m);
});
