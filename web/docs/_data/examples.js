// The examples that readers edit, in their order.
import {read} from '../sources.js';

export default [
  ['first', 'A board', 'One line brings the element, and another is the board. `preset` names the example to begin with, and `show` the parts that are laid out.'],
  ['arcs', 'Who attends to whom', 'Two heads of a sentence with a pronoun, as arcs. A click on a head shows its arcs.'],
  ['numbers', 'Your own numbers', '`state` takes the same JSON as `getState()` returns; fields that are missing have their usual values.'],
  ['follow', 'A text that follows the board', '`observe()` calls back soon, and again whenever the number changes. Drag a number of Q or K to see it.'],
  ['drive', 'Controls of your own', '`set()` changes any option. Every change can be undone on the board.'],
  ['task', 'A task for the reader', '`on()` calls back once a condition holds. Here the keys are locked, so that only a query can solve the task.'],
  ['locked', 'A board that cannot be changed', '`lock="all"` leaves a board to look at. Readers can still select cells and see where numbers come from.'],
  ['lesson', 'A lesson', '`lesson` opens one of the lessons of the Guide, or a file of your own.'],
  ['normalizer', 'Two boards side by side', 'All boards of a page share one graphics context, so a page may have many.'],
  ['german', 'Another language', 'The interface follows `lang` of the nearest element around the board.'],
  ['colours', 'Colours and sizes', 'The board follows `color-scheme`, and three custom properties set its accent, its text size and its font.'],
  ['table', 'Taking the numbers away', '`toBlob()` gives the layer as a file: JSON, NPZ, SafeTensors, CSV, SVG or PNG.'],
].map(([name, title, words]) => ({name, title, words, code: read(`web/docs/examples/${name}.html`)}));
