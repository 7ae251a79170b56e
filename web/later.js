// The rest of the page's scripts, loaded with the rest of the module: user input, and the methods for page scripts.
import {InputHandlers} from './input-handlers.js';
import {methods} from './methods.js';

/** Adds to Playground everything besides drawing. */
export function extend(Playground) {
  const {constructor, ...own} = Object.getOwnPropertyDescriptors(InputHandlers.prototype);
  Object.defineProperties(Playground.prototype, own);
  Playground.prototype.methods = methods;
}
