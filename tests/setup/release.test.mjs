// ./play release: every artifact, with its sum, and a list of what is inside. It is built once here: that two builds are the same is tried by each
// release, which builds everything anew.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {mkdtempSync, readFileSync, readdirSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {before, test} from 'node:test';
import {root, version} from './tree.mjs';

const folder = join(root, 'build/release');
const env = {...process.env, AP_TARGETS: ''};  // attn for other systems has suites of its own, wheels and windows
const play = (...args) => spawnSync('./play', args, {cwd: root, encoding: 'utf8', timeout: 600_000, env});
const sumOf = (name) => createHash('sha256').update(readFileSync(join(folder, name))).digest('hex');
before(() => {
  const done = play('release', '--once');
  assert.equal(done.status, 0, done.stdout + done.stderr);
  assert.match(done.stdout, /\nbuilt once: no bytes were compared\n$/);
});

test('an unknown option gets one sentence and status 2', () => {
  const {status, stderr} = play('release', '--thrice');
  assert.deepEqual([status, stderr], [2, 'play: release takes --once, or nothing, not "--thrice"\n']);
});

test('without an option everything is made again from nothing in another folder, and the bytes are compared', () => {
  const place = mkdtempSync(join(tmpdir(), 'release-'));
  const released = (name, words) => {
    const script = `source ./play; ROOT=$1/$2; BUILD=$ROOT/build; TC=$ROOT/tools; mkdir -p $ROOT/tests/node_modules $ROOT/web/docs/node_modules $BUILD; cd $ROOT; git init -q; echo source >file; git add file
      check_addresses() { :; }; setup_dist() { :; }; make_release() { echo "made in $ROOT"; mkdir -p "$1"; cp $ROOT/file "$1/a"; echo ${words} >"$1/b"; }; cmd_release`;
    return spawnSync('bash', ['-c', script, 'bash', place, name], {cwd: root, encoding: 'utf8', env: {...env, TMPDIR: place}});
  };
  try {
    const alike = released('alike', 'the same');
    assert.equal(alike.status, 0, alike.stderr);
    assert.equal(new Set(alike.stdout.match(/^made in .*$/gm)).size, 2);
    assert.match(alike.stdout, /\nthe same bytes, twice\n/);
    const {status, stderr} = released('unlike', '$ROOT');
    assert.equal(status, 1);
    assert.match(stderr, /^play: two builds gave other bytes: b; the second is in .*\/another-folder\/release\n$/);
  } finally {
    rmSync(place, {recursive: true});
  }
});

test('the artifacts are there, each with the version in its name, and the sums are theirs', () => {
  const names = readdirSync(folder), patterns = [/-site\.tar\.gz$/, /\.tgz$/, /-py3-none-any\.whl$/, /^attention_playground-[\d.]+\.tar\.gz$/, /\.spdx\.json$/];
  if (process.platform === 'linux') patterns.push(/\.deb$/, /-linux-.*\.tar\.gz$/);
  for (const pattern of patterns) assert.equal(names.filter((name) => pattern.test(name) && name.includes(version)).length, 1, pattern);
  assert.equal(names.length, patterns.length + 1, names.join());
  const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trim().split('\n').map((line) => line.split('  '));
  assert.deepEqual(sums, names.filter((name) => name !== 'SHA256SUMS').sort().map((name) => [sumOf(name), name]));
});

test('the list of contents has every artifact and every part of which there is a notice', () => {
  const list = JSON.parse(readFileSync(join(folder, `attention-playground-${version}.spdx.json`), 'utf8'));
  const ids = new Set(list.packages.map(({SPDXID}) => SPDXID)), inside = (name) => {
    const {SPDXID} = list.packages.find((one) => one.name === name);
    const parts = list.relationships.filter((one) => one.spdxElementId === SPDXID && one.relationshipType === 'CONTAINS').map(({relatedSpdxElement}) => relatedSpdxElement);
    return list.packages.filter((one) => parts.includes(one.SPDXID)).map((one) => `${one.name} ${one.versionInfo ?? ''}`.trim());
  };
  assert.equal(ids.size, list.packages.length);
  for (const {SPDXID, licenseDeclared} of list.packages) {
    assert.match(SPDXID, /^SPDXRef-[A-Za-z0-9.-]+$/);
    assert.match(licenseDeclared, /^[A-Za-z0-9.-]+( (AND|OR|WITH) [A-Za-z0-9.-]+)*$/, SPDXID);
  }
  for (const {spdxElementId, relatedSpdxElement} of list.relationships) assert.ok((spdxElementId === 'SPDXRef-DOCUMENT' || ids.has(spdxElementId)) && ids.has(relatedSpdxElement));
  const listed = (file) => [...readFileSync(join(root, 'build', file), 'utf8').split('It contains')[1].split('\n======')[0].matchAll(/^ {2}(.+?): /gm)].map(([, name]) => name);
  for (const {name, checksums} of list.packages.filter((one) => one.packageFileName)) {
    assert.equal(checksums[0].checksumValue, sumOf(name), name);
    const wanted = [...listed('web/NOTICES.txt'), .../\.deb$|-linux-/.test(name) ? listed('native/NOTICES.txt') : []];
    assert.ok(wanted.length > 10);
    assert.deepEqual(inside(name).sort(), [...new Set(wanted)].sort(), name);
  }
});

test('the page is packed alike, whenever and by whomever its files were made', () => {
  const place = mkdtempSync(join(tmpdir(), 'release-'));
  try {
    const script = 'source ./play; mkdir -p "$1/site/a"; echo b >"$1/site/b"; echo c >"$1/site/a/c"; BUILD=$1; pack_site "$1/one"; touch -d 2001-01-01 "$1/site/b" "$1/site/a"; chmod 600 "$1/site/b"; pack_site "$1/two"';
    assert.equal(spawnSync('bash', ['-c', script, 'bash', place], {cwd: root, encoding: 'utf8'}).stderr, '');
    assert.ok(readFileSync(join(place, 'one')).equals(readFileSync(join(place, 'two'))));
  } finally {
    rmSync(place, {recursive: true});
  }
});
