// The operations that models consist of. The core computes most operations and gradients.

import { ATTENTION as AT, ATTENTION_BACKWARD, KEYS, SCORES, WEIGHTS } from '../../../../dist/abi/abi.js';
import type { Frame } from '../../memory/frame.ts';
import { loadRows, PACKED } from '../../memory/packed.ts';
import { type Staged, sizeOf, type Tensor, viewOf } from '../../memory/tensor.ts';
import { ACTIVATIONS, type ActivationKind } from '../../ops/activation.ts';
import type { Weight } from '../weights.ts';
import { halfLinearBackward } from './halfLinear.ts';
import { Tape } from './tape.ts';

/** distances between neighbours, in numbers */
export type Stride = readonly [batch: number, head: number, row: number];
export type AttentionCall = {
  /** (B,T,H·D) */
  query: Tensor;
  /** (B,G,S,D), with keyStride */
  key: Tensor;
  /** (B,G,S,D), with keyStride */
  value: Tensor;
  sizes: { batch: number; heads: number; kvHeads: number; queries: number; keys: number; width: number };
  keyStride: Stride;
  /** number type of key and value, one of KEYS; default float32 */
  keyType?: number | undefined;
  scale: number;
  softcap: number;
  causal: boolean;
  window: readonly [number, number];
  offset: number;
  /** (B,S): 0 = padding */
  padding?: Uint8Array | undefined;
  /** (B,H,T,S), with its stride. hasGradient: it depends on queries and keys, not on parameters alone */
  bias?: { tensor: Tensor; stride: readonly number[]; hasGradient?: boolean } | undefined;
  /** (H) */
  sinks?: Weight | undefined;
  /** (H), of ALiBi */
  slopes?: Float32Array | undefined;
  dropout?: { p: number; seed: readonly [number, number] } | undefined;
  /** true: the weights (B,H,T,S) are returned */
  weights: boolean;
  /** true: the scores (B,H,T,S), as they enter the softmax, are returned */
  scores: boolean;
  /** (B,H,T,S), used in place of computed scores, masks and biases */
  givenScores?: Tensor | undefined;
  /** (B,H,T,S), used in place of the softmax of the scores */
  givenWeights?: Tensor | undefined;
};

