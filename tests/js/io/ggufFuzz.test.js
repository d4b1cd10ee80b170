import assert from 'node:assert/strict';
import test from 'node:test';
import { fuzzGguf } from '../../fuzz/gguf.js';

const SEED = 11;

test(`GGUF files, right, damaged and made up, are read rightly or refused (seed ${SEED})`, async () => {
  const report = await fuzzGguf(1200, SEED);
  assert.equal(report.right.read, 200);
  for (const kind of ['damaged', 'made up', 'model', 'odd model'])
    assert.ok(report[kind].read > 0 && report[kind].read < report[kind].files, `${kind}: ${report[kind].read} read`);
});
