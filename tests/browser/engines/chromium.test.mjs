// Chromium runs the list of cases.
import {Chromium} from './drivers.mjs';
import {runIn} from './cases.mjs';

runIn(new Chromium(), {
  'after one visit the page is there without a connection': 'here each page is a visitor of its own; installed.test.mjs has one that comes back',
});
