// Computes the chosen head in the pinned run, for the comparison of two runs.

import type { PinnedHead } from '../../model/protocol/protocol.ts';

import type { TransformerSource } from '../sources/types.ts';
import { describe, type RunQuery } from './describeRun.ts';
import type { Read } from './modelInput.ts';
import type { Values } from './runModel.ts';

export function pinnedRun(
  source: TransformerSource,
  values: Values,
  { ids, pieces, keys, place, cut }: Read,
  query: Omit<RunQuery, 'ids' | 'place' | 'other' | 'also'>,
): PinnedHead {
  const { layer, head } = query;
  const [T, S] = [ids.length, keys?.length ?? ids.length];
  const shared = { pieces, keys: keys ?? pieces, T, S, layer, head, cut };
  if (T === 0) return shared;
  const { fields } = describe(source, values, { ...query, ids, place, other: Boolean(keys) });
  const heads = fields.weights.length / (query.layers * T * S);
  const weights = fields.weights.slice((layer * heads + head) * T * S, (layer * heads + head + 1) * T * S);
  return { ...shared, weights, values: fields.values, top: fields.top, chosen: fields.chosen };
}
