import assert from 'node:assert/strict';
import test from 'node:test';
import { fuzzGguf } from '../../fuzz/gguf.js';
import { inTier } from '../../support/tier.js';

const SEED = 11;
/** Number of files of each kind. */
const COUNT = inTier(200, 50);

test(`GGUF files, right, damaged and made up, are read rightly or refused (seed ${SEED})`, async () => {
  const report = await fuzzGguf(6 * COUNT, SEED);
  assert.equal(report.right.read, COUNT);
  for (const kind of ['damaged', 'made up', 'model', 'odd model'])
    assert.ok(report[kind].read > 0 && report[kind].read < report[kind].files, `${kind}: ${report[kind].read} read`);
});
