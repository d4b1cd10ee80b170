// Direct logit attribution: the contribution of each component to a logit.

import { checkOptions, readNumber } from '../check/arguments.ts';
import { argumentError } from '../check/errors.ts';
import { normsOutputs } from '../models/options.ts';
import {
  type Model,
  type Numbers,
  parametersOf,
  type Result,
  readCaptured,
  readIndex,
  requireModel,
  scaleRows,
} from './arrays.ts';
import { headOf, normOf, refuse, statisticsOf } from './head.ts';

export type AttributionOptions = {
  /** whose logit is decomposed */
  label: number;
  /** a label whose logit is subtracted */
  against?: number;
  /** index of the token; default −1, the last token; with a pooling head 0, the first token */
  token?: number;
  /** default 0 */
  batch?: number;
};
/** Contributions in logits. Their sum is the logit, or the difference of the two logits. */
export type Attribution = {
  /** contribution of the embedding */
  embed: number;
  /** (L,H), contributions of the heads, each through its columns of the output projection */
  heads: Numbers;
  /** (L,H), contributions of the heads of cross-attention */
  cross?: Numbers;
  /** (L), contributions of the feed-forward layers, including their biases */
  mlps: Numbers;
  /**
   * contribution of the biases of output projections, norms and the head, and of changes that edits made between
   * components
   */
  bias: number;
  sum: number;
};
/** A term of the residual stream of one token. at: index among the terms of this kind; x: its vector (C). */
export type Part = { kind: 'embed' | 'heads' | 'cross' | 'mlps'; at: number; x: Float64Array };

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
const neededFor = ({ options: { mlp = 1, cross } }: Model) => [
  'embed',
  'blocks.*.heads',
  ...(mlp > 0 ? ['blocks.*.mlp'] : []),
  ...(cross ? ['blocks.*.cross.heads'] : []),
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

/** Returns the terms of the input of the head at one token, after all norms, and the sum of all biases. */
function decompose(caller: string, model: Model, result: Result, { token, batch }: { token: number; batch: number }) {
  const { layers, numHeads, normPlace = 'before', mlp = 1, cross, residualScale = 1 } = model.options;
  const needed = neededFor(model);
  const { vector, matrix } = parametersOf(caller, model);
  const row = (name: string) => {
    const { floats, shape } = readCaptured(caller, result, name, 'BTC', needed);
    const start = (batch * shape[1] + token) * shape[2];
    return Float64Array.from(floats.subarray(start, start + shape[2]));
  };
  /** @param at prefix of the name of the captured value of the heads */
  const headsOf = (at: string, weights: string, kind: 'heads' | 'cross', l: number) => {
    const heads = readCaptured(caller, result, `${at}heads`, 'BHTD', needed); // (B,H,T,D)
    const scale = kind === 'heads' ? vector(`blocks.${l}.scale1`) : undefined;
    const wo = scaleRows(matrix(`${weights}.wo`), scale); // (C,H·D)
    return {
      parts: Array.from({ length: numHeads }, (_, h) => ({
        kind,
        at: l * numHeads + h,
        x: throughProjection(heads, wo, h, token, batch),
      })),
      bias: Float64Array.from(
        vector(`${weights}.bo`) ?? new Float64Array(wo.shape[0]),
        (x, c) => x * (scale?.[c] ?? 1),
      ),
    };
  };
  let stream: Stream = {
    parts: [{ kind: 'embed', at: 0, x: row('embed') }],
    bias: new Float64Array(model.options.dModel),
  };
  const normed = (name: string, x: Stream) => throughNorm(caller, model, name, x);
  const normIf = (place: 'after' | 'stream', name: string) => {
    if (normPlace === place) stream = normed(name, stream);
  };
  for (let l = 0; l < layers; l++) {
    const at = `blocks.${l}`;
    const attended = headsOf(`${at}.`, `${at}.attention`, 'heads', l);
    normIf('stream', `${at}.norm1`);
    const output = normsOutputs(model.options) ? normed(`${at}.after1`, attended) : attended;
    stream = added(stream, scaled(output, residualScale));
    normIf('after', `${at}.norm1`);
    if (cross) {
      normIf('stream', `${at}.cross.norm`);
      stream = added(stream, scaled(headsOf(`${at}.cross.`, `${at}.cross`, 'cross', l), residualScale));
      normIf('after', `${at}.cross.norm`);
    }
    if (mlp > 0) {
      normIf('stream', `${at}.norm2`);
      stream.parts.push({ kind: 'mlps', at: l, x: row(`${at}.mlp`) });
      normIf('after', `${at}.norm2`);
    }
    if (result.captured[`${at}.out`]) stream = { ...stream, bias: restOf(stream, row(`${at}.out`)) };
  }
  return normed('norm', stream);
}

/** The residual stream of a token, split into its parts and a rest (C), which is the sum of all biases. */
export type Stream = { parts: Part[]; bias: Float64Array };

/**
 * Returns the stream minus its parts, which leaves the biases and the changes by edits.
 * @param whole (C)
 */
const restOf = ({ parts }: Stream, whole: Float64Array) =>
  parts.reduce((rest, { x }) => rest.map((value, c) => value - x[c]), whole);

/** Returns a + b. */
const added = (a: Stream, b: Stream): Stream => ({
  parts: [...a.parts, ...b.parts],
  bias: a.bias.map((x, i) => x + b.bias[i]),
});

const scaled = ({ parts, bias }: Stream, factor: number): Stream => ({
  parts: parts.map((part) => ({ ...part, x: part.x.map((value) => value * factor) })),
  bias: bias.map((value) => value * factor),
});

/** Applies a norm to every part, with the scale that the norm has for the sum of all parts. */
function throughNorm(caller: string, model: Model, name: string, { parts, bias }: Stream): Stream {
  const norm = normOf(caller, model, name);
  if (!norm) return { parts, bias };
  const { weight, bias: normBias } = norm;
  const whole = Float64Array.from(bias);
  for (const { x } of parts) x.forEach((value, c) => (whole[c] += value));
  const { rstd } = statisticsOf(model, whole);
  const normalize = (/** (C) */ x: Float64Array) => {
    const mean = model.options.norm === 'rms' ? 0 : x.reduce((sum, value) => sum + value, 0) / x.length;
    return x.map((value, c) => (value - mean) * rstd * weight[c]);
  };
  return {
    parts: parts.map((part) => ({ ...part, x: normalize(part.x) })),
    bias: normalize(bias).map((value, c) => value + (normBias?.[c] ?? 0)),
  };
}

/**
 * Returns the contribution (C) of one head to one token, which is the output of the head at this token times the
 * columns of Wo for this head.
 * @param heads (B,H,T,D)
 * @param wo (C,H·D)
 */
function throughProjection(
  { floats, shape: [, count, rows, width] }: { floats: Float32Array; shape: readonly number[] },
  { data, shape: [out, inside] }: { data: Float32Array; shape: readonly number[] },
  head: number,
  token: number,
  batch: number,
) {
  const start = ((batch * count + head) * rows + token) * width;
  const x = new Float64Array(out);
  for (let c = 0; c < out; c++) {
    const from = c * inside + head * width;
    for (let d = 0; d < width; d++) x[c] += data[from + d] * floats[start + d];
  }
  return x;
}
