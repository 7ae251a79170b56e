// What a person does first: pip installs the wheel made by ./play, with what it needs from PyPI, into an environment that has Jupyter, and a cell of a
// notebook shows a board; and into each Python that there is. Seconds are printed, and not judged: other programs work at the same time.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync} from 'node:fs';
import {homedir, tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {launch} from '../browser/harness.mjs';
import {timed} from '../timed.mjs';
import {version} from '../setup/tree.mjs';
import {python} from '../numpy.mjs';
import {built, dist, run} from './installed.mjs';
import {jupyter, notebook, opened} from './jupyter.mjs';

let browser, folder, own, jupyterTook;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pip-'));
  own = join(folder, 'venv/bin/python');
  run(python, '-m', 'venv', join(folder, 'venv'));  // with nothing of the system
  // The version that ./play test models installs anyway, so pip has it in its cache.
  jupyterTook = timed([own, '-m', 'pip', 'install', '--quiet', 'jupyterlab==4.6.6']).seconds;
  browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true, force: true, maxRetries: 5});
});

test('from pip install to a board in a notebook', async (t) => {
  const home = join(folder, 'home'), began = performance.now();
  mkdirSync(home);
  notebook(home, 'first.ipynb', 'from attention_playground import Playground\nPlayground(q=[[1, 0], [0, 1]], k=[[1, 0], [0, 1]], v=[[1], [2]], causal=True)');
  const installed = timed([own, '-m', 'pip', 'install', '--quiet', '--find-links', dist, `attention-playground[notebook]==${version}`]);
  const server = await jupyter(own, home), started = performance.now();
  try {
    const page = await browser.newPage({viewport: {width: 1500, height: 1000}});
    await opened(page, server.address, 'first.ipynb');
    const board = page.locator('.jp-OutputArea attention-playground');
    await board.waitFor({timeout: 120_000});
    await board.evaluate((element) => element.ready.then(() => true));
    const done = performance.now(), seconds = (from, to) => ((to - from) / 1000).toFixed(1);
    t.diagnostic(`${seconds(began, done)} s from pip install to a board in a notebook: installed in ${installed.seconds.toFixed(1)} (processors worked ${installed.processor.toFixed(1)}), ` +
      `Jupyter started in ${(Number(seconds(began, started)) - installed.seconds).toFixed(1)}, drawn in ${seconds(started, done)}; Jupyter itself, before, took ${jupyterTook.toFixed(1)}`);
    assert.deepEqual(await board.evaluate((element) => Array.from(element.getTensor('weights').data.subarray(0, 2))), [1, 0]);
  } finally {
    await server.close();
  }
});

/** The Pythons of these versions on the PATH, or that pyenv has: [[version, program]]. */
function pythons(...versions) {
  const kept = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions'), others = existsSync(kept) ? readdirSync(kept) : [];
  return versions.flatMap((one) => {
    const programs = [`python${one}`, ...others.filter((name) => name.startsWith(`${one}.`)).map((name) => join(kept, name, 'bin/python'))];
    const found = programs.find((program) => spawnSync(program, ['-c', 'import ensurepip']).status === 0);
    return found ? [[one, found]] : [];
  });
}
const COMPUTED = `import sys, attention_playground as ap
board = ap.Playground(q=[[1, 0], [0, 1]], k=[[1, 0], [0, 1]], v=[[1], [2]], causal=True)
assert board.picture().startswith("<svg") and board.tensor("weights")[0, 0].tolist() == [1, 0]
print("%d.%d" % sys.version_info[:2])`;

test('CPython 3.9 to 3.13, as far as they are there: pip takes the wheel, and the sdist, and tensors are computed without attn', (t) => {
  const all = pythons('3.9', '3.10', '3.11', '3.12', '3.13'), empty = join(folder, 'empty');
  mkdirSync(empty);
  assert.ok(all.length > 0);
  for (const [version, program] of all) {
    const place = join(folder, version), its = join(place, 'bin/python');
    run(program, '-m', 'venv', place);
    run(its, '-m', 'pip', 'install', '--quiet', `${built('.whl')}[wasm]`);
    if (version === all.at(-1)[0]) run(its, '-m', 'pip', 'install', '--quiet', '--no-deps', '--force-reinstall', built('.tar.gz'));
    assert.equal(run(its, {env: {...process.env, PATH: empty}}, '-c', COMPUTED), `${version}\n`);
  }
  t.diagnostic(`tried: ${all.map(([version]) => version).join(', ')}`);
});