export class Graph extends Tape {
  /** Returns x · weightᵀ + bias, (…,out). x: (…,in); weight: (out,in); bias: (out). */
  linear(x: Tensor, weight: Weight, bias?: Weight) {
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

  /** Normalizes the last axis. x: (…,C); weight: (C); bias: (C); centred: true: layer norm, false: RMS norm. */
  norm(x: Tensor, weight: Weight, bias: Weight | undefined, centred: boolean, eps: number) {
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

  activation(x: Tensor, name: ActivationKind) {
    const [y, kind] = [this.make(x.shape), ACTIVATIONS[name]];
    this.call('hl_activation_forward', y, x, sizeOf(x), kind);
    return this.record(y, (dy) => {
      const dx = this.make(x.shape);
      this.call('hl_activation_backward', dx, dy, x, sizeOf(x), kind);
      this.accumulate(x, dx);
    });
  }

  /** Returns activation(gate) · up. */
  gated(gate: Tensor, up: Tensor, name: ActivationKind) {
    const [y, kind, size] = [this.make(up.shape), ACTIVATIONS[name], sizeOf(up)];
    this.call('hl_gated_forward', y, gate, up, size, kind);
    return this.record(y, (dy) => {
      const [dGate, dUp] = [this.make(gate.shape), this.make(up.shape)];
      this.call('hl_gated_backward', dGate, dUp, dy, gate, up, size, kind);
      this.accumulate(gate, dGate);
      this.accumulate(up, dUp);
    });
  }

  add(a: Tensor, b: Tensor) {
    const sum = this.make(a.shape);
    this.call('hl_add', sum, a, b, sizeOf(a));
    return this.record(sum, (d) => {
      this.accumulate(a, d);
      this.accumulate(b, d);
    });
  }

  scale(x: Tensor, factor: number) {
    if (factor === 1) return x;
    const multiply = (from: Tensor) => {
      const to = this.make(from.shape);
      viewOf(to).set(viewOf(from));
      this.call('hl_scale', to, sizeOf(to), factor);
      return to;
    };
    return this.record(multiply(x), (d) => this.accumulate(x, multiply(d)));
  }

  /** Returns x · weight for every row. x: (…,C); weight: (C). */
  scaleChannels(x: Tensor, weight: Weight) {
    const [width] = weight.shape;
    const multiply = (from: Tensor) => {
      const to = this.make(from.shape);
      const factors = viewOf(weight.tensor as Tensor);
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

  /** Returns cap · tanh(x / cap). */
  softcap(x: Tensor, cap: number) {
    const y = this.make(x.shape);
    this.call('hl_softcap_forward', y, x, sizeOf(x), cap);
    return this.record(y, (dy) => {
      const dx = this.make(x.shape);
      this.call('hl_softcap_backward', dx, dy, y, sizeOf(x), cap);
      this.accumulate(x, dx);
    });
  }

  /** Returns rows of a table, (…,width). table: (count,width); shape: of the labels: (…). */
  rows(table: Weight, labels: Int32Array, shape: readonly number[]) {
    const [count, width] = table.shape;
    const y = this.make([...shape, width]);
    if (table.packed) {
      loadRows(this.memory, this.caller, y, table.packed, labels, table.shape);
      return y;
    }
    const sizes = [1, labels.length, width, count, 0] as const;
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
   * Rotates pairs of elements of x (B,T,heads·width) by position. form: table (count,2,rotated/2): cosines and sines;
   * positions (B,T).
   */
  rotate(
    x: Tensor,
    {
      table,
      positions,
      heads,
      width,
      rotated,
      neighbours,
    }: { table: Tensor; positions: Int32Array; heads: number; width: number; rotated: number; neighbours: boolean },
  ) {
    const [batch, rows] = x.shape;
    const apply = (from: Tensor, reverse: number) => {
      const to = this.make(from.shape);
      const sizes = [batch, heads, rows, width, rotated, table.shape[0]] as const;
      const strides = [rows * heads * width, width, heads * width] as const;
      this.frame((frame) => {
        const at = frame.copyIn(positions);
        const how = [Number(neighbours), reverse] as const;
        this.call('hl_rotary', to, from, table, at, ...sizes, ...how, ...strides);
      });
      return to;
    };
    return this.record(apply(x, 0), (d) => this.accumulate(x, apply(d, 1)));
  }

  /**
   * Bias of relative positions, (H,T,S). table: (buckets,H); bucket: (T+S−1), at s − t + T − 1 for key s and query t.
   */
  relative(table: Weight, bucket: Int32Array, queries: number) {
    const [buckets, heads] = table.shape;
    const keys = bucket.length + 1 - queries;
    const bias = this.make([heads, queries, keys]);
    const sizes = [buckets, heads, queries, keys] as const;
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

  /** returns output (B,T,H·D), weights and scores (B,H,T,S) */
  attention(call: AttentionCall): { output: Tensor; weights?: Tensor; scores?: Tensor } {
    const points = this.attend(call);
    const { output, weights, scores } = points;
    this.record(output, (d) => this.#attentionBackward(call, points, d));
    return { output, weights, scores };
  }

  /** Computes attention without recording its gradient. */
  attend(call: AttentionCall): AttentionPoints {
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

  #attentionBackward(call: AttentionCall, points: AttentionPoints, d: Tensor) {
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

export type AttentionPoints = { output: Tensor; weights?: Tensor; scores?: Tensor; statistics?: Tensor };

function pointAttention(frame: Frame, call: AttentionCall, { output, weights, scores, statistics }: AttentionPoints) {
  const { batch, heads, kvHeads, queries, keys, width } = call.sizes;
  const { ints, floats } = frame;
  const blocks: [at: number, block: Tensor | Staged | undefined][] = [
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
