// The operations that models consist of. The core computes most operations and gradients.

import { ATTENTION as AT, ATTENTION_BACKWARD, KEYS, SCORES, WEIGHTS } from '../../../dist/abi/abi.js';
import { loadRows, PACKED } from '../memory/packed.js';
import { sizeOf, viewOf } from '../memory/tensor.js';
import { ACTIVATIONS } from '../ops/activation.js';
import { halfLinearBackward } from './halfLinear.js';
import { Tape } from './tape.js';

/** @import { ActivationKind } from '../ops/activation.js' */
/** @import { Frame } from '../memory/frame.js' */
/** @import { Staged, Tensor } from '../memory/tensor.js' */
/** @import { Weight } from './weights.js' */

/** @typedef {readonly [batch: number, head: number, row: number]} Stride distances between neighbours, in numbers */
/**
 * @typedef {object} AttentionCall
 * @property {Tensor} query (B,T,H·D)
 * @property {Tensor} key (B,G,S,D), with keyStride
 * @property {Tensor} value (B,G,S,D), with keyStride
 * @property {{ batch: number, heads: number, kvHeads: number, queries: number, keys: number, width: number }} sizes
 * @property {Stride} keyStride
 * @property {number} [keyType] number type of key and value, one of KEYS; default float32
 * @property {number} scale
 * @property {number} softcap
 * @property {boolean} causal
 * @property {readonly [number, number]} window
 * @property {number} offset
 * @property {Uint8Array} [padding] (B,S): 0 = padding
 * @property {{ tensor: Tensor, stride: readonly number[], hasGradient?: boolean }} [bias] (B,H,T,S), with its stride.
 *   hasGradient: it depends on queries and keys, not on parameters alone
 * @property {Weight} [sinks] (H)
 * @property {Float32Array} [slopes] (H), of ALiBi
 * @property {{ p: number, seed: readonly [number, number] }} [dropout]
 * @property {boolean} weights true: the weights (B,H,T,S) are returned
 * @property {boolean} scores true: the scores (B,H,T,S), as they enter the softmax, are returned
 * @property {Tensor} [givenScores] (B,H,T,S), used in place of computed scores, masks and biases
 * @property {Tensor} [givenWeights] (B,H,T,S), used in place of the softmax of the scores
 */

export class Graph extends Tape {
  /**
   * Returns x · weightᵀ + bias, (…,out).
   * @param {Tensor} x (…,in)
   * @param {Weight} weight (out,in)
   * @param {Weight} [bias] (out)
   */
  linear(x, weight, bias) {
    const [out, inside] = weight.shape;
    const rows = sizeOf(x) / inside;
    const y = this.make([...x.shape.slice(0, -1), out]);
    if (weight.packed) {
      const { multiply, rounds } = PACKED[weight.packed.kind];
      multiply(this.memory, this.caller, y, x, weight.packed.tensor, bias?.tensor, rows, weight.shape);
      if (rounds) return y;
      return this.record(y, (dy) => this.accumulate(x, halfLinearBackward(this, x.shape, dy, weight)));
    }
    this.call('hl_linear_forward', y, x, weight.tensor, bias?.tensor, rows, out, inside);
    return this.record(y, (dy) => {
      const dx = this.make(x.shape);
      const [dweight, dbias] = [this.gradientOf(weight), this.gradientOf(bias)];
      this.call('hl_linear_backward', dx, dweight, dbias, dy, x, weight.tensor, rows, out, inside);
      this.accumulate(x, dx);
    });
  }

