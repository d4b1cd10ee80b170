// Tests how a scan of heads reads its inputs, reports its progress, draws its samples, and ends.

import assert from 'node:assert/strict';
import test from 'node:test';
import { scanHeads } from 'headlight-attention/analysis';
import { HeadSamples } from '../../../../src/js/analysis/scan/headSamples.ts';
import { batchesOf, layerGroups } from '../../../../src/js/analysis/scan/scanBatches.ts';
import { uniformSource } from '../../../../src/js/ops/random.ts';
import { difference } from '../../../support/golden.js';
import { build, hl } from '../../../support/headlight.js';
import { plainModel } from '../../../support/plain_model.js';

const SIZES = { layers: 2, dModel: 8, numHeads: 2, vocab: 9, context: 8, mlp: 8 };
const close = (actual, expected, most = 1e-6) => assert.ok(difference([...actual], [...expected]) < most);

/** Returns random lists of at most 7 ids. */
function makeSequences(count, seed = 5, shortest = 0) {
  const random = uniformSource(seed);
  return Array.from({ length: count }, () =>
    Array.from({ length: shortest + Math.floor(random() * (8 - shortest)) }, () => Math.floor(random() * 9)),
  );
}
const samplesOf = (scan) =>
  [0, 1].flatMap((layer) => [0, 1].map((head) => scan.head(layer, head).sequences.map(({ sequence }) => sequence)));

test('the same seed draws the same samples, another one draws others; the measures are the same', async () => {
  const model = build(hl, SIZES);
  const ids = makeSequences(60);
  const [a, b, c] = [
    await scanHeads(model, ids, { seed: 1 }),
    await scanHeads(model, ids, { seed: 1 }),
    await scanHeads(model, ids, { seed: 2 }),
  ];
  assert.deepEqual(samplesOf(a), samplesOf(b));
  assert.notDeepEqual(samplesOf(a), samplesOf(c));
  assert.notDeepEqual(samplesOf(a)[0], samplesOf(a)[1]);
  assert.deepEqual(a.metrics, c.metrics);
  model.dispose();
});

test('results do not depend on the number of sequences that are run at once', async () => {
  const model = build(hl, SIZES);
  // All sequences have 6 or 7 tokens, because matrix products with fewer rows are summed in another order.
  const ids = makeSequences(40, 5, 6);
  for (const warmup of [0, 9]) {
    const one = await scanHeads(model, ids, { batch: 1, warmup });
    const many = await scanHeads(model, ids, { batch: 5, warmup });
    for (const [name, { data }] of Object.entries(one.metrics)) close(many.metrics[name].data, data);
    close(many.maxima.data, one.maxima.data);
    assert.deepEqual(samplesOf(many), samplesOf(one));
  }
  model.dispose();
});

test('onProgress gets the results so far, and is awaited', async () => {
  const model = build(hl, SIZES);
  const ids = makeSequences(15).filter(({ length }) => length >= 2);
  const seen = [];
  let open = 0;
  await scanHeads(model, ids, {
    batch: 1,
    async onProgress({ done, total, scan }) {
      assert.equal(open++, 0);
      await new Promise((resolve) => setTimeout(resolve));
      open--;
      seen.push(done);
      assert.equal(total, ids.length);
      const part = scan();
      const alone = await scanHeads(model, ids.slice(0, done), { batch: 1 });
      for (const [name, { data }] of Object.entries(alone.metrics)) close(part.metrics[name].data, data);
      assert.deepEqual(samplesOf(part), samplesOf(alone));
      assert.equal(part.maxima.data.filter((x) => !Number.isNaN(x)).length, done * 4);
    },
  });
  assert.deepEqual(
    seen,
    ids.map((_, i) => i + 1),
  );
  const fails = scanHeads(model, ids, { onProgress: () => Promise.reject(new Error('mine')) });
  await assert.rejects(fails, /mine/);
  model.dispose();
});

