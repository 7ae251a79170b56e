// What is done with a board by real input in every browser: one list for all of them. Each case has a server, and so an origin, of its own,
// and ends with a look at the console, to which nothing of ours writes.
import assert from 'node:assert/strict';
import {copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {until} from '../../until.mjs';
import {SITE, serve} from '../harness.mjs';

/** Runs in each page before anything else: what is logged or refused is collected, closed shadow roots are open, the Guide is closed. */
const FIRST = () => {
  globalThis.logged = [];
  for (const level of ['error', 'warn']) {
    const write = console[level];
    console[level] = (...values) => {
      globalThis.logged.push(`${level}: ${values.join(' ')}`);
      write.apply(console, values);
    };
  }
  addEventListener('error', (e) => { if (e.message) globalThis.logged.push(e.message); });
  addEventListener('unhandledrejection', (e) => globalThis.logged.push(String(e.reason)));
  addEventListener('securitypolicyviolation', (e) => globalThis.logged.push(`${e.effectiveDirective} refuses ${e.blockedURI} ${e.sample}`));
  const {attachShadow} = Element.prototype;
  Element.prototype.attachShadow = function (options) { return attachShadow.call(this, {...options, mode: 'open'}); };
};
const CLOSED_GUIDE = () => { try { localStorage['attention-playground'] ??= '{"open":false}'; } catch { /* a sandbox */ } };
const OPEN_GUIDE = () => { try { localStorage['attention-playground'] ??= '{"open":true}'; } catch { /* a sandbox */ } };

const languages = Object.fromEntries(['de', 'zh'].map((tag) => {
  const {messages} = JSON.parse(readFileSync(fileURLToPath(new URL(`../../../web/languages/${tag}.json`, import.meta.url)), 'utf8'));
  return [tag, Object.assign({}, ...Object.values(messages))];
}));

/** A board in the page of a browser. */
class Board {
  constructor(browser, selector = 'attention-playground') { Object.assign(this, {browser, selector}); }

  call(method, ...args) {
    return this.browser.evaluate((selector, name, values) => {
      const result = document.querySelector(selector)[name](...values);
      return result?.data instanceof Float32Array ? {data: [...result.data], shape: result.shape} : result;
    }, this.selector, method, args);
  }
  async value(name, head, row, col) {
    const {data, shape} = await this.call('getTensor', name);
    return data[(head * shape[1] + row) * shape[2] + col];
  }
  async middle(name, ...cell) {
    const {x, y, width, height} = await this.call('locate', name, ...cell);
    return [x + width / 2, y + height / 2];
  }
  async click(name, ...cell) { await this.browser.click(...await this.middle(name, ...cell)); }
  /** Waits until nothing is drawn any more. */
  async rest() {
    await until('the board to rest', () => this.browser.evaluate(async (selector) => {
      const frames = () => document.querySelector(selector).stats().frames, before = frames();
      for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
      return frames() === before;
    }, this.selector));
  }
  async place(name) { return (await this.call('items')).find((item) => item.name === name).rect; }
  async names() { return (await this.call('items')).map(({name}) => name); }
  async becomes(what, name, cell, expected) {
    await until(what, async () => Math.abs(await this.value(name, ...cell) - expected) < 1e-6);
  }
  see() { return this.browser.evaluate((selector) => document.querySelector(selector).scrollIntoView({block: 'center'}), this.selector); }
  rect() {
    return this.browser.evaluate((selector) => {
      const {x, y, width, height} = document.querySelector(selector).getBoundingClientRect();
      return {x, y, width, height};
    }, this.selector);
  }

  /** Waits until the picture of the page has a drawn board there, and not a plain area. */
  async drawn(name = this.selector.replace(/\W/g, ''), area) {
    const {x, y, width, height} = area ?? await this.rect();
    await until(`the picture of ${this.selector}`, async () => {
      const picture = await this.browser.picture(name), colors = new Set();
      for (let top = Math.max(0, Math.ceil(y)); top < Math.min(picture.height, y + height); top += 2) {
        for (let left = Math.ceil(x); left < Math.min(picture.width, x + width); left += 2) colors.add(String(picture.at(left, top)));
      }
      return colors.size > 40;
    }, 20_000);
  }
}

const ready = (browser, selector = 'attention-playground') => browser.evaluate((all) => Promise.all([...document.querySelectorAll(all)].map((element) =>
  customElements.whenDefined('attention-playground').then(() => element.ready.then(() => true)))), selector);
const focused = (browser) => browser.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.localName ?? null);
/** All words of the board's document and of those inside of it: the tables, and dialogs. */
const words = (browser) => browser.evaluate(() => {
  const read = (node) => `${node.textContent}\n${[...node.querySelectorAll('*')].map((part) => `${part.ariaLabel ?? ''}\n${part.shadowRoot ? read(part.shadowRoot) : ''}`).join('')}`;
  return read(document.querySelector('attention-playground').shadowRoot);
});

