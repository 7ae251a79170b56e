// What the search of the documentation looks through: every section of every page. assets/search.js loads it when it is asked for.
const wordsOf = (html) => html.replace(/<(script|style|math)\b[^]*?<\/\1>/g, ' ').replace(/<[^>]+>/g, ' ')
    .replace(/&(lt|gt|amp|quot|#39);/g, (_, name) => ({lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'"}[name])).replace(/\s+/g, ' ').trim();

/** The sections of a page, each from a heading with an id to the next. */
function sectionsOf({outputPath, content}) {
  const file = outputPath.split('/').at(-1), main = /<main\b[^>]*>([^]*)<\/main>/.exec(content)?.[1] ?? '';
  const page = wordsOf(/<h1[^>]*>([^]*?)<\/h1>/.exec(main)?.[1] ?? file);
  return main.split(/(?=<h[1-4][\s>]|<div id=)/).map((html) => {
    const [, id, heading] = /^<(?:h[1-4]|div)(?: id="([^"]+)")?[^>]*>(?:<dt>)?([^]*?)<\/(?:h[1-4]|dt)>/.exec(html) ?? [];
    return {href: id ? `${file}#${id}` : file, title: heading ? wordsOf(heading) : page, page, text: wordsOf(html.replace(/^<(h[1-4]|dt)[^]*?<\/\1>/, ''))};
  }).filter(({text, title}) => text || title !== page);
}

export const indexOf = (pages) => pages.flatMap(sectionsOf).sort((a, b) => a.href < b.href ? -1 : 1);