test('before the sequences that define the intervals have been run, there are no samples', async () => {
  const model = build(hl, SIZES);
  const ids = makeSequences(30).filter(({ length }) => length >= 2);
  await scanHeads(model, ids, {
    batch: 1,
    warmup: 5,
    onProgress({ done, scan }) {
      const counts = samplesOf(scan()).map(({ length }) => length);
      assert.ok(
        counts.every((count) => (done <= 5 ? count === 0 : count > 0 && count <= done - 5)),
        `${done}: ${counts}`,
      );
    },
  });
  const all = await scanHeads(model, ids, { warmup: ids.length });
  assert.ok(all.intervals.data.every((interval) => interval === 0));
  assert.deepEqual(samplesOf(all), [[], [], [], []]);
  model.dispose();
});

test('an abort takes effect before the next run, and every result is freed, also after an error', async () => {
  const model = build(hl, SIZES);
  const ids = makeSequences(30);
  let made = 0;
  let freed = 0;
  const counted = {
    options: model.options,
    forward(...given) {
      const { captured, ...result } = model.forward(...given);
      made++;
      const dispose = () => {
        freed++;
        for (const tensor of [...Object.values(captured), result.hidden, result.logits]) tensor.dispose();
      };
      return { captured, dispose };
    },
  };
  const controller = new AbortController();
  const onProgress = () => made === 3 && controller.abort(new Error('enough'));
  await assert.rejects(scanHeads(counted, ids, { onProgress, signal: controller.signal }), /enough/);
  assert.deepEqual([made, freed], [3, 3]);
  await assert.rejects(scanHeads(counted, ids, { signal: controller.signal }), /enough/);
  assert.equal(made, 3);
  const broken = { ...counted, options: { ...model.options, numHeads: 3 } };
  await assert.rejects(scanHeads(broken, ids), { code: 'SHAPE', parameter: 'blocks.0.weights' });
  assert.equal(freed, made);
  model.dispose();
});

test('sequences are truncated to the context, and typed arrays are read', async () => {
  const model = build(hl, SIZES);
  const long = [1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3];
  const scan = await scanHeads(model, [long, Uint8Array.of(1, 2, 1), BigInt64Array.of(3n, 4n)]);
  const cut = await scanHeads(model, [long.slice(0, 8), [1, 2, 1], [3, 4]]);
  assert.deepEqual(scan.metrics, cut.metrics);
  assert.equal(scan.longest, 8);
  assert.deepEqual(scan.head(0, 0).sequences[0].ids.length, scan.head(0, 0).sequences[0].tokens.length);
  model.dispose();
});

test('texts are tokenized, and tokens are named by the tokenizer or by names', async () => {
  const model = await hl.openModel('demo');
  const scan = await scanHeads(model, ['the whale and the sea', 'a ship'], { intervals: 1 });
  const [{ tokens, ids }] = scan.head(0, 0).sequences;
  assert.equal(tokens.join(''), model.decode(ids));
  assert.ok(tokens.length > 1);
  const named = await scanHeads(model, [ids], { names: (id) => `<${id}>` });
  assert.deepEqual(
    named.head(0, 0).sequences[0].tokens,
    ids.map((id) => `<${id}>`),
  );
  model.dispose();
});

test('pieces of words keep their spaces and marks, parts of characters their names', async () => {
  const names = ['▁sea', '##ing', '\ufffd', 'plain', ''];
  const tokenizer = {
    encode: () => ({ ids: [0, 1, 2, 3, 4] }),
    decode: ([id]) => ['sea', 'ing', '\ufffd', ' plain', ''][id],
    tokenOf: (id) => (id === 2 ? '<0xF0>' : names[id] || undefined),
  };
  const model = { ...plainModel({}), tokenizer, encode: tokenizer.encode };
  const scan = await scanHeads(model, ['x'], { intervals: 1 });
  assert.deepEqual(scan.head(0, 0).sequences[0].tokens, [' sea', '##ing', '<0xF0>', ' plain', '4']);
  delete tokenizer.tokenOf;
  const plain = await scanHeads(model, ['x'], { intervals: 1 });
  assert.deepEqual(plain.head(0, 0).sequences[0].tokens, ['sea', 'ing', '2', ' plain', '4']);
});

