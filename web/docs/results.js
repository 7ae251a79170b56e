// What a reader gets who follows a recipe: HTML that is made from the recipe's own code, with the element or the frame that this code writes. What a
// place is made of (Sphinx, WordPress, …) cannot run in a page; the note then says so.

const SCRIPT = '<script type="module" src="https://example.org/playground/element.js"></script>\n';
const BOARD = '<attention-playground preset="i-saw-a-saw" show="q,k,weights" style="display:block;height:320px"></attention-playground>';

const escape = (text) => text.replace(/[&<>"]/g, (c) => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'}[c]));
const tag = (name, attributes, inside = '') => `<${name}${Object.entries(attributes).map(([key, value]) => ` ${key}="${escape(String(value))}"`).join('')}>${inside}</${name}>`;

const asItIs = (code) => code;

/** The slides of a deck below each other, without the program that turns them. */
const slides = (code) => code.replace(/<script type="module">[^]*?<\/script>\n/, '').replace(/<link rel="stylesheet"[^>]*>\n/g, '').replace('</style>', `  :root { color-scheme: light dark; }
  body { margin: 0; padding: 0 8px 8px; background: light-dark(#fff, #101216); font: 15px/1.5 system-ui, sans-serif; text-align: center; }
  h2 { font-size: 1.6em; line-height: 1.2; margin: 0; padding: 1em 0 0.6em; }
</style>`);

/** The options of a directive, in reStructuredText or in Markdown, are the attributes of the element. */
function directive(code) {
  const [, preset] = /attention-playground(?:::|\}) *(\S+)/.exec(code), options = Object.fromEntries(Array.from(code.matchAll(/^ *:(\w+): *(.*)$/gm), ([, name, value]) => [name, value]));
  const {height, picture, alt = 'An attention layer whose numbers can be changed.', ...attributes} = options;
  return SCRIPT + tag('attention-playground', {...attributes, preset, style: `display:block;height:${height}px`}, `<p>${escape(alt)}</p>`);
}

const frame = (src, title) => tag('iframe', {src, title, style: 'width:100%;height:320px;border:0'});
const frameDirective = (code) => frame(/\{iframe\} (\S+)/.exec(code)[1], /^(?!:)(.+)$/m.exec(code)[1]);
/** What IPython writes. */
const frameOfNotebook = (code) => {
  const [, src, width, height] = /IFrame\("(.*?)", width="(.*?)", height=(\d+)\)/.exec(code);
  return tag('iframe', {width, height, src, frameborder: 0, allowfullscreen: ''});
};
const frameOfAddress = (code) => frame(code.trim(), 'A board');
const rawHtml = (code) => /```\{=html\}\n([^]*?)```/.exec(code)[1];

/** A component with properties, as the component of the recipe hands them on. */
function component(code) {
  const [, words, height] = /<Attention (.*?) style=\{\{height: (\d+)\}\} \/>/.exec(code);
  return `${SCRIPT}<attention-playground ${words} style="display:block;height:${height}px"></attention-playground>`;
}

/** The template of Svelte or of Vue with its list and its handler as a page has them; the handler writes into the paragraph below the board. */
function template(code) {
  const [, first] = /said = \S+\('(.*?)'\)/.exec(code), [, handler] = /function tell\(.*\) \{\n([^]*?)\n *\}\n/.exec(code);
  const html = (/<template>([^]*)<\/template>/.exec(code)?.[1] ?? code.slice(code.indexOf('</script>') + 9))
      .replace(/:?show=["{]\[(.*?)\]["}]/, (_, names) => `show="${names.replace(/[' ]/g, '')}"`)
      .replace(/style:height="(.*?)"/, 'style="height: $1"')
      .replace(/ (?:@|on)attention-change=\S*?(?=>)/, '')
      .replace(/\{+ ?said ?\}+/, escape(first));
  return `${SCRIPT}${html.trim()}
<script type="module">
const said = document.querySelector('body > p');
document.querySelector('attention-playground').addEventListener('attention-change', ({detail}) => {
${handler.replace(/\bsaid(\.value)? =/, 'said.textContent =')}
});
</script>`;
}

/** The cell of a notebook, and below it the value that other cells get. */
const cell = (code) => `<div id="cell"></div><p><code>weights.shape</code> is <output id="shape">…</output>, and the last row <output id="row">…</output>.</p>
<script type="module">
  await import("https://example.org/playground/element.js");
  const view = (() => ${code.replace(/^viewof weights = /, '').trim()})();
  view.addEventListener('input', () => {
    document.querySelector('#shape').value = Array.from(view.value.shape).join(' × ');
    document.querySelector('#row').value = Array.from(view.value.data).slice(12, 16).map((weight) => weight.toFixed(2)).join(', ');
  });
  document.querySelector('#cell').append(view);
</script>`;

