// Measures the exact cost of switching one head off, by two runs for each passage: with the head and without it.

import { predicts } from '../../../src/js/analysis/roles/roleRules.ts';
import type { AtlasRole } from '../../model/protocol/atlasProtocol.ts';
import { rowOf } from '../run/predictions.ts';
import { forward, type Values } from '../run/runModel.ts';
import type { Hl, Numbers, TransformerSource } from '../sources/types.ts';
export type HeadAndRole = { layer: number; head: number; role: AtlasRole | null };

/** Minimum milliseconds between two reports of a cost. */
const EVERY = 200;

/** Returns the surprise in bits at each token except token 0. */
function surprises(values: Values, ids: Int32Array) {
  return Float64Array.from({ length: ids.length - 1 }, (_, t) => {
    const row = rowOf(values, t);
    const max = row.reduce((most, x) => Math.max(most, x), -Infinity);
    const sum = row.reduce((all, x) => all + Math.exp(x - max), 0);
    return (max + Math.log(sum) - row[ids[t + 1]]) / Math.LN2;
  });
}

/** Returns the strongest key of each row of a head. `weights`: (1,H,T,T). */
function strongestKeys({ data, shape: [, , T] }: Numbers, head: number) {
  return Array.from({ length: T }, (_, t) => {
    const row = data.subarray((head * T + t) * T, (head * T + t + 1) * T);
    return row.reduce((best, w, s) => (w > row[best] ? s : best), 0);
  });
}

export async function* measureCost(
  hl: Hl,
  source: TransformerSource,
  passages: readonly Int32Array[],
  { layer, head, role }: HeadAndRole,
) {
  const at = `blocks.${layer}.weights`;
  const off = { at: `blocks.${layer}.heads`, head: [head], set: 'zero' } as const;
  const costs: number[] = [];
  let [sum, tokens, holding, held, sent] = [0, 0, 0, 0, -Infinity];
  for (const [n, ids] of passages.entries()) {
    if (ids.length > 1) {
      const input = { ids: { data: ids, shape: [1, ids.length] } };
      const before = forward(hl, source, input, [], [at]);
      const without = surprises(forward(hl, source, input, [off], []), ids);
      const cost = surprises(before, ids).map((bits, t) => without[t] - bits);
      const keys = strongestKeys(before.captured[at], head);
      const all = cost.reduce((total, bits) => total + bits, 0);
      costs.push(all / cost.length);
      sum += all;
      tokens += cost.length;
      for (let t = 0; t < cost.length; t++)
        if (role !== null && predicts(role, ids, t, keys[t])) {
          holding += cost[t];
          held++;
        }
    }
    const isLast = n === passages.length - 1;
    if (!isLast && performance.now() - sent < EVERY) continue;
    sent = performance.now();
    yield { measured: n + 1, costs: [...costs], mean: sum / tokens, holding: held > 0 ? holding / held : null };
  }
}
