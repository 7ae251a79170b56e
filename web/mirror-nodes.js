// Elements of the mirror and their text. Screen readers announce every write, so only differences are written.

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
export const spaced = (name) => name.replace(/[-_:]+/g, ' ').trim();
export const capital = (words) => /^[a-z]{2}/.test(words) ? words.charAt(0).toUpperCase() + words.slice(1) : words;

/** The spoken names of tensors. */
export const TENSORS = {
  q: 'Q, queries', k: 'K, keys', v: 'V, values', x: 'X, inputs', x_kv: 'X of the keys', w_q: 'W_Q', w_k: 'W_K', w_v: 'W_V', w_o: 'W_O',
  scores: 'S, scores', weights: 'W, weights', head_output: 'O, outputs of the head', output: 'output',
};
