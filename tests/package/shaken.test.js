// A bundler includes nothing of the package that a program does not use.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Bytes of a program, in one file, that imports some names and does nothing else; and what the bundler warns of. */
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

test('a program that imports a function or a class has that alone in its bundle', async () => {
  for (const name of ['cosineSchedule', 'warmupSchedule', 'HeadlightError'])
    assert.ok((await bundle('headlight.js', name)).bytes < 4_000, name);
  assert.ok((await bundle('formats.js', 'writeNpy')).bytes < 16_000, 'writeNpy');
});

test('a program that loads the core has no warning, and no more than all of the module', async () => {
  const { bytes, warnings } = await bundle('headlight.js', 'load');
  assert.deepEqual(warnings, []);
  assert.ok(bytes < 320_000, `${bytes} bytes`);
});
