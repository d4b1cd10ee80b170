import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

/**
 * Runs a program of dist/test, which must print ok. It ends at the first data race that is found, because a race can
 * make it hang.
 */
function runNative(name) {
  const run = spawnSync(fileURLToPath(new URL(`../../dist/test/native.${name}`, import.meta.url)), {
    encoding: 'utf8',
    env: { ...process.env, TSAN_OPTIONS: 'halt_on_error=1' },
    timeout: 600_000,
  });
  assert.equal(run.status, 0, run.stderr);
  assert.equal(run.stdout, 'ok\n');
}

for (const flavour of ['simd128', 'relaxed']) {
  test(`the core, ${flavour}, runs clean under the address and undefined-behaviour sanitizers`, () =>
    runNative(flavour));
}

test('the pool runs clean under the thread sanitizer', () => runNative('pool'));
