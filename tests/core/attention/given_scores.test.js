import assert from 'node:assert/strict';
import test from 'node:test';
import { ATTENTION, ATTENTION_BACKWARD, SCORES, STATUS, WEIGHTS, WORDS } from '../../../dist/abi/abi.js';
import { assertClose, kernels, numbers, struct } from '../../support/kernels.js';

/** B, H, G, T, S, D, Dv: shapes for the single-query path, the few-queries path and the path with packed keys. */
const SIZES = [
  [1, 2, 1, 1, 150, 8, 40],
  [2, 4, 2, 1, 7, 5, 3],
  [1, 2, 2, 3, 31, 4, 9],
  [1, 2, 1, 8, 8, 8, 5],
  [2, 2, 1, 25, 70, 6, 11],
  [1, 1, 1, 40, 300, 16, 16],
];

/** Arguments that mask keys or change their scores. */
const FORMS = [
  {},
  { causal: 1 },
  { windowLeft: 3, windowRight: 2 },
  { causal: 1, windowLeft: 9, sinks: true },
  { padding: true, softcap: 2 },
  { nonfinite: true, causal: 1 },
];

function problem(k, [B, H, G, T, S, D, Dv], { sinks, padding, nonfinite, softcap = 0, ...words }) {
  const value = numbers(B * S * G * Dv, 3);
  // A NaN in the value of the last key, which is masked for the first queries.
  if (nonfinite && S > T) value[(S - 1) * G * Dv] = NaN;
  const pads = k.block(Math.ceil((B * S) / 4));
  new Uint8Array(k.core.memory.buffer, pads.at, B * S).set(
    Uint8Array.from({ length: B * S }, (_, i) => Number(i % 5 > 1)),
  );
  const common = {
    query: k.block(numbers(B * T * H * D, 1)).at,
    key: k.block(numbers(B * S * G * D, 2)).at,
    value: k.block(value).at,
    sinks: sinks ? k.block(numbers(H, 4)).at : 0,
    keyPadding: padding ? pads.at : 0,
    keyPaddingStride: [S, 1],
    queryStride: [T * H * D, D, H * D],
    keyStride: [S * G * D, D, G * D],
    valueStride: [S * G * Dv, Dv, G * Dv],
    outputStride: [T * H * Dv, Dv, H * Dv],
    batch: B,
    heads: H,
    kvHeads: G,
    queries: T,
    keys: S,
    width: D,
    valueWidth: Dv,
    windowLeft: -1,
    windowRight: -1,
    ...words,
  };
  const attend = (overrides, fields = ATTENTION, entry = 'hl_attention', size = WORDS.ATTENTION) => {
    const output = k.block(B * T * H * Dv);
    const at = struct(
      k,
      fields,
      size,
      { ...common, output: output.at, ...overrides },
      { scale: 0.6, softcap, fill: -Infinity },
    );
    return { status: k.core[entry](at.at), output };
  };
  return { value, attend };
}

const bits = (k, block) => new Uint32Array(k.view(block).slice().buffer);

test(
  'given scores or weights that a call has returned give the same bits, for any combination of requested results',
  kernels((k) => {
    for (const sizes of SIZES)
      for (const form of FORMS) {
        const [B, H, , T, S] = sizes;
        const { attend } = problem(k, sizes, form);
        const [weights, scores, recomputed, otherScores] = Array.from({ length: 4 }, () => k.block(B * H * T * S));
        const label = `${sizes}, ${JSON.stringify(form)}`;
        const both = { weightsMode: WEIGHTS.HEADS, scoresStep: SCORES.MASKED };
        const first = attend({ weights: weights.at, scores: scores.at, ...both });
        assert.equal(first.status, STATUS.OK);
        const variants = [
          { weights: recomputed.at, weightsMode: WEIGHTS.HEADS },
          { scores: otherScores.at, scoresStep: SCORES.MASKED },
          { scores: otherScores.at, scoresStep: SCORES.CAPPED },
          { weights: recomputed.at, weightsMode: WEIGHTS.HEADS, scores: scores.at, scoresStep: SCORES.GIVEN },
          { scores: scores.at, scoresStep: SCORES.GIVEN },
          { weights: weights.at, weightsMode: WEIGHTS.GIVEN },
        ];
        const [scoreBits, weightBits] = [scores, weights].map((block) => bits(k, block));
        for (const variant of variants) {
          const { status, output } = attend(variant);
          assert.equal(status, STATUS.OK);
          assert.deepEqual(bits(k, output), bits(k, first.output), `${label}, ${JSON.stringify(variant)}`);
          if (variant.weightsMode) assert.deepEqual(bits(k, recomputed), bits(k, weights), label);
        }
        assert.deepEqual(bits(k, scores), scoreBits);
        assert.deepEqual(bits(k, weights), weightBits);
        k.close();
      }
  }),
);

