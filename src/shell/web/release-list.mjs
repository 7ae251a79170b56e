// Writes the service worker of a folder of the page, with the sums of all files that the page can ask for. node release-list.mjs WORKER FOLDER
import {createHash} from 'node:crypto';
import {readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {basename, join} from 'node:path';

const [worker, folder] = process.argv.slice(2);
// What the page does not ask for: maps, types, the documentation, and in the npm package what applications import. Sandboxes, which load standalone.js, have no worker.
const NOT_ASKED = /\.(map|ts|md|tgz)$|^docs\/|^(service-worker|standalone|core|react|package|texts)\b|^(package|custom-elements)\.json$|^LICENSE$|schema\.json$/;
const under = (place) => readdirSync(join(folder, place), {withFileTypes: true}).flatMap((entry) =>
  entry.isDirectory() ? under(`${place}${entry.name}/`) : [`${place}${entry.name}`]);
const names = under('').filter((name) => !NOT_ASKED.test(name)).sort();
const files = Object.fromEntries(names.map((name) => [name, createHash('sha256').update(readFileSync(join(folder, name))).digest('base64')]));
const code = readFileSync(worker, 'utf8'), release = createHash('sha256').update(JSON.stringify(files) + code).digest('hex').slice(0, 16);
writeFileSync(join(folder, basename(worker)), `const FILES = ${JSON.stringify(files, null, 1)};\nconst RELEASE = '${release}';\n\n${code}`);
