// Activation patching: finds the values that cause the difference between the results of two inputs.

import { checkOptions, readNumber, readSignal } from '../check/arguments.js';
import { argumentError, shapeError } from '../check/errors.js';
import { formatShape } from '../check/shape.js';
import { readCaptured } from './arrays.js';

/** @import { TensorLike } from '../check/tensorlike.js' */
/** @import { Model, Numbers, Parameter, Result } from './arrays.js' */

/** @typedef {Result & { logits?: Parameter | undefined, dispose(): void }} PatchedResult */
/**
 * @typedef {Model & { forward(input: any, options: { capture?: string[], edit?: PatchEdit[] }): PatchedResult }}
 *   PatchedModel
 */
/** @typedef {{ at: string, head?: number, token?: number, set: TensorLike }} PatchEdit */
/**
 * Computes a number from the result of a run: a logit, a difference of logits, a loss. gradient: its derivative with
 * respect to the logits, in their shape; methods that differentiate need it.
 * @typedef {{ (result: any): number, gradient?: (result: any) => Numbers }} Metric
 */
/**
 * @typedef {object} PatchOptions
 * @property {string} at the patched value, in every block: 'blocks.*.heads', 'blocks.*.out', 'blocks.*.mlp' …
 * @property {'head' | 'token'} [each] what one run patches; default 'head' for values with heads
 * @property {(progress: PatchProgress) => unknown} [onProgress] a promise is awaited; if it rejects, so does patch
 * @property {AbortSignal} [signal]
 */
/**
 * value: the metric of the last run; place: the index of the patched head or token.
 * @typedef {{ done: number, total: number, layer: number, place: number, value: number }} PatchProgress
 */
/**
 * @typedef {object} PatchResult
 * @property {number} clean the metric of the clean run
 * @property {number} corrupted the metric of the corrupted run
 * @property {Numbers} values the metrics of the corrupted runs with one patched value: (L,H) or (L,T)
 * @property {Numbers} recovered (value − corrupted) / (clean − corrupted): 0 nothing, 1 all of it
 */

const HEADS = /^blocks\.\*\.(cross\.)?(query|scores|weights|heads)$/;
const ROWS = /^blocks\.\*\.(cross\.)?(in|norm1|norm|norm2|attention|mid|hidden|mlp|out)$/;

/**
 * Runs the corrupted input once for each layer and each head, or each token, with this value replaced by that of the
 * clean run (Vig et al. 2020, "Investigating Gender Bias in Language Models Using Causal Mediation Analysis"; Meng et
 * al. 2022, "Locating and Editing Factual Associations in GPT"). Both inputs have the same number of tokens.
 *
 * @param {PatchedModel} model
 * @param {any} clean an input of forward
 * @param {any} corrupted another
 * @param {Metric} metric
 * @param {PatchOptions} options
 * @returns {Promise<PatchResult>}
 */
