// Computes the fields of a run that the screen shows.

import { stackAt } from '../../model/forwardEdits.ts';
import type { Prediction } from '../../model/protocol/protocol.ts';
import type { Numbers, TransformerSource } from '../sources/types.ts';
import { scoreHeads, weightsOf, weightsOfHead } from './headScores.ts';
import { headValues } from './headValues.ts';
import { contributionsTo, lensOf, likeliest, listed, probabilities, rowOf } from './predictions.ts';
import type { Values } from './runModel.ts';
export type LabelName = (id: number | null) => string;

/** The number of predictions that are listed. */
const TOP = 5;

export type RunQuery = {
  ids: number[];
  layers: number;
  layer: number;
  head: number;
  /** the label whose probability is shown; null for the likeliest */
  token: number | null;
  /** another label that must be listed */
  also?: number;
  /** index of the token whose logits are the prediction */
  place: number | null;
  /** of an encoder–decoder */
  part: string;
  /** true if the keys are other tokens than the queries */
  other: boolean;
  name: LabelName;
  /** of the head */
  temperature?: number;
};

export function describe(source: TransformerSource, values: Values, query: RunQuery) {
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
        top: top.map(({ id, rank }) => ({ id, text: name(id), now: likely[id], rank }) as Prediction),
      }),
      lens: lens?.lens ?? null,
      early: lens?.likeliest.map(({ id, probability }) => ({ id, text: name(id), probability })) ?? null,
      added: followed === null ? null : contributionsTo(source, values, followed, part),
      scores: scored?.scores ?? null,
    },
  };
}

/** Returns the weights of all heads, or of the shown head in a large run. `all`: weights of every layer. */
function shownWeights({ inside, pictures }: Values, all: Numbers[], layer: number, head: number) {
  if (inside) return all[layer].data as Float32Array<ArrayBuffer>;
  return pictures ? weightsOfHead(all[layer], head) : weightsOf(all);
}

/** Returns the labels to list, which include the chosen label and `also`. */
function labelsOf(likely: Float64Array, { token, also }: RunQuery) {
  const chosen = token !== null && token < likely.length ? token : likeliest(likely, 1)[0];
  return { top: listed(likely, TOP, also === undefined ? [chosen] : [chosen, also]), chosen };
}

/** Computes all heads' scores; for a trained task, `partner`: the weight on tokens with the answer. `all`: by layer. */
function scoreAll({ partnerOf, about }: TransformerSource, all: Numbers[], ids: number[]) {
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