  /**
   * Normalizes the last axis.
   * @param {Tensor} x (…,C)
   * @param {Weight} weight (C)
   * @param {Weight | undefined} bias (C)
   * @param {boolean} centred true: layer norm, false: RMS norm
   * @param {number} eps
   */
  norm(x, weight, bias, centred, eps) {
    const width = weight.shape[0];
    const rows = sizeOf(x) / width;
    const [y, rstd] = [this.make(x.shape), this.make([rows])];
    const mean = centred ? this.make([rows]) : undefined;
    this.call('hl_norm_forward', y, mean, rstd, x, weight.tensor, bias?.tensor, rows, width, eps);
    return this.record(y, (dy) => {
      const dx = this.make(x.shape);
      const [dweight, dbias] = [this.gradientOf(weight) ?? this.make(weight.shape), this.gradientOf(bias)];
      this.call('hl_norm_backward', dx, dweight, dbias, dy, x, mean, rstd, weight.tensor, rows, width);
      this.accumulate(x, dx);
    });
  }

  /** @param {Tensor} x @param {ActivationKind} name */
  activation(x, name) {
    const [y, kind] = [this.make(x.shape), ACTIVATIONS[name]];
    this.call('hl_activation_forward', y, x, sizeOf(x), kind);
    return this.record(y, (dy) => {
      const dx = this.make(x.shape);
      this.call('hl_activation_backward', dx, dy, x, sizeOf(x), kind);
      this.accumulate(x, dx);
    });
  }

  /** Returns activation(gate) · up. @param {Tensor} gate @param {Tensor} up @param {ActivationKind} name */
  gated(gate, up, name) {
    const [y, kind, size] = [this.make(up.shape), ACTIVATIONS[name], sizeOf(up)];
    this.call('hl_gated_forward', y, gate, up, size, kind);
    return this.record(y, (dy) => {
      const [dGate, dUp] = [this.make(gate.shape), this.make(up.shape)];
      this.call('hl_gated_backward', dGate, dUp, dy, gate, up, size, kind);
      this.accumulate(gate, dGate);
      this.accumulate(up, dUp);
    });
  }

  /** @param {Tensor} a @param {Tensor} b */
  add(a, b) {
    const sum = this.make(a.shape);
    this.call('hl_add', sum, a, b, sizeOf(a));
    return this.record(sum, (d) => {
      this.accumulate(a, d);
      this.accumulate(b, d);
    });
  }

  /** @param {Tensor} x @param {number} factor */
  scale(x, factor) {
    if (factor === 1) return x;
    const multiply = (/** @type {Tensor} */ from) => {
      const to = this.make(from.shape);
      viewOf(to).set(viewOf(from));
      this.call('hl_scale', to, sizeOf(to), factor);
      return to;
    };
    return this.record(multiply(x), (d) => this.accumulate(x, multiply(d)));
  }

  /** Returns x · weight for every row. @param {Tensor} x (…,C) @param {Weight} weight (C) */
  scaleChannels(x, weight) {
    const [width] = weight.shape;
    const multiply = (/** @type {Tensor} */ from) => {
      const to = this.make(from.shape);
      const factors = viewOf(/** @type {Tensor} */ (weight.tensor));
      const [data, given] = [viewOf(to), viewOf(from)];
      for (let row = 0; row < data.length; row += width)
        for (let c = 0; c < width; c++) data[row + c] = given[row + c] * factors[c];
      return to;
    };
    return this.record(multiply(x), (d) => {
      const dweight = this.gradientOf(weight);
      if (dweight) {
        const [sums, given, values] = [viewOf(dweight), viewOf(d), viewOf(x)];
        for (let i = 0; i < given.length; i++) sums[i % width] += given[i] * values[i];
      }
      this.accumulate(x, multiply(d));
    });
  }

  /** Returns cap · tanh(x / cap). @param {Tensor} x @param {number} cap */
  softcap(x, cap) {
    const y = this.make(x.shape);
    this.call('hl_softcap_forward', y, x, sizeOf(x), cap);
    return this.record(y, (dy) => {
      const dx = this.make(x.shape);
      this.call('hl_softcap_backward', dx, dy, y, sizeOf(x), cap);
      this.accumulate(x, dx);
    });
  }

