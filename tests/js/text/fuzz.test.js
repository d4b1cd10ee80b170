import assert from 'node:assert/strict';
import test from 'node:test';
import { fuzzTokenizers } from '../../fuzz/tokenizers.js';

const SEED = 3;
/** Files, 80 of each kind; 200,000 of them are checked by `node tests/fuzz/tokenizers.js`. */
const FILES = 400;

test(`tokenizer files that are damaged or made up are read or refused (seed ${SEED})`, () => {
  const report = fuzzTokenizers(FILES, SEED, { long: 2000, suspect: Infinity });
  for (const [kind, { files, read }] of Object.entries(report))
    assert.ok(files === FILES / 5 && read > 0 && read < files, `${kind}: ${read} of ${files} read`);
});
