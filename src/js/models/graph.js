// The operations that models are made of. In training each notes how its gradient is found; backward() then goes
// through the notes from the last to the first.

import { ATTENTION as AT, ATTENTION_BACKWARD, SCORES, STORED, WEIGHTS } from '../../../dist/abi/abi.js';
import { loadHalfRows } from '../memory/stored.js';
import { sizeOf, viewOf } from '../memory/tensor.js';
import { ACTIVATIONS } from '../ops/activation.js';

/** @import { Memory } from '../memory/memory.js' */
/** @import { Frame } from '../memory/frame.js' */
/** @import { Half } from '../memory/stored.js' */
/** @import { Staged, Tensor } from '../memory/tensor.js' */
/** @import { ActivationKind } from '../ops/activation.js' */

/**
 * A parameter: as float32; or in 16 bits or rounded to int8, and then without a gradient.
 * @typedef {{ shape: readonly number[], tensor?: Tensor, half?: Half, int8?: Tensor, gradient?: Tensor }} Weight
 */
/** @typedef {readonly [batch: number, head: number, row: number]} Stride */
/**
 * query (B,H,T,D), key and value (B,G,S,D), by their strides; output (B,T,H·D). bias is by a stride of its own, padding
 * (B,S).
 * @typedef {object} AttentionCall
 * @property {Tensor} query
 * @property {Tensor} key
 * @property {Tensor} value
 * @property {{ batch: number, heads: number, kvHeads: number, queries: number, keys: number, width: number }} sizes
 * @property {Stride} keyStride
 * @property {number} scale
 * @property {number} softcap
 * @property {boolean} causal
 * @property {readonly [number, number]} window
 * @property {number} offset
 * @property {Uint8Array} [padding]
 * @property {{ tensor: Tensor, stride: readonly number[] }} [bias]
 * @property {Weight} [sinks]
 * @property {Float32Array} [slopes] of distances, (H)
 * @property {{ p: number, seed: readonly [number, number] }} [dropout]
 * @property {boolean} weights whether they are returned
 * @property {boolean} scores the same, at the last step before softmax
 * @property {Tensor} [givenScores] what softmax is to see: what comes before it is not looked at
 * @property {Tensor} [givenWeights] instead of those that softmax would make, nor are scores
 */

/** @param {Weight} weight */
export function freeWeight({ tensor, half, int8 }) {
  tensor?.dispose();
  half?.tensor.dispose();
  int8?.dispose();
}

export class Graph {
  #memory;
  #caller;
  #train;
  /** @type {{ output: Tensor, reverse: (d: Tensor) => void }[]} */
  #notes = [];
  /** @type {Tensor[]} */
  #made = [];
  /** @type {Map<Tensor, Tensor>} */
  #gradients = new Map();

  /** @param {Memory} memory @param {string} caller @param {boolean} train */
  constructor(memory, caller, train) {
    this.#memory = memory;
    this.#caller = caller;
    this.#train = train;
  }

  get train() {
    return this.#train;
  }

  /** Takes a tensor out of those that dispose() frees. @param {Tensor} tensor */
  release(tensor) {
    this.#made = this.#made.filter((other) => other !== tensor);
    return tensor;
  }

  /** In training it stays until dispose(), else until the end of its scope. @param {readonly number[]} shape */
  make(shape) {
    if (!this.#train) return this.#memory.temporary(shape, this.#caller);
    const tensor = this.#memory.unscoped(this.#memory.empty([...shape], this.#caller));
    this.#made.push(tensor);
    return tensor;
  }

  /** @param {readonly number[]} shape @param {ArrayLike<number>} values */
  from(shape, values) {
    const tensor = this.make(shape);
    viewOf(tensor).set(values);
    return tensor;
  }

  /**
   * Temporary blocks of a call.
   * @template T
   * @param {(frame: Frame) => T} fn
   */
  #frame(fn) {
    return this.#memory.frame(this.#caller, fn);
  }

  /** @param {Tensor} output @param {(d: Tensor) => void} reverse */
  #note(output, reverse) {
    if (this.#train) this.#notes.push({ output, reverse });
    return output;
  }

