import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { load } from 'headlight-attention';
import { nameHeads } from '../../../../src/build/demo/nameHeads.ts';
import { roundRows, widenRows } from '../../../../src/js/io/roundedRows.ts';
import { openTokenizer } from '../../../../src/js/text/tokenizer.ts';
import { openDemoModel } from '../../../../web/worker/sources/demoModel.ts';
import { fullTest } from '../../../support/tier.js';

const read = (name) => readFileSync(new URL(`../../../../web/demo/${name}`, import.meta.url));

fullTest('the demo model is small, and without its previous and induction heads its loss rises', async () => {
  const hl = await load();
  const file = read('whale.safetensors');
  assert.ok(file.length <= 1_500_000);
  const { loss, heads } = nameHeads(hl, openDemoModel(hl, file));
  const best = (score) => heads.reduce((a, b) => (b[score] > a[score] ? b : a));
  const [previous, induction] = [best('previous'), best('induction')];
  assert.ok(previous.previous > 0.8 && induction.induction > 0.3);
  assert.ok(previous.layer < induction.layer);
  assert.ok(previous.without > loss + 1 && induction.without > loss + 2);
  hl.dispose();
});

test('the demo model continues a text with words', async () => {
  const hl = await load();
  const model = openDemoModel(hl, read('whale.safetensors'));
  const tokenizer = openTokenizer(read('tokenizer.json'));
  assert.equal(tokenizer.vocabSize, model.options.vocab);
  const prompt = tokenizer.encode('<|endoftext|>CHAPTER 1. Loomings.\n\nCall me').ids;
  const { ids } = await model.generate(prompt, { max: 40 });
  const words = tokenizer.decode(ids).match(/[a-z]{2,}/g);
  assert.ok(words.length > 10, tokenizer.decode(ids));
  hl.dispose();
});

test('rows that are rounded to a byte differ by half a step at most', () => {
  const data = Float32Array.from({ length: 24 }, (_, i) => Math.sin(7 * i) * (i < 8 ? 0.01 : 3));
  data.fill(0, 16);
  const tensors = { w: { data, shape: [3, 8] }, b: { data: data.slice(0, 3), shape: [3] } };
  const rounded = roundRows(tensors);
  assert.deepEqual(Object.keys(rounded), ['w', 'w.scale', 'b']);
  assert.ok(rounded.w.data instanceof Int8Array);
  const wide = widenRows(rounded);
  assert.deepEqual(wide.b, tensors.b);
  for (let i = 0; i < data.length; i++) {
    const step = rounded['w.scale'].data[Math.floor(i / 8)];
    assert.ok(Math.abs(wide.w.data[i] - data[i]) <= 0.5001 * step);
  }
});
