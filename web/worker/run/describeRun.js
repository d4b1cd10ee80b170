// Computes the fields of a run that the screen shows.

import { stackAt } from '../../features/whatif/forwardEdits.js';
import { scoreHeads, weightsOf, weightsOfHead } from './headScores.js';
import { headValues } from './headValues.js';
import { contributionsTo, lensOf, likeliest, listed, probabilities, rowOf } from './predictions.js';

/** @import { Numbers, TransformerSource } from '../sources/types.js' */
/** @import { Prediction } from '../../store/protocol.js' */
/** @import { Values } from './runModel.js' */
/** @typedef {(id: number | null) => string} LabelName */

/** The number of predictions that are listed. */
const TOP = 5;

/**
 * @typedef {object} RunQuery
 * @property {number[]} ids
 * @property {number} layers
 * @property {number} layer
 * @property {number} head
 * @property {number | null} token the label whose probability is shown; null for the likeliest
 * @property {number} [also] another label that must be listed
 * @property {number | null} place index of the token whose logits are the prediction
 * @property {string} part of an encoder–decoder
 * @property {boolean} other true if the keys are other tokens than the queries
 * @property {LabelName} name
 * @property {number} [temperature] of the head
 */

/**
 * @param {TransformerSource} source
 * @param {Values} values
 * @param {RunQuery} query
 */
export function describe(source, values, query) {
  const { ids, layers, layer, head, place, part, other, name, temperature } = query;
  const large = values.pictures !== undefined;
  const all = Array.from(
    { length: layers },
    (_, l) => (values.inside ?? values.captured)[`${stackAt(part, l)}weights`],
  );
  const likely = place === null || !values.logits ? null : probabilities(rowOf(values, place));
  const { top, chosen } = likely ? labelsOf(likely, query) : { top: [], chosen: null };
  const ofHead = headValues(source, values, { layer, head, chosen, part, temperature });
  // The parts of an encoder have no contributions of their own, because they reach the logits through the decoder.
  const followed = source.exact && part !== 'encoder' ? chosen : null;
  const lens = followed === null ? null : lensOf(source, values, followed);
  const scored = large || other || part === 'encoder' ? null : scoreAll(source, all, ids);
  return {
    likely,
    top: top.map(({ id }) => id),
    name,
    named: scored?.named ?? null,
    fields: {
      ...(large && { large }),
      weights: shownWeights(values, all, layer, head),
      values: { ...ofHead, labels: ofHead.labels.map((id) => ({ id, text: name(id) })) },
      ...(likely && { chosen: { id: chosen, text: name(chosen) } }),
      ...(likely && {
        top: top.map(({ id, rank }) => /** @type {Prediction} */ ({ id, text: name(id), now: likely[id], rank })),
      }),
      lens: lens?.lens ?? null,
      early: lens?.likeliest.map(({ id, probability }) => ({ id, text: name(id), probability })) ?? null,
      added: followed === null ? null : contributionsTo(source, values, followed, part),
      scores: scored?.scores ?? null,
    },
  };
}

/**
 * Returns the weights of all heads, or only those of the shown head if the run is large.
 * @param {Values} values @param {Numbers[]} all weights of every layer @param {number} layer @param {number} head
 */
function shownWeights({ inside, pictures }, all, layer, head) {
  if (inside) return /** @type {Float32Array<ArrayBuffer>} */ (all[layer].data);
  return pictures ? weightsOfHead(all[layer], head) : weightsOf(all);
}

/**
 * Returns the labels to list, which include the chosen label and `also`.
 * @param {Float64Array} likely @param {RunQuery} query
 */
function labelsOf(likely, { token, also }) {
  const chosen = token !== null && token < likely.length ? token : likeliest(likely, 1)[0];
  return { top: listed(likely, TOP, also === undefined ? [chosen] : [chosen, also]), chosen };
}

/**
 * Computes the scores of all heads. For a model trained on a task, the score `partner` is the weight on the tokens that
 * contain the answer.
 * @param {TransformerSource} source @param {Numbers[]} all weights of every layer @param {number[]} ids
 */
function scoreAll({ partnerOf, about }, all, ids) {
  const scored = scoreHeads(all, { data: ids, shape: [ids.length] }, about.causal);
  if (!partnerOf) return scored;
  const size = ids.length ** 2;
  const scores = scored.scores.map((row, l) =>
    row.map((ofHead, h) => ({
      ...ofHead,
      partner: partnerOf(all[l].data.subarray(h * size, (h + 1) * size), ids),
    })),
  );
  return { ...scored, scores };
}
