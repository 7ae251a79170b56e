// The documentation, by Eleventy: `./play docs`. All pages lie in one folder and name each other without a path, so that it works wherever it is put.
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import MarkdownIt from 'markdown-it';
import {dress, included, math, shaded} from './markdown.js';
import {attn} from './sources.js';
import {indexOf} from './search-index.js';

const GROUPS = ['Start', 'Learn', 'Embed', 'Recipes', 'Use', 'Mathematics', 'Project'];

/** A figure in the colours of both themes, drawn by `attn render` into the folder of the pages. */
function picture(folder, name, state, alt, args = ['--with', 'clear,labels,numbers', '--title', '']) {
  mkdirSync(join(folder, 'pictures'), {recursive: true});
  let size = '';
  const images = ['light', 'dark'].map((style) => {
    const svg = attn(['render', '-', '--style', style, ...args], JSON.stringify(state));
    size = / width="[^"]+" height="[^"]+"/.exec(svg)[0];
    writeFileSync(join(folder, 'pictures', `${name}-${style}.svg`), svg);
    return `<img class="${style}" src="pictures/${name}-${style}.svg" alt="${alt}" loading="lazy"${size}>`;
  });
  return `<figure class="picture">${images.join('')}</figure>`;
}

export default function (config) {
  let folder = '';
  const markdown = dress(new MarkdownIt({html: true, linkify: false}));
  config.setLibrary('md', markdown);
  config.on('eleventy.before', ({directories}) => { folder = directories.output; });
  config.addGlobalData('permalink', () => (data) => `${data.page.fileSlug || 'index'}.html`);
  config.addGlobalData('layout', 'page.njk');
  config.addPassthroughCopy('assets');
  config.addPassthroughCopy({'../../src/views/fonts/*.{otf,ttf,txt}': 'assets'});

  config.addFilter('md', (text, env) => markdown.render(text, {...env}));
  config.addFilter('inline', (text) => markdown.renderInline(text));
  // Each equation by itself, so that they stand below each other where there is no room.
  config.addFilter('math', (latex) => latex.split(/(?<=,) *\\quad */).map((one) => math(one)).join(' '));
  config.addFilter('shaded', (code, language) => shaded(code, language));
  config.addFilter('grouped', (number) => number.toLocaleString('en'));
  config.addFilter('sentence', (text) => text.replace(/^./, (first) => first.toUpperCase()).replace(/[^.]$/, '$&.'));
  config.addFilter('headings', (html) => Array.from(html.matchAll(/<h2 id="([^"]+)">([^]*?)<\/h2>/g), ([, id, words]) => ({id, words: words.replace(/<[^>]+>/g, '')})));
  config.addShortcode('readme', included);
  config.addShortcode('picture', (...args) => picture(folder, ...args));
  config.addCollection('groups', (api) => {
    const pages = api.getAll().filter(({data}) => data.title).sort((a, b) => (a.data.order ?? 50) - (b.data.order ?? 50) || a.data.page.inputPath.localeCompare(b.data.page.inputPath));
    return GROUPS.map((title) => ({title, pages: pages.filter(({data}) => data.group === title)}));
  });
  // Addresses begin with a slash in Eleventy.
  config.addFilter('here', (url) => url.replace(/^\//, '') || 'index.html');
  config.on('eleventy.after', ({results}) => {
    writeFileSync(join(folder, 'assets/search.json'), JSON.stringify(indexOf(results.filter(({outputPath}) => outputPath.endsWith('.html')))));
  });
  return {dir: {input: '.', includes: '_includes', data: '_data'}, markdownTemplateEngine: 'njk', htmlTemplateEngine: 'njk', templateFormats: ['md', 'njk']};
}
