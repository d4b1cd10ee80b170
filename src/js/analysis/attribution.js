// What each part of a transformer adds to a logit, and what the logits would be after each block.

import { checkOptions, readNumber } from '../check/arguments.js';
import { argumentError } from '../check/errors.js';
import { parametersOf, readCaptured, readPlace } from './arrays.js';
import { headOf, normOf, statisticsOf } from './head.js';

/** @import { Model, Numbers, Result } from './arrays.js' */

/**
 * @typedef {object} AttributionOptions
 * @property {number} label whose logit is taken apart
 * @property {number} [against] a label whose logit is taken away from it
 * @property {number} [token] a row of the run; −1, the default, is the last; where the head pools, the first
 * @property {number} [batch] default 0
 */
/**
 * In logits. They add up to sum, which is the logit, or the difference of the two.
 * @typedef {object} Attribution
 * @property {number} embed what the embedding adds
 * @property {Numbers} heads (L,H), each head through its part of the output projection
 * @property {Numbers} [cross] (L,H), the heads of attention to an encoder
 * @property {Numbers} mlps (L), its biases included
 * @property {number} bias biases of output projections, of norms and of the head, and whatever edits have put between
 * @property {number} sum
 */
/**
 * A part of what a token carries; at: its place among those of its kind.
 * @typedef {{ kind: 'embed' | 'heads' | 'cross' | 'mlps', at: number, x: Float64Array }} Part
 */

/**
 * Direct logit attribution (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"). The last values
 * of a token are a sum of what the embedding, every head and every feed-forward have added, and so is its logit,
 *
 *     logit = Σ (pᵢ − mean pᵢ) · r · w · u + bias     pᵢ: a part, w: the norm's weight, u: the label's row of the head
 *
 * once the final norm divides by what it has divided by in this run, r = 1 / √(variance + eps). Norms on the way, where
 * they come after attention and feed-forward, are treated alike, and a cap of the logits by its own ratio.
 *
 * @param {Model} model
 * @param {Result} result of forward with capture: ['embed', 'blocks.*.heads', 'blocks.*.mlp'], and
 *   'blocks.*.cross.heads' where there is an encoder; with 'blocks.*.out' too where edits change more than these
 * @param {AttributionOptions} options
 * @returns {Attribution}
 */
export function attribution(model, result, options) {
  const caller = 'attribution';
  checkOptions(caller, options, ['label', 'against', 'token', 'batch']);
  const { layers, numHeads, mlp = 1, cross } = model.options;
  const head = headOf(caller, model);
  const label = (/** @type {'label' | 'against'} */ name) =>
    readNumber(caller, name, options[name], { integer: true, least: 0, most: head.classes - 1 });
  const { parts, bias } = takeApart(caller, model, result, readRow(caller, model, result, options));
  const made = {
    embed: new Float64Array(1),
    heads: new Float64Array(layers * numHeads),
    cross: new Float64Array(layers * numHeads),
    mlps: new Float64Array(layers),
    bias: new Float64Array(1),
  };
  let sum = 0;
  /** @param {number} label @param {number} sign */
  const add = (label, sign) => {
    const { row, added } = head.direction(label);
    const shares = parts.map(({ x }) => dot(x, row));
    const ofBias = dot(bias, row) + added;
    const whole = shares.reduce((a, x) => a + x, ofBias);
    const factor = whole === 0 ? sign : (sign * head.capped(whole)) / whole;
    parts.forEach(({ kind, at }, i) => (made[kind][at] += factor * shares[i]));
    made.bias[0] += factor * ofBias;
    sum += factor * whole;
  };
  add(label('label'), 1);
  if (options.against !== undefined) add(label('against'), -1);
  return {
    embed: made.embed[0],
    heads: { data: Float32Array.from(made.heads), shape: [layers, numHeads] },
    ...(cross && { cross: { data: Float32Array.from(made.cross), shape: [layers, numHeads] } }),
    mlps: { data: mlp > 0 ? Float32Array.from(made.mlps) : new Float32Array(layers), shape: [layers] },
    bias: made.bias[0],
    sum,
  };
}

/** @param {ArrayLike<number>} a @param {Float64Array} b */
function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < b.length; i++) sum += a[i] * b[i];
  return sum;
}

/** @param {Model} model */
const neededFor = ({ options: { mlp = 1, cross } }) => [
  'embed',
  'blocks.*.heads',
  ...(mlp > 0 ? ['blocks.*.mlp'] : []),
  ...(cross ? ['blocks.*.cross.heads'] : []),
];

/**
 * @param {string} caller
 * @param {Model} model
 * @param {Result} result
 * @param {{ token?: number, batch?: number }} options
 */
