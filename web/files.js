// Files that a standalone build has with it, by name: scripts as modules, WebAssembly and words as functions that unpack their
// bytes. Empty where they are fetched.
export const inline = new Map();
