// What comes with the rest of the module: what hands do to a board, and the methods that page scripts call.
import {Hands} from './hands.js';
import {methods} from './methods.js';

/** Gives a Playground all that it needs besides drawing. */
export function extend(Playground) {
  const {constructor, ...own} = Object.getOwnPropertyDescriptors(Hands.prototype);
  Object.defineProperties(Playground.prototype, own);
  Playground.prototype.methods = methods;
}
