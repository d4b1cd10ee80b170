import assert from 'node:assert/strict';
import test from 'node:test';
import { fuzzLens } from '../../../fuzz/lens.js';

const SEED = 5;

test(`files of lenses, right, damaged and made up, are read rightly or refused (seed ${SEED})`, () => {
  for (const [kind, { files, read }] of Object.entries(fuzzLens(1500, SEED))) {
    assert.equal(files, 300, kind);
    assert.ok(read > 0 && (read < files || kind === 'lens'), `${kind}: ${read} of ${files} read`);
  }
});
