// WebKit runs the list of cases.
import {WebKit} from './drivers.mjs';
import {runIn} from './cases.mjs';

runIn(new WebKit());
