// Tests scans of all heads, of random models over random sequences, compared with plain loops in float64 and with
// golden vectors.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { headRoles, scanHeads } from 'headlight-attention/analysis';
import { uniformSource } from '../../../../src/js/ops/random.ts';
import { difference, GOLDEN, readPack } from '../../../support/golden.js';
import { build, hl } from '../../../support/headlight.js';
import {
  plainEdges,
  plainMax,
  plainMeasures,
  plainRole,
  plainRoles,
  plainRows,
  plainTables,
} from '../../../support/plain_scan.js';
import { inTier } from '../../../support/tier.js';

const METRICS = ['selfAttention', 'previous', 'entropy', 'distance', 'distanceVariance', 'induction'];
const HEADS = join(GOLDEN, 'heads');
const close = (actual, expected, most = 1e-5) => {
  const off = difference(Array.from(actual.data ?? actual), Array.from(expected.data ?? expected));
  assert.ok(off < most, `off by ${off}`);
};
/** Converts ids (N,most), with −1 after the end of a sequence, to lists of ids. */
const listsOf = ({ ids, lengths }) =>
  Array.from(lengths.data, (length, n) => Array.from(ids.data.subarray(n * ids.shape[1], n * ids.shape[1] + length)));
const columnOf = ({ data, shape: [count, layers, heads] }, head) =>
  Array.from({ length: count }, (_, n) => data[n * layers * heads + head]);

const FORMS = {
  'GPT-2': {},
  'Llama with grouped heads': { norm: 'rms', positions: 'rotary', gated: true, kvHeads: 2, bias: false },
  'Gemma 2': { norm: 'rms', normPlace: 'both', positions: 'rotary', window: [3, null], softcap: 5, bias: false },
  BERT: { causal: false, normPlace: 'after', head: 'pooled', classes: 3 },
  ModernBERT: { causal: false, positions: 'rotary', window: [null, 4], head: 'none' },
  'GPT-OSS': { positions: 'rotary', norm: 'rms', sinks: true, window: [2, null] },
  'scores divided by the layer': { scale: [0.7, 0.3] },
};

/** Returns random sequences of ids from a small vocabulary. Some sequences are too short to be scanned. */
function randomSequences(random, count, vocab, longest) {
  return Array.from({ length: count }, () =>
    Array.from({ length: Math.floor(random() * (longest + 1)) }, () => Math.floor(random() * vocab)),
  );
}

/** Returns the weights (T,T) of each head for each sequence, which is run alone. */
function weightsOf(model, sequences) {
  const { layers, numHeads } = model.options;
  const all = Array.from({ length: layers * numHeads }, () => []);
  for (const ids of sequences) {
    const result = model.forward([ids], { capture: ['blocks.*.weights'] });
    const size = ids.length ** 2;
    for (const [head, list] of all.entries()) {
      const { data } = result.captured[`blocks.${Math.floor(head / numHeads)}.weights`];
      const start = (head % numHeads) * size;
      list.push(Float64Array.from(data.subarray(start, start + size)));
    }
    result.dispose();
  }
  return all;
}

/** Returns a function from a layer to a function that returns true if a query t sees a key s. */
const visibleKeys =
  ({ causal, window }) =>
  (layer) => {
    const width = window?.[layer] ?? Infinity;
    return causal ? (t, s) => s <= t && t - s < width : (t, s) => Math.abs(t - s) <= Math.floor(width / 2);
  };