function readRow(caller, model, result, { token, batch = 0 }) {
  const { shape } = readCaptured(caller, result, 'embed', 'BTC', neededFor(model));
  const pooled = model.options.head === 'pooled';
  if (pooled && token === undefined && model.options.pool !== 'first')
    throw argumentError(caller, 'token', token, 'the token that this model pools');
  return {
    token: readPlace(caller, 'token', token ?? (pooled ? 0 : -1), shape[1]),
    batch: readPlace(caller, 'batch', batch, shape[0]),
  };
}

/**
 * The parts of what enters the head at one token, after every norm on their way, and the sum of all biases.
 * @param {string} caller
 * @param {Model} model
 * @param {Result} result
 * @param {{ token: number, batch: number }} row
 */
function takeApart(caller, model, result, { token, batch }) {
  const { layers, numHeads, normPlace = 'before', mlp = 1, cross } = model.options;
  const needed = neededFor(model);
  const { vector, matrix } = parametersOf(caller, model);
  /** @param {string} name */
  const row = (name) => {
    const { floats, shape } = readCaptured(caller, result, name, 'BTC', needed);
    const start = (batch * shape[1] + token) * shape[2];
    return Float64Array.from(floats.subarray(start, start + shape[2]));
  };
  /** @param {string} at of the heads @param {string} weights @param {'heads' | 'cross'} kind @param {number} l */
  const headsOf = (at, weights, kind, l) => {
    const heads = readCaptured(caller, result, `${at}heads`, 'BHTD', needed);
    const wo = matrix(`${weights}.wo`);
    return {
      parts: Array.from({ length: numHeads }, (_, h) => ({
        kind,
        at: l * numHeads + h,
        x: throughProjection(heads, wo, h, token, batch),
      })),
      bias: Float64Array.from(vector(`${weights}.bo`) ?? new Float64Array(wo.shape[0])),
    };
  };
  /** @type {Stream} */
  let stream = { parts: [{ kind: 'embed', at: 0, x: row('embed') }], bias: new Float64Array(model.options.dModel) };
  const normed = (/** @type {string} */ name, /** @type {Stream} */ x) => throughNorm(caller, model, name, x);
  const norm = (/** @type {'after' | 'stream'} */ place, /** @type {string} */ name) => {
    if (normPlace === place) stream = normed(name, stream);
  };
  for (let l = 0; l < layers; l++) {
    const at = `blocks.${l}`;
    const attended = headsOf(`${at}.`, `${at}.attention`, 'heads', l);
    norm('stream', `${at}.norm1`);
    stream = joined(stream, normPlace === 'both' ? normed(`${at}.after1`, attended) : attended);
    norm('after', `${at}.norm1`);
    if (cross) {
      norm('stream', `${at}.cross.norm`);
      stream = joined(stream, headsOf(`${at}.cross.`, `${at}.cross`, 'cross', l));
      norm('after', `${at}.cross.norm`);
    }
    if (mlp > 0) {
      norm('stream', `${at}.norm2`);
      stream.parts.push({ kind: 'mlps', at: l, x: row(`${at}.mlp`) });
      norm('after', `${at}.norm2`);
    }
    if (result.captured[`${at}.out`]) stream = { ...stream, bias: restOf(stream, row(`${at}.out`)) };
  }
  return normed('norm', stream);
}

/** Parts and what belongs to none of them. @typedef {{ parts: Part[], bias: Float64Array }} Stream */

/** What is not of any part, edits included. @param {Stream} stream @param {Float64Array} whole */
const restOf = ({ parts }, whole) => parts.reduce((rest, { x }) => rest.map((value, c) => value - x[c]), whole);

/** @param {Stream} a @param {Stream} b @returns {Stream} */
const joined = (a, b) => ({ parts: [...a.parts, ...b.parts], bias: a.bias.map((x, i) => x + b.bias[i]) });

/**
 * A norm that divides every part by what it divides their sum by.
 * @param {string} caller
 * @param {Model} model
 * @param {string} name
 * @param {Stream} stream
 * @returns {Stream}
 */
function throughNorm(caller, model, name, { parts, bias }) {
  const norm = normOf(caller, model, name);
  if (!norm) return { parts, bias };
  const { weight, bias: added } = norm;
  const whole = Float64Array.from(bias);
  for (const { x } of parts) x.forEach((value, c) => (whole[c] += value));
  const { rstd } = statisticsOf(model, whole);
  const scaled = (/** @type {Float64Array} */ x) => {
    const mean = model.options.norm === 'rms' ? 0 : x.reduce((sum, value) => sum + value, 0) / x.length;
    return x.map((value, c) => (value - mean) * rstd * weight[c]);
  };
  return {
    parts: parts.map((part) => ({ ...part, x: scaled(part.x) })),
    bias: scaled(bias).map((value, c) => value + (added?.[c] ?? 0)),
  };
}

