// Computes the predictions of a run: probabilities, the likeliest labels, and the contributions of heads and MLPs.

import { attribution, logitLens } from '../../../src/js/analysis/analysis.ts';
import type { Contributions } from '../../model/protocol/protocol.ts';
import type { Numbers, TransformerSource } from '../sources/types.ts';
import type { Values } from './runModel.ts';

/** Computes the softmax of one row in float64. */
export function probabilities(row: Float32Array) {
  const max = row.reduce((a, x) => Math.max(a, x), -Infinity);
  const powers = Float64Array.from(row, (x) => Math.exp(x - max));
  const sum = powers.reduce((a, x) => a + x, 0);
  return powers.map((x) => x / sum);
}

/** Returns the logits of token t, or those of the whole input. */
export function rowOf({ logits }: Values, t: number) {
  const { data, shape } = logits as Numbers;
  const size = shape[shape.length - 1];
  return shape.length === 2 ? data.subarray(0, size) : data.subarray(t * size, (t + 1) * size);
}

/** Finds the indices of the largest values, sorted by value. */
export function likeliest(values: ArrayLike<number>, count: number) {
  const found: number[] = [];
  for (let id = 0; id < values.length; id++) {
    if (found.length === count && !(values[id] > values[found[count - 1]])) continue;
    let at = found.length;
    while (at > 0 && values[id] > values[found[at - 1]]) at--;
    found.splice(at, 0, id);
    found.length = Math.min(found.length, count);
  }
  return found;
}

/**
 * Lists the likeliest labels by probability; `required` ones replace the least likely. rank: number of labels at least
 * as likely, itself included.
 */
export function listed(
  likely: ArrayLike<number>,
  count: number,
  required: readonly number[],
): { id: number; rank: number }[] {
  const best = likeliest(likely, count);
  const others = [...new Set(required)].filter((id) => !best.includes(id));
  const free = best.filter((id) => !required.includes(id));
  const dropped = free.slice(Math.max(free.length - others.length, 0));
  const ids = [...best.filter((id) => !dropped.includes(id)), ...others.sort((a, b) => likely[b] - likely[a])];
  return ids.map((id) => ({ id, rank: rankOf(likely, id, best) }));
}

/** `best`: the likeliest labels, sorted. */
function rankOf(likely: ArrayLike<number>, id: number, best: number[]) {
  if (best.includes(id)) return best.indexOf(id) + 1;
  let rank = 1;
  for (let other = 0; other < likely.length; other++) if (likely[other] > likely[id]) rank++;
  return rank;
}

export const topLabel = (values: Values, t: number) =>
  rowOf(values, t).reduce((best, x, i, row) => (x > row[best] ? i : best), 0);

/** Returns a label's probability and the likeliest label if the model ended after the embedding or each layer. */
export function lensOf({ model }: TransformerSource, values: Values, label: number) {
  const layers = logitLens(model, values, { labels: [label], top: 1 }).map(({ tokens }) => tokens[0]);
  return {
    lens: layers.map(({ labels }) => labels[0].probability),
    likeliest: layers.map(({ top }) => ({ id: top[0].label, probability: top[0].probability })),
  };
}

/** Computes contributions of embedding, heads and MLPs to a logit. `part`: shown attention of an encoder–decoder. */
export function contributionsTo(
  { model }: TransformerSource,
  values: Values,
  label: number,
  part: string,
): Contributions {
  const { embed, heads: own, cross, mlps, bias, sum } = attribution(model, values, { label });
  const [heads, others] = part === 'cross' && cross ? [cross, own] : [own, cross];
  return { label, embed, heads: heads.data, ...(others && { others: others.data }), mlps: mlps.data, bias, sum };
}

export function labelNames({ about, model, tokenizer }: TransformerSource): (id: number | null) => string {
  const labels = model.config?.id2label;
  if (about.guess === 'classes') return (id) => String(labels?.[id as number] ?? id).split(',')[0];
  if (about.reads !== 'picture' && !about.words) return (id) => (id === null || id < 0 ? '' : ` #${id}`);
  return (id) => (id === null || id < 0 ? '' : tokenizer.decode([id], { skipSpecial: false }));
}
