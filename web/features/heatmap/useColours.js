// The colours of weights on the scale that the legend's menu chooses, see colourRamp.js.

import { useSession } from '../../ui/context.js';
import { weightsOf } from '../reading/derivation.js';
import { RAMP, stretched } from './colourRamp.js';

/** @import { Theme } from '../../ui/palette.js' */
/** @import { Run } from './types.js' */

/**
 * The largest weight of each head. The array of weights of a run is the key of the map.
 * @type {WeakMap<object, Record<string, number>>}
 */
const cache = new WeakMap();

/**
 * Returns the largest weight of a head; 0 if the page has not received its weights.
 * @param {Run | null} run @param {number} layer @param {number} head
 */
export function maxWeightOf(run, layer, head) {
  /** @type {Float32Array | null} */
  const weights = run && weightsOf(run, layer, head);
  if (!weights) return 0;
  const known = cache.get(run.weights) ?? {};
  cache.set(run.weights, known);
  known[`${layer}.${head}`] ??= weights.reduce((most, weight) => (weight > most ? weight : most), 0);
  return known[`${layer}.${head}`];
}

/** Returns the ramp of a head, by default of the shown head. @param {{ layer: number, head: number }} [of] */
export function useColours(of) {
  const session = useSession();
  const run = session.run.value;
  const { colours } = session.state.value;
  /** @type {Theme} */
  const theme = session.theme.value;
  const { layer, head } = of ?? run ?? { layer: 0, head: 0 };
  return stretched(RAMP[theme], colours, colours === 'head' ? maxWeightOf(run, layer, head) : 1);
}
