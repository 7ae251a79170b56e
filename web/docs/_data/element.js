// The element as custom-elements.json describes it.
import {join} from 'node:path';
import {manifestIn} from '../../../src/shell/web/manifest.mjs';
import {root} from '../sources.js';

const [declaration] = JSON.parse(manifestIn(join(root, 'web'))).modules[0].declarations;
// Every event has a second name, which is listed with the first.
const events = declaration.events.filter(({name}) => !name.startsWith('attention-'));
export default {...declaration, events, properties: declaration.members.filter(({kind}) => kind === 'field'), methods: declaration.members.filter(({kind}) => kind === 'method')};
