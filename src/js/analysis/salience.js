// Salience: how much a metric depends on the embedding of each token.

import { checkOptions, readNumber, readWord } from '../check/arguments.js';
import { HeadlightError, shapeError } from '../check/errors.js';
import { formatShape } from '../check/shape.js';
import { readInput } from '../models/input.js';
import { readArray } from './arrays.js';
import { checkGradient, copyAll, differentiated, measured, runCaptured, runEdited } from './pairs.js';
import { readSteps } from './steps.js';

/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { ReadInput } from '../models/input.js' */
/** @import { Resolved } from '../models/options.js' */
/** @import { Numbers } from './arrays.js' */
/** @import { DifferentiableModel, Metric, PatchEdit } from './pairs.js' */
/** @import { Progress } from './steps.js' */

/**
 * The members of a Transformer that salience uses.
 * @typedef {DifferentiableModel & { options: { vocab?: number | undefined }, config?: Record<string, any> | undefined,
 *   encode(text: string): { ids: readonly number[], typeIds: readonly number[] } }} SalienceModel
 */
/** @typedef {'gradient' | 'norm' | 'integrated'} SalienceMethod */
/**
 * @template {SalienceMethod} [M=SalienceMethod]
 * @typedef {object} SalienceOptions
 * @property {M} [method] default 'gradient'
 * @property {'zero' | 'padding' | (string & {}) | TensorLike} [baseline] start of the path of 'integrated': zeros, the
 *   embedding of padding tokens, or embeddings (T,C); default 'zero'
 * @property {number} [padding] label of the padding token; default: pad_token_id of the model's config
 * @property {number} [steps] number of gradients of 'integrated'; default 32
 * @property {'middle' | 'right'} [rule] point of each step at which the gradient is taken; default 'middle'
 * @property {(progress: Progress) => unknown} [onProgress] called after each gradient; a promise is awaited, and if it
 *   rejects, so does salience
 * @property {AbortSignal} [signal]
 */
/**
 * @typedef {object} Salience
 * @property {number} value the metric
 * @property {Numbers} tokens (T), or (B,T) for a batch
 * @property {number} sum sum over all tokens
 */
/**
 * The result of the method 'integrated'.
 * @typedef {object} IntegratedSalience
 * @property {number} value the metric
 * @property {number} baseline the metric at the baseline
 * @property {Numbers} tokens (T), or (B,T) for a batch
 * @property {number} sum sum over all tokens
 * @property {number} gap (value − baseline) − sum: the part of the difference that the tokens do not explain. More
 *   steps make it smaller; if it is large, the values of the tokens are not reliable
 */

/**
 * Computes the share of each token in a metric (Simonyan et al. 2014, "Deep Inside Convolutional Networks";
 * Sundararajan et al. 2017, "Axiomatic Attribution for Deep Networks"), from e, the value `embed`, and g, the gradient
 * of the metric:
 *
 *     gradient     Σ e·g over channels
 *     norm         ‖g‖
 *     integrated   Σ (e − e⁰) · the mean of g at e⁰ + a·(e − e⁰), for `steps` numbers a from 0 to 1
 *
 * Zeros are a poor baseline e⁰ before a norm, whose gradient is very large there, which makes `gap` large.
 *
 * @template {SalienceMethod} [M='gradient']
 * @param {SalienceModel} model
 * @param {any} input of forward
 * @param {Metric} metric with a gradient, such as logitDifference
 * @param {SalienceOptions<M>} [options]
 * @returns {Promise<M extends 'integrated' ? IntegratedSalience : Salience>}
 */
export async function salience(model, input, metric, options = {}) {
  return /** @type {any} */ (await computeSalience(model, input, metric, options));
}

/**
 * @param {SalienceModel} model
 * @param {any} input
 * @param {Metric} metric
 * @param {SalienceOptions} options
 * @returns {Promise<Salience | IntegratedSalience>}
 */
