import assert from 'node:assert/strict';
import test from 'node:test';
import { ATTENTION, ATTENTION_BACKWARD, MULTIHEAD, MULTIHEAD_BACKWARD, STATUS, WORDS } from '../../dist/abi/abi.js';
import { kernels, numbers, struct } from '../support/kernels.js';

const BYTES = { mask: 1, keyPadding: 1, keep: 1 };
const [B, H, G, T, S, D, Dv, E] = [2, 4, 2, 3, 5, 4, 6, 1];
const STRIDES = {
  outputStride: [H * T * Dv, T * Dv, Dv],
  queryStride: [H * T * D, T * D, D],
  keyStride: [G * S * D, S * D, D],
  valueStride: [G * S * Dv, S * Dv, Dv],
  maskStride: [H * T * S, T * S, S, 1],
  biasStride: [0, T * S, S, 1],
  keyPaddingStride: [S, 1],
  validLensStride: [T, 1],
};
const SIZES = { batch: B, heads: H, kvHeads: G, queries: T, keys: S, windowLeft: -1, windowRight: -1 };
const VISIBILITY = {
  mask: B * H * T * S,
  bias: H * T * S,
  keyPadding: B * S,
  validLens: B * T,
  offset: B,
  keep: B * H * T * (S + E),
  sinks: H,
  slopes: H,
};
const FLOATS = { scale: 0.5, fill: -Infinity, dropout: 0.5 };

/** Sizes of the blocks in floats (or bytes of ones), by the name of the argument that points to the block. */
function blocks(k, sizes) {
  return Object.fromEntries(
    Object.entries(sizes).map(([name, size]) => {
      const block = k.block(BYTES[name] ? Math.ceil(size / 4) : numbers(size, size));
      if (BYTES[name]) new Uint8Array(k.core.memory.buffer, block.at, size).fill(1);
      if (name === 'validLens') new Int32Array(k.core.memory.buffer, block.at, size).fill(S - 1);
      if (name === 'offset') new Int32Array(k.core.memory.buffer, block.at, size).fill(1);
      return [name, block];
    }),
  );
}

const pointers = (tensors) => Object.fromEntries(Object.entries(tensors).map(([name, { at }]) => [name, at]));

function attention(k, fields = ATTENTION, size = WORDS.ATTENTION, extra = {}) {
  const tensors = blocks(k, {
    output: B * H * T * Dv,
    weights: B * H * T * (S + E),
    scores: B * H * T * (S + E),
    statistics: 2 * B * H * T,
    query: B * H * T * D,
    key: B * G * S * D,
    value: B * G * S * Dv,
    appendedKey: E * G * D,
    appendedValue: E * G * Dv,
    ...VISIBILITY,
    additive: H * D,
    ...extra,
  });
  const words = { ...SIZES, ...STRIDES, width: D, valueWidth: Dv, appended: E, weightsMode: 1, scoresStep: 2 };
  return { tensors, args: struct(k, fields, size, { ...pointers(tensors), ...words }, FLOATS) };
}

function attentionBackward(k) {
  const gradients = {
    dQuery: B * H * T * D,
    dKey: B * G * S * D,
    dValue: B * G * S * Dv,
    dBias: H * T * S,
    dAppendedKey: E * G * D,
    dAppendedValue: E * G * Dv,
    dSinks: H,
    dAdditive: H * D,
    dOutput: B * H * T * Dv,
    dWeights: B * H * T * (S + E),
  };
  return attention(k, { ...ATTENTION, ...ATTENTION_BACKWARD }, WORDS.ATTENTION_BACKWARD, gradients);
}

const [Cq, Ck, Cv, C, P] = [5, 6, 7, 3, 2];

/** Fields of the layer. A field that has the same name as a field of attention gets the prefix `layer_`. */
const LAYER = Object.fromEntries(
  Object.entries(MULTIHEAD).map(([name, at]) => [name in ATTENTION ? `layer_${name}` : name, at]),
);

