// What a board needs to be linked to and embedded, fetched when a page's script asks for it.
export * from './link.js';
