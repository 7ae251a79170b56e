// How the texts of the pages, and of the READMEs that they include, become HTML.
import {basename, dirname, join, relative} from 'node:path';
import {existsSync} from 'node:fs';
import temml from 'temml';
import {diagram} from './diagram.js';
import {resultOf} from './results.js';
import {read, root, site, slugOf} from './sources.js';

/** The pages that READMEs have become here. */
const PAGES = {
  'README.md': 'index.html', 'web/README.md': 'embed.html', 'web/hosts/README.md': 'recipes.html', 'web/FEATURES.md': 'features.html',
  'web/python/README.md': 'python.html', 'src/README.md': 'inside.html', 'web/element.d.ts': 'types.html', 'web/custom-elements.json': 'reference.html',
};

/** The address, from a page, of what a text in `folder` of the repository calls `link`; undefined where no page shows it. */
function addressOf(link, folder) {
  if (/^(https?:|mailto:)/.test(link)) return link;
  // Each section of the recipes is a page of its own.
  if (link.startsWith('#')) return folder === 'web/hosts' ? `recipe-${link.slice(1)}.html` : link;
  const [path, anchor] = link.split('#'), target = relative(root, join(root, folder, path)), end = anchor === undefined ? '' : `#${anchor}`;
  if (target === 'web/hosts/README.md' && anchor) return `recipe-${anchor}.html`;
  if (PAGES[target]) return PAGES[target] + end;
  if (target.startsWith('web/docs/') && /\.(md|njk)$/.test(target)) return basename(target).replace(/\.(md|njk)$/, '.html') + end;
  const ofSite = target.replace(/^web\//, '');
  if (target === 'web/hosts/plain.html' || target === 'web/hosts/reveal.html') return `recipe-${basename(target)}`;
  return target.startsWith('web/') && existsSync(join(site, ofSite)) ? `../${ofSite}${end}` : undefined;
}

const outsideCode = (text, change) => text.split(/(^(`{3,})[^]*?^\2$)/m).map((part, i) => i % 3 === 0 ? change(part) : i % 3 === 1 ? part : '').join('');

/** A text of the repository with its links as they are here; what is not published is named, without a link; a file as code. */
export const linked = (text, folder) => outsideCode(text, (part) => part.replace(/(?<!!)\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, words, link) => {
  const address = addressOf(link, folder);
  return address !== undefined ? `[${words}](${address})` : words === link ? `\`${words}\`` : words;
}));

/** A README below its title. */
export const included = (path) => linked(read(path).replace(/^# .*\n/, ''), dirname(path));

/** The sections of a text that begin with "## ": [{title, slug, text}]. */
export const sections = (text) => text.split(/^## /m).slice(1).map((part) => {
  const [title] = part.split('\n', 1);
  return {title, slug: slugOf(title), text: part.slice(title.length)};
});

export const math = (latex, displayMode = true) => temml.renderToString(latex.replaceAll('^\\top', '^{\\mathsf T}'), {displayMode, throwOnError: true, annotate: false}).replace(/ style="[^"]*"/g, '');

const escape = (text) => text.replace(/[&<>"]/g, (c) => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'}[c]));

const COMMENT = {sh: /(?<=^|\s)#.*/y, python: /#.*/y, yaml: /#.*/y, js: /\/\/.*|\/\*[^]*?\*\//y, ts: /\/\/.*|\/\*[^]*?\*\//y, html: /<!--[^]*?-->/y};
const SHADED = {sh: 'sh', python: 'python', py: 'python', yaml: 'yaml', js: 'js', jsx: 'js', ts: 'ts', html: 'html', vue: 'html', svelte: 'html', json: 'js'};

/** Code with its comments and quotations marked: enough to see where it begins and ends. */
export function shaded(code, language) {
  const comment = COMMENT[SHADED[language]];
  if (!comment) return escape(code);
  const quotation = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/y;
  let out = '';
  for (let at = 0; at < code.length;) {
    const found = [[comment, 'comment'], [quotation, 'quotation']].find(([pattern]) => { pattern.lastIndex = at; return pattern.test(code); });
    if (!found || (found[1] === 'quotation' && /\w/.test(code[at - 1] ?? ' '))) { out += escape(code[at++]); continue; }
    out += `<span class="${found[1]}">${escape(code.slice(at, found[0].lastIndex))}</span>`;
    at = found[0].lastIndex;
  }
  return out;
}

/** A place for what code shows; it is filled once the reader is there. */
const live = (result) => result ? `<figure class="live result"><iframe title="What this code shows" height="${result.height}" data-live="${escape(result.html)}"></iframe>${result.note ? `<figcaption>${result.note}</figcaption>` : ''}</figure>\n` : '';

/** Code blocks, tables and headings as the style sheet and the scripts of the pages expect them. */
export function dress(markdown) {
  const {rules} = markdown.renderer, plain = (tokens, i, options, env, self) => self.renderToken(tokens, i, options);
  rules.fence = (tokens, i, options, env) => {
    const {info, content} = tokens[i], language = info.replace(/[{}=\s].*/, '');
    if (language === 'mermaid') return diagram(content);
    const block = `<div class="code"><pre tabindex="0" data-language="${escape(language)}"><code>${shaded(content, language)}</code></pre></div>\n`;
    return env?.recipe ? live(resultOf(env.recipe, language, content)) + block : block;
  };
  rules.table_open = () => '<div class="table" tabindex="0"><table>\n';
  rules.table_close = () => '</table></div>\n';
  rules.heading_open = (tokens, i, options, env, self) => {
    const words = tokens[i + 1].children.map(({content}) => content).join(''), taken = (env.slugs ??= new Map()), slug = slugOf(words);
    taken.set(slug, (taken.get(slug) ?? -1) + 1);
    tokens[i].attrSet('id', taken.get(slug) ? `${slug}-${taken.get(slug)}` : slug);
    return plain(tokens, i, options, env, self);
  };
  markdown.core.ruler.push('links', ({tokens}) => {
    // An empty cell of a table's head heads nothing.
    for (const [i, token] of tokens.entries()) if (token.type === 'th_open' && !tokens[i + 1].content) token.tag = tokens[i + 2].tag = 'td';
    for (const token of tokens.flatMap(({children}) => children ?? []).filter(({type}) => type === 'link_open')) {
      const address = token.attrGet('href');
      if (/\.(md|njk)(#|$)/.test(address)) token.attrSet('href', addressOf(address, 'web/docs'));
    }
  });
  return markdown;
}