/** Compares the results of a scan for one head with plain loops. */
function checkHead(scan, index, ids, whole, weights, options) {
  const { intervals, samples, top, keep, least, threshold, warmup } = options;
  const [, layers, heads] = scan.maxima.shape;
  const [layer, head] = [Math.floor(index / heads), index % heads];
  const expected = plainMeasures(
    whole.map((n) => ids[n]),
    weights,
    threshold,
  );
  for (const name of METRICS) close([scan.metrics[name].data[index]], [expected[name]]);
  for (const name of ['first', 'duplicate']) close([scan.roles[name].data[index]], [expected[name]]);
  for (const [role, share] of Object.entries(expected.holds)) close([scan.roles.holds[role].data[index]], [share]);
  const roles = plainRoles(
    whole.map((n) => ids[n]),
    weights,
    options.isVisible?.(layer),
  );
  for (const measure of ['mean', 'chance'])
    for (const [role, value] of Object.entries(roles[measure])) close([scan.roles[measure][role].data[index]], [value]);
  assert.equal(headRoles(scan.roles).names[layer][head], plainRole(roles));

  const maxima = columnOf(scan.maxima, index);
  ids.forEach((list, n) => {
    const of = whole.indexOf(n);
    if (of < 0) assert.ok(Number.isNaN(maxima[n]) && list.length < 2);
    else close([maxima[n]], [plainMax(weights[of], list.length)]);
  });
  const defining = warmup > 0 ? whole.slice(0, warmup) : whole;
  const edges = plainEdges(
    defining.map((n) => maxima[n]),
    intervals,
  );
  const own = scan.edges.data.subarray(index * (intervals - 1), (index + 1) * (intervals - 1));
  assert.deepEqual([...own], edges.map(Math.fround));
  const intervalOf = (n) =>
    !whole.includes(n) || (warmup > 0 && defining.includes(n))
      ? 0
      : 1 + edges.filter((edge) => edge <= maxima[n]).length;
  const all = ids.map((_, n) => intervalOf(n));
  assert.deepEqual(columnOf(scan.intervals, index), all);

  const details = scan.head(layer, head);
  const hasRows = (n) => plainRows(weights[whole.indexOf(n)], ids[n].length, keep, least).values.length > 0;
  const largest = whole
    .filter((n) => all[n] === intervals)
    .sort((a, b) => maxima[b] - maxima[a] || a - b)
    .slice(0, intervals === 1 ? Math.max(samples, top) : top)
    .filter(hasRows);
  const chosen = (interval) => details.sequences.filter((s) => s.interval === interval).map((s) => s.sequence);
  assert.deepEqual(chosen(intervals), largest);
  for (let i = 1; i < intervals; i++) {
    const members = whole.filter((n) => all[n] === i);
    assert.ok(chosen(i).every((n) => members.includes(n)));
    assert.equal(new Set(chosen(i)).size, chosen(i).length);
    if (members.every(hasRows)) assert.equal(chosen(i).length, Math.min(samples, members.length));
  }
  assert.deepEqual(
    details.sequences.map((s) => s.interval),
    details.sequences.map((s) => s.interval).sort((a, b) => a - b),
  );
  for (const sample of details.sequences) {
    const rows = plainRows(weights[whole.indexOf(sample.sequence)], sample.ids.length, keep, least);
    assert.deepEqual([...sample.indices], rows.indices);
    close(sample.values, rows.values);
    assert.deepEqual(sample.ids, ids[sample.sequence]);
    assert.deepEqual(sample.tokens, sample.ids.map(String));
    assert.equal(sample.max, maxima[sample.sequence]);
  }
  checkTables(
    details,
    whole.map((n) => maxima[n]),
  );
  assert.equal(layers * heads, scan.metrics.entropy.data.length);
}

function checkTables(details, maxima) {
  const { edges, distances, queryTokens, keyTokens } = plainTables(details.sequences);
  assert.deepEqual(details.distances.edges, edges);
  close(details.distances.values, distances);
  for (const [got, expected] of [
    [details.queryTokens, queryTokens],
    [details.keyTokens, keyTokens],
  ]) {
    assert.equal(got.length, expected.length);
    close(
      got.map(({ weight }) => weight),
      expected.map(({ weight }) => weight),
    );
  }
  assert.equal(details.histogram.edges.length, 51);
  const bins = details.histogram.values.map(
    (_, i) => maxima.filter((x) => Math.min(Math.floor(x * 50), 49) === i).length,
  );
  assert.deepEqual(details.histogram.values, bins);
  assert.equal(details.statistics.samples, details.sequences.length);
  close([details.statistics.meanMax], [maxima.reduce((a, b) => a + b, 0) / maxima.length]);
}