/** The start of an application, with a board and the link that it makes. */
const application = (code) => `${BOARD}
<p><a target="_blank">A link to this board, as it stands</a></p>
<script type="module">
${code}
const board = document.querySelector('attention-playground'), link = document.querySelector('a');
await board.ready;
const follow = async () => { link.href = await board.link(); };
board.addEventListener('change', follow);
await follow();
</script>`;

/** Links as a chat shows them, and the page that they lead to. */
function posted(code) {
  const addresses = code.trim().split('\n');
  return `${addresses.map((address) => `<p>${tag('a', {href: address, target: 'there'}, escape(address))}</p>`).join('\n')}
${tag('iframe', {name: 'there', src: addresses[0], title: 'The page that a link leads to', style: 'width:100%;height:480px;border:0'})}`;
}

/** By the page of a recipe, the language of a block, and a part of its text; `extra` is how much higher the result is than its board. */
const RESULTS = [
  {page: 'plain', language: 'html', make: asItIs, extra: 230},
  {page: 'reveal', language: 'html', make: slides, extra: 622, note: 'The two slides, one below the other. reveal.js, which shows one at a time, comes from another server and does not run here.'},
  {page: 'from-another-origin', language: 'html', has: 'playground/standalone.js', make: (code) => code + BOARD, note: 'A board that the classic script has brought.'},
  {page: 'sphinx', language: 'rst', make: directive, note: 'The element that the directive writes into the page. Sphinx itself does not run here.'},
  {page: 'myst-and-jupyter-book', language: 'md', has: '{attention-playground}', make: directive, note: 'The element that the directive writes into the page. Sphinx itself does not run here.'},
  {page: 'myst-and-jupyter-book', language: 'md', has: '{iframe}', make: frameDirective, note: 'The frame in the page. MyST itself does not run here.'},
  {page: 'docusaurus', language: 'jsx', has: '<Attention ', make: component, note: 'The element that the component writes into the page. Docusaurus itself does not run here.'},
  {page: 'svelte', language: 'svelte', make: template, extra: 71, note: 'The element that the component writes into the page, and what its handler says. Svelte itself does not run here.'},
  {page: 'vue', language: 'vue', make: template, extra: 71, note: 'The element that the component writes into the page, and what its handler says. Vue itself does not run here.'},
  {page: 'quarto', language: 'md', make: rawHtml, note: 'What the page contains. Quarto itself does not run here.'},
  {page: 'wordpress', language: 'html', make: asItIs, note: 'What the page contains. The editor of WordPress cannot run here.'},
  {page: 'observable', language: 'js', has: 'viewof', make: cell, extra: 71, note: 'The cell, and what another cell gets from it. The notebook itself does not run here.'},
  {page: 'notion', language: 'text', make: frameOfAddress, note: 'The frame that the page contains. Notion itself cannot run here.'},
  {page: 'moodle', language: 'html', make: asItIs, note: 'What the page contains. The editor of Moodle cannot run here.'},
  {page: 'a-slide-deck', language: 'html', make: asItIs, note: 'What the slide contains. Slidev and Marp themselves do not run here.'},
  {page: 'a-notebook', language: 'python', make: frameOfNotebook, note: 'The output of the cell. The notebook itself does not run here.'},
  {page: 'a-course-pages-chats-and-forums', language: 'text', make: posted, extra: 111, note: 'The links as a chat shows them, and the page that opens.'},
  {page: 'a-frame-as-high-as-its-board-that-scripts-can-drive', language: 'html', make: asItIs, extra: 173},
  {page: 'bundlers', language: 'js', has: '.home =', make: application, extra: 71, note: 'A board of such an application. The bundlers themselves do not run here.'},
];

/** What a block of a recipe gives: its HTML, its height in a wide window, and a note; undefined for a block that shows nothing by itself. */
export function resultOf(page, language, code) {
  const found = RESULTS.find((one) => one.page === page && one.language === language && code.includes(one.has ?? '') && !code.includes('integrity='));
  if (!found) return undefined;
  const html = found.make(code), [, board] = /\bheight\W+(\d+)/.exec(html);
  return {html, note: found.note, height: Number(board) + (found.extra ?? 18)};
}
