// Chromium runs the list of cases.
import {Chromium} from './drivers.mjs';
import {runIn} from './cases.mjs';

runIn(new Chromium());
