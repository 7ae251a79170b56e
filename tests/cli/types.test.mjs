// The types and the schema of the page are what the tables of the program make.
import assert from 'node:assert/strict';
import {relative} from 'node:path';
import {test} from 'node:test';
import {typesFrom} from '../../src/shell/web/types.mjs';
import {root} from '../setup/tree.mjs';
import {attn} from './harness.mjs';

const tables = JSON.parse(attn('mechanisms').stdout);

test('what TypeScript and editors know is what the tables have', () => {
  for (const {path, is, made} of typesFrom(tables, `${root}/web`))
    assert.equal(is, made, `${relative(root, path)}: cmake --build build/native --target types puts it right`);
});

test('another option, page or score would change them', () => {
  const more = {options: tables.options.map((one) => one.name === 'view' ? {...one, choices: [...one.choices, 'map']} : one), scores: [...tables.scores, {name: 'map'}],
    normalizers: tables.normalizers};
  more.options.push({name: 'map_scale', type: 'real', min: 0.5, max: 2, choices: [], help: 'How large it is'});
  const [element, core, schema] = typesFrom(more, `${root}/web`).map(({made}) => made);
  assert.match(element, /ViewName = .*'model' \| 'map';/);
  assert.match(element, /^ {2}\/\*\* How large it is\. 0\.5 to 2\. \*\/\n {2}map_scale: number;$/m);
  assert.match(core, /Score = .* \| 'map';/);
  assert.ok(JSON.parse(schema) && /"model", "map"\]/.test(schema));
});
