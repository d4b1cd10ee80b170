import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

for (const flavour of ['simd128', 'relaxed']) {
  test(`the core, ${flavour}, runs clean under the address and undefined-behaviour sanitizers`, {
    timeout: 120_000,
  }, () => {
    const run = spawnSync(fileURLToPath(new URL(`../../dist/test/native.${flavour}`, import.meta.url)), {
      encoding: 'utf8',
    });
    assert.equal(run.status, 0, run.stderr);
    assert.equal(run.stdout, 'ok\n');
  });
}