function multihead(k, { cached = true, mean = true, size = WORDS.MULTIHEAD, extra = {} } = {}) {
  const fresh = cached ? S - P : S;
  const cache = {
    pastKey: B * G * P * D,
    pastValue: B * G * P * D,
    presentKey: B * G * S * D,
    presentValue: B * G * S * D,
  };
  const tensors = blocks(k, {
    output: B * T * Math.max(C, H * D),
    weights: B * (mean ? 1 : H) * T * (S + E),
    ...VISIBILITY,
    layer_query: B * T * Cq,
    layer_key: B * fresh * Ck,
    layer_value: B * fresh * Cv,
    ...(cached && cache),
    packedWq: k.core.hl_weight_packed_size(H * D, Cq),
    packedWk: k.core.hl_weight_packed_size(G * D, Ck),
    packedWv: k.core.hl_weight_packed_size(G * D, Cv),
    packedWo: k.core.hl_weight_packed_size(C, H * D),
    bq: H * D,
    bk: G * D,
    bv: G * D,
    bo: C,
    ...extra,
  });
  const words = {
    ...SIZES,
    ...STRIDES,
    width: D,
    weightsMode: mean ? 2 : 1,
    queryDim: Cq,
    keyDim: Ck,
    valueDim: Cv,
    outputDim: C,
    pastKeys: cached ? P : 0,
    zeroAttention: 1,
  };
  const fields = { ...ATTENTION, ...LAYER, ...MULTIHEAD_BACKWARD };
  return { tensors, args: struct(k, fields, size, { ...pointers(tensors), ...words }, FLOATS) };
}

function multiheadBackward(k) {
  const call = multihead(k, {
    cached: false,
    size: WORDS.MULTIHEAD_BACKWARD,
    extra: {
      dQuery: B * T * Cq,
      dKey: B * S * Ck,
      dValue: B * S * Cv,
      dBias: H * T * S,
      dWq: H * D * Cq,
      dWk: G * D * Ck,
      dWv: G * D * Cv,
      dWo: C * H * D,
      dBq: H * D,
      dOutput: B * T * C,
      dWeights: B * T * (S + E),
      wq: H * D * Cq,
      wk: G * D * Ck,
      wv: G * D * Cv,
      wo: C * H * D,
    },
  });
  const saved = k.block(k.core.hl_multihead_saved_size(call.args.at));
  new Uint32Array(k.core.memory.buffer, call.args.at, WORDS.MULTIHEAD)[MULTIHEAD.saved] = saved.at;
  return call;
}

/**
 * The fields that are not pointers, each with the number of its words that the test changes. The words of a stride are
 * omitted if 0 is the only value that can be recognized as wrong.
 */
const COUNTS = {
  ...{ outputStride: 3, queryStride: 3, keyStride: 3, valueStride: 3, biasStride: 4, validLensStride: 2 },
  ...{ batch: 1, heads: 1, kvHeads: 1, queries: 1, keys: 1, width: 1, valueWidth: 1, appended: 1 },
  ...{ weightsMode: 1, scoresStep: 1, causal: 1, windowLeft: 1, windowRight: 1, seed: 2 },
  ...{ scale: 1, softcap: 1, fill: 1, dropout: 1 },
};
const LAYER_COUNTS = {
  ...COUNTS,
  ...{ queryDim: 1, keyDim: 1, valueDim: 1, outputDim: 1, pastKeys: 1, zeroAttention: 1, int8: 1 },
};
const wordsOf = (fields) =>
  Object.entries(fields).flatMap(([name, count]) =>
    Array.from({ length: count }, (_, i) => (ATTENTION[name] ?? MULTIHEAD[name]) + i),
  );

/** 0, numbers larger than the size of any tensor, and numbers near the limits of 32 bits. */
const EXTREMES = [0, 2 ** 30 + 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 8, 2 ** 32 - 1];

const ENTRIES = {
  hl_attention: [attention, WORDS.ATTENTION, wordsOf(COUNTS)],
  hl_attention_backward: [attentionBackward, WORDS.ATTENTION_BACKWARD, wordsOf(COUNTS)],
  hl_multihead_forward: [multihead, WORDS.MULTIHEAD, wordsOf(LAYER_COUNTS)],
  hl_multihead_backward: [multiheadBackward, WORDS.MULTIHEAD_BACKWARD, wordsOf(LAYER_COUNTS)],
};

