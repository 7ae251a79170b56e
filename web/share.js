// What linking to a board and embedding it needs; fetched when a page's script asks for it.
export * from './link.js';
