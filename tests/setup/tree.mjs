// The files of the repository, for the rules about them.
import {existsSync, readdirSync, readFileSync, statSync} from 'node:fs';
import {dirname, join, relative} from 'node:path';
import {fileURLToPath} from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const NOT_OURS = ['.git', '.toolchain', 'build', 'node_modules', '__pycache__'];

/** The paths of all files below a folder. */
export function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => !NOT_OURS.includes(name)).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesUnder(path) : [path];
  });
}

/** The files below some folders of the repository whose path matches, as {path, text}; the path is relative to `from`. */
export function textsUnder(folders, pattern, from = root) {
  return folders.flatMap((folder) => filesUnder(join(root, folder))).filter((path) => pattern.test(path))
      .map((path) => ({path: relative(from, path), text: readFileSync(path, 'utf8')}));
}

/** The version of everything, which stands in CMakeLists.txt alone. */
export const [, version] = readFileSync(join(root, 'CMakeLists.txt'), 'utf8').match(/^project\(\w+ VERSION (\S+)/m);
