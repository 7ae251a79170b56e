// Elements of the mirror and their text. Screen readers announce every write, so only differences are written.
import {message} from './message.js';

export const make = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  set(node, attributes);
  node.append(...children);
  return node;
};

/** Sets attributes, but only those that differ, because screen readers announce every write. */
export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) {
      if (node.hasAttribute(name)) node.removeAttribute(name);
    } else if (node.getAttribute(name) !== String(value)) {
      node.setAttribute(name, value);
    }
  }
  return node;
}

export const say = (node, words) => { if (node.textContent !== words) node.textContent = words; };

const SIGNS = {'×': 'times', '÷': 'divided by', '/': 'divided by', '·': 'dot', '√': 'square root of', '=': 'equals', '+': 'plus', '−': 'minus', 'Σ': 'sum of', 'ᵀ': 'transposed', '≤': 'at most', '>': 'greater than'};
const SIGN = /\s*([×÷/·√=+−Σᵀ≤>])\s*/g;
/** Is it arithmetic, and not a sentence? */
export const isFormula = (words) => /[×÷√·]|exp\(/.test(words) && !/[.:;] |\p{L}{4,} \p{L}{3,}/u.test(words);
/** A formula as one says it, because screen readers are silent about most of its signs: "q 4 dot k 3". `t` translates a word. */
export const spoken = (formula, t) => formula.replace(SIGN, (all, sign) => ` ${t(SIGNS[sign])} `).replace(/_(?=\w)/g, ' ')
  .replace(/[₀-₉]+/g, (digits) => ` ${[...digits].map((digit) => '₀₁₂₃₄₅₆₇₈₉'.indexOf(digit)).join('')}`).replace(/ {2,}/g, ' ').replaceAll('( ', '(').trim();

/** Gives an element whose text is a formula the words of it as its name. */
export function nameFormula(node, t) {
  const words = node.textContent;
  set(node, isFormula(words) ? {role: 'math', 'aria-label': spoken(words, t)} : {role: null, 'aria-label': null});
}
export const spaced = (name) => name.replace(/[-_:]+/g, ' ').trim();
/** The name of a control or an option in words: "Nudge 2". */
export function called(name) {
  const [, words, number] = /^(.*?)(?: (\d+))?$/.exec(capital(spaced(name)));
  return number ? message([`${words} `, ''], +number) : words;
}
export const capital = (words) => /^[a-z]{2}/.test(words) ? words.charAt(0).toUpperCase() + words.slice(1) : words;

/** The spoken names of tensors. */
export const TENSORS = {
  q: 'Q, queries', k: 'K, keys', v: 'V, values', x: 'X, inputs', x_kv: 'X of the keys', w_q: 'W_Q', w_k: 'W_K', w_v: 'W_V', w_o: 'W_O',
  scores: 'S, scores', weights: 'W, weights', head_output: 'O, outputs of the head', output: 'output',
};
