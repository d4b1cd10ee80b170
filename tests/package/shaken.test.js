// Tests tree shaking: a bundle must contain only the parts of the package that a program uses.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Bundles a program that only imports some names. Returns the bytes of the bundle and the warnings of the bundler. */
async function bundle(from, names) {
  const { outputFiles, warnings } = await build({
    stdin: { contents: `export { ${names} } from ${JSON.stringify(join(root, 'dist', from))}`, resolveDir: root },
    bundle: true,
    format: 'esm',
    minify: true,
    write: false,
    logLevel: 'silent',
  });
  return { bytes: outputFiles[0].contents.length, warnings: warnings.map(({ text }) => text) };
}

test('a program that imports one function or class has only that in its bundle', async () => {
  for (const name of ['cosineSchedule', 'warmupSchedule', 'HeadlightError'])
    assert.ok((await bundle('headlight.js', name)).bytes < 4_000, name);
  assert.ok((await bundle('formats.js', 'writeNpy')).bytes < 16_000, 'writeNpy');
});

test('a program that loads the core has no warnings, and is not larger than the whole module', async () => {
  const { bytes, warnings } = await bundle('headlight.js', 'load');
  assert.deepEqual(warnings, []);
  assert.ok(bytes < 640_000, `${bytes} bytes`);
});
