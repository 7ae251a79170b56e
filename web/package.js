// The element as the npm package gives it to applications, which bundle it. A bundler leaves behind files that are fetched, so lessons and
// languages come as modules; and it may put these scripts anywhere, so only the application knows where the playground's pages are published.
import {inline} from './files.js';
import './texts.js';

inline.set('home', null);
export * from './element.js';