export async function patch(model, clean, corrupted, metric, options) {
  const caller = 'patch';
  checkOptions(caller, options, ['at', 'each', 'onProgress', 'signal']);
  const { at, onProgress } = options;
  const signal = readSignal(caller, options.signal);
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw argumentError(caller, 'onProgress', onProgress, 'a function');
  const hasHeads = typeof at === 'string' && HEADS.test(at);
  if (!hasHeads && !(typeof at === 'string' && ROWS.test(at)))
    throw argumentError(caller, 'at', at, "the name of a value in every block: 'blocks.*.heads', 'blocks.*.out' …");
  const { each = hasHeads ? 'head' : 'token' } = options;
  if (each !== 'token' && !(each === 'head' && hasHeads))
    throw argumentError(caller, 'each', each, hasHeads ? "'head' or 'token'" : "'token'");
  if (typeof metric !== 'function') throw argumentError(caller, 'metric', metric, 'a function of a result');
  signal?.throwIfAborted();

  const { layers } = model.options;
  const { from, clean: best } = measureClean(model, clean, metric, at);
  const worst = measured(model.forward(corrupted, { capture: [at] }), (result) => {
    const { shape } = captured(result, at, 0);
    if (layers > 0 && String(shape) !== String(from[0].shape))
      throw shapeError(caller, 'corrupted', shape, `the shape of the clean run, ${formatShape(from[0].shape)}`);
    return readMetric(metric, result);
  });
  const axis = each === 'head' ? 1 : from[0].shape.length - 2;
  const count = from[0].shape[axis];
  const values = new Float32Array(layers * count);
  for (let done = 0; done < values.length; done++) {
    const [layer, place] = [Math.floor(done / count), done % count];
    // Yields to the event loop, so that an abort is noticed and progress can be displayed.
    await new Promise((resolve) => setTimeout(resolve));
    signal?.throwIfAborted();
    const edit = { at: at.replace('*', String(layer)), [each]: place, set: from[layer] };
    const value = measured(model.forward(corrupted, { edit: [edit] }), (result) => readMetric(metric, result));
    values[done] = value;
    await onProgress?.({ done: done + 1, total: values.length, layer, place, value });
  }
  const shape = [layers, count];
  const recovered = values.map((value) => (value - worst) / (best - worst));
  return { clean: best, corrupted: worst, values: { data: values, shape }, recovered: { data: recovered, shape } };
}

/** @param {PatchedModel} model @param {any} clean @param {Metric} metric @param {string} at */
function measureClean(model, clean, metric, at) {
  /** @type {Numbers[]} */
  let from = [];
  const best = measured(model.forward(clean, { capture: [at] }), (result) => {
    from = Array.from({ length: model.options.layers }, (_, l) => captured(result, at, l));
    return readMetric(metric, result);
  });
  return { from, clean: best };
}

/** A copy of a captured value. @param {Result} result @param {string} at @param {number} layer @returns {Numbers} */
function captured(result, at, layer) {
  const name = at.replace('*', String(layer));
  const { floats, shape } = readCaptured('patch', result, name, HEADS.test(at) ? 'BHTD' : 'BTC', [at]);
  return { data: floats.slice(), shape: [...shape] };
}

/** @param {Metric} metric @param {PatchedResult} result */
const readMetric = (metric, result) => readNumber('patch', 'the value of metric', metric(result));

/** @param {PatchedResult} result @param {Metric} metric */
function measured(result, metric) {
  try {
    return metric(result);
  } finally {
    result.dispose();
  }
}

const LABEL = { integer: true, least: 0 };

/**
 * A metric: the logit of an id at a token, minus that of another.
 * @param {number} label
 * @param {number} [against]
 * @param {number} [token] default −1, the last
 * @returns {Metric}
 */
export function logitDifference(label, against, token = -1) {
  const caller = 'logitDifference';
  readNumber(caller, 'label', label, LABEL);
  if (against !== undefined) readNumber(caller, 'against', against, LABEL);
  readNumber(caller, 'token', token, { integer: true });
  /** The factors of logits, by their index. @param {Parameter} logits @returns {[index: number, factor: number][]} */
  const termsOf = ({ shape }) => {
    const [rows, classes] = shape.slice(-2);
    readNumber(caller, 'token', token, { integer: true, least: -rows, most: rows - 1 });
    const row = (token < 0 ? rows + token : token) * classes;
    const indexOf = (/** @type {string} */ name, /** @type {number} */ id) =>
      row + readNumber(caller, name, id, { ...LABEL, most: classes - 1 });
    const own = /** @type {[number, number]} */ ([indexOf('label', label), 1]);
    return against === undefined ? [own] : [own, [indexOf('against', against), -1]];
  };
  const metric = (/** @type {{ logits: Parameter }} */ { logits }) =>
    termsOf(logits).reduce((sum, [index, factor]) => sum + factor * logits.data[index], 0);
  metric.gradient = (/** @type {{ logits: Parameter }} */ { logits }) => {
    const data = new Float32Array(logits.data.length);
    for (const [index, factor] of termsOf(logits)) data[index] += factor;
    return { data, shape: [...logits.shape] };
  };
  return metric;
}
