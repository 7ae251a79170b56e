// The search: the sections of all pages, looked through here. No server has a part in it. 230 KB of text are read in a millisecond or two, so
// there is no need for an index that would be larger.
const input = document.querySelector('#find'), list = document.querySelector('#found');
const sections = await (await fetch(new URL('search.json', import.meta.url))).json();
const MOST = 8;
let chosen = -1;

const literal = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The sections that have all words, or words that begin with them; those with the words in their title first, short ones before long ones. */
function search(query) {
  const patterns = query.split(/\s+/).map((word) => new RegExp(`(?<![\\p{L}\\p{N}])${literal(word)}`, 'giu'));
  const count = (text, pattern) => (text.match(pattern) ?? []).length;
  const score = ({title, page, text}) => patterns.reduce((sum, pattern) => {
    const found = 20 * count(title, pattern) + 4 * count(page, pattern) + count(text, pattern) / Math.log2(64 + text.length);
    return found ? sum + found : NaN;
  }, 0);
  return sections.map((section) => ({...section, score: score(section), first: section.text.search(patterns[0])})).filter(({score}) => score > 0)
      .sort((a, b) => b.score - a.score).slice(0, MOST);
}

function choose(number) {
  const options = [...list.querySelectorAll('[role=option]')];
  chosen = options.length ? (number + options.length) % options.length : -1;
  for (const [i, option] of options.entries()) option.setAttribute('aria-selected', String(i === chosen));
  if (chosen < 0) input.removeAttribute('aria-activedescendant');
  else {
    input.setAttribute('aria-activedescendant', options[chosen].id);
    options[chosen].scrollIntoView({block: 'nearest'});
  }
}

function row({href, title, page, text, first}, i) {
  const from = first < 50 ? 0 : text.indexOf(' ', first - 40) + 1, excerpt = (from ? '… ' : '') + text.slice(from, from + 140);
  const option = document.createElement('a'), words = [['b', title], ['i', page === title ? '' : page], ['span', excerpt]];
  Object.assign(option, {href, id: `found-${i}`, tabIndex: -1});
  option.setAttribute('role', 'option');
  option.append(...words.filter(([, word]) => word).map(([tag, word]) => Object.assign(document.createElement(tag), {textContent: word})));
  return option;
}

function find() {
  const query = input.value.trim(), found = query ? search(query) : [];
  const nothing = Object.assign(document.createElement('div'), {className: 'nothing', textContent: `Nothing is found for “${query}”.`});
  nothing.setAttribute('role', 'option');
  list.replaceChildren(...found.length ? found.map(row) : [nothing]);
  list.toggleAttribute('hidden', !query);
  input.setAttribute('aria-expanded', String(Boolean(query)));
  choose(found.length ? 0 : -1);
}

input.addEventListener('input', find);
input.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown') choose(chosen + 1);
  else if (event.key === 'ArrowUp') choose(chosen - 1);
  else if (event.key === 'Enter' && chosen >= 0) list.children[chosen].click();
  else if (event.key === 'Escape') { input.value = ''; find(); } else return;
  event.preventDefault();
});
document.addEventListener('click', ({target}) => {
  list.hidden = !target.closest('.find') || !input.value.trim();
  input.setAttribute('aria-expanded', String(!list.hidden));
});
if (input.value) find();
