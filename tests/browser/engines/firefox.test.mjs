// Firefox runs the list of cases.
import {Firefox} from './drivers.mjs';
import {runIn} from './cases.mjs';

runIn(new Firefox());