test(
  'any given weights are multiplied by the values, including those of hidden keys',
  kernels((k) => {
    for (const sizes of SIZES)
      for (const form of [{}, { causal: 1 }, { windowLeft: 0, windowRight: 0 }]) {
        const [B, H, G, T, S, , Dv] = sizes;
        const { value, attend } = problem(k, sizes, form);
        const weights = numbers(B * H * T * S, 7);
        const { output } = attend({ weights: k.block(weights).at, weightsMode: WEIGHTS.GIVEN });
        const expected = Float64Array.from({ length: B * T * H * Dv }, (_, i) => {
          const [d, h] = [i % Dv, Math.floor(i / Dv) % H];
          const [t, b] = [Math.floor(i / Dv / H) % T, Math.floor(i / Dv / H / T)];
          let sum = 0;
          for (let s = 0; s < S; s++)
            sum += weights[((b * H + h) * T + t) * S + s] * value[((b * S + s) * G + Math.floor((h * G) / H)) * Dv + d];
          return sum;
        });
        assertClose(k.view(output), expected, 2e-6, `${sizes}, ${JSON.stringify(form)}`);
        k.close();
      }
  }),
);

test(
  'softmax is applied to any given scores, including those of hidden keys',
  kernels((k) => {
    for (const sizes of SIZES) {
      const [B, H, , T, S] = sizes;
      const { attend } = problem(k, sizes, { causal: 1 });
      const scores = numbers(B * H * T * S, 7);
      scores.forEach((_, i) => void (i % 3 === 1 && (scores[i] = -Infinity)));
      const weights = k.block(B * H * T * S);
      attend({ scores: k.block(scores).at, scoresStep: SCORES.GIVEN, weights: weights.at, weightsMode: WEIGHTS.HEADS });
      const got = k.view(weights);
      for (let row = 0; row < got.length; row += S) {
        const part = Float64Array.from(scores.subarray(row, row + S), Math.exp);
        const sum = part.reduce((a, b) => a + b, 0);
        assertClose(
          got.subarray(row, row + S),
          part.map((x) => x / sum),
          1e-6,
          `${sizes}`,
        );
      }
      k.close();
    }
  }),
);

test(
  'given scores or weights are refused together with requested ones, and in the backward pass',
  kernels((k) => {
    const sizes = [1, 1, 1, 3, 4, 2, 2];
    const { attend } = problem(k, sizes, {});
    const given = { weights: k.block(12).at, weightsMode: WEIGHTS.GIVEN };
    const [scores, statistics] = [k.block(12).at, k.block(6).at];
    for (const overrides of [
      { scores, scoresStep: SCORES.MASKED },
      { scores, scoresStep: SCORES.GIVEN },
      { statistics },
      { weightsMode: WEIGHTS.GIVEN + 1 },
    ])
      assert.equal(attend({ ...given, ...overrides }).status, STATUS.BAD_ARGUMENT);
    assert.equal(attend({ scores, scoresStep: SCORES.GIVEN + 1 }).status, STATUS.BAD_ARGUMENT);
    assert.equal(attend({ ...given, weights: 0 }).status, STATUS.BAD_SHAPE);
    const fields = { ...ATTENTION, ...ATTENTION_BACKWARD };
    const gradients = {
      dQuery: k.block(6).at,
      dKey: k.block(8).at,
      dValue: k.block(8).at,
      dOutput: k.block(6).at,
      statistics,
    };
    const backward = (overrides) =>
      attend({ ...gradients, ...overrides }, fields, 'hl_attention_backward', WORDS.ATTENTION_BACKWARD).status;
    assert.equal(backward({}), STATUS.OK);
    assert.equal(backward({ ...given, statistics }), STATUS.BAD_ARGUMENT);
    assert.equal(backward({ scores, scoresStep: SCORES.GIVEN }), STATUS.BAD_ARGUMENT);
  }),
);
