// The colours of weights on the scale that the legend's menu chooses, see colourRamp.ts.

import { RAMP, stretched } from '../drawing/colourRamp.ts';
import type { Run } from '../drawing/types.ts';
import { weightsOf } from '../model/derivation.ts';
import { useSession } from '../store/context.ts';
import type { Theme } from '../ui/palette.ts';

/** The largest weight of each head. The array of weights of a run is the key of the map. */
const cache: WeakMap<object, Record<string, number>> = new WeakMap();

/** Returns the largest weight of a head; 0 if the page has not received its weights. */
export function maxWeightOf(run: Run | null, layer: number, head: number) {
  const weights = run && weightsOf(run, layer, head);
  if (!weights) return 0;
  const known = cache.get(run.weights) ?? {};
  cache.set(run.weights, known);
  known[`${layer}.${head}`] ??= weights.reduce((most, weight) => (weight > most ? weight : most), 0);
  return known[`${layer}.${head}`];
}

/** Returns the ramp of a head, by default of the shown head. */
export function useColours(of?: { layer: number; head: number }) {
  const session = useSession();
  const run = session.run.value;
  const { colours } = session.state.value;
  const theme: Theme = session.theme.value;
  const { layer, head } = of ?? run ?? { layer: 0, head: 0 };
  return stretched(RAMP[theme], colours, colours === 'head' ? maxWeightOf(run, layer, head) : 1);
}
