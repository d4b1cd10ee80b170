// Attention of one query to keys and values in float16.

import assert from 'node:assert/strict';
import test from 'node:test';
import { ATTENTION, STATUS, WEIGHTS, WORDS } from '../../../dist/abi/abi.js';
import { decodeFloats, encodeFloats, FLOATS } from '../../../src/js/check/floats.js';
import { assertClose, kernels, numbers, struct } from '../../support/kernels.js';

/** B, H, G, S, D, Dv */
const SIZES = [
  [1, 2, 1, 150, 8, 40],
  [2, 4, 2, 7, 5, 3],
  [1, 2, 2, 33, 64, 64],
  [1, 1, 1, 1100, 20, 136],
  [1, 1, 1, 4, 0, 8],
];
const FORMS = [
  {},
  { causal: 1, windowLeft: 3 },
  { softcap: 2, sinks: true },
  { padding: true },
  { weightsMode: WEIGHTS.HEADS },
];

/** Numbers as float16: small, large and denormal ones. */
function halvesOf(count, seed) {
  const values = numbers(count, seed).map((x, i) => x * [1, 300, 1e-6, 3e-4][i % 4]);
  const codes = new Uint16Array(values.length + (values.length % 2));
  encodeFloats(values, FLOATS.F16, codes);
  return codes;
}

function attend(k, [B, H, G, S, D, Dv], { sinks, padding, softcap = 0, ...words }, half) {
  const block = (codes, count) =>
    half
      ? k.block(new Float32Array(codes.buffer))
      : k.block(Float32Array.from(decodeFloats(codes, FLOATS.F16)).subarray(0, count));
  const pads = k.block(Math.ceil((B * S) / 4));
  new Uint8Array(k.core.memory.buffer, pads.at, B * S).set(Array.from({ length: B * S }, (_, i) => Number(i % 5 > 1)));
  const [output, weights] = [k.block(B * H * Dv), k.block(B * H * S)];
  const at = struct(
    k,
    ATTENTION,
    WORDS.ATTENTION,
    {
      output: output.at,
      weights: words.weightsMode ? weights.at : 0,
      query: k.block(numbers(B * H * D, 1)).at,
      key: block(halvesOf(B * S * G * D, 2), B * S * G * D).at,
      value: block(halvesOf(B * S * G * Dv, 3), B * S * G * Dv).at,
      sinks: sinks ? k.block(numbers(H, 4)).at : 0,
      keyPadding: padding ? pads.at : 0,
      keyPaddingStride: [S, 1],
      queryStride: [H * D, D, H * D],
      keyStride: [S * G * D, D, G * D],
      valueStride: [S * G * Dv, Dv, G * Dv],
      outputStride: [H * Dv, Dv, H * Dv],
      ...{ batch: B, heads: H, kvHeads: G, queries: 1, keys: S, width: D, valueWidth: Dv },
      ...{ windowLeft: -1, windowRight: -1, halfKeys: Number(half), ...words },
    },
    { scale: 0.3, softcap, fill: -Infinity },
  );
  assert.equal(k.core.hl_attention(at.at), STATUS.OK);
  return [k.view(output).slice(), words.weightsMode ? k.view(weights).slice() : new Float32Array()];
}

test(
  'the results are those of the same numbers in float32',
  kernels((k) => {
    for (const sizes of SIZES)
      for (const form of FORMS) {
        const [output, weights] = attend(k, sizes, form, true);
        const [expected, expectedWeights] = attend(k, sizes, form, false);
        assertClose(output, expected, 3e-6, `${sizes} ${JSON.stringify(form)}`);
        assertClose(weights, expectedWeights, 3e-6, `weights of ${sizes}`);
        k.close();
      }
  }),
);

test(
  'several queries, appended keys and other values than 0 and 1 are refused',
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
          ...{ output: output.at, query: query.at, key: key.at, value: key.at, queries: 1, halfKeys: 1 },
          ...{ windowLeft: -1, windowRight: -1, ...sizes, ...words, ...more },
        },
        { scale: 1, fill: -Infinity },
      );
      return k.core.hl_attention(at.at);
    };
    assert.equal(status({}), STATUS.OK);
    assert.equal(status({ queries: 2 }), STATUS.BAD_ARGUMENT);
    assert.equal(status({ halfKeys: 2 }), STATUS.BAD_ARGUMENT);
    assert.equal(status({ appended: 1, appendedKey: key.at, appendedValue: key.at }), STATUS.BAD_ARGUMENT);
    assert.equal(status({ additive: query.at }), STATUS.BAD_ARGUMENT);
  }),
);
