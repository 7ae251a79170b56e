// attention-playground/core in Chromium, in a page and in a worker, from a host with a strict content policy: script-src 'self'
// 'wasm-unsafe-eval' (see the harness). CORE is the folder of the built package, as in common.mjs.
import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {launch, serve} from '../browser/harness.mjs';

const KERNELS = ['wasm-simd128', 'wasm-relaxed'];
let server, browser;
before(async () => [server, browser] = await Promise.all([
  serve(process.env.CORE ?? fileURLToPath(new URL('../../build/package', import.meta.url))), launch()]));
after(() => Promise.all([browser.close(), server.close()]));

// Two queries, three keys, one head, causal with one key cached: the second query sees them all.
const CALL = {q: [1, 0, 0.5, -1], k: [0.5, 1, -1, 2, 0, 0.25], v: [1, 2, 3, 4, 5, 6], queryCount: 2, keyCount: 3,
  headDim: 2, causal: true, causalOffset: 1};
const WANTED = [0, 1].flatMap((i) => {
  const powers = [0, 1, 2].map((j) => j > i + 1 ? 0 :
    Math.exp((CALL.q[2 * i] * CALL.k[2 * j] + CALL.q[2 * i + 1] * CALL.k[2 * j + 1]) / Math.SQRT2));
  const sum = powers[0] + powers[1] + powers[2];
  return [0, 1].map((c) => powers.reduce((total, power, j) => total + power / sum * CALL.v[2 * j + c], 0));
});

const near = (got) => WANTED.forEach((want, i) =>
  assert.ok(Math.abs(got[i] - want) < 1e-6, `output[${i}] is ${got[i]}, and should be ${want}`));

/** Runs `act` in a page under the policy; nothing may be blocked or logged. */
async function visit(act, ...values) {
  const page = await (await browser.newContext()).newPage();
  const complaints = [], requests = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => requests.push(new URL(request.url()).pathname));
  await page.goto(`${server.url}/pages/core.html`);
  const result = await page.evaluate(act, values);
  await page.context().close();
  assert.deepEqual(complaints, []);
  return {result, requests: requests.filter((path) => !path.startsWith('/pages/'))};
}

for (const kernel of KERNELS) {
  test(`${kernel}: in a page`, async () => {
    const {result, requests} = await visit(async ([name, call]) => {
      const {loadAttention} = await import('/core.js');
      const attention = await loadAttention({kernel: name});
      return {kernel: attention.kernel, output: Array.from(attention.forward(call).output)};
    }, kernel, CALL);
    assert.equal(result.kernel, kernel);
    near(result.output);
    assert.deepEqual(requests, ['/core.js', kernel === 'wasm-relaxed' ? '/core-relaxed.wasm' : '/core.wasm']);
  });

  test(`${kernel}: in a worker`, async () => {
    const {result} = await visit(([name, call]) => new Promise((resolve, reject) => {
      const worker = new Worker('/pages/core-worker.js', {type: 'module'});
      worker.onmessage = ({data}) => resolve(data);
      worker.onerror = ({message}) => reject(new Error(message));
      worker.postMessage({kernel: name, call});
    }), kernel, CALL);
    assert.equal(result.kernel, kernel);
    near(result.output);
  });
}

test('without being asked, Chromium gets the relaxed build; a refused call leaves it usable', async () => {
  const {result} = await visit(async ([call]) => {
    const {loadAttention} = await import('/core.js');
    const attention = await loadAttention();
    let refusal;
    try {
      attention.forward({...call, q: [NaN, 0, 0, 0]});
    } catch (error) {
      refusal = `${error.constructor.name}: ${error.message}`;
    }
    return {kernel: attention.kernel, refusal, output: Array.from(attention.forward(call).output)};
  }, CALL);
  assert.equal(result.kernel, 'wasm-relaxed');
  assert.match(result.refusal, /^RangeError: q\[0\] is NaN/);
  near(result.output);
});

test('the policy is one that refuses eval', async () => {
  const {headers} = await fetch(`${server.url}/core.js`);
  assert.match(headers.get('content-security-policy'), /script-src 'self' 'wasm-unsafe-eval'/);
  assert.doesNotMatch(headers.get('content-security-policy'), /'unsafe-eval'/);
});
