// The pages of the documentation as ./play docs has built them.
import assert from 'node:assert/strict';
import {existsSync, readFileSync, readdirSync} from 'node:fs';
import {join} from 'node:path';
import {SITE} from '../browser/harness.mjs';

export const folder = join(SITE, 'docs');
assert.ok(existsSync(join(folder, 'index.html')), `there is no documentation in ${folder}: ./play docs builds it`);

export const pages = readdirSync(folder).filter((name) => name.endsWith('.html')).sort().map((name) => ({name, html: readFileSync(join(folder, name), 'utf8')}));

export const decoded = (text) => text.replace(/&(lt|gt|amp|quot|#39);/g, (_, name) => ({lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'"}[name]));

/** The code blocks of all pages in some languages: [{page, language, code}]. */
export const blocks = (...languages) => pages.flatMap(({name, html}) =>
  Array.from(html.matchAll(/<pre [^>]*data-language="(\w*)"><code>([^]*?)<\/code><\/pre>/g), ([, language, code]) => ({page: name, language, code: decoded(code.replace(/<[^>]+>/g, ''))}))
      .filter(({language}) => languages.includes(language)));