for (const [entry, [build, size, counts]] of Object.entries(ENTRIES)) {
  test(
    `${entry} survives any size, stride, number and missing tensor, and writes nothing if it refuses`,
    kernels((k) => {
      const { tensors, args } = build(k);
      const words = new Uint32Array(k.core.memory.buffer, args.at, size);
      const good = words.slice();
      const addresses = Object.values(tensors).map(({ at }) => at);
      if (entry === 'hl_multihead_backward') assert.equal(k.core.hl_multihead_forward(args.at), STATUS.OK);
      assert.equal(k.core[entry](args.at), STATUS.OK);
      const used = k.core.hl_memory_used();
      const tryValue = (word, value) => {
        words[word] = value;
        const before = Object.values(tensors).map((block) => k.view(block).slice());
        const status = k.core[entry](args.at);
        words[word] = good[word];
        assert.ok(status <= STATUS.BAD_ARGUMENT, `word ${word} = ${value}: status ${status}`);
        assert.equal(k.core.hl_memory_used(), used);
        if (status === STATUS.OK) return 0;
        const after = Object.values(tensors).map((block) => k.view(block));
        assert.deepEqual(after, before, `word ${word} = ${value}`);
        return 1;
      };
      let refused = 0;
      for (const word of counts) for (const value of EXTREMES) refused += tryValue(word, value);
      assert.ok(refused > counts.length, `only ${refused} refused`);
      for (let word = 0; word < size; word++) if (addresses.includes(good[word])) tryValue(word, 0);
      assert.equal(k.core[entry](0), STATUS.BAD_SHAPE);
      assert.equal(k.core[entry](args.at), STATUS.OK);
    }),
  );

  test(
    `${entry} survives any two extreme sizes, strides or numbers at once`,
    kernels((k) => {
      const { args } = build(k);
      const words = new Uint32Array(k.core.memory.buffer, args.at, size);
      const good = words.slice();
      for (const [i, first] of counts.entries()) {
        for (const second of counts.slice(i + 1)) {
          words[first] = EXTREMES[(first + second) % EXTREMES.length];
          words[second] = EXTREMES[(first * second + i) % EXTREMES.length];
          assert.ok(k.core[entry](args.at) <= STATUS.BAD_ARGUMENT, `words ${first} and ${second}`);
          words[first] = good[first];
          words[second] = good[second];
        }
      }
    }),
  );
}

test(
  'hl_multihead_saved_size is NaN for invalid arguments and needs no tensors',
  kernels((k) => {
    const { args } = multihead(k, { cached: false });
    const words = new Uint32Array(k.core.memory.buffer, args.at, WORDS.MULTIHEAD);
    const size = k.core.hl_multihead_saved_size(args.at);
    assert.ok(size > 0);
    words[ATTENTION.output] = words[MULTIHEAD.query] = words[ATTENTION.weights] = 0;
    assert.equal(k.core.hl_multihead_saved_size(args.at), size);
    for (const [word, value] of [
      [ATTENTION.kvHeads, 0],
      [ATTENTION.heads, 3],
      [ATTENTION.width, 2 ** 31],
      [MULTIHEAD.pastKeys, S + 1],
      [MULTIHEAD.int8, 2],
    ]) {
      const good = words[word];
      words[word] = value;
      assert.ok(Number.isNaN(k.core.hl_multihead_saved_size(args.at)), `word ${word}`);
      words[word] = good;
    }
    assert.ok(Number.isNaN(k.core.hl_multihead_saved_size(0)));
  }),
);

test(
  'the size of a packed weight does not wrap',
  kernels((k) => {
    for (const out of [2 ** 32 - 8, 2 ** 32 - 7, 2 ** 32 - 1]) {
      assert.equal(k.core.hl_weight_packed_size(out, 3), Math.ceil(out / 8) * 8 * 3);
      assert.ok(k.core.hl_weight_quantized_size(out, 4) >= out);
    }
  }),
);

