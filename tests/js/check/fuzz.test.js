import assert from 'node:assert/strict';
import test from 'node:test';
import { fuzzApi } from '../../fuzz/api.js';

const SEED = 11;

test(`random calls give correct results or HeadlightErrors, and leak no memory (seed ${SEED})`, async () => {
  const { calls, checked, refused, failedAllocations } = await fuzzApi(4000, SEED);
  assert.equal(calls, 4000);
  assert.ok(checked > 1000 && refused > 800 && failedAllocations > 100, `${checked}, ${refused}, ${failedAllocations}`);
});
