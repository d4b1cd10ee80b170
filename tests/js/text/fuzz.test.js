import assert from 'node:assert/strict';
import test from 'node:test';
import { fuzzTokenizers } from '../../fuzz/tokenizers.js';

const SEED = 3;
/** Number of files, 80 of each kind; `node tests/fuzz/tokenizers.js` checks 200,000. */
const FILES = 400;

test(`damaged and random tokenizer files are read or refused (seed ${SEED})`, () => {
  const report = fuzzTokenizers(FILES, SEED, { long: 2000, suspect: Infinity });
  for (const [kind, { files, read }] of Object.entries(report))
    assert.ok(files === FILES / 5 && read > 0 && read < files, `${kind}: ${read} of ${files} read`);
});
