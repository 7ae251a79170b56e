// The glossary as a page: the terms of lessons/glossary.en.json, with their names and sentences in the language of the address ("?lang=de"), or
// of the browser. An address such as "glossary.html#softmax" leads to a term.
const get = async (name) => (await fetch(new URL(`${name}.json`, document.baseURI))).json();
const [english, lessons, tags] = await Promise.all(['lessons/glossary.en', 'lessons/index', 'languages/index'].map(get));
const all = ['en', ...tags], wanted = [new URLSearchParams(location.search).get('lang'), ...navigator.languages].map((tag) => tag?.split('-')[0]);
const asked = wanted.find((tag) => all.includes(tag)) ?? 'en';
// A language may be without a glossary of its own.
const own = asked === 'en' ? english : await get(`lessons/glossary.${asked}`).catch(() => english);
const language = own === english ? 'en' : asked, words = own.page;

const make = (tag, attributes = {}, ...content) => {
  const node = Object.assign(document.createElement(tag), attributes);
  node.append(...content);
  return node;
};

/** A formula: what follows "_" is lowered, what follows "^" raised, and q, k, v and w have their colours. */
function formulaOf(text) {
  const parts = text.split(/([_^](?:\([^)]*\)|[A-Za-z0-9]+))/), node = make('span', {className: 'formula'});
  parts.forEach((part, i) => {
    const script = {_: 'sub', '^': 'sup'}[i % 2 && part[0]], color = /(?:^|[^A-Za-z])([qkvw])$/.exec(part)?.[1];
    if (script) node.append(make(script, {}, part.slice(1)));
    else if (color && parts[i + 1]) node.append(part.slice(0, -1), make('i', {className: color}, color));
    else node.append(part);
  });
  return node;
}

function entryOf({id, term, words: sentence, formula, lesson}, number, title) {
  const link = make('a', {href: `index.html?lesson=${encodeURIComponent(lesson)}&lang=${language}`}, `${words.learn}${number}. ${title}`);
  return make('div', {id}, make('dt', {}, term), make('dd', {}, make('p', {}, sentence), ...formula ? [make('p', {}, formulaOf(formula))] : [], make('p', {className: 'learn'}, link)));
}

const names = new Map(own.terms.map((term) => [term.id, term])), list = document.querySelector('dl'), courses = lessons.lessons.filter(({kind}) => kind === 'lesson');
for (const term of english.terms) {
  const at = courses.findIndex(({id}) => id === term.lesson);
  list.append(entryOf({...term, ...names.get(term.id)}, at + 1, courses[at].title));
}
document.documentElement.lang = language;
document.title = document.querySelector('h1').textContent = words.title;
document.querySelector('label').textContent = words.find;
document.querySelector('nav').append(...all.flatMap((tag, i) => {
  const link = make('a', {href: `?lang=${tag}`, lang: tag}, new Intl.DisplayNames(tag, {type: 'language'}).of(tag));
  if (tag === language) link.setAttribute('aria-current', 'true');
  return i ? [' · ', link] : [link];
}));
const find = document.querySelector('input'), out = document.querySelector('output');
find.addEventListener('input', () => {
  const sought = find.value.trim().toLowerCase();
  for (const entry of list.children) entry.hidden = !entry.textContent.toLowerCase().includes(sought);
  out.textContent = [...list.children].every(({hidden}) => hidden) ? words.none : '';
});
document.querySelector(`#${CSS.escape(decodeURIComponent(location.hash.slice(1)) || 'none')}`)?.scrollIntoView();
