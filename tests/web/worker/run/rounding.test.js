// Tests the comparison of a model whose weights have few bits with the same model in float32.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { load } from 'headlight-attention';
import { initialState } from '../../../../web/model/state.ts';
import { attentionChange, measureRounding } from '../../../../web/worker/run/rounding.ts';
import { describeOpened, openCheckpoint } from '../../../../web/worker/sources/checkpointFiles.ts';
import { GOLDEN } from '../../../support/golden.js';
import { roundingErrors } from '../../../support/roundingErrors.js';

// No other test allocates in this instance, so that its memory in use is known.
const hl = await load({ threads: 1 });
after(() => hl.dispose());
const bytes = readFileSync(join(GOLDEN, 'gguf/llama-q4_0.gguf'));
const open = (weights) => hl.openModel({ 'model.gguf': bytes }, { weights });
const TEXT = '3 14 15 92 65';
const IDS = TEXT.split(' ').map(Number);

/** The source of a model in few bits without a tokenizer, so that its text is a list of token ids. */
async function sourceOf(openExact) {
  const model = await open('int4');
  model.tokenizer = undefined;
  const files = { bytes: bytes.length, weights: 'int8', openExact };
  return (await describeOpened('m', model, files)).source;
}

/** The parts of the answer. */
async function answerOf(source, isCancelled = () => false) {
  const sent = [];
  const reply = {
    send: (_, { rounding }) => sent.push(rounding),
    isCancelled,
    checkCancelled: async () => isCancelled(),
  };
  await measureRounding(hl, source, { ...initialState, text: TEXT }, reply);
  return sent;
}

test('changes of weights are counted by weight and by row', () => {
  const [a, b] = [Float32Array.of(0.5, 0.5, 0.25, 0.75), Float32Array.of(0.25, 0.75, 0.25, 0.75)];
  assert.deepEqual(attentionChange([a, a], [a, b], 2), { largest: 0.25, sum: 0.5, count: 8, same: 3, rows: 4 });
});

test('the first tokens of the text run both ways, and the model in float32 is freed', async () => {
  const exact = await open('float32');
  const source = await sourceOf(async (_, onProgress) => {
    await onProgress(1, 4);
    return open('float32');
  });
  const { largest, same } = hl.scope(() => roundingErrors(exact, source.model, [IDS]));
  assert.ok(largest > 1e-3);
  const before = hl.info.memory.used;
  const sent = await answerOf(source);
  assert.deepEqual(sent, [
    { is: 'reading', read: 0, total: 1 },
    { is: 'reading', read: 1, total: 4 },
    { is: 'measured', tokens: IDS.length, same, largest },
  ]);
  assert.equal(hl.info.memory.used, before);
  exact.dispose();
  source.dispose();
});

test('a model that does not fit into memory, and a file that cannot be read any more', async () => {
  const source = await sourceOf(async () => {
    throw Object.assign(new Error('full'), { code: 'OUT_OF_MEMORY' });
  });
  assert.deepEqual((await answerOf(source)).at(-1), { is: 'tooLarge' });
  source.openExact = async () => {
    throw new Error('the file is gone');
  };
  assert.deepEqual((await answerOf(source)).at(-1), { is: 'failed', message: 'the file is gone' });
  const { model } = source;
  source.model = { weights: new Map([['a', { shape: [2 ** 15, 2 ** 15] }]]) };
  assert.deepEqual(await answerOf(source), [{ is: 'tooLarge' }]);
  model.dispose();
});

test('a large GGUF file of the user is compared; if float32 does not fit into memory, the page says so', async () => {
  // The reader ignores bytes behind the tensors.
  const files = [{ path: 'model.gguf', file: new Blob([bytes, new Uint8Array(51 * 2 ** 20)]) }];
  let isFull = false;
  const page = Object.create(hl, {
    openModel: {
      value: (...given) =>
        isFull ? Promise.reject(Object.assign(new Error('full'), { code: 'OUT_OF_MEMORY' })) : hl.openModel(...given),
    },
  });
  const options = { title: 'm', signal: new AbortController().signal, onProgress: () => {} };
  const { source, summary } = await openCheckpoint(page, 'm', files, options);
  assert.equal(summary.weights, 'stored');
  const measured = (await answerOf(source)).at(-1);
  assert.equal(measured.is, 'measured');
  assert.ok(measured.largest > 0 && measured.largest < 1e-3 && measured.same === 1);
  isFull = true;
  assert.deepEqual((await answerOf(source)).at(-1), { is: 'tooLarge' });
  source.dispose();
});

test('a cancelled comparison stops reading and says nothing more', async () => {
  let [isCancelled, signal] = [false];
  const source = await sourceOf(async (given, onProgress) => {
    signal = given;
    isCancelled = true;
    await onProgress(1, 4);
    given.throwIfAborted();
  });
  const sent = await answerOf(source, () => isCancelled);
  assert.ok(signal.aborted);
  assert.deepEqual(sent.at(-1), { is: 'reading', read: 1, total: 4 });
  source.dispose();
});

test('a source in float32 has nothing to compare', async () => {
  const model = await open('float32');
  const files = { bytes: 1, weights: 'float32', openExact: open };
  const { source } = await describeOpened('m', model, files);
  assert.deepEqual(await answerOf(source), []);
  source.dispose();
});
