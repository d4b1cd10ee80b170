// Compares the visibility of keys with plain loops that follow the definition in mask.h.

import assert from 'node:assert/strict';
import test from 'node:test';
import { kernels, numbers } from '../../support/kernels.js';

const COLS = 8;
const NONE = -1n;
const HIDDEN = Number.NEGATIVE_INFINITY;

/** Returns a seeded generator of integers below a limit. */
function integers(seed) {
  const source = numbers(4096, seed);
  let at = 0;
  return (limit) => Math.floor(((source[at++ % source.length] + 1) / 2) * limit);
}

/** Writes a struct visibility into the memory of the core. Its 64-bit fields start at a multiple of 8. */
function writeVisibility(k, v) {
  const bytes = (list) => {
    const block = k.block(Math.ceil(list.length / 4));
    new Uint8Array(k.core.memory.buffer, block.at, list.length).set(list);
    return block.at;
  };
  const lengths = (list) => {
    const block = k.block(list.length);
    new Int32Array(k.core.memory.buffer, block.at, list.length).set(list);
    return block.at;
  };
  const pointers = [
    v.mask ? bytes(v.mask) : 0,
    v.padding ? bytes(v.padding) : 0,
    v.lengths ? lengths(v.lengths) : 0,
    v.bias ? k.block(v.bias).at : 0,
  ];
  const block = k.block(24);
  const at = (block.at + 7) & ~7;
  const view = new DataView(k.core.memory.buffer, at, 88);
  const steps = [v.keys, 1, 1, 1, v.keys, 1];
  for (const [i, value] of [...pointers, ...steps].entries()) view.setUint32(4 * i, value, true);
  view.setFloat32(40, v.slope, true);
  for (const [i, value] of [v.offset, v.left, v.right].entries()) view.setBigInt64(48 + 8 * i, value, true);
  view.setUint32(72, v.keys, true);
  view.setUint32(76, v.appended, true);
  view.setFloat32(80, v.fill, true);
  view.setUint8(84, v.noneHidden ? 1 : 0);
  return at;
}

/** Returns true if a key is visible to a query by the definition. */
function isVisible(v, query, key) {
  if (v.noneHidden || key >= v.keys) return true;
  const at = BigInt(query) + v.offset;
  const s = BigInt(key);
  if (v.left >= 0n && s < at - v.left) return false;
  if (v.right >= 0n && s > at + v.right) return false;
  if (v.lengths && key >= v.lengths[query]) return false;
  if (v.mask && !v.mask[query * v.keys + key]) return false;
  if (v.padding && !v.padding[key]) return false;
  return !(v.bias && v.bias[query * v.keys + key] === HIDDEN);
}

/** Returns the score of a key after the bias and the mask are applied. */
function scoreOf(v, query, key, score) {
  if (v.noneHidden || key >= v.keys) return score;
  const bias = v.bias ? v.bias[query * v.keys + key] : 0;
  const byBias = bias === HIDDEN;
  if (!isVisible({ ...v, bias: undefined }, query, key)) return v.fill;
  if (byBias) return HIDDEN;
  const distance = Math.abs(Number(BigInt(query) + v.offset - BigInt(key)));
  return Math.fround(Math.fround(score + Math.fround(-v.slope * distance)) + bias);
}

/** Makes a random visibility for these numbers of queries and keys. Each kind of mask is present at random. */
function randomVisibility(integer, queries, keys) {
  const flags = (count) => Array.from({ length: count }, () => integer(3) > 0);
  const has = () => integer(3) === 0;
  const biases = () => Array.from({ length: queries * keys }, () => (integer(5) === 0 ? HIDDEN : integer(9) - 4));
  return {
    mask: has() ? flags(queries * keys) : undefined,
    padding: has() ? flags(keys) : undefined,
    lengths: has() ? Array.from({ length: queries }, () => integer(keys + 2)) : undefined,
    bias: has() ? biases() : undefined,
    slope: has() ? 0.5 : 0,
    offset: BigInt(integer(7) - 3),
    left: has() ? BigInt(integer(4)) : NONE,
    right: has() ? BigInt(integer(4)) : NONE,
    keys,
    appended: integer(3),
    fill: integer(4) === 0 ? -1e9 : HIDDEN,
    noneHidden: integer(8) === 0,
  };
}

