// Computes the table of errors in web/docs/guide/quantization.md again.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { load } from 'headlight-attention';
import { GOLDEN } from '../../support/golden.js';
import { roundingErrors } from '../../support/roundingErrors.js';
import { whaleFile } from '../../support/whale.js';

const PAGE = new URL('../../../web/docs/guide/quantization.md', import.meta.url);
const [TEXTS, TOKENS] = [8, 64];

/** Returns passages of chapters on which the demo model was not trained. */
async function heldOut(model) {
  const passages = String(await whaleFile('whale.passages.txt')).split('\n');
  const texts = passages.map((text) => model.encode(text).ids).filter(({ length }) => length >= TOKENS);
  return texts.slice(0, TEXTS).map((ids) => [...ids].slice(0, TOKENS));
}

/** Returns pseudo-random tokens, because the small models of the tests have not been trained. */
const randomIds = (model) =>
  Array.from({ length: TEXTS }, (_, text) =>
    Array.from({ length: 32 }, (_, i) => (37 * i * (text + 3) + 11 * text) % model.options.vocab),
  );

/** Rows of the table: a name, the file, and the weights that are compared with float32. */
const ROWS = [
  ['demo, `int8`', 'demo', 'int8'],
  ['demo, `int4`', 'demo', 'int4'],
  ['GPT-2, Q8_0 `stored`', 'gpt2-q8_0', 'stored'],
  ['GPT-2, Q4_0 `stored`', 'gpt2-q4_0', 'stored'],
  ['Llama, Q8_0 `stored`', 'llama-q8_0', 'stored'],
  ['Llama, Q4_0 `stored`', 'llama-q4_0', 'stored'],
  ['Llama, Q4_K_M `stored`', 'llama-q4_k_m', 'stored'],
];

const format = (x) => (x < 1e-3 ? x.toExponential(0) : x.toFixed(x < 0.01 ? 4 : 3));
const columnsOf = ({ largest, mean, same, loss }, isTrained) => [
  format(largest),
  mean.toExponential(0),
  `${(100 * same).toFixed(1)}%`,
  isTrained ? `${loss < 0 ? '−' : '+'}${Math.abs(loss).toFixed(3)}` : '',
];

test('the table of errors is true', async () => {
  // Plain SIMD gives the same bits on every machine.
  const hl = await load({ threads: 1, simd: 'simd128' });
  const found = [];
  for (const [name, file, weights] of ROWS) {
    const from = file === 'demo' ? file : join(GOLDEN, 'gguf', `${file}.gguf`);
    const [exact, rounded] = [await hl.openModel(from), await hl.openModel(from, { weights })];
    const texts = file === 'demo' ? await heldOut(exact) : randomIds(exact);
    assert.equal(texts.length, TEXTS);
    found.push(`| ${[name, ...columnsOf(roundingErrors(exact, rounded, texts), file === 'demo')].join(' | ')} |`);
    exact.dispose();
    rounded.dispose();
  }
  const page = readFileSync(PAGE, 'utf8').split('\n');
  assert.deepEqual(
    page.filter((line) => ROWS.some(([name]) => line.startsWith(`| ${name} |`))),
    found,
  );
});
