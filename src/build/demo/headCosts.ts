// Measures how many bits per token the prediction loses when one head is switched off, over passages of text.

import { type HeadRole, predicts } from '../../js/analysis/roles/roleRules.ts';
import type { Headlight } from '../../js/index.ts';
import type { Edit } from '../../js/models/edits.ts';
import type { Transformer } from '../../js/models/transformer.ts';

export type Head = { layer: number; head: number };
export type { HeadRole } from '../../js/analysis/roles/roleRules.ts';

/** Returns the surprise in bits at each token except token 0. */
const surprises = (hl: Headlight, model: Transformer, ids: number[], edit: Edit[] = []) =>
  hl.scope(() => {
    const { data, shape } = model.forward({ ids }, { edit }).logits;
    const vocab = shape[shape.length - 1];
    return Float64Array.from({ length: ids.length - 1 }, (_, t) => {
      const row = data.subarray(t * vocab, (t + 1) * vocab);
      const most = row.reduce((a: number, x: number) => Math.max(a, x), -Infinity);
      const sum = row.reduce((a: number, x: number) => a + Math.exp(x - most), 0);
      return (most + Math.log(sum) - row[ids[t + 1]]) / Math.LN2;
    });
  });

/** Returns the strongest key of each row of a head. */
const strongestKeys = (hl: Headlight, model: Transformer, ids: number[], { layer, head }: Head): number[] =>
  hl.scope(() => {
    const at = `blocks.${layer}.weights` as const;
    const { data } = model.forward({ ids }, { capture: [at] }).captured[at];
    const T = ids.length;
    return ids.map((_, t) => {
      const row = data.subarray((head * T + t) * T, (head * T + t + 1) * T);
      return row.indexOf(Math.max(...row));
    });
  });

/**
 * Returns the mean cost in bits per token of switching a head off. repeated: where the token of the row occurred before
 * in the passage; holding: where the largest weight of the row follows the rule of the role.
 */
export function headCosts(
  hl: Headlight,
  model: Transformer,
  passages: readonly number[][],
  place: Head,
  role: HeadRole,
) {
  const sums = { all: [0, 0], repeated: [0, 0], holding: [0, 0] };
  const add = (sum: number[], cost: number) => {
    sum[0] += cost;
    sum[1]++;
  };
  const edit = [{ at: `blocks.${place.layer}.heads`, head: place.head, set: 'zero' }];
  for (const ids of passages) {
    const before = surprises(hl, model, ids);
    const after = surprises(hl, model, ids, edit);
    const keys = strongestKeys(hl, model, ids, place);
    before.forEach((bits, t) => {
      const cost = after[t] - bits;
      add(sums.all, cost);
      if (ids.indexOf(ids[t]) < t) add(sums.repeated, cost);
      if (predicts(role, ids, t, keys[t])) add(sums.holding, cost);
    });
  }
  const [all, repeated, holding] = Object.values(sums).map(([sum, count]) => sum / count);
  return { all, repeated, holding };
}
