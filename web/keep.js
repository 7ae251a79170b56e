// Saves the board of a tab in this browser's storage (IndexedDB), with its undo history, and restores it when the page is reloaded or after
// a crash. Nothing leaves the machine. Only the page itself does this, not an element embedded in another page. Each tab has a name in its
// session storage. A duplicated tab has a copy of the name, so while its tab exists the name is held by a lock: a tab that finds it held
// starts with the board saved under it, and saves under a name of its own.

const NAME = 'attention-playground', TAB = `${NAME}-tab`, LAST = `${NAME}-last`, STORE = 'boards', KEPT_BY = 'updated';
const MOST_AT_ONCE = 2 ** 20;  // bytes written to session storage while the page is being left, when there is no time to wait for IndexedDB
const WAIT = 400, LONGEST_WAIT = 800;  // milliseconds to wait for further edits; the longer saving takes, the longer the wait
const MOST = 32 * 2 ** 20;   // bytes of one board
const MOST_BOARDS = 40, OLDEST = 30 * 86_400_000;  // of closed tabs, and their age in milliseconds
const OWN = ['preset', 'view', 'theme'];

const PATIENCE = 3000, LONG_PATIENCE = 15_000;  // milliseconds until a storage that does not respond is given up: to open it, to read it

const inTime = (promise, most) => new Promise((resolve, reject) => {
  const timer = setTimeout(() => reject(new Error('no answer')), most);
  promise.then(resolve, reject).finally(() => clearTimeout(timer));
});

const settled = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

async function openStorage() {
  const request = indexedDB.open(NAME, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE, {keyPath: 'tab'}).createIndex(KEPT_BY, KEPT_BY);
  return settled(request);
}

/** Acquires the lock on a name; false if it is held. Undefined without support for locks. */
async function claim(tab) {
  return navigator.locks && new Promise((resolve, reject) => navigator.locks.request(`${NAME}:${tab}`, {ifAvailable: true}, (lock) => {
    resolve(lock !== null);
    return lock && new Promise(() => {});  // held until the tab is closed
  }).catch(reject));
}

class SessionStore {
  constructor(board) {
    this.board = board;
    this.isNew = true;
    this.wait = WAIT;
  }

  /** The bytes saved for this tab, if any. Sets `tab` to the name under which it will save. */
  async recall() {
    const before = sessionStorage.getItem(TAB);
    if (before && await claim(before)) this.tab = before;
    else await claim(this.tab = crypto.getRandomValues(new Uint32Array(4)).join('-'));
    this.storage = await inTime(openStorage(), PATIENCE);
    this.storage.onversionchange = () => this.storage.close();
    const [last, kept] = [sessionStorage.getItem(LAST), before && await inTime(settled(this.boards('readonly').get(before)), LONG_PATIENCE)];
    sessionStorage.removeItem(LAST);
    const [, when, text] = /^(\d+) ([^]*)$/.exec(last ?? '') ?? [];
    return when > (kept?.[KEPT_BY] ?? 0) ? Uint8Array.from(text, (letter) => letter.charCodeAt(0)) : kept?.bytes;
  }

  /** The page is being left: asynchronous writes may not complete, only synchronous ones. */
  leave() {
    if (!this.timer) return;
    this.keep();
    const {bytes} = this;
    if (!bytes) return;
    let text = `${Date.now()} `;
    for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
    sessionStorage.setItem(LAST, text);
  }

  boards(mode) {
    this.transaction = this.storage.transaction(STORE, mode, {durability: 'strict'});
    return this.transaction.objectStore(STORE);
  }

  /** Saves after each edit, and immediately when the tab is left. */
  listen() {
    const {board} = this, {host} = board.root, {signal} = board.ends;
    const soon = () => { this.timer ??= setTimeout(() => this.keep(), this.wait); };
    for (const type of ['input', 'change']) host.addEventListener(type, soon, {signal});
    addEventListener('pagehide', () => this.leave(), {signal});
    document.addEventListener('visibilitychange', () => document.hidden && this.timer && this.keep(), {signal});
  }

  /** Saves the board completely or not at all, in a single transaction. */
  async keep() {
    const {board} = this;
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!board.alive || !this.storage) return;
    const began = performance.now();
    try {
      board.pieces = [];
      board.run('keep', MOST);
      const bytes = joined(board.pieces.splice(0));
      if (!bytes.length) return;  // the module takes no more calls
      this.bytes = bytes.length > MOST_AT_ONCE ? undefined : bytes;
      const boards = this.boards('readwrite'), {transaction} = this;
      boards.put({tab: this.tab, bytes, [KEPT_BY]: Date.now()});
      const done = new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(transaction.error);
      });
      transaction.commit?.();
      this.wait = Math.min(LONGEST_WAIT, WAIT + 10 * (performance.now() - began));
      sessionStorage.setItem(TAB, this.tab);
      await done;
      sessionStorage.removeItem(LAST);
      if (this.isNew) await this.tidy();
      this.isNew = false;
    } catch (error) {
      this.fail(error);
    }
  }

  /** Deletes boards of closed tabs, oldest first, if there are many. */
  async tidy() {
    const held = new Set((await navigator.locks?.query())?.held.map(({name}) => name.slice(NAME.length + 1)));
    const index = this.boards('readonly').index(KEPT_BY);
    const [all, old] = await Promise.all([settled(index.getAllKeys()), settled(index.getAllKeys(IDBKeyRange.upperBound(Date.now() - OLDEST)))]);
    const gone = all.filter((tab, i) => !held.has(tab) && tab !== this.tab && i < Math.max(all.length - MOST_BOARDS, old.length));
    for (const tab of gone) this.boards('readwrite').delete(tab);
  }

  fail(error) {
    if (this.isSaid || !this.board.alive) return;
    this.isSaid = true;
    const full = error?.name === 'QuotaExceededError';
    this.board.run('notify', full ? 'The storage of this browser is full, so this board is not kept if the tab is closed or crashes; save it with Ctrl+S.'
      : 'This browser does not let the page store anything, so this board is not kept if the tab is closed or crashes; save it with Ctrl+S.', 1);
  }
}

/** Restores the board saved for this tab, and saves it from now on. Returns 0 if nothing was saved; 1 if it is as the reader left it; 2 if
 * the address asked for another board, which a single undo reverts. */
export async function keep(board) {
  const store = new SessionStore(board);
  let found = 0;
  try {
    const kept = await store.recall();
    if (!board.alive) return 0;
    if (kept) found = restore(board, kept);
    else board.run('restore', 0, 0);  // sets the text shown in Help
  } catch (error) {
    store.storage = undefined;  // the saved board is left as it is, for a visit that can read it
    store.fail(error);
  }
  store.listen();
  return found;
}

function joined(pieces) {
  const all = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of pieces) all.set(piece, at), at += piece.length;
  return all;
}

function restore(board, bytes) {
  const address = board.wasm._malloc(bytes.length);
  if (!address) return 0;
  board.wasm.HEAPU8.set(bytes, address);
  try {
    board.ask('restore', address, bytes.length);  // which frees it
  } catch (error) {
    board.tell(`The board that was kept could not be opened: ${error.message}`);
    return 0;
  }
  const query = new URLSearchParams(location.search), [{type} = {}] = performance.getEntriesByType('navigation');
  if (type !== 'navigate' || !(query.has('preset') || location.hash.startsWith('#s='))) return 1;
  for (const name of OWN) {
    if (!query.has(name)) continue;
    if (name === 'preset') board.attempt('open_preset', query.get(name), 1);
    else board.attempt('set', name, JSON.stringify(query.get(name)));
  }
  return 2;
}