test('a block without weights has measures that are NaN', async () => {
  const model = plainModel({});
  const forward = (...given) => {
    const result = model.forward(...given);
    delete result.captured['blocks.0.weights'];
    return result;
  };
  const scan = await scanHeads({ ...model, forward }, [[1, 2, 1, 3]]);
  for (const { data } of [...Object.values(scan.metrics), scan.maxima, scan.roles.first]) {
    assert.ok(data.subarray(0, 2).every(Number.isNaN));
    assert.ok(data.subarray(2).every(Number.isFinite));
  }
  assert.deepEqual(scan.head(0, 1).sequences, []);
});

test('induction is NaN if no token occurs twice', async () => {
  const scan = await scanHeads(plainModel({}), [[1, 2, 3, 4]]);
  assert.ok(scan.metrics.induction.data.every(Number.isNaN));
  assert.ok(scan.roles.holds.duplicate.data.every(Number.isNaN));
  assert.ok(scan.metrics.entropy.data.every(Number.isFinite));
});

test('invalid arguments are refused before the first run, and the error names them', async () => {
  const model = { ...plainModel({}), forward: () => assert.fail('forward was called') };
  const ids = [[1, 2, 3]];
  const refuses = (sequences, options, parameter, of = model) =>
    assert.rejects(scanHeads(of, sequences, options), (error) => {
      assert.deepEqual([error.name, error.code, error.parameter], ['HeadlightError', 'ARGUMENT', parameter]);
      return true;
    });
  for (const name of ['intervals', 'samples', 'top', 'keep', 'batch'])
    for (const value of [0, -1, 1.5, '3', Number.NaN]) await refuses(ids, { [name]: value }, name);
  for (const name of ['warmup', 'seed'])
    for (const value of [-1, 0.5, '0']) await refuses(ids, { [name]: value }, name);
  for (const name of ['least', 'threshold'])
    for (const value of [-0.1, 'a', Infinity]) await refuses(ids, { [name]: value }, name);
  await refuses(ids, { names: 3 }, 'names');
  await refuses(ids, { onProgress: 3 }, 'onProgress');
  await refuses(ids, { signal: {} }, 'signal');
  await refuses(ids, { intervalls: 3 }, 'intervalls');
  for (const wrong of [
    [],
    undefined,
    'text',
    [[1]],
    [[], [2]],
    [[1, 9]],
    [[1, -1]],
    [[1, 1.5]],
    [['1', 2]],
    [null],
    ['text'],
  ])
    await refuses(wrong, {}, 'sequences');
  for (const options of [{ encoder: {} }, { input: 'patches' }, { layers: 0 }])
    await refuses(ids, {}, 'model', { ...model, options: { ...model.options, ...options } });
  const untold = build(hl, SIZES);
  await refuses(['text'], {}, 'sequences', untold);
  untold.dispose();
  const scan = await scanHeads(plainModel({}), ids);
  for (const [layer, head, parameter] of [
    [2, 0, 'layer'],
    [-1, 0, 'layer'],
    [0, 2, 'head'],
    [0, undefined, 'head'],
  ])
    assert.throws(() => scan.head(layer, head), { code: 'ARGUMENT', parameter });
});

