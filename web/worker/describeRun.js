// What the whole screen shows of one run.

import {
  addedTo,
  headValues,
  lensOf,
  likeliest,
  probabilities,
  rowOf,
  scoresOf,
  stackAt,
  weightsOf,
} from './runModel.js';

/** @import { Source } from './sources/sources.js' */
/** @import { Numbers, Values } from './runModel.js' */

/** Guesses that are listed. */
const TOP = 5;

/**
 * @param {Source} source
 * @param {Values} values
 * @param {object} asked
 * @param {number[]} asked.ids
 * @param {number} asked.layers
 * @param {number} asked.layer
 * @param {number} asked.head
 * @param {number | null} asked.token the guess that is followed
 * @param {number} [asked.also] a guess that is listed too
 * @param {number | null} asked.place the token whose guess it is
 * @param {string} asked.part of an encoder–decoder
 * @param {boolean} asked.other keys are other tokens than queries
 * @param {(id: any) => string} asked.name
 * @param {number} [asked.temperature] of the head
 */
export function describe(source, values, asked) {
  const { ids, layers, layer, head, token, also, place, part, other, name, temperature } = asked;
  const all = Array.from({ length: layers }, (_, l) => values.captured[`${stackAt(part, l)}weights`]);
  const weights = weightsOf(all);
  const likely = place === null || !values.logits ? null : probabilities(rowOf(values, place));
  const top = likely ? likeliest(likely, TOP) : [];
  const chosen = likely ? (token !== null && token < likely.length ? token : top[0]) : null;
  if (chosen !== null && !top.includes(chosen)) top[TOP - 1] = chosen;
  if (also !== undefined && likely && !top.includes(also)) top[TOP - (top[TOP - 1] === chosen ? 2 : 1)] = also;
  const ofHead = headValues(source, values, layer, head, chosen, part, temperature);
  const exact = source.exact && chosen !== null;
  const lens = exact ? lensOf(source, values, chosen) : null;
  return {
    likely,
    top,
    name,
    fields: {
      weights,
      values: { ...ofHead, labels: ofHead.labels.map((id) => ({ id, text: name(id) })) },
      ...(likely && { chosen: { id: chosen, text: name(chosen) } }),
      ...(likely && { top: top.map((id) => ({ id, text: name(id), now: likely[id] })) }),
      lens: lens?.lens ?? null,
      early: lens?.likeliest.map(({ id, probability }) => ({ id, text: name(id), probability })) ?? null,
      added: exact ? addedTo(source, values, chosen) : null,
      scores: other || part === 'encoder' ? null : allScores(source, all, ids),
    },
  };
}

/**
 * Scores of all heads; where a task has taught the model, also how much they look at where the answer stands.
 * @param {Source} source @param {Numbers[]} all weights of every layer @param {number[]} ids
 */
function allScores({ partnerOf }, all, ids) {
  const scores = scoresOf(all, { data: ids, shape: [ids.length] });
  if (!partnerOf) return scores;
  const size = ids.length ** 2;
  return scores.map((row, l) =>
    row.map((ofHead, h) => ({
      ...ofHead,
      partner: partnerOf(all[l].data.subarray(h * size, (h + 1) * size), ids),
    })),
  );
}
