import assert from 'node:assert/strict';
import test from 'node:test';
import { ATTENTION, ATTENTION_BACKWARD, WORDS } from '../../../dist/abi/abi.js';
import { assertClose, kernels, numbers, struct } from '../../support/kernels.js';
import { attentionGradients } from '../../support/reference.js';

/** The arguments of hl_attention are the first fields of the arguments of hl_attention_backward. */
const args = (k, words, floats) =>
  struct(k, { ...ATTENTION, ...ATTENTION_BACKWARD }, WORDS.ATTENTION_BACKWARD, words, floats).at;

test(
  'backward writes only inside the gradients, skips gaps between strided rows and sets the gradients of appended keys',
  kernels((k) => {
    for (const [B, H, G, T, S, D, Dv, E] of [
      [1, 1, 1, 1, 1, 1, 1, 0],
      [2, 2, 1, 7, 5, 3, 2, 1],
      [1, 4, 2, 97, 121, 9, 5, 2],
      [2, 1, 1, 400, 17, 4, 6, 0],
      [1, 2, 2, 3, 0, 4, 4, 2],
    ]) {
      const make = (n, heads, width, seed) => ({
        data: numbers(B * n * heads * width, seed),
        shape: [B, n, heads * width],
        heads,
        width,
        stride: [n * heads * width, width, heads * width],
      });
      const inputs = {
        query: make(T, H, D, 1),
        key: make(S, G, D, 2),
        value: make(S, G, Dv, 3),
        output: make(T, H, Dv, 4),
      };
      const appended = [numbers(E * G * D, 5), numbers(E * G * Dv, 6)];
      const [dOutput, bias] = [numbers(B * T * H * Dv, 7), numbers(T * S, 8)];
      const blocks = Object.fromEntries(Object.entries(inputs).map(([name, { data }]) => [name, k.block(data)]));
      const found = {
        dQuery: k.block(B * T * H * D),
        dKey: k.block(B * S * G * D),
        dValue: k.block(B * S * G * Dv),
        dBias: k.block(new Float32Array(T * S)),
        dAppendedKey: k.block(E * G * D),
        dAppendedValue: k.block(E * G * Dv),
      };
      const words = {
        ...Object.fromEntries(Object.entries(blocks).map(([name, { at }]) => [name, at])),
        ...Object.fromEntries(Object.entries(inputs).map(([name, { stride }]) => [`${name}Stride`, stride])),
        ...Object.fromEntries(Object.entries(found).map(([name, { at }]) => [name, at])),
        appendedKey: k.block(appended[0]).at,
        appendedValue: k.block(appended[1]).at,
        statistics: k.block(2 * B * H * T).at,
        dOutput: k.block(dOutput).at,
        bias: k.block(bias).at,
        biasStride: [0, 0, S, 1],
        batch: B,
        heads: H,
        kvHeads: G,
        queries: T,
        keys: S,
        width: D,
        valueWidth: Dv,
        appended: E,
        windowLeft: -1,
        windowRight: -1,
      };
      const at = args(k, words, { scale: 0.7, fill: -Infinity });
      assert.equal(k.core.hl_attention(at), 0);
      assert.equal(k.core.hl_attention_backward(at), 0);
      // Converts to the layout of the reference: heads before rows, and appended keys after the other keys.
      const split = ({ data, heads, width }, n, extra = []) => ({
        shape: [B, heads, n + extra.length / (heads * width), width],
        data: Float32Array.from({ length: data.length + B * extra.length }, (_, i) => {
          const rows = n + extra.length / (heads * width);
          const [b, h, r, d] = [
            Math.floor(i / (heads * rows * width)),
            Math.floor(i / (rows * width)) % heads,
            Math.floor(i / width) % rows,
            i % width,
          ];
          return r < n ? data[((b * n + r) * heads + h) * width + d] : extra[((r - n) * heads + h) * width + d];
        }),
      });
      const wide = {
        shape: [T, S + E],
        data: Float32Array.from({ length: T * (S + E) }, (_, i) =>
          i % (S + E) < S ? bias[Math.floor(i / (S + E)) * S + (i % (S + E))] : 0,
        ),
      };
      const expected = attentionGradients(
        split(inputs.query, T),
        split(inputs.key, S, appended[0]),
        split(inputs.value, S, appended[1]),
        { scale: 0.7, bias: wide },
        split({ ...inputs.output, data: dOutput }, T),
      );
      const join = (gradient, n, heads, width, all, from = 0) =>
        Float64Array.from({ length: B * n * heads * width }, (_, i) => {
          const [b, r, h, d] = [
            Math.floor(i / (n * heads * width)),
            Math.floor(i / (heads * width)) % n,
            Math.floor(i / width) % heads,
            i % width,
          ];
          return gradient[((b * heads + h) * all + r + from) * width + d];
        });
      const overBatch = (x, n) =>
        Float64Array.from({ length: n }, (_, i) =>
          Array.from({ length: B }, (_, b) => x[b * n + i]).reduce((p, y) => p + y, 0),
        );
      const wanted = {
        dQuery: join(expected.dQuery, T, H, D, T),
        dKey: join(expected.dKey, S, G, D, S + E),
        dValue: join(expected.dValue, S, G, Dv, S + E),
        dBias: expected.dBias.filter((_, i) => i % (S + E) < S),
        dAppendedKey: overBatch(join(expected.dKey, E, G, D, S + E, S), E * G * D),
        dAppendedValue: overBatch(join(expected.dValue, E, G, Dv, S + E, S), E * G * Dv),
      };
      for (const [name, gradient] of Object.entries(wanted))
        assertClose([...k.view(found[name]), 1], [...gradient, 1], 5e-6, `${name} of ${[B, H, G, T, S, D, Dv, E]}`);
      k.close();
    }
  }),
);

test(
  'backward refuses a missing tensor before it writes anything',
  kernels((k) => {
    const x = k.block(numbers(12));
    const good = {
      output: x.at,
      query: x.at,
      key: x.at,
      value: x.at,
      statistics: x.at,
      dOutput: x.at,
      dQuery: x.at,
      dKey: x.at,
      dValue: x.at,
      outputStride: [12, 12, 4],
      queryStride: [12, 12, 4],
      keyStride: [12, 12, 4],
      valueStride: [12, 12, 4],
      batch: 1,
      heads: 1,
      kvHeads: 1,
      queries: 3,
      keys: 3,
      width: 4,
      valueWidth: 4,
      windowLeft: -1,
      windowRight: -1,
    };
    const backward = (words) =>
      k.core.hl_attention_backward(args(k, { ...good, ...words }, { scale: 1, fill: -Infinity }));
    const before = k.view(x).slice();
    for (const name of ['query', 'key', 'statistics', 'dOutput', 'dQuery', 'dKey', 'dValue'])
      assert.equal(backward({ [name]: 0 }), 2, name);
    assert.equal(backward({ dBias: x.at }), 2);
    assert.equal(backward({ dWeights: x.at }), 2);
    assert.deepEqual(k.view(x), before);
  }),
);