  /**
   * Adds to the gradient of a tensor. What is given may be that of another as well.
   * @param {Tensor} x
   * @param {Tensor} dx
   */
  #give(x, dx) {
    const before = this.#gradients.get(x);
    if (before) {
      const sum = this.make(x.shape);
      this.#memory.call('hl_add', this.#caller, sum, before, dx, sizeOf(x));
      this.#gradients.set(x, sum);
    } else this.#gradients.set(x, dx);
  }

  /**
   * From the gradients of results to those of the parameters, which add up.
   * @param {[Tensor, Tensor][]} outputs
   */
  backward(outputs) {
    for (const [tensor, gradient] of outputs) this.#give(tensor, gradient);
    for (const { output, reverse } of this.#notes.reverse()) {
      const d = this.#gradients.get(output);
      if (d) reverse(d);
    }
  }

  dispose() {
    for (const tensor of this.#made) tensor.dispose();
    this.#made = [];
    this.#notes = [];
    this.#gradients.clear();
  }

  /** x · weightᵀ + bias over the last axis. @param {Tensor} x @param {Weight} weight @param {Weight} [bias] */
  linear(x, weight, bias) {
    const [out, inside] = weight.shape;
    const rows = sizeOf(x) / inside;
    const y = this.make([...x.shape.slice(0, -1), out]);
    if (weight.int8) {
      this.#memory.call('hl_linear_quantized', this.#caller, y, x, weight.int8, bias?.tensor, rows, out, inside);
      return y;
    }
    if (weight.half) {
      const { tensor, type } = weight.half;
      const sizes = /** @type {const} */ ([STORED[type], rows, out, inside]);
      this.#memory.call('hl_linear_stored', this.#caller, y, x, tensor, bias?.tensor, ...sizes);
      return y;
    }
    this.#memory.call('hl_linear_forward', this.#caller, y, x, weight.tensor, bias?.tensor, rows, out, inside);
    return this.#note(y, (dy) => {
      const dx = this.make(x.shape);
      const [dweight, dbias] = [weight.gradient, bias?.gradient];
      this.#memory.call(
        'hl_linear_backward',
        this.#caller,
        dx,
        dweight,
        dbias,
        dy,
        x,
        weight.tensor,
        rows,
        out,
        inside,
      );
      this.#give(x, dx);
    });
  }

  /**
   * Layer norm, or RMS norm, over the last axis.
   * @param {Tensor} x
   * @param {Weight} weight
   * @param {Weight | undefined} bias
   * @param {boolean} centred
   * @param {number} eps
   */
  norm(x, weight, bias, centred, eps) {
    const width = weight.shape[0];
    const rows = sizeOf(x) / width;
    const [y, rstd] = [this.make(x.shape), this.make([rows])];
    const mean = centred ? this.make([rows]) : undefined;
    this.#memory.call('hl_norm_forward', this.#caller, y, mean, rstd, x, weight.tensor, bias?.tensor, rows, width, eps);
    return this.#note(y, (dy) => {
      const dx = this.make(x.shape);
      const [dweight, dbias] = [weight.gradient ?? this.make(weight.shape), bias?.gradient];
      this.#memory.call(
        'hl_norm_backward',
        this.#caller,
        dx,
        dweight,
        dbias,
        dy,
        x,
        mean,
        rstd,
        weight.tensor,
        rows,
        width,
      );
      this.#give(x, dx);
    });
  }

  /** @param {Tensor} x @param {ActivationKind} name */
  activation(x, name) {
    const [y, kind] = [this.make(x.shape), ACTIVATIONS[name]];
    this.#memory.call('hl_activation_forward', this.#caller, y, x, sizeOf(x), kind);
    return this.#note(y, (dy) => {
      const dx = this.make(x.shape);
      this.#memory.call('hl_activation_backward', this.#caller, dx, dy, x, sizeOf(x), kind);
      this.#give(x, dx);
    });
  }

  /** activation(gate) · up @param {Tensor} gate @param {Tensor} up @param {ActivationKind} name */
  gated(gate, up, name) {
    const [y, kind, size] = [this.make(up.shape), ACTIVATIONS[name], sizeOf(up)];
    this.#memory.call('hl_gated_forward', this.#caller, y, gate, up, size, kind);
    return this.#note(y, (dy) => {
      const [dGate, dUp] = [this.make(gate.shape), this.make(up.shape)];
      this.#memory.call('hl_gated_backward', this.#caller, dGate, dUp, dy, gate, up, size, kind);
      this.#give(gate, dGate);
      this.#give(up, dUp);
    });
  }

  /** @param {Tensor} a @param {Tensor} b */
  add(a, b) {
    const sum = this.make(a.shape);
    this.#memory.call('hl_add', this.#caller, sum, a, b, sizeOf(a));
    return this.#note(sum, (d) => {
      this.#give(a, d);
      this.#give(b, d);
    });
  }

  /** @param {Tensor} x @param {number} factor */
  scale(x, factor) {
    if (factor === 1) return x;
    const times = (/** @type {Tensor} */ from) => {
      const to = this.make(from.shape);
      viewOf(to).set(viewOf(from));
      this.#memory.call('hl_scale', this.#caller, to, sizeOf(to), factor);
      return to;
    };
    return this.#note(times(x), (d) => this.#give(x, times(d)));
  }

  /** cap · tanh(x / cap) @param {Tensor} x @param {number} cap */
  softcap(x, cap) {
    const y = this.make(x.shape);
    this.#memory.call('hl_softcap_forward', this.#caller, y, x, sizeOf(x), cap);
    return this.#note(y, (dy) => {
      const dx = this.make(x.shape);
      this.#memory.call('hl_softcap_backward', this.#caller, dx, dy, y, sizeOf(x), cap);
      this.#give(x, dx);
    });
  }

  /**
   * Rows of a table.
   * @param {Weight} table (count, width)
   * @param {Int32Array} labels
   * @param {readonly number[]} shape of the labels
   */
  rows(table, labels, shape) {
    const [count, width] = table.shape;
    const y = this.make([...shape, width]);
    if (table.half) {
      loadHalfRows(this.#memory, this.#caller, y, table.half, labels, width);
      return y;
    }
    const sizes = /** @type {const} */ ([1, labels.length, width, count, 0]);
    this.#frame((frame) => {
      const ints = frame.copyIn(labels);
      if (table.int8)
        this.#memory.call('hl_weight_rows', this.#caller, y, table.int8, ints, labels.length, count, width);
      else this.#memory.call('hl_embedding_forward', this.#caller, y, table.tensor, undefined, ints, ...sizes);
    });
    return this.#note(y, (dy) =>
      this.#frame((frame) => {
        const ints = frame.copyIn(labels);
        this.#memory.call('hl_embedding_backward', this.#caller, table.gradient, undefined, dy, ints, ...sizes);
      }),
    );
  }

  /**
   * Turns pairs of elements of every head by the angles of its position.
   * @param {Tensor} x (B,T,heads·width)
   * @param {{ table: Tensor, positions: Int32Array, heads: number, width: number, rotated: number,
   *   neighbours: boolean }} form table (count,2,rotated/2), positions (B,T)
   */
  rotate(x, { table, positions, heads, width, rotated, neighbours }) {
    const [batch, rows] = x.shape;
    const turn = (/** @type {Tensor} */ from, /** @type {number} */ reverse) => {
      const to = this.make(from.shape);
      const sizes = /** @type {const} */ ([batch, heads, rows, width, rotated, table.shape[0]]);
      const strides = /** @type {const} */ ([rows * heads * width, width, heads * width]);
      this.#frame((frame) => {
        const at = frame.copyIn(positions);
        const how = /** @type {const} */ ([Number(neighbours), reverse]);
        this.#memory.call('hl_rotary', this.#caller, to, from, table, at, ...sizes, ...how, ...strides);
      });
      return to;
    };
    return this.#note(turn(x, 0), (d) => this.#give(x, turn(d, 1)));
  }

  /**
   * The bias of relative positions, (H,T,S), from a table (buckets,H).
   * @param {Weight} table
   * @param {Int32Array} bucket (T+S−1): that of key s and query t is at s − t + T − 1
   * @param {number} queries
   */
  relative(table, bucket, queries) {
    const [buckets, heads] = table.shape;
    const keys = bucket.length + 1 - queries;
    const bias = this.make([heads, queries, keys]);
    const sizes = /** @type {const} */ ([buckets, heads, queries, keys]);
    this.#frame((frame) => {
      const at = frame.copyIn(bucket);
      this.#memory.call('hl_relative_forward', this.#caller, bias, table.tensor, at, ...sizes);
    });
    return this.#note(bias, (d) =>
      this.#frame((frame) => {
        const at = frame.copyIn(bucket);
        this.#memory.call('hl_relative_backward', this.#caller, table.gradient, d, at, ...sizes);
      }),
    );
  }

  /**
   * A part of the rows of the second axis.
   * @param {Tensor} x (B,T,C)
   * @param {number} from
   * @param {number} count
   */
  slice(x, from, count) {
    const [batch, rows, width] = x.shape;
    if (count === rows) return x;
    const y = this.make([batch, count, width]);
    const copy = (/** @type {Float32Array} */ all, /** @type {(at: number, part: number) => void} */ each) => {
      for (let b = 0; b < batch; b++) each((b * rows + from) * width, b * count * width);
      return all;
    };
    const [source, part] = [viewOf(x), viewOf(y)];
    copy(source, (at, to) => part.set(source.subarray(at, at + count * width), to));
    return this.#note(y, (d) => {
      const dx = this.make(x.shape);
      const [whole, given] = [viewOf(dx).fill(0), viewOf(d)];
      copy(whole, (at, to) => whole.set(given.subarray(to, to + count * width), at));
      this.#give(x, dx);
    });
  }

  /**
   * Rows of the second axis, one of every batch entry: (B,C).
   * @param {Tensor} x (B,T,C)
   * @param {ArrayLike<number>} which
   */
  pick(x, which) {
    const [batch, rows, width] = x.shape;
    const y = this.make([batch, width]);
    const at = (/** @type {number} */ b) => (b * rows + which[b]) * width;
    for (let b = 0; b < batch; b++) viewOf(y).set(viewOf(x).subarray(at(b), at(b) + width), b * width);
    return this.#note(y, (d) => {
      const dx = this.make(x.shape);
      viewOf(dx).fill(0);
      for (let b = 0; b < batch; b++) viewOf(dx).set(viewOf(d).subarray(b * width, (b + 1) * width), at(b));
      this.#give(x, dx);
    });
  }

  /**
   * The mean of the rows of the second axis that are kept: (B,C).
   * @param {Tensor} x (B,T,C)
   * @param {Uint8Array} [keep] (B,T)
   */
  mean(x, keep) {
    const [batch, rows, width] = x.shape;
    const y = this.make([batch, width]);
    /** @param {(one: number, row: number, share: number) => void} each of every number that is kept */
    const walk = (each) => {
      for (let b = 0; b < batch; b++) {
        const kept = Array.from({ length: rows }, (_, t) => b * rows + t).filter((at) => keep?.[at] !== 0);
        for (const at of kept) for (let c = 0; c < width; c++) each(b * width + c, at * width + c, 1 / kept.length);
      }
    };
    const [sum, from] = [new Float64Array(batch * width), viewOf(x)];
    walk((one, row, share) => void (sum[one] += share * from[row]));
    viewOf(y).set(sum);
    return this.#note(y, (d) => {
      const dx = this.make(x.shape);
      const [all, given] = [viewOf(dx).fill(0), viewOf(d)];
      walk((one, row, share) => void (all[row] = share * given[one]));
      this.#give(x, dx);
    });
  }

  /**
   * The rows of a parameter before those of every batch entry.
   * @param {Weight} first (n,C)
   * @param {Tensor} x (B,T,C)
   */
  prepend(first, x) {
    const [[n, width], [batch, rows]] = [first.shape, x.shape];
    const y = this.make([batch, n + rows, width]);
    const [head, body] = [n * width, rows * width];
    for (let b = 0; b < batch; b++) {
      viewOf(y).set(viewOf(/** @type {Tensor} */ (first.tensor)), b * (head + body));
      viewOf(y).set(viewOf(x).subarray(b * body, (b + 1) * body), b * (head + body) + head);
    }
    return this.#note(y, (d) => {
      const dx = this.make(x.shape);
      for (let b = 0; b < batch; b++) {
        const at = b * (head + body);
        viewOf(dx).set(viewOf(d).subarray(at + head, at + head + body), b * body);
        if (first.gradient) viewOf(first.gradient).forEach((g, i, all) => void (all[i] = g + viewOf(d)[at + i]));
      }
      this.#give(x, dx);
    });
  }

  /**
   * Windows of three rows, a row of zeros before the first and after the last: a convolution is then one product.
   * @param {Tensor} x (B,N,C)
   * @param {number} stride
   */
  unfold(x, stride) {
    const [batch, rows, width] = x.shape;
    const count = Math.floor((rows - 1) / stride) + 1;
    const y = this.make([batch, count, 3 * width]);
    /** @param {(from: number, to: number) => void} each of every row that is copied */
    const walk = (each) => {
      for (let b = 0; b < batch; b++)
        for (let t = 0; t < count; t++)
          for (let k = 0; k < 3; k++) {
            const row = t * stride + k - 1;
            if (row >= 0 && row < rows) each((b * rows + row) * width, ((b * count + t) * 3 + k) * width);
          }
    };
    const [source, windows] = [viewOf(x), viewOf(y).fill(0)];
    walk((from, to) => windows.set(source.subarray(from, from + width), to));
    return this.#note(y, (d) => {
      const dx = this.make(x.shape);
      const [sum, given] = [viewOf(dx).fill(0), viewOf(d)];
      walk((to, from) => {
        for (let i = 0; i < width; i++) sum[to + i] += given[from + i];
      });
      this.#give(x, dx);
    });
  }

  /**
   * @param {AttentionCall} call
   * @returns {{ output: Tensor, weights?: Tensor, scores?: Tensor }}
   */
  attention(call) {
    const { batch, heads, queries, keys, width } = call.sizes;
    const output = this.make([batch, queries, heads * width]);
    const square = [batch, heads, queries, keys];
    const weights = call.givenWeights ?? (call.weights ? this.make(square) : undefined);
    const scores = call.givenScores ?? (call.scores ? this.make(square) : undefined);
    const statistics = this.#train ? this.make([2 * batch * heads * queries]) : undefined;
    const points = { output, weights, scores, statistics };
    if (sizeOf(output) > 0 || weights || scores)
      this.#frame((frame) => {
        pointAttention(frame, call, points);
        frame.run('hl_attention');
      });
    this.#note(output, (d) => this.#attentionBackward(call, points, d));
    return { output, weights, scores };
  }

  /** @param {AttentionCall} call @param {AttentionPoints} points @param {Tensor} d */
  #attentionBackward(call, points, d) {
    const { query, key, value, bias, sinks } = call;
    const [dQuery, dKey, dValue] = [query, key, value].map(({ shape }) => this.make(shape));
    const dBias = bias && this.make(bias.tensor.shape);
    if (dBias) viewOf(dBias).fill(0);
    this.#frame((frame) => {
      pointAttention(frame, call, points);
      frame.setPointer(ATTENTION_BACKWARD.dQuery, dQuery);
      frame.setPointer(ATTENTION_BACKWARD.dKey, dKey);
      frame.setPointer(ATTENTION_BACKWARD.dValue, dValue);
      frame.setPointer(ATTENTION_BACKWARD.dBias, dBias);
      if (sinks) frame.setPointer(ATTENTION_BACKWARD.dSinks, sinks.gradient);
      frame.setPointer(ATTENTION_BACKWARD.dOutput, d);
      frame.run('hl_attention_backward');
    });
    this.#give(query, dQuery);
    this.#give(key, dKey);
    this.#give(value, dValue);
    if (bias && dBias) this.#give(bias.tensor, dBias);
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
  floats[AT.scale] = call.scale;
  floats[AT.softcap] = call.softcap;
  floats[AT.fill] = -Infinity;
  if (!call.dropout) return;
  floats[AT.dropout] = call.dropout.p;
  ints.set(call.dropout.seed, AT.seed);
}
