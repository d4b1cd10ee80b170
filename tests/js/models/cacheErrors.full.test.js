// Computes the table of errors of caches in web/docs/guide/generation.md again.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { load } from 'headlight-attention';
import { whaleFile } from '../../support/whale.js';

const PAGE = new URL('../../../web/docs/guide/generation.md', import.meta.url);
const TOKENS = 250;

/** Returns two texts of TOKENS tokens, from chapters on which the demo model was not trained. */
async function heldOut(model) {
  const passages = String(await whaleFile('whale.passages.txt')).split('\n');
  const ids = passages.flatMap((text) => [...model.encode(text).ids]);
  return [ids.slice(0, TOKENS), ids.slice(TOKENS, 2 * TOKENS)];
}

/** Turns logits (T,V) into the logarithms of their probabilities. @param {Float32Array} logits @param {number} width */
function toLogProbabilities(logits, width) {
  for (let at = 0; at < logits.length; at += width) {
    const row = logits.subarray(at, at + width);
    const most = Math.max(...row);
    const sum = most + Math.log(row.reduce((total, x) => total + Math.exp(x - most), 0));
    row.forEach((x, i) => {
      row[i] = x - sum;
    });
  }
  return logits;
}

/**
 * Runs the model with a cache of a type. Returns the weights of all visible keys in all heads, and the log
 * probabilities.
 */
function run(model, ids, type) {
  const cache = model.cache({ length: TOKENS, type });
  const { captured, logits } = model.forward(ids, { cache, capture: ['blocks.*.weights'] });
  const weights = Object.values(captured).flatMap((tensor) =>
    [...tensor.copy()].filter((_, i) => i % TOKENS <= Math.floor(i / TOKENS) % TOKENS),
  );
  const logs = toLogProbabilities(logits.copy(), model.options.vocab);
  for (const tensor of [...Object.values(captured), logits, cache]) tensor.dispose();
  return [weights, logs];
}

const format = (x) => (x < 1e-3 ? x.toExponential(0) : x.toFixed(x < 0.01 ? 4 : 3));

test('the table of errors of caches is true', async () => {
  const hl = await load({ threads: 1, simd: 'simd128' });
  const model = await hl.openModel('demo');
  const texts = await heldOut(model);
  const exact = texts.map((ids) => run(model, ids, 'float32'));
  const found = ['float16', 'int8'].map((type) => {
    const columns = [0, 1].map(() => ({ largest: 0, sum: 0, count: 0 }));
    texts.forEach((ids, text) => {
      run(model, ids, type).forEach((numbers, i) => {
        for (const [at, x] of numbers.entries()) {
          const change = Math.abs(x - exact[text][i][at]);
          columns[i].largest = Math.max(columns[i].largest, change);
          columns[i].sum += change;
        }
        columns[i].count += numbers.length;
      });
    });
    return `| \`'${type}'\` | ${columns.flatMap((c) => [format(c.largest), format(c.sum / c.count)]).join(' | ')} |`;
  });
  model.dispose();
  const page = readFileSync(PAGE, 'utf8').split('\n');
  assert.deepEqual(
    page.filter((line) => /^\| `'(float16|int8)'` \| [\d.e-]+ \| [\d.e-]+ \| [\d.e-]+ \|/.test(line)),
    found,
  );
});
