// Attention of few queries to keys and values in float16 and int8.

import assert from 'node:assert/strict';
import test from 'node:test';
import { ATTENTION, KEYS, STATUS, WEIGHTS, WORDS } from '../../../dist/abi/abi.js';
import { assertClose, kernels, numbers, struct } from '../../support/kernels.js';

/** Sizes of a case: B, H, G, T, S, D, Dv. */
const SIZES = [
  [1, 2, 1, 1, 150, 8, 40],
  [2, 4, 2, 1, 7, 5, 3],
  [1, 2, 2, 3, 33, 64, 64],
  [1, 1, 1, 1, 1100, 20, 136],
  [1, 1, 1, 1, 4, 0, 8],
  [2, 2, 1, 25, 9, 12, 7],
];
const FORMS = [
  {},
  { causal: 1, windowLeft: 3 },
  { softcap: 2, sinks: true },
  { padding: true },
  { weightsMode: WEIGHTS.HEADS },
];

/**
 * Stores small, large and denormal numbers in cache rows (B,S,G,width). With `asFloats`, returns the stored numbers
 * converted to float32 instead.
 */
function rowsOf(k, [B, S, G, width], seed, type, asFloats) {
  const [rows, row] = [B * S * G, k.core.hl_cache_row_size(width, type)];
  const fresh = k.block(numbers(rows * width, seed).map((x, i) => x * [1, 300, 1e-6, 3e-4][i % 4]));
  const [cache, wide] = [k.block(new Float32Array(rows * row).fill(NaN)), k.block(rows * width)];
  assert.equal(k.core.hl_cache_store(cache.at, fresh.at, 1, 1, 0, rows, rows, width, 0, 0, width, type), STATUS.OK);
  assert.equal(k.core.hl_cache_load(wide.at, cache.at, 1, 1, rows, rows, width, type), STATUS.OK);
  return asFloats
    ? { at: wide.at, stride: [S * G * width, width, G * width] }
    : { at: cache.at, stride: [S * G * row, row, G * row] };
}

function attend(k, [B, H, G, T, S, D, Dv], { sinks, padding, softcap = 0, ...words }, type, asFloats) {
  const [key, value] = [rowsOf(k, [B, S, G, D], 2, type, asFloats), rowsOf(k, [B, S, G, Dv], 3, type, asFloats)];
  const pads = k.block(Math.ceil((B * S) / 4));
  new Uint8Array(k.core.memory.buffer, pads.at, B * S).set(Array.from({ length: B * S }, (_, i) => Number(i % 5 > 1)));
  const [output, weights] = [k.block(B * T * H * Dv), k.block(B * H * T * S)];
  const at = struct(
    k,
    ATTENTION,
    WORDS.ATTENTION,
    {
      output: output.at,
      weights: words.weightsMode ? weights.at : 0,
      query: k.block(numbers(B * T * H * D, 1)).at,
      key: key.at,
      value: value.at,
      sinks: sinks ? k.block(numbers(H, 4)).at : 0,
      keyPadding: padding ? pads.at : 0,
      keyPaddingStride: [S, 1],
      queryStride: [T * H * D, D, H * D],
      keyStride: key.stride,
      valueStride: value.stride,
      outputStride: [T * H * Dv, Dv, H * Dv],
      ...{ batch: B, heads: H, kvHeads: G, queries: T, keys: S, width: D, valueWidth: Dv },
      ...{ windowLeft: -1, windowRight: -1, keyType: asFloats ? KEYS.FLOAT32 : type, ...words },
    },
    { scale: 0.3, softcap, fill: -Infinity },
  );
  assert.equal(k.core.hl_attention(at.at), STATUS.OK);
  return [k.view(output).slice(), words.weightsMode ? k.view(weights).slice() : new Float32Array()];
}

test(
  'the results are those of the same numbers in float32',
  kernels((k) => {
    for (const type of [KEYS.FLOAT16, KEYS.INT8])
      for (const sizes of SIZES)
        for (const form of FORMS) {
          // With several queries, some sums are added in another order, and scores are in the hundreds.
          const limit = sizes[3] > 1 ? 5e-5 : 3e-6;
          const [output, weights] = attend(k, sizes, form, type, false);
          const [expected, expectedWeights] = attend(k, sizes, form, type, true);
          assertClose(output, expected, limit, `${type} ${sizes} ${JSON.stringify(form)}`);
          assertClose(weights, expectedWeights, limit, `weights of ${type} ${sizes}`);
          k.close();
        }
  }),
);

test(
  'appended keys, additive scores and unknown types are refused',
  kernels((k) => {
    const sizes = { batch: 1, heads: 1, kvHeads: 1, keys: 2, width: 8, valueWidth: 8 };
    const words = { queryStride: [8, 8, 8], keyStride: [16, 8, 8], valueStride: [16, 8, 8], outputStride: [8, 8, 8] };
    const [output, query, key] = [k.block(16), k.block(numbers(16, 1)), k.block(numbers(16, 2))];
    const status = (more) => {
      const at = struct(
        k,
        ATTENTION,
        WORDS.ATTENTION,
        {
          ...{ output: output.at, query: query.at, key: key.at, value: key.at, queries: 1, keyType: KEYS.FLOAT16 },
          ...{ windowLeft: -1, windowRight: -1, ...sizes, ...words, ...more },
        },
        { scale: 1, fill: -Infinity },
      );
      return k.core.hl_attention(at.at);
    };
    assert.equal(status({}), STATUS.OK);
    assert.equal(status({ keyType: 3 }), STATUS.BAD_ARGUMENT);
    assert.equal(status({ appended: 1, appendedKey: key.at, appendedValue: key.at }), STATUS.BAD_ARGUMENT);
    assert.equal(status({ additive: query.at }), STATUS.BAD_ARGUMENT);
  }),
);
