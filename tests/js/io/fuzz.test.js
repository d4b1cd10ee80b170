import assert from 'node:assert/strict';
import test from 'node:test';
import { fuzzFiles } from '../../fuzz/files.js';

const SEED = 7;

test(`files of every kind, right, damaged and made up, are read rightly or refused (seed ${SEED})`, async () => {
  const report = await fuzzFiles(4000, SEED);
  for (const [kind, { files, read }] of Object.entries(report)) {
    assert.equal(files, 400, kind);
    assert.ok(read > 0 && (read < files || /^(safetensors|npy|npz)$/.test(kind)), `${kind}: ${read} of ${files} read`);
  }
});