async function computeSalience(model, input, metric, options) {
  const caller = 'salience';
  const known = ['method', 'baseline', 'padding', 'steps', 'rule', 'onProgress', 'signal'];
  checkOptions(caller, options, known);
  const { method = 'gradient', rule = 'middle', steps: count = 32 } = options;
  const steps = readSteps(caller, options);
  readWord(caller, 'method', method, ['gradient', 'norm', 'integrated']);
  readWord(caller, 'rule', rule, ['middle', 'right']);
  readNumber(caller, 'steps', count, { integer: true, least: 1 });
  checkGradient(caller, metric);
  if (model.options.head === 'none')
    throw new HeadlightError('ARGUMENT', `${caller}: this model has no head and therefore no logits`, {
      parameter: 'model',
      expected: 'a model with logits',
    });
  const read = readInput(caller, /** @type {Resolved} */ (model.options), input, (text) => model.encode(text));
  steps.check();

  const gradientAt = (/** @type {PatchEdit[]} */ ...edit) => {
    const { value, values, gradients } = differentiated(caller, model, input, { of: metric, at: ['embed'], edit });
    return { value, e: values.embed, g: gradients.embed.data };
  };
  if (method !== 'integrated') {
    const { value, e, g } = gradientAt();
    await steps.report({ done: 1, total: 1 });
    const factors = method === 'norm' ? g : e.data;
    const sums = sumChannels(e, (i) => factors[i] * g[i]);
    return summed(value, read, e, method === 'norm' ? sums.map(Math.sqrt) : sums);
  }
  const { value, values } = runCaptured(caller, model, input, metric, ['embed']);
  const e = values.embed;
  const start = readBaseline(caller, model, read, options, e);
  const path = (/** @type {number} */ a) => ({ at: 'embed', set: between(start, e, a) });
  const baseline = runEdited(caller, model, input, metric, [path(0)]);
  const mean = new Float64Array(e.data.length);
  for (let k = 1; k <= count; k++) {
    const { g } = await steps.run(() => gradientAt(path((rule === 'right' ? k : k - 0.5) / count)));
    for (let i = 0; i < mean.length; i++) mean[i] += g[i] / count;
    await steps.report({ done: k, total: count });
  }
  const sums = sumChannels(e, (i) => (e.data[i] - start[i]) * mean[i]);
  const result = summed(value, read, e, sums);
  return { ...result, baseline, gap: value - baseline - result.sum };
}

/**
 * Returns the embeddings at which the path begins, (B,T,C).
 * @param {string} caller
 * @param {SalienceModel} model
 * @param {ReadInput} read
 * @param {SalienceOptions} options
 * @param {Numbers} e
 * @returns {Float32Array}
 */
function readBaseline(caller, model, read, { baseline = 'zero', padding }, { data, shape }) {
  if (typeof baseline === 'string') {
    const word = readWord(caller, 'baseline', baseline, ['zero', 'padding']);
    return word === 'zero' ? new Float32Array(data.length) : paddingOf(caller, model, read, padding);
  }
  const { floats, shape: given } = readArray(caller, 'baseline', baseline, 'TC', 'BTC');
  if (String(given) !== String(shape.slice(-given.length)))
    throw shapeError(caller, 'baseline', given, `${formatShape(shape.slice(1))}, the shape of embed`);
  return Float32Array.from(data, (_, i) => floats[i % floats.length]);
}

/**
 * Returns the embeddings of padding tokens, as many as the input has tokens.
 * @param {string} caller
 * @param {SalienceModel} model
 * @param {ReadInput} read
 * @param {number} [given] label of the padding token
 */
function paddingOf(caller, model, { batch, rows, labels, typeIds, positions, encoder }, given) {
  if (!labels || encoder)
    throw new HeadlightError('ARGUMENT', `${caller}: the baseline 'padding' requires an input of tokens only`, {
      parameter: 'baseline',
    });
  const padding = given ?? model.config?.pad_token_id;
  if (padding === undefined || padding === null)
    throw new HeadlightError(
      'ARGUMENT',
      `${caller}: the config of this model has no pad_token_id, so the option padding must be set`,
      {
        parameter: 'padding',
      },
    );
  const { vocab = 0 } = model.options;
  readNumber(caller, 'padding', padding, { integer: true, least: 0, most: vocab - 1 });
  const shape = [batch, rows];
  const input = {
    ids: { data: new Int32Array(labels.length).fill(padding), shape },
    ...(typeIds && { typeIds: { data: typeIds, shape } }),
    ...(positions && { positions: { data: positions, shape } }),
  };
  const run = model.forward(input, { capture: ['embed'] });
  return measured(run, ({ captured }) => copyAll(caller, captured)).embed.data;
}

/** Returns from + a·(to − from). @param {Float32Array} from @param {Numbers} to @param {number} a @returns {Numbers} */
const between = (from, { data, shape }, a) => ({ data: from.map((x, i) => x + a * (data[i] - x)), shape });

/**
 * Sums terms over channels. Returns (B·T).
 * @param {Numbers} e (B,T,C)
 * @param {(i: number) => number} term
 */
function sumChannels({ shape: [batch, rows, width] }, term) {
  const sums = new Float64Array(batch * rows);
  for (let i = 0; i < sums.length * width; i++) sums[Math.floor(i / width)] += term(i);
  return sums;
}

/**
 * @param {number} value
 * @param {ReadInput} read
 * @param {Numbers} e (B,T,C)
 * @param {Float64Array} sums (B·T)
 * @returns {Salience}
 */
function summed(value, { batched }, { shape: [batch, rows] }, sums) {
  const shape = batched ? [batch, rows] : [rows];
  return { value, tokens: { data: Float32Array.from(sums), shape }, sum: sums.reduce((a, x) => a + x, 0) };
}
