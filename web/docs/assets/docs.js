// What every page of the documentation does: the theme, Copy at code, the search, and frames that show what code does.
const {documentElement} = document;
const isDark = () => documentElement.dataset.theme ? documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;

document.querySelector('#theme').addEventListener('click', () => {
  documentElement.dataset.theme = isDark() ? 'light' : 'dark';
  try { localStorage['attention-docs-theme'] = documentElement.dataset.theme; } catch { /* it lasts as long as the page */ }
  for (const frame of document.querySelectorAll('iframe')) if (frame.contentDocument) frame.contentDocument.documentElement.style.colorScheme = documentElement.dataset.theme;
});

for (const block of document.querySelectorAll('.code')) {
  const button = Object.assign(document.createElement('button'), {type: 'button', textContent: 'Copy', className: 'copy'});
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('pre').textContent);
    button.textContent = 'Copied';
    button.addEventListener('blur', () => { button.textContent = 'Copy'; }, {once: true});
  });
  block.append(button);
}

// ---------------------------------------------------------------- what code shows

/** The copy of the playground that these pages belong to, in place of the address that texts give as an example. */
export const home = new URL('../../', import.meta.url).href;
export const here = (code) => code.replaceAll('https://example.org/playground/', home);

/** Shows HTML in a frame, as a page of its own. */
export function show(frame, code) {
  const scheme = isDark() ? 'dark' : 'light';
  const isPage = /^\s*<!doctype/i.test(code), style = 'body{margin:0;padding:8px;background:light-dark(#fff,#101216);font:15px/1.5 system-ui,sans-serif}attention-playground,iframe{display:block}a{color:light-dark(#0060a0,#7fb8ea);overflow-wrap:anywhere}';
  const names = '<script type="importmap">{"imports":{"attention-playground":"./element.js"}}</script>';  // what a bundler finds by its name
  frame.srcdoc = (isPage ? '' : `<!doctype html><html lang="en" style="color-scheme:${scheme}"><meta charset="utf-8"><title>Result</title><base href="${home}"><style>${style}</style>${names}`) +
    here(code).replace(/(from|src=)(\s*['"])\.\/host\.js/g, `$1$2${home}host.js`);
}

// A board computes and draws a good deal as it starts. So that the text can be read at once also on a slow phone, boards wait until the
// reader does something; until then the first screen has a picture of its board.
const reader = new Promise((resolve) => {
  for (const type of ['pointerdown', 'touchstart', 'wheel', 'scroll', 'keydown', 'focusin']) addEventListener(type, resolve, {once: true, passive: true});
  // Chromium also sends it for a pointer at rest, under which the page was laid out.
  addEventListener('pointermove', ({movementX, movementY}) => (movementX || movementY) && resolve(), {passive: true});
});

/** Calls when an element comes close to what is seen, and the reader is there. */
export function whenNear(element, call) {
  const watcher = new IntersectionObserver((entries) => {
    if (!entries.some(({isIntersecting}) => isIntersecting)) return;
    watcher.disconnect();
    reader.then(call);
  }, {rootMargin: '200px'});
  watcher.observe(element);
}

for (const frame of document.querySelectorAll('iframe[data-live]')) {
  // As high as what it shows: its height is right for a wide window alone.
  frame.addEventListener('load', () => {
    const page = frame.contentDocument?.documentElement;
    if (!page) return;
    page.style.colorScheme = isDark() ? 'dark' : 'light';
    new ResizeObserver(() => { frame.height = page.offsetHeight + 2; }).observe(page);
  });
  whenNear(frame, () => show(frame, frame.dataset.live));
}

// ---------------------------------------------------------------- small screens

const pages = document.querySelector('#pages');
pages.addEventListener('click', () => pages.setAttribute('aria-expanded', String(pages.getAttribute('aria-expanded') === 'false')));

// ---------------------------------------------------------------- the board of the first screen, and search

const first = document.querySelector('attention-playground');
if (first) whenNear(first, () => import(`${home}element.js`));
document.querySelector('#find').addEventListener('focus', () => import('./search.js'), {once: true});
addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || /^(INPUT|TEXTAREA|ATTENTION-PLAYGROUND)$/.test(document.activeElement.tagName)) return;
  event.preventDefault();
  document.querySelector('#find').focus();
});
