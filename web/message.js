// Texts with values for readers. Literals are the id that a language looks up, and values are put into its translation; in the text they
// are kept between two control characters, after a letter for their kind (src/base/message.h).

/** Tags a template: message`Head ${n} of ${all}`. A value that is a message itself is translated too. */
export const message = (literals, ...values) => literals.reduce((all, words, i) => {
  const value = values[i - 1], text = String(value), kind = typeof value === 'number' ? 'n' : text.includes('\x0e') ? 'm' : 't';
  return `${all}\x0e${kind}${text}\x0f${words}`;
});

/** The same as plain text, in English. */
export const english = (words) => words.replace(/\x0e.|\x0f/g, '');

/** An error that says this, in English to scripts, and to readers in their language (saidBy()). */
export const failure = (Kind, words, more) => Object.assign(Object.defineProperty(new Kind(english(words)), 'said', {value: words}), more);
export const saidBy = (error) => error.said ?? error.message;
