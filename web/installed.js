// The page as an application: kept for visits without a connection (service-worker.js), installed (app.webmanifest), and opened with a file.
// Only for our own page, neither in a frame nor in pages of others.

/** At an address of this machine the page is there as long as its server, which has another port the next time. */
const isOnThisMachine = () => /^(localhost|127\.[\d.]+|\[::1\])$/.test(location.hostname);
const beside = (name) => new URL(name, location).href;
const isOurs = () => self === top && Array.from(document.scripts).some(({src}) => src === beside('element.js'));

const whenIdle = (action) => globalThis.requestIdleCallback ? requestIdleCallback(action, {timeout: 5000}) : setTimeout(action, 2000);

/** Once the browser has nothing else to do; without a connection, or where nothing may be stored, the page is as it was. */
export function install(board) {
  if (!isOurs()) return;
  globalThis.launchQueue?.setConsumer(async ({files: [handle]}) => {
    if (handle) board.openFiles([await handle.getFile()]);
  });
  if (!navigator.serviceWorker || isOnThisMachine()) return;
  const kind = board.ask('kernel') === 'wasm-relaxed' ? '?relaxed' : '';
  whenIdle(async () => {
    await navigator.serviceWorker.register(beside(`service-worker.js${kind}`), {updateViaCache: 'none'}).catch(() => {});
    document.head.append(Object.assign(document.createElement('link'), {rel: 'manifest', href: beside('app.webmanifest')}));
  });
}
