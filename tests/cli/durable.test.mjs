// That a result is on the disk before it gets its name: the calls of the program, in their order, as a library between it and the C library
// sees them.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {attn, file, folder, layer} from './harness.mjs';

const WATCH = `
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void note(const char* what, const char* a, const char* b) {
  const int log = open(getenv("WATCH_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dprintf(log, "%s %s %s\\n", what, a, b);
  close(log);
}
extern "C" int fsync(int fd) {
  char link[64], name[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, name, sizeof name - 1);
  name[length < 0 ? 0 : length] = 0;
  note("sync", name, "");
  return reinterpret_cast<int (*)(int)>(dlsym(RTLD_NEXT, "fsync"))(fd);
}
extern "C" int rename(const char* from, const char* to) {
  note("rename", from, to);
  return reinterpret_cast<int (*)(const char*, const char*)>(dlsym(RTLD_NEXT, "rename"))(from, to);
}
`;

test('--out is on the disk before it gets its name, and its folder after that, also through a dangling link', {skip: process.platform !== 'linux' && 'it needs /proc'}, () => {
  const library = join(folder, 'watch.so'), source = join(folder, 'watch.cpp'), place = join(folder, 'durable'), log = join(folder, 'watch.log');
  writeFileSync(source, WATCH);
  mkdirSync(place);
  symlinkSync('far.json', join(place, 'link.json'));
  const built = spawnSync('c++', ['-shared', '-fPIC', '-o', library, source, '-ldl'], {encoding: 'utf8'});
  assert.equal(built.status, 0, built.stderr);
  for (const name of ['near.json', 'link.json']) {
    const {status, stderr} = attn('run', file(layer()), '--out', join(place, name), {env: {...process.env, LD_PRELOAD: library, WATCH_LOG: log}});
    assert.equal(status, 0, stderr);
  }
  const part = (name) => `${join(place, name)}\\.part\\d+`, of = (name) => `sync ${part(name)} \nrename ${part(name)} ${join(place, name)}\nsync ${place} \n`;
  assert.match(readFileSync(log, 'utf8'), new RegExp(`^${of('near.json')}${of('far.json')}$`));
  assert.ok(existsSync(join(place, 'far.json')));
});
