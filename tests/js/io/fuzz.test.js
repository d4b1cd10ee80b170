import assert from 'node:assert/strict';
import test from 'node:test';
import { fuzzFiles } from '../../fuzz/files.js';
import { inTier } from '../../support/tier.js';

const SEED = 7;
/** Number of files of each kind. */
const COUNT = inTier(400, 100);

test(`valid, damaged and random files of every kind are read correctly or refused (seed ${SEED})`, async () => {
  const report = await fuzzFiles(10 * COUNT, SEED);
  for (const [kind, { files, read }] of Object.entries(report)) {
    assert.equal(files, COUNT, kind);
    assert.ok(read > 0 && (read < files || /^(safetensors|npy|npz)$/.test(kind)), `${kind}: ${read} of ${files} read`);
  }
});
