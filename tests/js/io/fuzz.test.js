import assert from 'node:assert/strict';
import test from 'node:test';
import { fuzzFiles } from '../../fuzz/files.js';

const SEED = 7;

test(`valid, damaged and random files of every kind are read correctly or refused (seed ${SEED})`, async () => {
  const report = await fuzzFiles(4000, SEED);
  for (const [kind, { files, read }] of Object.entries(report)) {
    assert.equal(files, 400, kind);
    assert.ok(read > 0 && (read < files || /^(safetensors|npy|npz)$/.test(kind)), `${kind}: ${read} of ${files} read`);
  }
});