  /**
   * Returns rows of a table, (…,width).
   * @param {Weight} table (count,width)
   * @param {Int32Array} labels
   * @param {readonly number[]} shape of the labels: (…)
   */
  rows(table, labels, shape) {
    const [count, width] = table.shape;
    const y = this.make([...shape, width]);
    if (table.packed) {
      loadRows(this.memory, this.caller, y, table.packed, labels, table.shape);
      return y;
    }
    const sizes = /** @type {const} */ ([1, labels.length, width, count, 0]);
    this.frame((frame) => {
      const ints = frame.copyIn(labels);
      this.call('hl_embedding_forward', y, table.tensor, undefined, ints, ...sizes);
    });
    if (!this.train) return y;
    return this.record(y, (dy) =>
      this.frame((frame) => {
        const ints = frame.copyIn(labels);
        this.call('hl_embedding_backward', table.gradient, undefined, dy, ints, ...sizes);
      }),
    );
  }

  /**
   * Rotates pairs of elements of every head by the angles of its position.
   * @param {Tensor} x (B,T,heads·width)
   * @param {{ table: Tensor, positions: Int32Array, heads: number, width: number, rotated: number,
   *   neighbours: boolean }} form table (count,2,rotated/2): cosines and sines; positions (B,T)
   */
  rotate(x, { table, positions, heads, width, rotated, neighbours }) {
    const [batch, rows] = x.shape;
    const apply = (/** @type {Tensor} */ from, /** @type {number} */ reverse) => {
      const to = this.make(from.shape);
      const sizes = /** @type {const} */ ([batch, heads, rows, width, rotated, table.shape[0]]);
      const strides = /** @type {const} */ ([rows * heads * width, width, heads * width]);
      this.frame((frame) => {
        const at = frame.copyIn(positions);
        const how = /** @type {const} */ ([Number(neighbours), reverse]);
        this.call('hl_rotary', to, from, table, at, ...sizes, ...how, ...strides);
      });
      return to;
    };
    return this.record(apply(x, 0), (d) => this.accumulate(x, apply(d, 1)));
  }

  /**
   * Returns the bias of relative positions, (H,T,S).
   * @param {Weight} table (buckets,H)
   * @param {Int32Array} bucket (T+S−1): the bucket of key s and query t has the index s − t + T − 1
   * @param {number} queries
   */
  relative(table, bucket, queries) {
    const [buckets, heads] = table.shape;
    const keys = bucket.length + 1 - queries;
    const bias = this.make([heads, queries, keys]);
    const sizes = /** @type {const} */ ([buckets, heads, queries, keys]);
    this.frame((frame) => {
      const at = frame.copyIn(bucket);
      this.call('hl_relative_forward', bias, table.tensor, at, ...sizes);
    });
    if (!this.train) return bias;
    return this.record(bias, (d) =>
      this.frame((frame) => {
        const at = frame.copyIn(bucket);
        this.call('hl_relative_backward', table.gradient, d, at, ...sizes);
      }),
    );
  }

