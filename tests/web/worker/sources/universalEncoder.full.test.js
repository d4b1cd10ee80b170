// Checks that the Universal Sentence Encoder in Headlight gives the results of the same model in TensorFlow.js.

import assert from 'node:assert/strict';
import test from 'node:test';
import { readSafetensors } from 'headlight-attention/formats';
import { FOLDER, sentenceFile, sentenceTokenizer } from '../../../../src/build/sentence.ts';
import { CONTEXT, sentenceEncoder } from '../../../../web/worker/sources/universalEncoder.ts';
import { difference } from '../../../support/golden.js';
import { openGraphModel } from '../../../support/graph_model.js';
import { everywhere, hl } from '../../../support/headlight.js';
import { SENTENCES } from '../../../support/sentences.js';
import { unigram } from '../../../support/unigram.js';

const TOLERANCE = 1e-5;
const runGraph = await openGraphModel(FOLDER);
const encode = unigram(sentenceTokenizer());
const IDS = SENTENCES.map(encode);
const expected = await runGraph(IDS);
const file = readSafetensors(sentenceFile('float32'));

/** Returns the weights between the tokens of sentence b, head after head, without padding. */
function cut({ data, shape: [, heads, longest] }, b, length) {
  const out = [];
  for (let h = 0; h < heads; h++)
    for (let t = 0; t < length; t++) {
      const start = ((b * heads + h) * longest + t) * longest;
      out.push(...data.subarray(start, start + length));
    }
  return out;
}

/** Returns the differences of two results, relative to the largest value. */
const differences = (actual, expected, ids) => ({
  vectors: difference(actual.vectors.data, expected.vectors.data),
  ...Object.fromEntries(
    actual.weights.map((weights, l) => [
      `block ${l}`,
      difference(
        ids.flatMap(({ length }, b) => cut(weights, b, length)),
        ids.flatMap(({ length }, b) => cut(expected.weights[l], b, length)),
      ),
    ]),
  ),
});

const assertNear = (name, off) => assert.ok(off <= TOLERANCE, `${name}: off by ${off}`);
function assertClose(found) {
  for (const [name, off] of Object.entries(found)) assertNear(name, off);
}

const copied = ({ vectors, weights }) => ({ vectors: vectors.copy(), weights: weights.map((x) => x.copy()) });

test('fifty sentences have the weights and vectors that TensorFlow.js computes', (t) =>
  everywhere((hl) => {
    const encoder = sentenceEncoder(hl, file.tensors);
    const found = differences(encoder.forward(IDS), expected, IDS);
    t.diagnostic(`${hl.info.simd}: ${JSON.stringify(found)}`);
    assertClose(found);
    encoder.dispose();
  })());

test('a sentence has the same weights and vector alone and in a batch', () => {
  const encoder = sentenceEncoder(hl, file.tensors);
  const alone = IDS.map((ids) => hl.scope(() => copied(encoder.forward([ids]))));
  assertNear(
    'vectors',
    difference(
      alone.flatMap(({ vectors }) => [...vectors]),
      expected.vectors.data,
    ),
  );
  for (const l of [0, 1]) {
    const among = IDS.flatMap(({ length }, b) => cut(expected.weights[l], b, length));
    assertNear(
      `block ${l}`,
      difference(
        alone.flatMap(({ weights }) => [...weights[l]]),
        among,
      ),
    );
  }
  encoder.dispose();
});

test('tokens after the limit are cut off', async () => {
  const encoder = sentenceEncoder(hl, file.tensors);
  const long = [Array.from({ length: CONTEXT + 9 }, (_, t) => 6 + ((t * 37) % 7994))];
  const result = encoder.forward(long);
  assert.deepEqual(result.weights[0].shape, [1, 4, CONTEXT, CONTEXT]);
  assertClose(differences(result, await runGraph(long), [long[0].slice(0, CONTEXT)]));
  for (const tensor of [...result.weights, result.vectors]) tensor.dispose();
  encoder.dispose();
});

test('the tokens of an example equal those in the documentation of the model', () => {
  assert.deepEqual(encode('Hello, how are you?'), [341, 4125, 8, 140, 31, 19, 54]);
});

test('the tokenizer in the file encodes like a simple search, and decodes again', async () => {
  const tokenizer = await hl.openTokenizer(new TextEncoder().encode(file.metadata.tokenizer));
  SENTENCES.forEach((sentence, i) => assert.deepEqual(tokenizer.encode(sentence).ids, IDS[i], sentence));
  assert.equal(tokenizer.decode(tokenizer.encode('Hello, how are you?').ids), 'Hello, how are you?');
});

test('with matrices of 8 bits every vector has nearly the same direction', (t) => {
  const { tensors, metadata } = readSafetensors(sentenceFile('int8'));
  assert.equal(metadata.license, 'Apache-2.0');
  const encoder = sentenceEncoder(hl, tensors);
  const { vectors, weights } = encoder.forward(IDS);
  const cosines = IDS.map((_, b) =>
    vectors.data
      .subarray(b * 512, (b + 1) * 512)
      .reduce((sum, x, i) => sum + x * expected.vectors.data[b * 512 + i], 0),
  );
  t.diagnostic(`least cosine ${Math.min(...cosines)}`);
  assert.ok(Math.min(...cosines) > 0.998, `${Math.min(...cosines)}`);
  for (const tensor of [...weights, vectors]) tensor.dispose();
  encoder.dispose();
});

test('a file without one of the tensors is refused with the name of the tensor', () => {
  const { 'blocks.1.up.weight': _, ...rest } = file.tensors;
  const before = hl.info.memory.used;
  assert.throws(() => sentenceEncoder(hl, rest), /blocks\.1\.up\.weight/);
  assert.equal(hl.info.memory.used, before);
});
