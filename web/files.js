// What these scripts contain, by name, so that it is not fetched. A standalone build contains everything: scripts as modules, WebAssembly as
// functions that unpack its bytes, lessons and languages as functions that give their text. The npm package contains lessons and languages.
// `home` is the folder of the playground's pages, null if only the page can know it.
export const inline = new Map();

const HERE = import.meta.url;  // not inside new URL(), where bundlers would look for a file of that name

/** A script that is fetched when it is needed. `load` imports it, written so that bundlers recognise it. Firefox never asks again for one that
 * did not arrive, so then it is asked for by another address. */
export async function script(name, load) {
  const again = () => import(/* webpackIgnore: true */ /* @vite-ignore */ new URL(`${name}?${Date.now()}`, HERE).href);
  return inline.get(name) ?? load().catch(again).catch(() => { throw new Error(`${name} did not arrive, or is damaged`); });
}