  /**
   * @param {AttentionCall} call
   * @returns {{ output: Tensor, weights?: Tensor, scores?: Tensor }} output (B,T,H·D), weights and scores (B,H,T,S)
   */
  attention(call) {
    const points = this.attend(call);
    const { output, weights, scores } = points;
    this.record(output, (d) => this.#attentionBackward(call, points, d));
    return { output, weights, scores };
  }

  /** Computes attention without recording its gradient. @param {AttentionCall} call @returns {AttentionPoints} */
  attend(call) {
    const { batch, heads, queries, keys, width } = call.sizes;
    const output = this.make([batch, queries, heads * width]);
    const square = [batch, heads, queries, keys];
    const weights = call.givenWeights ?? (call.weights ? this.make(square) : undefined);
    const scores = call.givenScores ?? (call.scores ? this.make(square) : undefined);
    const statistics = this.records && !call.givenWeights ? this.make([2 * batch * heads * queries]) : undefined;
    const points = { output, weights, scores, statistics };
    if (sizeOf(output) > 0 || weights || scores)
      this.frame((frame) => {
        pointAttention(frame, call, points);
        frame.run('hl_attention');
      });
    return points;
  }

  /** @param {AttentionCall} call @param {AttentionPoints} points @param {Tensor} d */
  #attentionBackward(call, points, d) {
    const { query, key, value, bias, sinks } = call;
    const [dQuery, dKey, dValue] = [query, key, value].map(({ shape }) => this.make(shape));
    const dBias = bias && (this.train || bias.hasGradient) ? this.make(bias.tensor.shape) : undefined;
    if (dBias) viewOf(dBias).fill(0);
    this.frame((frame) => {
      pointAttention(frame, call, points);
      frame.setPointer(ATTENTION_BACKWARD.dQuery, dQuery);
      frame.setPointer(ATTENTION_BACKWARD.dKey, dKey);
      frame.setPointer(ATTENTION_BACKWARD.dValue, dValue);
      frame.setPointer(ATTENTION_BACKWARD.dBias, dBias);
      frame.setPointer(ATTENTION_BACKWARD.dSinks, this.gradientOf(sinks));
      frame.setPointer(ATTENTION_BACKWARD.dOutput, d);
      frame.run('hl_attention_backward');
    });
    this.accumulate(query, dQuery);
    this.accumulate(key, dKey);
    this.accumulate(value, dValue);
    if (bias && dBias) this.accumulate(bias.tensor, dBias);
  }
}

/** @typedef {{ output: Tensor, weights?: Tensor, scores?: Tensor, statistics?: Tensor }} AttentionPoints */

/** @param {Frame} frame @param {AttentionCall} call @param {AttentionPoints} points */
function pointAttention(frame, call, { output, weights, scores, statistics }) {
  const { batch, heads, kvHeads, queries, keys, width } = call.sizes;
  const { ints, floats } = frame;
  /** @type {[at: number, block: Tensor | Staged | undefined][]} */
  const blocks = [
    [AT.output, output],
    [AT.weights, weights],
    [AT.scores, scores],
    [AT.statistics, statistics],
    [AT.query, call.query],
    [AT.key, call.key],
    [AT.value, call.value],
    [AT.bias, call.bias?.tensor],
    [AT.sinks, call.sinks?.tensor],
    [AT.slopes, call.slopes && frame.copyIn(call.slopes)],
    [AT.keyPadding, call.padding && frame.copyIn(call.padding)],
    [AT.offset, call.offset === 0 ? undefined : frame.copyIn(new Int32Array(batch).fill(call.offset))],
  ];
  for (const [at, block] of blocks) frame.setPointer(at, block);
  const rows = [queries * heads * width, width, heads * width];
  ints.set(rows, AT.outputStride);
  ints.set(rows, AT.queryStride);
  ints.set(call.keyStride, AT.keyStride);
  ints.set(call.keyStride, AT.valueStride);
  if (call.bias) ints.set(call.bias.stride, AT.biasStride);
  ints.set([keys, 1], AT.keyPaddingStride);
  ints.set([batch, heads, kvHeads, queries, keys, width, width], AT.batch);
  ints[AT.weightsMode] = call.givenWeights ? WEIGHTS.GIVEN : weights ? WEIGHTS.HEADS : WEIGHTS.NONE;
  ints[AT.scoresStep] = call.givenScores ? SCORES.GIVEN : scores ? SCORES.MASKED : SCORES.NONE;
  ints[AT.causal] = Number(call.causal);
  ints.set(call.window, AT.windowLeft);
  ints[AT.keyType] = call.keyType ?? KEYS.FLOAT32;
  floats[AT.scale] = call.scale;
  floats[AT.softcap] = call.softcap;
  floats[AT.fill] = -Infinity;
  if (!call.dropout) return;
  floats[AT.dropout] = call.dropout.p;
  ints.set(call.dropout.seed, AT.seed);
}
