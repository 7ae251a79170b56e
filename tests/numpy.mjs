// A Python with NumPy, whose files the programs read and write.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';

/** The first one that has NumPy; one earlier on the PATH than the system's may not. */
export const python = ['python3', '/usr/bin/python3'].find((name) => spawnSync(name, ['-c', 'import numpy']).status === 0);
assert.ok(python, 'NumPy is missing: ./play test cli brings it');
