// A Python that has NumPy, whose files are what the programs read and write.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';

/** The first: one that stands before the system's on the PATH need not have it. */
export const python = ['python3', '/usr/bin/python3'].find((name) => spawnSync(name, ['-c', 'import numpy']).status === 0);
assert.ok(python, 'NumPy is missing: ./play test cli brings it');
