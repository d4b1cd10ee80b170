// Direct logit attribution: the contribution of each component to a logit.

import { checkOptions, readNumber } from '../check/arguments.ts';
import { argumentError } from '../check/errors.ts';
import { block, type Walk } from '../models/block.ts';
import type { At, Component } from '../models/component.ts';
import type { Resolved } from '../models/options.ts';
import { componentsOf } from '../models/sublayers.ts';
import {
  type Model,
  type Numbers,
  parametersOf,
  type Result,
  readCaptured,
  readIndex,
  requireModel,
} from './arrays.ts';
import { ATTRIBUTIONS, type Reader } from './components.ts';
import { headOf, normOf, refuse, statisticsOf } from './head.ts';
import { added, mapped, type Part, restOf, type Stream } from './stream.ts';

export type AttributionOptions = {
  /** whose logit is decomposed */
  label: number;
  /** a label whose logit is subtracted */
  against?: number | undefined;
  /** index of the token; default −1, the last token; with a pooling head 0, the first token */
  token?: number | undefined;
  /** default 0 */
  batch?: number | undefined;
};
/** Contributions in logits. Their sum is the logit, or the difference of the two logits. */
export type Attribution = {
  /** contribution of the embedding */
  embed: number;
  /** (L,H), contributions of the heads, each through its columns of the output projection */
  heads: Numbers;
  /** (L,H), contributions of the heads of cross-attention */
  cross?: Numbers | undefined;
  /** (L), contributions of the feed-forward layers, including their biases */
  mlps: Numbers;
  /**
   * contribution of the biases of output projections, norms and the head, and of changes that edits made between
   * components
   */
  bias: number;
  sum: number;
};

/** Names of the outputs of blocks. */
const OUT = /^blocks\.\d+\.out$/;

/**
 * Computes direct logit attribution (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits").
 * Decomposes a logit into contributions of components. The final residual stream of a token is the sum of its parts:
 * the outputs of the embedding, all heads and all feed-forward layers. A logit is also a sum, with one term for each
 * part,
 *
 *     logit = Σ (pᵢ − mean pᵢ) · r · w · u + bias     pᵢ: a part, w: the norm's weight, u: the label's row of the head
 *
 * if the scale of the final norm, r = 1 / √(variance + eps), is fixed at its value in this run. Norms after attention
 * and feed-forward are treated in the same way, and a softcap of the logits is applied as a common factor.
 * @param result of forward with capture: ['embed', 'blocks.*.heads', 'blocks.*.mlp'], and 'blocks.*.cross.heads' for a
 *   model with an encoder; and 'blocks.*.out' if the run had edits of other values
 */
export function attribution(model: Model, result: Result, options: AttributionOptions): Attribution {
  const caller = 'attribution';
  requireModel(caller, model);
  checkOptions(caller, options, ['label', 'against', 'token', 'batch']);
  const { layers, numHeads, mlp = 1, cross } = model.options;
  if (model.options.disentangled?.convolution)
    throw refuse(caller, 'the convolution after its first block depends on several tokens');
  const head = headOf(caller, model);
  const label = (name: 'label' | 'against') =>
    readNumber(caller, name, options[name], { integer: true, least: 0, most: head.classes - 1 });
  const { parts, bias } = decompose(caller, model, result, readRow(caller, model, result, options));
  const contributions = {
    embed: new Float64Array(1),
    heads: new Float64Array(layers * numHeads),
    cross: new Float64Array(layers * numHeads),
    mlps: new Float64Array(layers),
    bias: new Float64Array(1),
  };
  let sum = 0;
  const addLogit = (label: number, sign: number) => {
    const { row, constant } = head.direction(label);
    const terms = parts.map(({ x }) => dot(x, row));
    const biasTerm = dot(bias, row) + constant;
    const logit = terms.reduce((a, x) => a + x, biasTerm);
    // Distributes the softcap over the terms in proportion to their values.
    const factor = logit === 0 ? sign : (sign * head.softcap(logit)) / logit;
    parts.forEach(({ kind, at }, i) => (contributions[kind][at] += factor * terms[i]));
    contributions.bias[0] += factor * biasTerm;
    sum += factor * logit;
  };
  addLogit(label('label'), 1);
  if (options.against !== undefined) addLogit(label('against'), -1);
  return {
    embed: contributions.embed[0],
    heads: { data: Float32Array.from(contributions.heads), shape: [layers, numHeads] },
    ...(cross && { cross: { data: Float32Array.from(contributions.cross), shape: [layers, numHeads] } }),
    mlps: { data: mlp > 0 ? Float32Array.from(contributions.mlps) : new Float32Array(layers), shape: [layers] },
    bias: contributions.bias[0],
    sum,
  };
}

/**
 * @param a (C)
 * @param b (C)
 */
function dot(a: ArrayLike<number>, b: Float64Array) {
  let sum = 0;
  for (let i = 0; i < b.length; i++) sum += a[i] * b[i];
  return sum;
}

/** Returns the names of the captured values that attribution requires. */
const neededFor = ({ options }: Model) => [
  'embed',
  ...[...componentsOf(options as Resolved)].map(({ name }) => `blocks.*.${ATTRIBUTIONS[name].value}`),
];

