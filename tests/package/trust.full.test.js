// Checks properties of the package that users rely on: no unexpected files, a list of third-party parts with their
// licences, reproducible bytes, and a limited size.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after, before, describe } from 'node:test';
import { fileURLToPath } from 'node:url';
import { install } from '../support/install.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8');
const manifest = JSON.parse(read('package.json'));

describe('the package', () => {
  let project, inside;
  before(() => {
    project = install(root);
    inside = (name) => project.file('node_modules/headlight-attention', name);
  });
  after(() => project?.remove());

  test('contains no source map, no unused chunk, and no path of the build machine', () => {
    const texts = Object.fromEntries(
      project.names
        .filter((name) => /\.(js|ts|html|json|txt)$/.test(name))
        .map((name) => [name, readFileSync(inside(name), 'utf8')]),
    );
    for (const [name, text] of Object.entries(texts)) {
      assert.doesNotMatch(name, /\.map$/);
      assert.doesNotMatch(text, /sourceMappingURL/, name);
      assert.ok(!text.includes(root), `${name} contains ${root}`);
    }
    const all = Object.values(texts).join('');
    for (const name of project.names.filter((name) => /^dist\/(parts|view)\//.test(name)))
      assert.ok(all.includes(`${name.split('/').pop()}`), `nothing loads ${name}`);
    for (const name of project.names.filter((name) => name.endsWith('.wasm')))
      assert.ok(!readFileSync(inside(name)).includes(root), name);
  });

  test('has the same bytes if it is packed again', () => {
    // Files in the package must be readable by everybody, independent of the umask when they were packed.
    for (const name of project.names) chmodSync(inside(name), statSync(join(root, name)).mode);
    const [{ filename }] = JSON.parse(
      execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', '.'], {
        cwd: inside('.'),
        encoding: 'utf8',
      }),
    );
    const digest = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');
    assert.equal(digest(inside(filename)), digest(project.archive));
  });

  test('is under 2.6 MB without the demo model, whose two copies have the same size again', () => {
    const whole = statSync(project.archive).size;
    for (const name of ['whale.safetensors', 'whale.tokenizer.json', 'whale.passages.txt'])
      writeFileSync(inside(`dist/${name}`), '');
    const html = readFileSync(inside('dist/headlight.html'), 'utf8');
    const without = html.replace(/<script type="text\/plain" id="whale\.[^"]*">[^<]*<\/script>\n/g, '');
    assert.ok(html.length - without.length > 1_000_000);
    writeFileSync(inside('dist/headlight.html'), without);
    const [{ size }] = JSON.parse(
      execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--loglevel=error', '--dry-run'], {
        cwd: inside('.'),
        encoding: 'utf8',
      }),
    );
    assert.ok(size < 2_600_000, `${size} bytes without the demo model, ${whole} with it`);
    assert.ok(whole - size < 2_700_000, `the demo model takes ${whole - size} bytes`);
  });

  test('has a bill of materials with its third-party components and their licences', () => {
    const text = readFileSync(inside('dist/sbom.cdx.json'), 'utf8');
    const { bomFormat, specVersion, components, metadata } = JSON.parse(text);
    assert.deepEqual([bomFormat, specVersion], ['CycloneDX', '1.6']);
    for (const { type, name, licenses } of components) {
      assert.match(type, /^(library|machine-learning-model)$/);
      assert.ok(name && licenses[0].license, name);
    }
    assert.equal(metadata.component.version, manifest.version);
    assert.deepEqual(
      components.map(({ name }) => name),
      ['@preact/signals', '@preact/signals-core', 'hyparquet', 'preact', 'emscripten-system-libraries', 'whale'],
    );
    const lock = JSON.parse(read('package-lock.json')).packages;
    for (const { name, version, hashes, purl } of components.filter(({ purl }) => purl)) {
      assert.equal(version, lock[`node_modules/${name}`].version);
      assert.match(purl, new RegExp(`^pkg:npm/.*@${version}$`));
      const digest = Buffer.from(hashes[0].content, 'hex').toString('base64');
      assert.equal(`sha512-${digest}`, lock[`node_modules/${name}`].integrity);
    }
    const whale = createHash('sha256')
      .update(readFileSync(join(root, 'dist/whale.safetensors')))
      .digest('hex');
    assert.equal(components.at(-1).hashes[0].content, whale);
  });

  test('names in its bill every package that a source imports', () => {
    const { components } = JSON.parse(readFileSync(inside('dist/sbom.cdx.json'), 'utf8'));
    const named = new Set(components.map(({ name }) => name));
    const tools = new Set(['src/build/devServer.ts']);
    for (const folder of ['src/js', 'web/entries', 'web/features', 'web/store', 'web/ui', 'web/worker'])
      for (const file of readdirSync(join(root, folder), { recursive: true }).filter((name) => /\.jsx?$/.test(name)))
        if (!tools.has(join(folder, file)))
          for (const [, name] of read(join(folder, file)).matchAll(
            /^(?:import|.*\bfrom|.*\bimport\()\s*['"]((?:@[\w-]+\/)?\w[\w-]*)[^'"]*['"]/gm,
          ))
            assert.ok(
              named.has(name) || name === 'node' || name === 'headlight-attention',
              `${folder}/${file} imports ${name}`,
            );
  });

  test('contains the licence of each component, and so does the one-file page', () => {
    const text = readFileSync(inside('dist/licences.txt'), 'utf8');
    for (const name of ['preact', '@preact/signals', '@preact/signals-core'])
      assert.ok(text.includes(read(`node_modules/${name}/LICENSE`).trim()), name);
    for (const said of [read('LICENSE').trim(), 'Emscripten', 'Moby-Dick']) assert.ok(text.includes(said), said);
    assert.ok(readFileSync(inside('dist/headlight.html'), 'utf8').includes(text));
    assert.equal(read('dist/site/licences.txt'), text);
  });
});

test('the bill of materials considers every exported file', () => {
  const entries = readFileSync(join(root, 'src/build/notices.ts'), 'utf8').match(/ENTRIES = \[([^\]]*)\]/)[1];
  for (const { types } of Object.values(manifest.exports).filter(({ types }) => types)) {
    const name = types.match(/\/([\w-]+)\.d\.ts$/)[1];
    assert.ok(name === 'inline' || entries.includes(`/${name}.ts'`), types);
  }
});

test('the version is that of the newest entry with a date in the changelog', () => {
  const [, version, date] = read('CHANGELOG.md').match(/^## (\d+\.\d+\.\d+), (\d{4}-\d\d-\d\d)$/m);
  assert.equal(version, manifest.version);
  assert.ok(Date.parse(date) > 0, date);
  assert.equal(JSON.parse(read('package-lock.json')).version, version);
});

test('the address of the repository is defined only in package.json', () => {
  const { homepage, bugs, repository } = manifest;
  for (const url of [homepage, bugs, repository.url]) assert.match(url, /^(git\+)?https:\/\/\S+$/);
});
