// Writes a file of each format as this version writes it, with what it says, into released/VERSION: run once for a release whose formats have
// more than those before, and never again, since these files stand for all that readers have saved. `node golden/released.mjs`, in tests, after a
// build of the site.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {launch, serve} from '../browser/harness.mjs';
import {converse, whatIsOn} from '../browser/conversation.mjs';
import {version} from '../setup/tree.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const folder = here(`released/${version.split('.').slice(0, 2).join('.')}`);
mkdirSync(folder);  // an error where it is there
const write = (name, value) => writeFileSync(`${folder}/${name}.json`, `${JSON.stringify(value, null, 1)}\n`);

const CALLS = [
  ['getState'], ['set', 'causal', false], ['get', 'causal'], ['setTensor', 'q', Array(24).fill(0.5)], ['getTensor', 'weights'],
  ['undo'], ['redo'], ['reset'], ['gradient', {tensor: 'weights', head: 0, row: 3, col: 2}, 'q'], ['observe', {tensor: 'weights', row: 1, col: 0}, null],
  ['on', [{tensor: 'weights', at: [0, 1, 0], min: 0.1}], null], ['set', 'causal', true], ['stop', 1], ['stop', 2], ['link', {theme: 'dark', hide: 'heads'}],
  ['toCode', 'numpy'], ['train', 2], ['resetTraining'], ['openLesson', 'masks'], ['set', 'causal', 'perhaps'], ['set', 'nothing', 1], ['dance'],
];

const server = await serve(), browser = await launch(), page = await (await browser.newContext()).newPage();
try {
  await page.goto(`${server.url}/`);
  await page.evaluate(async (text) => {
    const element = document.querySelector('attention-playground');
    await element.ready;
    element.setState(text);
  }, readFileSync(here('states/every_option.json'), 'utf8'));
  const shown = await page.evaluate(whatIsOn);
  write('state', {text: JSON.stringify(shown.state), shown});
  write('link', {address: (await page.evaluate(() => document.querySelector('attention-playground').link({theme: 'dark', hide: 'heads'}))).slice(server.url.length), shown});
  write('lesson', JSON.parse(readFileSync(here('../../web/lessons/masks.json'), 'utf8')));
  await page.goto(`${server.url}/empty`);
  const said = await page.evaluate(converse, ['/embed.html?preset=i-saw-a-saw', CALLS]);
  // The texts of a link and a program may change; that they are texts does not.
  write('messages', said.map((one) => ['link', 'toCode'].includes(one.call) ? {...one, result: ''} : one));
} finally {
  await browser.close();
  await server.close();
}
