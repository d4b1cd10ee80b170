// Checks package.json and the list of packed files: the file that each tool resolves, and the links from the documents
// to packed files.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { withAddress } from '../../src/build/address.ts';
import { REPOSITORY } from '../../web/docs/.vitepress/links.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8');
const manifest = JSON.parse(read('package.json'));
const [{ files }] = JSON.parse(
  execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--dry-run', '--loglevel=error'], {
    cwd: root,
    encoding: 'utf8',
  }),
);
const packed = new Set(files.map(({ path }) => path));

test('CDNs and tools without support for exports resolve the file for browsers', () => {
  const browser = manifest.exports['.'].default;
  assert.equal(browser, './dist/headlight.js');
  for (const field of ['main', 'module', 'jsdelivr', 'unpkg']) assert.equal(manifest[field], browser, field);
});

test('every documented file is exported and packed', () => {
  const paths = (entry) => (typeof entry === 'string' ? [entry] : Object.values(entry).flatMap(paths));
  for (const path of paths(manifest.exports)) assert.ok(packed.has(path.slice(2)), path);
  for (const name of ['headlight.html', 'headlight.py', 'headlight.h', 'headlight.simd128.wasm'])
    assert.ok(manifest.exports[`./${name}`], name);
});

test('every link of a packed document leads to a packed file', () => {
  const documents = [...packed].filter((name) => name.endsWith('.md'));
  assert.ok(documents.includes('web/docs/guide/index.md') && documents.includes('CHANGELOG.md'));
  assert.ok(packed.has('dist/llms.txt') && documents.includes('web/docs/agents.md'));
  // Links of pictures are omitted. Pictures are not packed, because they are as large as the package.
  const link = /(?<!!\[[^\]]*)\]\((?!https?:|#)([^)#]+)[^)]*\)/g;
  for (const name of documents)
    for (const [, path] of read(name).matchAll(link))
      assert.ok(packed.has(join(dirname(name), path)), `${name}: ${path}`);
});

test('links of README are absolute, with the address in package.json, so that they work on npm', () => {
  const readme = read('README.md');
  const links = [...readme.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link);
  assert.ok(links.length > 10);
  for (const link of links) {
    assert.match(link, /^https:\/\//, link);
    const path =
      link.startsWith(`${REPOSITORY}/`) && link.slice(REPOSITORY.length).match(/^\/(?:blob|raw)\/main\/(.+)$/)?.[1];
    if (path) assert.ok(existsSync(join(root, path)), link);
  }
  assert.equal(readme, withAddress(readme), 'run node src/build/address.ts');
});

test('README installs the package by its name, and from the file that npm pack writes', () => {
  const readme = read('README.md');
  assert.match(readme, new RegExp(`^npm install ${manifest.name}$`, 'm'));
  assert.match(readme, new RegExp(`^npm install \\S*/${manifest.name}-${manifest.version}\\.tgz `, 'm'));
});

test('no document imports the package by another name', () => {
  for (const name of [...packed].filter((name) => /\.(md|py|h)$/.test(name)))
    assert.doesNotMatch(read(name), /(?:from |import\(|require\(|install |node_modules\/)['"]?headlight[/'"\s]/, name);
});