/** Calls a function with 200 random visibilities. */
function forEachVisibility(k, fn) {
  const integer = integers(5);
  for (let round = 0; round < 200; round++) {
    const [queries, keys] = [1 + integer(COLS), 1 + integer(13)];
    const v = randomVisibility(integer, queries, keys);
    fn(v, queries, writeVisibility(k, v), round);
    k.close();
  }
}

test(
  'mask_is_visible and mask_may_hide follow the window, lengths, mask, padding and bias',
  kernels((k) =>
    forEachVisibility(k, (v, queries, at, round) => {
      let hides = false;
      for (let t = 0; t < queries; t++)
        for (let s = 0; s < v.keys + v.appended; s++) {
          const expected = isVisible(v, t, s);
          if (!expected) hides = true;
          assert.equal(Boolean(k.core.mask_is_visible(at, t, s)), expected, `round ${round}: query ${t}, key ${s}`);
        }
      // mask_may_hide may return true although no key is masked, but must not return false if one is.
      if (hides) assert.ok(k.core.mask_may_hide(at, queries), `round ${round}`);
      const limited = v.mask || v.padding || v.lengths || v.bias || v.left >= 0n || v.right >= 0n;
      if (v.noneHidden || !limited) assert.ok(!k.core.mask_may_hide(at, queries), `round ${round}`);
    }),
  ),
);

test(
  'mask_span leaves out only keys that are hidden from all queries',
  kernels((k) =>
    forEachVisibility(k, (v, queries, at, round) => {
      const span = k.block(2).at;
      k.core.mask_span(span, at, 0, queries);
      const [from, to] = new Uint32Array(k.core.memory.buffer, span, 2);
      const all = v.keys + v.appended;
      assert.ok(from <= to && to <= all, `round ${round}: ${from} to ${to} of ${all}`);
      for (let s = 0; s < all; s++)
        for (let t = 0; t < queries; t++)
          if (s < from || s >= to) assert.ok(!isVisible(v, t, s) && v.fill === HIDDEN, `round ${round}: key ${s}`);
      // If only the window masks keys, the span is exact.
      if (!v.noneHidden && v.fill === HIDDEN && v.appended === 0 && v.left >= 0n && v.right >= 0n && !v.lengths) {
        const only = { ...v, mask: undefined, padding: undefined, bias: undefined };
        const seen = Array.from({ length: v.keys }, (_, s) => s).filter((s) =>
          Array.from({ length: queries }, (_, t) => isVisible(only, t, s)).includes(true),
        );
        if (seen.length > 0) assert.deepEqual([from, to], [seen[0], seen.at(-1) + 1], `round ${round}`);
      }
    }),
  ),
);

test(
  'mask_panel adds the distance and the bias and fills hidden scores; mask_backward makes their gradient 0',
  kernels((k) =>
    forEachVisibility(k, (v, queries, at, round) => {
      const all = v.keys + v.appended;
      for (const first of [0, Math.min(2, all - 1)]) {
        const scores = numbers(all * COLS, round + 1);
        const panel = k.block(scores);
        const gradient = k.block(scores);
        k.core.mask_panel(panel.at, at, 0, queries, first, all - first);
        k.core.mask_backward(gradient.at, at, 0, queries, first, all - first);
        for (let s = first; s < all; s++)
          for (let t = 0; t < queries; t++) {
            const i = (s - first) * COLS + t;
            const label = `round ${round}: query ${t}, key ${s}`;
            assert.equal(k.view(panel)[i], scoreOf(v, t, s, scores[i]), label);
            assert.equal(k.view(gradient)[i], isVisible(v, t, s) ? scores[i] : 0, label);
          }
      }
    }),
  ),
);
