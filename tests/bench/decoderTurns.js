// Compares whole models that take turns. Makes the turns of Headlight and the inputs of onnxruntime-web, and runs the
// rounds. Used both in Node and in a page.

import { median } from './measure.js';

/** Number of tokens that one turn computes, one after another. */
export const TOKENS = 8;
/**
 * Milliseconds of the pause between two contenders. During it, the idle threads of the first contender stop spinning.
 */
const UNTIL_ASLEEP = 100;

/** Returns the turns of Headlight. pairs() returns the keys and values of the longest past, for onnxruntime-web. */
export function makeOurs(model, { options, ids, pasts }) {
  const cache = model.cache({ length: options.context });
  const pass = (tokens, past) => {
    cache.rewind(past);
    const result = model.forward(tokens, { cache, last: true });
    const logits = result.logits.copy();
    result.dispose();
    return logits;
  };
  const most = Math.max(...pasts);
  const pairs = () => {
    const capture = ['blocks.*.key', 'blocks.*.value'];
    cache.rewind(0);
    const filled = model.forward(ids.slice(0, most), { cache, last: true, capture });
    const made = Array.from({ length: options.layers }, (_, l) => ({
      key: filled.captured[`blocks.${l}.key`].copy(),
      value: filled.captured[`blocks.${l}.value`].copy(),
    }));
    filled.dispose();
    return made;
  };
  // Every prefill begins with the same tokens, so that computing the longest past fills the cache again.
  const refill = () => cache.length < most && pass(ids.slice(0, most), 0);
  return {
    pairs,
    refill,
    prefill: (n) => pass(ids.slice(0, n), 0),
    token: (past) => pass(ids.slice(past, past + 1), past),
    close: () => cache.dispose(),
  };
}

/** Copies the first `past` rows of every head of a tensor (G,most,D), unchanged or transposed. */
function firstRows(data, past, most, turned, { numHeads, kvHeads: heads = numHeads, dModel }) {
  const width = dModel / numHeads;
  const rows = new Float32Array(heads * past * width);
  for (let h = 0; h < heads; h++) {
    const from = data.subarray(h * most * width, (h * most + past) * width);
    const at = h * past * width;
    if (!turned) rows.set(from, at);
    else for (let s = 0; s < past; s++) for (let d = 0; d < width; d++) rows[at + d * past + s] = from[s * width + d];
  }
  return rows;
}

/** Returns the input tensors of one call of onnxruntime-web. */
export function feedsOf(ort, session, form, { options, ids, past, rows, pairs, most }) {
  const { numHeads, kvHeads: heads = numHeads, dModel } = options;
  const width = dModel / numHeads;
  const all = past + rows;
  const numbers = (from) => BigInt64Array.from({ length: rows }, (_, i) => BigInt(from(i)));
  const mask = () =>
    Float32Array.from({ length: rows * all }, (_, i) => (i % all > past + Math.floor(i / all) ? -1e9 : 0));
  const given = {
    ids: () =>
      new ort.Tensor(
        'int64',
        numbers((i) => ids[past + i]),
        [1, rows],
      ),
    positions: () =>
      new ort.Tensor(
        'int64',
        numbers((i) => past + i),
        [1, rows],
      ),
    mask: () => new ort.Tensor('float32', mask(), [1, 1, rows, all]),
    seqlens: () => new ort.Tensor('int32', Int32Array.of(all - 1), [1]),
    total: () => new ort.Tensor('int32', Int32Array.of(all), []),
  };
  const feeds = {};
  for (const name of session.inputNames) {
    const [, layer, part] = name.split('.');
    if (!layer) {
      feeds[name] = given[name]();
      continue;
    }
    const turned = form === 'rows' && part === 'key';
    const data = firstRows(pairs[layer][part], past, most, turned, options);
    feeds[name] = new ort.Tensor('float32', data, turned ? [1, heads, width, past] : [1, heads, past, width]);
  }
  return feeds;
}

/** Returns the largest difference of two arrays, relative to the largest magnitude in `a`. */
export function differ(a, b) {
  let [most, off] = [0, 0];
  for (let i = 0; i < a.length; i++) {
    most = Math.max(most, Math.abs(a[i]));
    off = Math.max(off, Math.abs(a[i] - b[i]));
  }
  return off / most;
}

/** Returns a turn, which calls a function `times` times and returns the mean milliseconds of a call. */
export const turnOf = (run) => async (times) => {
  const start = performance.now();
  for (let i = 0; i < times; i++) await run();
  return (performance.now() - start) / times;
};

/**
 * Runs rounds in which two contenders take turns, and measures the memory bandwidth in each round if requested.
 * @param turns functions of the number of calls that return the milliseconds of one call
 * @param options { rounds, count: calls in a turn, threads, bandwidth? }
 * @returns times: for each contender, a list with one time per round; rates: the bandwidth of each round
 */
export async function takeTurns(turns, { rounds, count, threads, bandwidth }) {
  const asleep = () => threads > 1 && new Promise((resolve) => setTimeout(resolve, UNTIL_ASLEEP));
  const times = turns.map(() => []);
  const rates = [];
  for (let round = 0; round < rounds; round++) {
    for (const i of round % 2 ? [1, 0] : [0, 1]) {
      await asleep();
      if (count > 1) await turns[i](1);
      times[i].push(await turns[i](count));
    }
    await asleep();
    if (bandwidth) rates.push(await bandwidth.measure());
  }
  return { times, rates };
}

/**
 * Returns the median and the minimum time of both contenders, and the median over the rounds of the ratio of their
 * times.
 */
export const figuresOf = (times) => ({
  median: times.map(median),
  least: times.map((all) => Math.min(...all)),
  ratio: median(times[1].map((ms, round) => ms / times[0][round])),
});
