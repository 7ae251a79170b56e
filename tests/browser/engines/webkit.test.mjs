// WebKit runs the list of cases.
import {WebKit} from './drivers.mjs';
import {runIn} from './cases.mjs';

runIn(new WebKit(), {'a finger drags a number that it holds, and no other': 'WebKitWebDriver sends the events of a mouse for a finger'});
