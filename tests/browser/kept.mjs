// A page that one test after another opens. Nothing of a test is left for the next one: the document is another, what it stored is deleted,
// and the mouse is outside. It has the process, though, and the compiled module.

/** What a test may use of a page that is kept. Whoever uses anything else, such as routes, scripts, media or the context, has the page for
 * himself: some of it would outlast the document. */
const PASSING = new Set(['evaluate', 'evaluateHandle', 'locator', 'getByRole', 'focus', 'mouse', 'keyboard', 'screenshot', 'url', 'viewportSize', 'setViewportSize']);

/** The page as a test has it; `spoil` is called if it uses what is not passing. */
export const watched = (page, spoil) => new Proxy(page, {get(target, name) {
  if (!PASSING.has(name)) spoil();
  const value = target[name];
  return typeof value === 'function' ? value.bind(target) : value;
}});

export class Kept {
  #url;
  #free = null;

  /** `url` is that of the server, which has an empty page. */
  constructor(url) { this.#url = url; }

  /** The page that was opened like this before, as {page, …}, or undefined. */
  async take(how, viewport) {
    if (this.#free?.how !== how) return undefined;
    const {one} = this.#free;
    this.#free = null;
    await one.page.setViewportSize(viewport);
    return one;
  }

  /** Empties a page and keeps it for the next test. */
  async give(how, one) {
    const {page} = one;
    await page.mouse.move(-9, -9);
    await page.goto(`${this.#url}/empty`);
    await page.evaluate(() => sessionStorage.clear());
    one.session ??= await page.context().newCDPSession(page);
    await one.session.send('Storage.clearDataForOrigin', {origin: this.#url, storageTypes: 'all'});
    const before = this.#free;
    this.#free = {how, one};
    await before?.one.page.context().close();
  }
}
