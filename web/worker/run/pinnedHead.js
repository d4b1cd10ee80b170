// Computes the chosen head in the pinned run, for the comparison of two runs.

import { describe } from './describeRun.js';

/** @import { TransformerSource } from '../sources/types.js' */
/** @import { PinnedHead } from '../../store/protocol.js' */
/** @import { RunQuery } from './describeRun.js' */
/** @import { Read } from './modelInput.js' */
/** @import { Values } from './runModel.js' */

/**
 * @param {TransformerSource} source
 * @param {Values} values
 * @param {Read} read
 * @param {Omit<RunQuery, 'ids' | 'place' | 'other' | 'also'>} query
 * @returns {PinnedHead}
 */
export function pinnedRun(source, values, { ids, pieces, keys, place, cut }, query) {
  const { layer, head } = query;
  const [T, S] = [ids.length, keys?.length ?? ids.length];
  const shared = { pieces, keys: keys ?? pieces, T, S, layer, head, cut };
  if (T === 0) return shared;
  const { fields } = describe(source, values, { ...query, ids, place, other: Boolean(keys) });
  const heads = fields.weights.length / (query.layers * T * S);
  const weights = fields.weights.slice((layer * heads + head) * T * S, (layer * heads + head + 1) * T * S);
  return { ...shared, weights, values: fields.values, top: fields.top, chosen: fields.chosen };
}