/** Arguments of functions without an argument struct: sizes of the pointers' blocks, then counts and other numbers. */
const PLAIN = {
  hl_linear_forward: [
    [6, 8, 12, 3],
    [2, 3, 4],
  ],
  hl_linear_stored: [
    [6, 8, 6, 3],
    [1, 2, 3, 4],
  ],
  hl_linear_backward: [
    [8, 12, 3, 6, 8, 12],
    [2, 3, 4],
  ],
  hl_weight_pack: [
    [32, 12],
    [3, 4],
  ],
  hl_weight_quantize: [
    [100, 12],
    [3, 4],
  ],
  hl_weight_quantize_rows: [
    [100, 32],
    [2, 0, 8, 9, 8],
  ],
  hl_stored_load: [
    [9, 9],
    [0, 9],
  ],
  hl_embedding_forward: [
    [12, 12, 12, 'labels'],
    [2, 2, 3, 4, 1],
  ],
  hl_embedding_backward: [
    [12, 12, 12, 'labels'],
    [2, 2, 3, 4, 1],
  ],
  hl_norm_forward: [[6, 2, 2, 6, 3, 3], [2, 3], [1e-5]],
  hl_norm_backward: [
    [6, 3, 3, 6, 6, 2, 2, 3],
    [2, 3],
  ],
  hl_activation_forward: [
    [9, 9],
    [9, 1],
  ],
  hl_activation_backward: [
    [9, 9, 9],
    [9, 1],
  ],
  hl_gated_forward: [
    [9, 9, 9],
    [9, 1],
  ],
  hl_gated_backward: [
    [9, 9, 9, 9, 9],
    [9, 1],
  ],
  hl_softcap_forward: [[9, 9], [9], [2]],
  hl_softcap_backward: [[9, 9, 9], [9], [2]],
  hl_rotary: [
    [72, 72, 8, 'labels'],
    [2, 3, 2, 6, 4, 2, 1, 0, 36, 12, 6],
  ],
  hl_relative_forward: [
    [12, 4, 'labels'],
    [2, 2, 2, 3],
  ],
  hl_relative_backward: [
    [4, 12, 'labels'],
    [2, 2, 2, 3],
  ],
  hl_linear_quantized: [
    [6, 8, 100, 3],
    [2, 3, 4],
  ],
  hl_weight_rows: [
    [16, 100, 'labels'],
    [4, 3, 4],
  ],
  hl_cache_store: [
    [48, 16],
    [2, 2, 1, 2, 6, 2, 8, 4, 2, 0],
  ],
  hl_cache_load: [
    [16, 96],
    [2, 2, 2, 6, 2, 1],
  ],
  hl_add: [[9, 9, 9], [9]],
  hl_cross_entropy: [
    [3, 12, 4, 4, 12, 'labels'],
    [4, 3],
    [0.1, -100],
  ],
  hl_mean_squared_error: [[1, 9, 9, 9], [9]],
  hl_sgd_step: [[9, 9, 9], [9], [0.1, 0.9, 0, 1]],
  hl_adam_step: [
    [9, 9, 9, 9],
    [9, 1],
    [0.1, 0.9, 0.99, 1e-8, 0, 1],
  ],
  hl_scale: [[9], [9], [2]],
  hl_cache_append: [
    [24, 8, 16],
    [2, 2, 1, 2, 2, 8, 4, 2],
  ],
};

for (const [entry, [sizes, counts, rest = []]] of Object.entries(PLAIN)) {
  test(
    `${entry} survives any size and any missing tensor`,
    kernels((k) => {
      const tensors = sizes.map((size) => k.block(size === 'labels' ? new Float32Array(4) : numbers(size)));
      const call = (pointers, counts) => k.core[entry](...pointers, ...counts, ...rest);
      const good = tensors.map(({ at }) => at);
      assert.equal(call(good, counts), STATUS.OK);
      for (let i = 0; i < counts.length; i++) {
        for (const value of EXTREMES) {
          const status = call(good, counts.with(i, value));
          assert.ok(status <= STATUS.BAD_ARGUMENT, `count ${i} = ${value}: ${status}`);
          assert.ok(
            call(
              good.map(() => 0),
              counts.with(i, value),
            ) <= STATUS.BAD_ARGUMENT,
          );
        }
      }
      for (let i = 0; i < good.length; i++) assert.ok(call(good.with(i, 0), counts) <= STATUS.BAD_SHAPE);
      assert.equal(
        call(
          good.map(() => 0),
          counts,
        ),
        STATUS.BAD_SHAPE,
      );
      assert.equal(k.core.hl_square_sum(0, 0), 0);
      assert.ok(Number.isNaN(k.core.hl_square_sum(0, 1)));
    }),
  );
}
