// The head shown, in the pinned run: what the comparison of two runs needs of the other one.

import { describe } from './describeRun.js';

/** @import { Read } from './modelInput.js' */
/** @import { Source } from './sources/sources.js' */
/** @import { Values } from './runModel.js' */

/**
 * @param {Source} source
 * @param {Values} values
 * @param {Read} read
 * @param {Omit<Parameters<typeof describe>[2], 'ids' | 'place' | 'other' | 'also'>} asked
 */
export function pinnedRun(source, values, { ids, pieces, keys, place, cut }, asked) {
  const { layer, head } = asked;
  const [T, S] = [ids.length, keys?.length ?? ids.length];
  const shared = { pieces, keys: keys ?? pieces, T, S, layer, head, cut };
  if (T === 0) return shared;
  const { fields } = describe(source, values, { ...asked, ids, place, other: Boolean(keys) });
  const heads = fields.weights.length / (asked.layers * T * S);
  const weights = fields.weights.slice((layer * heads + head) * T * S, (layer * heads + head + 1) * T * S);
  return { ...shared, weights, values: fields.values, top: fields.top, chosen: fields.chosen };
}