/** Runs all cases in a browser. `cannot` has the reasons for which a case is skipped there, by its name. */
export function runIn(browser, cannot = {}) {
  before(() => browser.start());
  after(() => browser.stop());

  /** `apart`: the case has a browser of its own, started with these settings. */
  const onPage = (name, body, {path = '/', first, guide = false, policy = true, wait = true, apart, ...view} = {}) => test(name, {skip: cannot[name]}, async () => {
    const script = [FIRST, guide === 'first' ? null : guide ? OPEN_GUIDE : CLOSED_GUIDE, first].filter(Boolean).map((f) => `(${f})();`).join('\n');
    const server = await serve(SITE, {policy, first: script}), one = apart ? new browser.constructor() : browser;
    try {
      if (apart) await one.start(apart);
      one.logged.length = 0;
      await one.open(server.url + path, view);
      if (wait) await ready(one);
      await body(new Board(one), server);
      assert.deepEqual([...one.logged, ...await one.evaluate(() => globalThis.logged ?? [])], [], 'nothing is written to the console');
      await one.open('about:blank');
    } finally {
      if (apart) await one.stop();
      await server.close();
    }
  });

  onPage('the board is drawn, in its colours', async (board) => {
    await board.drawn('board');
    const {x, y} = await board.call('locate', 'weights', 0, 0, 0), [red, green, blue] = (await browser.picture('board')).at(Math.round(x + 6), Math.round(y + 6));
    assert.ok(red > green + 20 && blue > red + 20, `a weight of 1 is violet, not ${[red, green, blue]}`);
    await until('the tables', async () => (await words(browser)).includes('Q, queries'));
  });

  onPage('a cell is dragged', async (board) => {
    const was = await board.value('q', 0, 1, 1);
    await browser.drag(...await board.middle('q', 0, 1, 1), 30, 0);
    await board.becomes('the number', 'q', [0, 1, 1], Math.fround(was + 0.3));
  });

  onPage('the wheel scrolls the page over a board that has not the focus', async (board) => {
    await board.see();
    const from = await browser.evaluate(() => scrollY);
    await browser.move(...await board.middle('q', 0, 1, 1));
    await browser.wheel(0, 120);
    await until('the page to scroll', async () => await browser.evaluate(() => scrollY) > from + 50);
  }, {path: '/pages/embed.html'});

  onPage('the wheel scrolls a board that has the focus and is larger than its place', async (board) => {
    await board.call('set', 'tokens', 12);
    await board.see();
    await board.click('k', 0, 0, 0);  // at the top, so that the board need not scroll to show it
    await board.rest();
    const [{y}, from] = [await board.place('title:q'), await browser.evaluate(() => scrollY)];
    await browser.wheel(0, 100);
    await until('the board to scroll', async () => (await board.place('title:q')).y < y - 50);
    assert.equal(await browser.evaluate(() => scrollY), from, 'the page stays');
  }, {path: '/pages/embed.html'});

  onPage('a double click opens a field, and what is typed is taken', async (board) => {
    // On a slow machine the second click may come too late to belong to the first.
    await until('the field', async () => {
      await browser.click(...await board.middle('k', 0, 1, 1), 2);
      await board.rest();
      return await focused(browser) === 'input';
    });
    await browser.press('Control+a');
    await browser.type('-1.25');
    await browser.press('Enter');
    await board.becomes('the number', 'k', [0, 1, 1], -1.25);
  });

  onPage('keys select, type and undo', async (board) => {
    await board.click('q', 0, 0, 0);
    const was = await board.value('q', 0, 0, 1);
    await browser.press('ArrowRight');
    await browser.type('2.5');
    await browser.press('Enter');
    await board.becomes('the number', 'q', [0, 0, 1], 2.5);
    await browser.press('Control+z');
    await board.becomes('what it was', 'q', [0, 0, 1], was);
    await browser.press('Control+Shift+Z');
    await board.becomes('it again', 'q', [0, 0, 1], 2.5);
  });

  onPage('cells are copied, cut and pasted, from one board to another', async () => {
    const [one, two] = ['#one', '#two'].map((selector) => new Board(browser, selector));
    /** The first two columns of the first two rows. */
    const corner = async (board, name) => {
      const {data, shape: [,, columns]} = await board.call('getTensor', name);
      return [data[0], data[1], data[columns], data[columns + 1]];
    };
    const holds = async (board, name, values) => (await corner(board, name)).every((value, i) => Math.abs(value - values[i]) < 1e-6);
    const values = [1.25, -2.5, 0.75, 3];
    const {data, shape: [,, columns]} = await one.call('getTensor', 'q');
    [0, 1, columns, columns + 1].forEach((at, i) => { data[at] = values[i]; });
    await one.call('setTensor', 'q', data);
    await one.click('q', 0, 0, 0);
    for (const key of ['Control+Shift+ArrowRight', 'Control+Shift+ArrowDown', 'Control+c']) await browser.press(key);
    await two.click('q', 0, 0, 0);
    await browser.press('Control+v');
    await until('the cells on the other board', () => holds(two, 'q', values));
    await browser.press('Control+x');
    await until('the cells to be gone', () => holds(two, 'q', [0, 0, 0, 0]));
    assert.ok(await holds(one, 'q', values), 'the first board has not heard of it');
    await one.click('v', 0, 0, 0);
    await browser.press('Control+v');
    await until('what was cut, on the first board', () => holds(one, 'v', values));
  }, {path: '/pages/two.html', height: 1000});

  onPage('a link opens the same board: inputs bit for bit, results to a millionth', async (board) => {
    const count = (await board.call('getTensor', 'q')).data.length;
    await board.call('setTensor', 'q', Array.from({length: count}, (_, i) => Math.fround(Math.sin(i + 1) * Math.PI)));
    await board.call('set', 'causal', false);
    const inputs = ['q', 'k', 'v'], results = ['weights', 'output'];
    const read = async (names) => { const all = []; for (const name of names) all.push((await board.call('getTensor', name)).data); return all; };
    const [given, computed] = [await read(inputs), await read(results)], link = await board.call('link');
    await browser.open('about:blank');
    await browser.open(link);
    await ready(browser);
    assert.deepEqual(await read(inputs), given);
    (await read(results)).flat().forEach((value, i) => assert.ok(Math.abs(value - computed.flat()[i]) < 1e-6, `${value} and ${computed.flat()[i]}`));
    await board.drawn('link');
  });

  onPage('Share shows the link of the board', async (board) => {
    await board.click('share');
    const link = await board.call('link');
    await until('the link', async () => (await words(browser)).includes(link));
    await browser.press('Escape');
    await until('the board to have the focus again', async () => await focused(browser) === 'canvas');
  });

  onPage('a first visit: a number dragged, Causal flipped, a head added; then the Guide is offered', async (board) => {
    await until('the first step', async () => (await board.names()).includes('coach:skip'));
    assert.deepEqual([await board.call('get', 'heads'), await board.call('get', 'causal')], [1, false]);
    await browser.drag(...await board.middle('q', 0, 3, 2), -40, 0);
    await until('the number', async () => await board.value('q', 0, 3, 2) < 1.5);
    await board.click('causal');
    await until('the mask', async () => await board.call('get', 'causal'));
    await board.click('heads+');
    await until('the second head', async () => await board.call('get', 'heads') === 2);
    assert.equal(await board.call('get', 'd_k'), 3);
    await until('the offer', async () => (await board.names()).includes('coach:guide'));
    await board.click('coach:guide');
    await until('the Guide', async () => (await board.names()).includes('guide-close'));
  }, {guide: 'first'});

  onPage('the Guide opens where it was left, and its question is answered', async (board) => {
    await until('the question', async () => (await board.names()).includes('guide:choice:0'));
    await browser.evaluate(() => document.querySelector('attention-playground').addEventListener('answer', ({detail}) => { globalThis.answered = detail; }));
    await board.click('guide:choice:0');
    await until('the answer', () => browser.evaluate(() => globalThis.answered?.choice === 0));
    await board.click('guide-close');
    await until('the Guide to be closed', async () => !(await board.names()).includes('guide-close'));
  }, {guide: true});

  onPage('Train runs, and is stopped', async (board) => {
    await board.click('view:train');
    await until('the page', async () => (await board.names()).includes('train:play'));
    await board.click('train:play');
    await until('some steps', () => browser.evaluate(() => document.querySelector('attention-playground').getTensor('train:loss').shape[1] > 20));
    await board.click('train:play');
    await until('a pause', async () => await board.call('get', 'train_running') === false);
    const {data} = await board.call('getTensor', 'train:loss');
    assert.ok(data.every(Number.isFinite) && data.at(-1) < data[0], `${data[0]} to ${data.at(-1)}`);
    await board.drawn('train');
  });

  onPage('all of twenty-four boards are drawn', async () => {
    for (let i = 0; i < 24; i++) {
      const board = new Board(browser, `#board${i}`);
      await board.see();
      await board.drawn('many');
    }
  }, {path: '/pages/many.html'});

  for (const [name, sandbox] of [['a board in an iframe', null], ['a board in a sandbox without an origin', 'allow-scripts']]) {
    onPage(name, async () => {
      await browser.evaluate(async (box) => {
        const frame = document.createElement('iframe');
        Object.assign(frame, {width: 800, height: 440, src: '/embed.html?preset=i-saw-a-saw', title: 'board'});
        if (box) frame.setAttribute('sandbox', box);
        const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
        document.body.prepend(frame);
        await loaded;
        const {port1, port2} = new MessageChannel(), waiting = [];
        port1.onmessage = ({data}) => data.event || waiting[data.id](data.result);
        frame.contentWindow.postMessage({attention: 1, connect: true}, '*', [port2]);
        globalThis.ask = (call, ...args) => new Promise((resolve) => port1.postMessage({id: waiting.push(resolve) - 1, call, args}));
        await globalThis.ask('ready');
      }, sandbox);
      const frame = new Board(browser, 'iframe');
      await frame.drawn(sandbox ? 'sandbox' : 'frame');
      const ask = (...all) => browser.evaluate(async (values) => {
        const result = await globalThis.ask(...values);
        return result.data ? [...result.data] : result;
      }, all);
      const [{x: left, y: top}, {x, y, width, height}, was] = [await frame.rect(), await ask('locate', 'q', 0, 0, 0), await ask('getTensor', 'q')];
      await browser.drag(left + x + width / 2, top + y + height / 2, 30, 0);
      await until('the drag', async () => Math.abs((await ask('getTensor', 'q'))[0] - was[0] - 0.3) < 1e-5);
    }, {path: '/pages/host.html', wait: false, policy: !sandbox});
  }

  onPage('the standalone file works from a disk', async (board) => {
    const folder = mkdtempSync(join(tmpdir(), 'attention-standalone-'));
    try {
      copyFileSync(join(SITE, 'standalone.js'), join(folder, 'standalone.js'));
      writeFileSync(join(folder, 'page.html'), `<!doctype html><meta charset="utf-8"><title>From a disk</title><link rel="icon" href="data:,"><script>(${FIRST})()</script>` +
        '<script src="standalone.js"></script><attention-playground></attention-playground>');
      await browser.open(pathToFileURL(join(folder, 'page.html')).href);
      await ready(browser);
      await board.drawn('standalone');
      const was = await board.value('q', 0, 0, 0);
      await browser.drag(...await board.middle('q', 0, 0, 0), 30, 0);
      await board.becomes('the number', 'q', [0, 0, 0], Math.fround(was + 0.3));
    } finally {
      rmSync(folder, {recursive: true});
    }
  }, {wait: false});

  onPage('the tutorial page has its boards, and its text follows them', async () => {
    const board = new Board(browser, '#score attention-playground');
    await board.see();
    await board.drawn('tutorial');
    const said = () => browser.evaluate(() => [...document.querySelectorAll('#score [data-number]')].map((node) => node.textContent).join(' '));
    const first = await said(), {data} = await board.call('getTensor', 'q');
    assert.ok(first);
    await board.call('setTensor', 'q', data.map((value) => value + 0.5));
    await until('the text to follow', async () => await said() !== first);
  }, {path: '/tutorial.html'});

  onPage('without WebGL the board is there as tables, which say why, and are edited', async (board) => {
    await until('the sentence', async () => /WebGL 2 switched off.*tables/.test(await words(board.browser)));
    assert.equal((await board.call('getTensor', 'weights')).data.length, 32);
    await board.call('set', 'causal', false);
    assert.equal(await board.call('get', 'causal'), false);
  }, {apart: {webgl: false}});

  onPage('where nothing can be stored the board works', async (board) => {
    await browser.drag(...await board.middle('q', 0, 1, 1), 30, 0);
    await board.drawn('denied');
  }, {guide: 'first', first: () => {
    for (const name of ['localStorage', 'sessionStorage', 'indexedDB']) {
      Object.defineProperty(globalThis, name, {get() { throw new DOMException('denied', 'SecurityError'); }});
    }
  }});

  onPage('F10 goes to the tables, Escape back to the board', async (board) => {
    await board.click('q', 0, 0, 0);
    await browser.press('F10');
    await until('the tables to have the focus', async () => !['canvas', null].includes(await focused(browser)));
    await browser.press('Escape');
    await until('the board to have the focus', async () => await focused(browser) === 'canvas');
  });

  for (const [tag, table] of Object.entries(languages)) {
    onPage(`the board speaks the language of the page: ${tag}`, async (board) => {
      const plain = await browser.picture('english');
      await browser.evaluate((lang) => { document.querySelector('attention-playground').lang = lang; }, tag);
      await until('its words', async () => (await words(browser)).includes(table.Causal));
      const {x, y, width, height} = await board.place('causal');
      await until('its letters', async () => {
        const picture = await browser.picture(tag);
        for (let top = Math.ceil(y); top < y + height; top++) {
          for (let left = Math.ceil(x); left < x + width - 40; left++) if (String(picture.at(left, top)) !== String(plain.at(left, top))) return true;
        }
        return false;
      });
    });
  }

  onPage('a file is dropped', async (board) => {
    const matrix = Array.from({length: 3}, (_, row) => Array.from({length: 2}, (_, col) => row + col / 2));
    await browser.evaluate((text) => {
      const element = document.querySelector('attention-playground'), dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([text], 'tensors.json'));
      for (const type of ['dragenter', 'dragover', 'drop']) element.dispatchEvent(new DragEvent(type, {dataTransfer, bubbles: true, cancelable: true, composed: true}));
    }, JSON.stringify({q: matrix, k: matrix, v: matrix}));
    await until('its numbers', async () => String((await board.call('getTensor', 'q')).data) === String(matrix.flat()));
  });

  // As long as a page that stands still for a reader: its fallback for scripts that do not come appears then.
  for (const path of ['/', '/embed.html']) {
    onPage(`${path} stays open for some seconds`, async () => {
      await until('three seconds', () => browser.evaluate(() => document.querySelector('svg').getCurrentTime() > 3.2));
    }, {path});
  }

  onPage('index.html from a disk says that it needs a server', async () => {
    await browser.open(pathToFileURL(`${SITE}/index.html`).href);
    await until('the sentence', () => browser.evaluate(() => {
      const sentence = document.querySelector('foreignObject p'), {left, height} = sentence.getBoundingClientRect();
      return left >= 0 && height > 10 && /not from a file/.test(sentence.textContent);
    }));
    await browser.open('about:blank');
    browser.logged.length = 0;  // the browser itself notes that it loads no module from a disk
  }, {wait: false});

  onPage('what did not arrive comes at the second try', async (board, server) => {
    const open = () => browser.evaluate(() => document.querySelector('attention-playground').openLesson('query').then(() => 'open', ({message}) => message));
    server.cut(true);
    assert.equal(await open(), 'The lessons could not be fetched: perhaps there is no connection. Please try again.');
    server.cut(false);
    assert.equal(await open(), 'open');
    await until('the lesson', async () => (await board.names()).includes('guide-next'));
    browser.logged.length = 0;  // the browser itself notes what it could not load
  });

  // At an address that is not of this machine for the page, with files as they are published.
  const visited = 'after one visit the page is there without a connection';
  test(visited, {skip: cannot[visited]}, async () => {
    const server = await serve(SITE), home = server.url.replace('127.0.0.1', 'playground.localhost'), board = new Board(browser);
    try {
      await browser.open(`${home}/`);
      await ready(browser);
      await until('it to be kept', () => browser.evaluate(() => navigator.serviceWorker.getRegistration().then((found) => found?.active?.state === 'activated')));
      server.cut(true);
      browser.logged.length = 0;
      await browser.open(`${home}/?preset=pronoun`);
      await ready(browser);
      await board.drawn('offline');
      assert.equal((await board.call('getState')).preset, 'pronoun');
      await browser.evaluate(() => document.querySelector('attention-playground').openLesson('query'));
      assert.deepEqual(browser.logged, []);
      await browser.open('about:blank');
    } finally {
      await server.close();
    }
  });

  onPage('a finger taps a switch', async (board) => {
    const {x, y, height} = await board.place('causal');
    await browser.touch(x + 20, y + height / 2);
    await until('the switch', async () => await board.call('get', 'causal') === false);
  });

  /** A swipe that begins before the finger has rested, which a slow machine may not manage at once. */
  const swipe = async (board, at, dx, dy) => until('a finger that moves at once', async () => {
    const state = await board.call('getState');
    await browser.evaluate(() => {
      globalThis.rested = 0;
      let down = 0;
      addEventListener('pointerdown', (e) => { down = e.timeStamp; }, {capture: true, once: true});
      addEventListener('pointermove', (e) => { globalThis.rested = e.timeStamp - down; }, {capture: true, once: true});
    });
    await browser.touch(...at, dx, dy);
    if (await browser.evaluate(() => globalThis.rested) < 250) return true;
    await board.call('setState', state);
    return false;
  });

  onPage('a finger drags a number that it holds, and no other', async (board) => {
    const was = await board.value('q', 0, 1, 1), other = await board.value('q', 0, 1, 2);
    await swipe(board, await board.middle('q', 0, 1, 1), 40, 0);
    await swipe(board, await board.middle('q', 0, 1, 2), 0, -40);
    assert.equal(await board.value('q', 0, 1, 1), was);
    assert.equal(await board.value('q', 0, 1, 2), other);
    await browser.touch(...await board.middle('q', 0, 1, 1), 40, 0, 400);
    await until('the number to grow', async () => await board.value('q', 0, 1, 1) > was + 0.2);
  });
}
