// The recipes of web/hosts, one a page.
import {linked, sections} from '../markdown.js';
import {read} from '../sources.js';

const text = read('web/hosts/README.md');
const pages = sections(text).map(({title, slug, text: words}) => ({title, slug, words: linked(words, 'web/hosts').replace(/^\n+/, '')}));
const wholePage = (name, title, words) => ({title, slug: name, words: `${words}\n\n\`\`\`html\n${read(`web/hosts/${name}.html`)}\`\`\`\n`});
export default {
  introduction: linked(text.replace(/^# .*\n/, '').split(/^## /m)[0], 'web/hosts'),
  pages: [
    wholePage('plain', 'A page of your own', 'A whole page, with text that follows the board and text that drives it.'),
    wholePage('reveal', 'Slides with reveal.js', 'A slide deck in which each board takes its keys and its drags for itself while it has the focus. It needs no server: `standalone.js` works from a disk.'),
    ...pages,
  ],
};
