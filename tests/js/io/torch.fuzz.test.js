import assert from 'node:assert/strict';
import test from 'node:test';
import { fuzzTorch } from '../../fuzz/torch.js';

const SEED = 3;

test(`files of torch.save, right, damaged and made up, are read rightly or refused (seed ${SEED})`, () => {
  for (const [kind, { files, read }] of Object.entries(fuzzTorch(2100, SEED))) {
    assert.equal(files, 300, kind);
    assert.ok(read > 0 && (read < files || /^(archive|legacy)$/.test(kind)), `${kind}: ${read} of ${files} read`);
  }
});
