// Files that a standalone build has with it, by name: scripts as modules, WebAssembly and words as functions that unpack their bytes;
// `files` makes what reads and writes files where that is no module of its own. Empty where they are fetched.
export const inline = new Map();