/**
 * What one head adds at one token.
 * @param {{ floats: Float32Array, shape: readonly number[] }} heads (B,H,T,D)
 * @param {{ data: Float32Array, shape: readonly number[] }} wo (C,H·D)
 * @param {number} head
 * @param {number} token
 * @param {number} batch
 */
function throughProjection(
  { floats, shape: [, count, rows, width] },
  { data, shape: [out, inside] },
  head,
  token,
  batch,
) {
  const start = ((batch * count + head) * rows + token) * width;
  const x = new Float64Array(out);
  for (let c = 0; c < out; c++) {
    const from = c * inside + head * width;
    for (let d = 0; d < width; d++) x[c] += data[from + d] * floats[start + d];
  }
  return x;
}

/**
 * @typedef {object} LensOptions
 * @property {number | readonly number[]} [token] rows of the run; −1, the default, is the last
 * @property {number} [batch] default 0
 * @property {number} [top] how many of the likeliest labels; default 5
 * @property {readonly number[]} [labels] to follow, likely or not
 */
/** rank: 0 is the likeliest. @typedef {{ label: number, logit: number, probability: number, rank: number }} Guess */
/**
 * @typedef {object} LensLayer
 * @property {string} at 'embed', or the block's output
 * @property {{ token: number, top: Guess[], labels: Guess[] }[]} tokens
 */

/**
 * The logit lens (nostalgebraist 2020, "interpreting GPT: the logit lens"): what the model would say if it ended after
 * each block,
 *
 *     softmax(head(norm(xₗ)))     x₋₁: the embedding, xₗ: the output of block l, norm: the final one
 *
 * @param {Model} model
 * @param {Result} result of forward with capture: ['embed', 'blocks.*.out']
 * @param {LensOptions} [options]
 * @returns {LensLayer[]} the embedding, then every block
 */
export function logitLens(model, result, options = {}) {
  const caller = 'logitLens';
  checkOptions(caller, options, ['token', 'batch', 'top', 'labels']);
  const { batch = 0, top = 5, labels = [] } = options;
  const given = options.token ?? (model.options.head === 'pooled' ? 0 : -1);
  const needed = ['embed', 'blocks.*.out'];
  const head = headOf(caller, model);
  const norm = normOf(caller, model, 'norm');
  readNumber(caller, 'top', top, { integer: true, least: 0 });
  if (!Array.isArray(labels)) throw argumentError(caller, 'labels', labels, 'a list of labels');
  for (const label of labels) readNumber(caller, 'labels', label, { integer: true, least: 0, most: head.classes - 1 });
  const names = ['embed', ...Array.from({ length: model.options.layers }, (_, l) => `blocks.${l}.out`)];
  return names.map((at) => {
    const { floats, shape } = readCaptured(caller, result, at, 'BTC', needed);
    const b = readPlace(caller, 'batch', batch, shape[0]);
    const rows = (typeof given === 'number' ? [given] : given).map((t) => readPlace(caller, 'token', t, shape[1]));
    const tokens = rows.map((token) => {
      const start = (b * shape[1] + token) * shape[2];
      const x = Float64Array.from(floats.subarray(start, start + shape[2]));
      const { mean, rstd } = statisticsOf(model, x);
      const final = norm ? x.map((v, c) => (v - mean) * rstd * norm.weight[c] + (norm.bias?.[c] ?? 0)) : x;
      return { token, ...guess(head.logits(final), top, labels) };
    });
    return { at, tokens };
  });
}

/** @param {Float64Array} logits @param {number} top @param {readonly number[]} followed */
function guess(logits, top, followed) {
  const most = logits.reduce((a, x) => Math.max(a, x), -Infinity);
  const sum = logits.reduce((a, x) => a + Math.exp(x - most), 0);
  /** @param {number} label @returns {Guess} */
  const of = (label) => ({
    label,
    logit: logits[label],
    probability: Math.exp(logits[label] - most) / sum,
    rank: logits.reduce((higher, x) => higher + Number(x > logits[label]), 0),
  });
  return { top: likeliest(logits, top).map(of), labels: followed.map(of) };
}

/** @param {Float64Array} logits @param {number} count @returns {number[]} labels */
function likeliest(logits, count) {
  /** @type {number[]} */
  const found = [];
  while (found.length < Math.min(count, logits.length)) {
    let best = -1;
    for (let label = 0; label < logits.length; label++)
      if (!(logits[label] <= logits[best]) && !found.includes(label)) best = label;
    found.push(best);
  }
  return found;
}
