// Keeps the page for visits without a connection: one release, whole, and never files of two. The build puts FILES before this, the names of
// all files of the release with their SHA-256 sums, and RELEASE, the sum of these. web/installed.js registers it.
//
// A release is fetched as a whole before it is used, and used once no page of the one before is open. A page that was loaded without this worker
// goes on without it, since nothing says of which release it is.
const {scope} = registration, {pathname: folder} = new URL(scope);
/** The module is fetched in the kind that the browser runs. */
const isOther = location.search === '?relaxed' ? /^playground\./ : /^playground-relaxed\./;
const names = new Set(Object.keys(FILES).filter((name) => !isOther.test(name)));
const OURS = `attention-playground ${scope} `, CACHE = `${OURS}${RELEASE}${location.search}`;

const addressOf = (name) => new URL(name, scope).href;

class OtherRelease extends Error {}

/** A file of this release from the server, which may have another one by now. */
async function bring(name) {
  const {ok, status, headers, body} = await fetch(addressOf(name), {cache: 'no-cache'});
  if (!ok) throw new Error(`status ${status} for ${name}`);
  const bytes = await new Response(body).arrayBuffer(), sum = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  if (btoa(String.fromCharCode(...sum)) !== FILES[name]) throw new OtherRelease(name);
  return new Response(bytes, {headers});  // not itself: pages refuse what was redirected
}

/** Stores nothing before all has arrived. */
async function fill() {
  const all = await Promise.all([...names].map(async (name) => [addressOf(name), await bring(name)])), cache = await caches.open(CACHE);
  await Promise.all(all.map(([address, response]) => cache.put(address, response)));
}

async function dropOthers() {
  const all = await caches.keys();
  await Promise.all(all.filter((name) => name.startsWith(OURS) && name !== CACHE).map((name) => caches.delete(name)));
}

/** This release can no longer be completed: the next page comes whole from the server. */
async function giveUp() {
  await registration.unregister();
  await caches.delete(CACHE);
}

const fresh = new Set();  // pages that came from the server after that

async function answer({request, clientId, resultingClientId}, name) {
  if (fresh.has(clientId)) return fetch(request);
  const kept = await caches.match(addressOf(name), {cacheName: CACHE});
  if (kept) return kept;
  // The browser may have dropped a file to save space.
  try {
    const again = await bring(name);
    if (await caches.has(CACHE)) await (await caches.open(CACHE)).put(addressOf(name), again.clone());
    return again;
  } catch (error) {
    if (!(error instanceof OtherRelease)) return Response.error();
    await giveUp();
    if (request.mode !== 'navigate') return Response.error();  // the page says so, and asks to be reloaded
    fresh.add(resultingClientId);
    return fetch(request);
  }
}

addEventListener('install', (event) => event.waitUntil(fill()));
addEventListener('activate', (event) => event.waitUntil(dropOthers()));
addEventListener('fetch', (event) => {
  const {method, url} = event.request, {origin, pathname} = new URL(url), name = pathname.slice(folder.length) || 'index.html';
  if (method === 'GET' && origin === location.origin && pathname.startsWith(folder) && names.has(name)) event.respondWith(answer(event, name));
});
