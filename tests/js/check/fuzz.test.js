import assert from 'node:assert/strict';
import test from 'node:test';
import { fuzzApi } from '../../fuzz/api.js';
import { inTier } from '../../support/tier.js';

const SEED = 11;
const COUNT = inTier(4000, 1000);

test(`random calls give correct results or HeadlightErrors, and leak no memory (seed ${SEED})`, async () => {
  const { calls, checked, refused, failedAllocations } = await fuzzApi(COUNT, SEED);
  assert.equal(calls, COUNT);
  assert.ok(
    checked > COUNT / 4 && refused > COUNT / 5 && failedAllocations > COUNT / 40,
    `${checked}, ${refused}, ${failedAllocations}`,
  );
});
