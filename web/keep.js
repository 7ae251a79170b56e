// Saves the board of a tab in this browser's storage (IndexedDB), with its undo history, and restores it when the page is reloaded or after
// a crash. Nothing leaves the machine. Only the page itself does this, not an element embedded in another page. Each tab has a name in its
// session storage. A duplicated tab has a copy of the name, so while its tab exists the name is held by a lock: a tab that finds it held
// starts with the board saved under it, and saves under a name of its own.
import {message, saidBy} from './message.js';

const NAME = 'attention-playground', TAB = `${NAME}-tab`, LAST = `${NAME}-last`, STORE = 'boards', KEPT_BY = 'updated';
const MOST_AT_ONCE = 2 ** 20;  // bytes written to session storage while the page is being left, when there is no time to wait for IndexedDB
const WAIT = 400, LONGEST_WAIT = 800;  // milliseconds to wait for further edits; the longer saving takes, the longer the wait
const REST = 500, LONGEST = 5000;  // milliseconds: a large board waits until the reader has done nothing for so long, and at most
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

/** The keys of the parts of a board. They have no time, so that the index lists boards alone. */
const partsOf = (tab) => IDBKeyRange.bound(`${tab}/`, `${tab}/\uffff`);
const partOf = (tab, run, part) => `${tab}/${run}/${part}`;

/** A board is a record with its bytes, or with `pieces`: bytes, and [part, from, count], bytes of a part that is a record of its own. So what
 * did not change is not written again. */
class SessionStore {
  constructor(board) {
    this.board = board;
    this.isNew = true;
    this.wait = WAIT;
    this.parts = new Map();  // what has not been written, by number
    this.stored = new Set();  // the numbers of those that have been
  }

  /** The bytes saved for this tab, in pieces, if any. Sets `tab` to the name under which it will save. */
  async recall() {
    const before = sessionStorage.getItem(TAB);
    if (before && await claim(before)) this.tab = before;
    else await claim(this.tab = crypto.getRandomValues(new Uint32Array(4)).join('-'));
    this.storage = await inTime(openStorage(), PATIENCE);
    this.storage.onversionchange = () => this.storage.close();
    const [last, kept] = [sessionStorage.getItem(LAST), before && await inTime(this.read(before), LONG_PATIENCE)];
    const [, when, text] = /^(\d+) ([^]*)$/.exec(last ?? '') ?? [];
    this.isBehind = when > (kept?.[KEPT_BY] ?? 0);  // the database: what was written when the page was left may not have arrived
    if (!this.isBehind) sessionStorage.removeItem(LAST);
    return this.isBehind ? [Uint8Array.from(text, (letter) => letter.charCodeAt(0))] : kept?.pieces ?? (kept && [kept.bytes]);
  }

  /** A record, with bytes in the place of parts: in one transaction, a part in a task. What is missing is found when it is opened. */
  async read(tab) {
    const boards = this.boards('readonly'), record = await settled(boards.get(tab)), parts = new Map();
    for (const [i, piece] of record?.pieces?.entries() ?? []) {
      if (!Array.isArray(piece)) continue;
      const [part, from, count] = piece;
      if (!parts.has(part)) parts.set(part, await settled(boards.get(partOf(tab, record.run, part))));
      record.pieces[i] = (parts.get(part)?.bytes ?? new Uint8Array()).subarray(from, from + count);
    }
    return record;
  }

  /** The page is being left: asynchronous writes may not complete, only synchronous ones. */
  leave() {
    if (!this.timer && !this.turn) return;
    this.keep(true);
    const {bytes} = this;
    if (!bytes) return;
    let text = `${Date.now()} `;
    for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
    sessionStorage.setItem(LAST, text);
  }

  partOf(part) { return partOf(this.tab, this.run, part); }

  boards(mode) {
    this.transaction = this.storage.transaction(STORE, mode, {durability: 'strict'});
    return this.transaction.objectStore(STORE);
  }

  soon() { this.timer ??= setTimeout(() => this.keep(), this.wait); }

  /** Saves after each edit, and immediately when the tab is left. */
  listen() {
    const {board} = this, {host} = board.root, {signal} = board.ends;
    for (const type of ['input', 'change']) host.addEventListener(type, () => this.soon(), {signal});
    for (const type of ['pointerdown', 'pointermove', 'keydown', 'wheel']) addEventListener(type, () => { this.acted = performance.now(); }, {signal, capture: true, passive: true});
    addEventListener('pagehide', () => this.leave(), {signal});
    document.addEventListener('visibilitychange', () => document.hidden && (this.timer || this.turn) && this.keep(true), {signal});
  }

  /** Takes some of the board from the module; returns whether `list` is the whole board. */
  take() {
    const {board} = this;
    board.pieces = this.list = [];
    const isLast = board.run('keep', MOST) !== 0;
    this.list = board.pieces.filter(([bytes, part]) => !(bytes && part && this.parts.set(part, bytes))).map(([bytes, ...run]) => bytes || run);
    board.pieces = [];
    return isLast;
  }

