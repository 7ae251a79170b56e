// The list of what is inside a release, as SPDX 2.3: each artifact, with its sum, and the parts of others in it, from the lists that the notices are
// made of. node contents.mjs VERSION FOLDER WEB NATIVE PORTABLE WINDOWS, where FOLDER has the artifacts, and the others are such lists: of the page, of the
// programs, and of attn for other systems and for Windows.
import {createHash} from 'node:crypto';
import {readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const [version, folder, web, native, portable, windows] = process.argv.slice(2), NAME = `attention-playground-${version}`;
const idOf = (...words) => `SPDXRef-${words.join('-').replace(/[^A-Za-z0-9.]+/g, '-')}`;
const parts = (file) => JSON.parse(readFileSync(file, 'utf8'));
// Programs come with the page.
const isForLinux = (name) => /\.deb$|-linux-/.test(name);
const partsOf = (name) => /-windows-/.test(name) ? parts(windows) : /-none-(manylinux|win)/.test(name) ? [...parts(/-win/.test(name) ? windows : portable), ...parts(web)] :
  isForLinux(name) ? [...parts(native), ...parts(web)] : parts(web);

const artifacts = readdirSync(folder).sort().map((name) => ({
  SPDXID: idOf('artifact', name), name, versionInfo: version, packageFileName: name, downloadLocation: 'NOASSERTION', filesAnalyzed: false,
  licenseConcluded: 'NOASSERTION', licenseDeclared: 'MIT', copyrightText: 'NOASSERTION',
  checksums: [{algorithm: 'SHA256', checksumValue: createHash('sha256').update(readFileSync(join(folder, name))).digest('hex')}],
}));
/** A part of others. What a licence says of only some files is joined, and what is no expression is a comment. */
function described({name, version: of, licence, source}) {
  const [expression, ...comment] = licence.replace(', in parts ', ' AND ').split(', ');
  return {SPDXID: idOf('part', name, of), name, ...of && {versionInfo: of}, downloadLocation: source, filesAnalyzed: false,
    licenseConcluded: 'NOASSERTION', licenseDeclared: expression, ...comment.length && {licenseComments: comment.join(', ')}, copyrightText: 'NOASSERTION'};
}
const all = new Map(artifacts.flatMap(({name}) => partsOf(name)).map(described).map((part) => [part.SPDXID, part]));
const relationships = artifacts.flatMap(({SPDXID, name}) => [
  {spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: SPDXID},
  ...[...new Set(partsOf(name).map((part) => described(part).SPDXID))].map((part) => ({spdxElementId: SPDXID, relationshipType: 'CONTAINS', relatedSpdxElement: part})),
]);
const sums = createHash('sha256').update(artifacts.map(({checksums: [{checksumValue}]}) => checksumValue).join()).digest('hex');
writeFileSync(join(folder, `${NAME}.spdx.json`), `${JSON.stringify({
  spdxVersion: 'SPDX-2.3', dataLicense: 'CC0-1.0', SPDXID: 'SPDXRef-DOCUMENT', name: NAME, documentNamespace: `urn:sha256:${sums}`,
  creationInfo: {created: new Date(process.env.SOURCE_DATE_EPOCH * 1000).toISOString().replace('.000', ''), creators: ['Tool: src/shell/contents.mjs']},
  packages: [...artifacts, ...all.values()], relationships,
}, null, 1)}\n`);
