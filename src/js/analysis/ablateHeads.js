// Ablation: measures a metric once for each head, with that head left out.

import { checkOptions, readWord } from '../check/arguments.js';
import { argumentError } from '../check/errors.js';
import { checkMetric, runEdited } from './pairs.js';
import { readSteps } from './steps.js';

/** @import { Model, Numbers } from './arrays.js' */
/** @import { Metric, PatchedModel, PatchEdit } from './pairs.js' */

/**
 * A kind of attention: self-attention of the encoder, self-attention of the decoder, or cross-attention of the decoder
 * to the encoder. A model with one stack of blocks, even if that is an encoder, has only 'decoder'.
 * @typedef {'encoder' | 'decoder' | 'cross'} AttentionPart
 */
/**
 * Progress after a run. value: the metric of that run, in which `head` was left out.
 * @typedef {{ done: number, total: number, part: AttentionPart, layer: number, head: number, value: number }}
 *   AblationProgress
 */
/**
 * @template {AttentionPart} [P=AttentionPart]
 * @typedef {object} AblationOptions
 * @property {readonly P[]} [parts] default: all parts of the model
 * @property {'zero' | 'mean'} [set] what replaces the output of a head: zeros, or its mean over all tokens of the
 *   input; default 'zero'
 * @property {readonly PatchEdit[]} [edit] changes of every run, applied before the edit of the head
 * @property {(progress: AblationProgress) => unknown} [onProgress] a promise is awaited; if it rejects, ablateHeads
 *   rejects
 * @property {AbortSignal} [signal]
 */
/**
 * @template {AttentionPart} [P=AttentionPart]
 * @typedef {object} HeadAblation
 * @property {number} value the metric with all heads
 * @property {Record<P, Numbers>} parts for each head, the metric of the run without that head, (L,H); a model without
 *   an encoder has only 'decoder'
 */

/**
 * Returns the name of the captured value that contains the outputs of all heads of a layer, by part.
 * @type {Record<AttentionPart, (layer: number) => string>}
 */
const AT = {
  encoder: (layer) => `encoder.blocks.${layer}.heads`,
  decoder: (layer) => `blocks.${layer}.heads`,
  cross: (layer) => `blocks.${layer}.cross.heads`,
};

/**
 * Runs a model once for each head while the output of that head is replaced before the output projection (Michel et al.
 * 2019, "Are Sixteen Heads Really Better than One?"). The values are measured, not estimated. For a model without
 * logits, use `hiddenAngle` as the metric.
 *
 * @template {AttentionPart} [P=AttentionPart]
 * @param {PatchedModel} model
 * @param {any} input of forward
 * @param {Metric} metric
 * @param {AblationOptions<P>} [options]
 * @returns {Promise<HeadAblation<P>>} { value, parts: { decoder: { data, shape: [L, H] } } }
 */
export async function ablateHeads(model, input, metric, options = {}) {
  const caller = 'ablateHeads';
  checkOptions(caller, options, ['parts', 'set', 'edit', 'onProgress', 'signal']);
  const { edit = [] } = options;
  const steps = readSteps(caller, options);
  const set = readWord(caller, 'set', options.set ?? 'zero', /** @type {const} */ (['zero', 'mean']));
  if (!Array.isArray(edit)) throw argumentError(caller, 'edit', edit, 'a list of edits');
  checkMetric(caller, metric);
  const parts = readParts(caller, model, options.parts);
  steps.check();

  const value = runEdited(caller, model, input, metric, [...edit]);
  const sizes = parts.map((part) => stackOf(model, part)).map(({ layers, numHeads }) => [layers, numHeads]);
  const found = sizes.map((shape) => ({ data: new Float32Array(shape[0] * shape[1]), shape }));
  const total = found.reduce((count, { data }) => count + data.length, 0);
  let done = 0;
  for (const [p, part] of parts.entries())
    for (let i = 0; i < found[p].data.length; i++) {
      const [layer, head] = [Math.floor(i / sizes[p][1]), i % sizes[p][1]];
      const off = { at: AT[part](layer), head, set };
      const without = await steps.run(() => runEdited(caller, model, input, metric, [...edit, off]));
      found[p].data[i] = without;
      await steps.report({ done: ++done, total, part, layer, head, value: without });
    }
  const byPart = Object.fromEntries(parts.map((part, p) => [part, found[p]]));
  return { value, parts: /** @type {Record<P, Numbers>} */ (byPart) };
}

/** @param {Model} model @param {AttentionPart} part */
const stackOf = ({ options }, part) => (part === 'encoder' && options.encoder ? options.encoder : options);

/**
 * @param {string} caller
 * @param {Model} model
 * @param {unknown} parts
 * @returns {AttentionPart[]}
 */
function readParts(caller, { options: { encoder, cross } }, parts) {
  const known = /** @type {AttentionPart[]} */ ([
    ...(encoder ? ['encoder'] : []),
    'decoder',
    ...(cross ? ['cross'] : []),
  ]);
  if (parts === undefined) return known;
  const isKnown = (/** @type {any} */ part) => known.includes(part);
  if (!Array.isArray(parts) || parts.length === 0 || !parts.every(isKnown))
    throw argumentError(caller, 'parts', parts, `a list of parts of this model: ${known.join(', ')}`);
  return [...new Set(parts)];
}