test('sequences of equal length are run together, the warmup on its own', () => {
  const ids = [3, 2, 3, 3, 2, 3, 3].map((length) => new Int32Array(length));
  const runs = (options) => batchesOf(ids, [0, 1, 2, 3, 4, 5, 6], options).map(({ sequences }) => sequences.join());
  assert.deepEqual(runs({ warmup: 0 }), ['0,2,3,5,6', '1,4']);
  assert.deepEqual(runs({ warmup: 0, batch: 2 }), ['0,2', '1,4', '3,5', '6']);
  assert.deepEqual(runs({ warmup: 3, batch: 4 }), ['0,2', '1', '3,5,6', '4']);
  const long = [200, 200].map((length) => new Int32Array(length));
  assert.equal(batchesOf(long, [0, 1], { warmup: 0 }).length, 2);
});

test('layers are captured in groups if their weights are large', () => {
  assert.deepEqual(layerGroups(5, 2 ** 20), [[0, 1, 2, 3, 4]]);
  assert.deepEqual(layerGroups(5, 2 ** 28), [[0, 1], [2, 3], [4]]);
  assert.deepEqual(layerGroups(2, 2 ** 40), [[0], [1]]);
});

const DRAW = { count: 200, layers: 1, heads: 1, intervals: 4, samples: 3, top: 5, warmup: 0 };
/** Adds sequences whose maxima are 0, 1/count, 2/count and so on, in a mixed order. */
function drawFrom(sizes, spare) {
  const samples = new HeadSamples(sizes, spare);
  const maxima = Array.from({ length: sizes.count }, (_, i) => ((i * 77) % sizes.count) / sizes.count);
  maxima.forEach((max, n) => samples.add(n, 0, max, () => ({ indices: [], values: [], n })));
  return samples;
}

test('samples whose weights were not kept are run again, and are those that would have been kept', () => {
  let again = 0;
  for (let seed = 0; seed < 20; seed++) {
    const all = drawFrom({ ...DRAW, seed }, 200);
    assert.equal(all.missing().size, 0);
    const few = drawFrom({ ...DRAW, seed }, 12);
    const missing = few.missing();
    again += missing.size;
    for (const [sequence, heads] of missing) {
      assert.deepEqual(heads, [0]);
      few.addMissing(sequence, 0, { indices: [], values: [], n: sequence });
    }
    assert.equal(few.missing().size, missing.size);
    const of = (samples) => samples.choices(0).map(({ sequence, interval, rows }) => [sequence, interval, rows.n]);
    assert.deepEqual(of(few), of(all));
    few.finish();
    assert.deepEqual(of(few), of(all));
    assert.equal(of(all).length, 3 * 3 + 5);
  }
  assert.ok(again > 0);
});

test('each sequence of an interval is drawn equally often', () => {
  const counts = new Map();
  const runs = 2000;
  for (let seed = 0; seed < runs; seed++) {
    const samples = drawFrom({ ...DRAW, count: 40, seed }, 40);
    for (const { sequence, interval } of samples.choices(0))
      if (interval < 4) counts.set(sequence, (counts.get(sequence) ?? 0) + 1);
  }
  assert.equal(counts.size, 30);
  // 3 of 10 sequences are drawn, so that each is drawn about 600 times, with a standard deviation of 20.5.
  for (const [sequence, count] of counts) assert.ok(Math.abs(count - 600) < 100, `${sequence}: ${count}`);
});

test('a scan with many sequences runs some of them again', async () => {
  const model = build(hl, { ...SIZES, numHeads: 8 });
  const ids = makeSequences(2000, 3).filter(({ length }) => length >= 2);
  let last;
  const options = { intervals: 64, samples: 1, top: 1, seed: 3 };
  const scan = await scanHeads(model, ids, { ...options, onProgress: (progress) => void (last = progress) });
  assert.ok(last.total > ids.length);
  assert.equal(last.done, last.total);
  for (let head = 0; head < 16; head++) {
    const drawn = scan.head(Math.floor(head / 8), head % 8).sequences.map(({ interval }) => interval);
    const members = new Set(scan.intervals.data.filter((_, i) => i % 16 === head));
    assert.deepEqual(
      drawn,
      [...members].sort((a, b) => a - b),
    );
  }
  model.dispose();
});
