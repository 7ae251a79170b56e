// Runs a benchmark and keeps its report in measured.json, with the day and the machine, for the page "What is tested, and how fast it is".
//   node measured.mjs NAME [option of the benchmark…]
import {spawn} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {cpus, loadavg, totalmem} from 'node:os';
import {fileURLToPath} from 'node:url';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const file = process.env.BENCH_MEASURED ?? here('measured.json');
const [name, ...options] = process.argv.slice(2);

const about = {when: new Date().toISOString().slice(0, 10), processor: cpus()[0]?.model, cores: cpus().length, memory: Math.round(totalmem() / 2 ** 30), system: process.platform,
  node: process.version, load: Math.round(loadavg()[0] * 10) / 10};  // of others: the benchmark has not begun
const child = spawn(process.execPath, [here(`${name}.bench.mjs`), ...options], {stdio: ['ignore', 'pipe', 'inherit']});
let report = '';
child.stdout.setEncoding('utf8').on('data', (text) => {
  report += text;
  process.stdout.write(text);
});
const status = await new Promise((resolve) => { child.once('close', resolve); });
if (status === 0) {
  const lines = report.split('\n').filter((line) => !line.startsWith('written: ')).map((line) => line.trimEnd());
  const all = {...JSON.parse(readFileSync(file, 'utf8')), [name]: {...about, report: lines.join('\n').replace(/^\n+|\n+$/g, '').split('\n')}};
  const sorted = Object.fromEntries(Object.entries(all).sort(([a], [b]) => a < b ? -1 : 1));
  writeFileSync(file, `${JSON.stringify(sorted, null, 1)}\n`);
}
process.exitCode = status ?? 1;