  /** A large board is not saved while the reader does something, but after some time all the same. */
  mustWait(now) {
    if (this.isWriting) return true;
    this.due ??= now;
    return this.isLarge && now - this.acted < REST && now - this.due < LONGEST;
  }

  /** Saves the board completely or not at all; a large one in slices, of which each is a task, unless the page is being left. */
  async keep(isLeaving = false) {
    const {board} = this, began = performance.now();
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!board.alive || !this.storage) return;
    if (!isLeaving && this.mustWait(began)) return void this.soon();
    const turn = this.turn = {}, {due = began} = this;
    this.due = undefined;
    try {
      let slices = 1;
      for (; !this.take(); slices++) {
        if (isLeaving || performance.now() - due > 2 * LONGEST) continue;
        await new Promise((resolve) => { setTimeout(resolve); });
        if (turn !== this.turn || !board.alive) return;
      }
      this.isLarge = slices > 1;
      this.turn = undefined;
      if (!this.list.length) return;  // the module takes no more calls
      const done = this.write(this.list, isLeaving);
      sessionStorage.setItem(TAB, this.tab);
      await done;
      this.wait = Math.min(LONGEST_WAIT, WAIT + 10 * (performance.now() - began));
      sessionStorage.removeItem(LAST);
      if (this.isNew) await this.tidy();
      this.isNew = false;
    } catch (error) {
      if (turn === this.turn) this.turn = undefined;
      this.lose();
      this.fail(error);
    }
  }

  /** Writes a board: all of it or nothing, in one transaction, but a part in a task. */
  async write(list, isLeaving) {
    const boards = this.boards('readwrite'), {transaction} = this;
    const done = new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
    done.catch(() => {});  // it is awaited last
    this.isWriting = true;
    try {
      if (!isLeaving && this.stored.size && await settled(boards.count(partsOf(this.tab))) !== this.stored.size) {
        transaction.abort();  // the reader has emptied the storage
        this.lose();
        return void this.soon();
      }
      const record = {tab: this.tab, [KEPT_BY]: Date.now()}, used = new Set(list.filter(Array.isArray).map(([part]) => part));
      if (used.size) Object.assign(record, {run: this.run ??= record[KEPT_BY], pieces: list});
      else record.bytes = joined(list);
      this.bytes = record.bytes?.length <= MOST_AT_ONCE ? record.bytes : undefined;
      if (!this.isClean) boards.delete(partsOf(this.tab));  // those of an earlier visit
      this.isClean = true;
      for (const part of [...this.stored].filter((one) => !used.has(one))) {
        boards.delete(this.partOf(part));
        this.stored.delete(part);
      }
      for (const part of [...used].filter((one) => !this.stored.has(one))) {
        const request = boards.put({tab: this.partOf(part), bytes: this.parts.get(part)});
        this.stored.add(part);
        if (!isLeaving) await settled(request);
      }
      this.parts.clear();
      boards.put(record);
      transaction.commit?.();
      await done;
    } catch (error) {
      try {
        transaction.abort();
      } catch {}  // it is over
      throw error;
    } finally {
      this.isWriting = false;
    }
  }

  /** What was written is not all there: the next time everything is. */
  lose() {
    this.parts.clear();
    this.stored.clear();
    this.run = undefined;
    this.isClean = false;
    if (this.board.alive) this.board.run('keep', 0);
  }

  /** Deletes boards of closed tabs, oldest first, if there are many. */
  async tidy() {
    const held = new Set((await navigator.locks?.query())?.held.map(({name}) => name.slice(NAME.length + 1)));
    const index = this.boards('readonly').index(KEPT_BY);
    const [all, old] = await Promise.all([settled(index.getAllKeys()), settled(index.getAllKeys(IDBKeyRange.upperBound(Date.now() - OLDEST)))]);
    const gone = all.filter((tab, i) => !held.has(tab) && tab !== this.tab && i < Math.max(all.length - MOST_BOARDS, old.length));
    for (const tab of gone) [tab, partsOf(tab)].forEach((keys) => this.boards('readwrite').delete(keys));
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
  if (store.isBehind && found) store.soon();
  return found;
}

const sizeOf = (pieces) => pieces.reduce((size, piece) => size + piece.length, 0);

/** Puts pieces one after the other into `all`, from `at` on. */
function joined(pieces, all = new Uint8Array(sizeOf(pieces)), at = 0) {
  for (const piece of pieces) all.set(piece, at), at += piece.length;
  return all;
}

function restore(board, pieces) {
  const size = sizeOf(pieces), address = board.wasm._malloc(size);
  if (!address) return 0;
  joined(pieces, board.wasm.HEAPU8, address);
  try {
    board.ask('restore', address, size);  // which frees it
  } catch (error) {
    board.tell(message`The board that was kept could not be opened: ${saidBy(error)}`);
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