for (const [name, form] of Object.entries(FORMS))
  test(`the scan of random models equals plain loops: ${name}`, async (t) => {
    for (let seed = 1; seed <= inTier(12, 3); seed++) {
      const random = uniformSource(100 * seed + name.length);
      const pick = (...list) => list[Math.floor(random() * list.length)];
      const options = {
        intervals: pick(1, 2, 5),
        samples: pick(1, 3),
        top: pick(1, 4, 10),
        keep: pick(1, 2, 8, 100),
        least: pick(0, 0.005, 0.3),
        threshold: pick(0, 0.01, 0.2),
        warmup: pick(0, 0, 7),
        seed,
        batch: pick(undefined, 1, 3),
      };
      t.diagnostic(`${name}, seed ${seed}: ${JSON.stringify(options)}`);
      const model = build(hl, { layers: 2, dModel: 16, numHeads: 4, vocab: 7, context: 12, mlp: 8, ...form });
      const ids = randomSequences(random, pick(1, 9, 30), 7, 12);
      if (ids.every(({ length }) => length < 2)) ids.push([1, 2, 1]);
      model.forward([[1, 2]]).dispose();
      const before = hl.info.memory.used;
      const scan = await scanHeads(model, ids, options);
      assert.equal(hl.info.memory.used, before);
      const whole = ids.flatMap(({ length }, n) => (length < 2 ? [] : [n]));
      assert.deepEqual(
        scan.skipped,
        ids.flatMap((_, n) => (whole.includes(n) ? [] : [n])),
      );
      assert.equal(scan.longest, Math.max(...ids.map(({ length }) => length)));
      const weights = weightsOf(
        model,
        whole.map((n) => ids[n]),
      );
      const isVisible = visibleKeys(model.options);
      for (const [index, list] of weights.entries())
        checkHead(scan, index, ids, whole, list, { ...options, isVisible });
      model.dispose();
    }
  });

for (const name of ['gpt2-a', 'llama-a'])
  test(`${name}: the scan equals golden vectors`, async () => {
    const model = await hl.openModel(join(GOLDEN, 'models', name));
    for (const { kind, inputs, outputs, options } of readPack(name, HEADS)) {
      if (kind !== 'scan' && kind !== 'tree') continue;
      const scan = await scanHeads(model, listsOf(inputs), options);
      for (const metric of METRICS) if (outputs[metric]) close(scan.metrics[metric], outputs[metric]);
      if (outputs.maxima)
        close(
          scan.maxima.data.map((x) => (Number.isNaN(x) ? -1 : x)),
          outputs.maxima,
        );
      if (outputs.edges) close(scan.edges, outputs.edges);
      if (outputs.interval) assert.deepEqual([...scan.intervals.data], [...outputs.interval.data]);
      const [, layers, heads] = scan.maxima.shape;
      for (let i = 0; i < layers * heads; i++) {
        const { sequences, histogram, statistics } = scan.head(Math.floor(i / heads), i % heads);
        const part = ({ data, shape }) => [...data.subarray(i * shape[2], (i + 1) * shape[2])];
        const top = sequences.filter(({ interval }) => interval === options.intervals);
        assert.deepEqual(
          top.map(({ sequence }) => sequence),
          part(outputs.top).filter((n) => n >= 0),
        );
        if (outputs.histogram) assert.deepEqual(histogram.values, part(outputs.histogram));
        if (outputs.meanMax) close([statistics.meanMax], [outputs.meanMax.data[i]]);
      }
    }
    model.dispose();
  });