function readRow(
  caller: string,
  model: Model,
  result: Result,
  { token, batch = 0 }: { token?: number; batch?: number },
) {
  const { shape } = readCaptured(caller, result, 'embed', 'BTC', neededFor(model));
  const pooled = model.options.head === 'pooled';
  if (pooled && token === undefined && model.options.pool !== 'first')
    throw argumentError(caller, 'token', token, 'the token that this model pools');
  return {
    token: readIndex(caller, 'token', token ?? (pooled ? 0 : -1), shape[1]),
    batch: readIndex(caller, 'batch', batch, shape[0]),
  };
}

/** A value that is computed when it is first needed. Attribution needs no norm before a sublayer. */
type Lazy<T> = () => T;

function lazy<T>(compute: () => T): Lazy<T> {
  let made: { value: T } | undefined;
  return () => (made ??= { value: compute() }).value;
}

/** Goes through the blocks with the residual stream of one token, split into its parts. */
class AttributionWalk implements Walk<Lazy<Stream>> {
  declare options: Resolved;

  #caller: string;
  #model: Model;
  #captured: Result['captured'];
  #read: Reader;
  /** The kinds of outputs that are one part, by the names of the captured values. */
  #whole: Map<string, Omit<Part, 'x'>> = new Map();

  constructor(caller: string, model: Model, { captured }: Result, at: { token: number; batch: number }) {
    this.options = model.options as Resolved;
    this.#caller = caller;
    this.#model = model;
    this.#captured = captured;
    const needed = neededFor(model);
    this.#read = {
      ...at,
      ...parametersOf(caller, model),
      captured: (name, form) => readCaptured(caller, { captured }, name, form, needed),
    };
  }

  /** Returns the row (C) of a captured value (B,T,C) at the token. */
  row(name: string) {
    const { token, batch, captured } = this.#read;
    const { floats, shape } = captured(name, 'BTC');
    const start = (batch * shape[1] + token) * shape[2];
    return Float64Array.from(floats.subarray(start, start + shape[2]));
  }

  #zeros() {
    return new Float64Array(this.options.dModel);
  }

  norm(name: string, x: Lazy<Stream>) {
    return lazy(() => throughNorm(this.#caller, this.#model, name, x()));
  }

  scaled(name: string | undefined, x: Lazy<Stream>) {
    const { residualScale = 1 } = this.options;
    const factors = name ? this.#read.vector(name) : undefined;
    if (!factors && residualScale === 1) return x;
    return lazy(() => mapped(x(), (y) => y.map((value, c) => value * (factors?.[c] ?? 1) * residualScale)));
  }

  add(x: Lazy<Stream>, y: Lazy<Stream>) {
    return lazy(() => added(x(), y()));
  }

  passRows(name: string, x: Lazy<Stream>) {
    const part = this.#whole.get(name);
    if (part) return lazy(() => ({ parts: [{ ...part, x: this.row(name) }], bias: this.#zeros() }));
    if (!OUT.test(name) || !this.#captured[name]) return x;
    return lazy(() => ({ parts: x().parts, bias: restOf(x(), this.row(name)) }));
  }

  narrowed(x: Lazy<Stream>) {
    return x;
  }

  compute({ name }: Component, at: At, i: number) {
    const { kind, value, split } = ATTRIBUTIONS[name];
    if (!split) this.#whole.set(at(value), { kind, at: i });
    return lazy(() => split?.(this.#read, at, i) ?? { parts: [], bias: this.#zeros() });
  }

  around(_: Component, __: number, ___: Lazy<Stream>, output: Lazy<Stream>) {
    return output;
  }

  inside(_: number, __: Lazy<Stream>, compute: () => Lazy<Stream>) {
    return compute();
  }
}

/** Returns the terms of the input of the head at one token, after all norms, and the sum of all biases. */
function decompose(caller: string, model: Model, result: Result, at: { token: number; batch: number }) {
  const walk = new AttributionWalk(caller, model, result, at);
  let x = lazy<Stream>(() => ({
    parts: [{ kind: 'embed', at: 0, x: walk.row('embed') }],
    bias: new Float64Array(model.options.dModel),
  }));
  for (let i = 0; i < model.options.layers; i++) x = block(walk, i, x);
  return walk.norm('norm', x)();
}

/** Applies a norm to every part, with the scale that the norm has for the sum of all parts. */
function throughNorm(caller: string, model: Model, name: string, { parts, bias }: Stream): Stream {
  const norm = normOf(caller, model, name);
  if (!norm) return { parts, bias };
  const { weight, bias: normBias } = norm;
  const whole = Float64Array.from(bias);
  for (const { x } of parts) x.forEach((value, c) => (whole[c] += value));
  const { rstd } = statisticsOf(model, whole);
  const stream = mapped({ parts, bias }, (x) => {
    const mean = model.options.norm === 'rms' ? 0 : x.reduce((sum, value) => sum + value, 0) / x.length;
    return x.map((value, c) => (value - mean) * rstd * weight[c]);
  });
  return { ...stream, bias: stream.bias.map((value, c) => value + (normBias?.[c] ?? 0)) };
}
