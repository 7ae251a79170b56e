// What the benchmarks share: alternating rounds, ratios, a table, a JSON file and a chart.
import {mkdirSync, writeFileSync} from 'node:fs';
import {cpus} from 'node:os';
import {fileURLToPath} from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));
export const results = process.env.BENCH_RESULTS ?? `${root}build/bench`;

/** Only to see that it runs: a few rounds of small sizes, whose times say little. */
export const quick = process.argv.includes('--quick');

/** heads, tokens, dim. BENCH_SHAPES=8x512x64,… for others. */
export const SHAPES = process.env.BENCH_SHAPES?.split(',').map((s) => s.split('x').map(Number)) ??
  (quick ? [[4, 256, 64]] : [[8, 512, 64], [12, 1024, 64], [1, 2048, 64]]);

export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length ? (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.floor(sorted.length / 2)]) / 2 : NaN;
};
export const geometricMean = (values) => Math.exp(values.reduce((sum, v) => sum + Math.log(v), 0) / values.length);

/** GFLOP/s by the usual count: 4 · heads · tokens² · dim, whether masked or not. */
export const gflops = ([heads, tokens, dim], seconds) => 4 * heads * tokens * tokens * dim / seconds / 1e9;

/** Approximately normal numbers, the same every time. */
export function numbers(length, seed) {
  let state = seed >>> 0;
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  return Float32Array.from({length}, () => next() + next() + next() + next() + next() + next() - 3 + (next() + next() + next() - next() - next() - next()));
}

/** Runs all contenders in each round: {name: [seconds of each round]}. `contenders`: {name: async () => seconds}. */
export async function rounds(contenders, count) {
  const times = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
  for (const once of Object.values(contenders)) await once();  // warm up
  for (let r = 0; r < count; ++r)
    for (const [name, once] of Object.entries(contenders)) times[name].push(await once());
  return times;
}

export function table(title, head, lines) {
  const rows = [head, ...lines].map((row) => row.map((cell) => typeof cell === 'number' ? cell.toPrecision(3) : String(cell ?? '–')));
  const widths = head.map((_, c) => Math.max(...rows.map((row) => row[c].length)));
  console.log(`\n${title}`);
  for (const row of rows) console.log('  ' + row.map((cell, c) => c ? cell.padStart(widths[c]) : cell.padEnd(widths[c])).join('  '));
}

/** The fraction of the tokens² products that a causal mask leaves. */
export const causalPart = ([, tokens]) => (tokens + 1) / (2 * tokens);

/** Targets compared with measurements: [[text, measured, wanted, {most, limit}]]. `limit` is the value that the register-only peak of this
 * machine would give, without exponentials, memory stalls or superfluous products; for a fraction of that peak, what the exponentials
 * leave; for threads, what as many programs that share nothing give. */
export function verdicts(list) {
  table('targets', ['what', 'measured', 'wanted', '', 'at the peak'], list.map(([text, measured, wanted, {most = false, limit} = {}]) => [
    text, measured, `${most ? '≤' : '≥'} ${wanted}`, (most ? measured <= wanted : measured >= wanted) ? 'met' : 'missed', limit ?? '']));
}

export function save(name, data, chart) {
  mkdirSync(results, {recursive: true});
  const about = {when: new Date().toISOString(), processor: cpus()[0]?.model, cores: cpus().length, node: process.version};
  writeFileSync(`${results}/${name}.json`, JSON.stringify({...about, ...data}, null, 1));
  writeFileSync(`${results}/${name}.svg`, bars(chart));
  console.log(`\nwritten: ${name}.json and ${name}.svg in ${results.startsWith(root) ? results.slice(root.length) : results}`);
}

const escape = (text) => text.replace(/[&<>"]/g, (c) => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'}[c]));

/** Horizontal bars in groups: {title, unit, groups: [{name, bars: [{name, value, ours}]}], log}; `log` for values far apart. */
function bars({title, unit, groups, log = false}) {
  const left = 250, width = 440, height = 16, lines = [];
  const size = (value) => log ? Math.log10(value) : value;
  const largest = size(Math.max(...groups.flatMap((g) => g.bars.map((b) => b.value))));
  let y = 44;
  for (const group of groups) {
    lines.push(`<text x="8" y="${y + 12}" font-weight="600">${escape(group.name)}</text>`);
    y += 20;
    for (const {name, value, ours} of group.bars) {
      const w = Math.max(1, size(value) / largest * width);
      lines.push(`<text x="${left - 8}" y="${y + 12}" text-anchor="end">${escape(name)}</text>`,
        `<rect x="${left}" y="${y + 1}" width="${w.toFixed(1)}" height="${height - 3}" fill="${ours ? '#0072B2' : '#9a9a9a'}"/>`,
        `<text x="${(left + w + 6).toFixed(1)}" y="${y + 12}">${value.toPrecision(3)}</text>`);
      y += height + 2;
    }
    y += 8;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + width + 70}" height="${y}" font-family="sans-serif" font-size="12" fill="#222">
<rect width="100%" height="100%" fill="#fff"/>
<text x="8" y="22" font-size="15" font-weight="600">${escape(title)}</text>
<text x="${left}" y="38" fill="#666">${escape(unit)}</text>
${lines.join('\n')}
</svg>
`;
}
