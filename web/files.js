// The files contained in a standalone build, by name: scripts as modules, WebAssembly and translations as functions that unpack their
// bytes. Empty where files are fetched.
export const inline = new Map();
