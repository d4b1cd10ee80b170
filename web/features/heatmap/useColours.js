// The colours of weights, as the legend's word says: see colourRamp.js.

import { useSession } from '../../ui/context.js';
import { weightsOf } from '../reading/derivation.js';
import { RAMP, stretched } from './colourRamp.js';

/** The largest weight of each head, by the weights of a run. @type {WeakMap<object, Record<string, number>>} */
const found = new WeakMap();

/** The largest weight of a head, 0 where there is none. */
export function mostOf(run, layer, head) {
  const weights = run && weightsOf(run, layer, head);
  if (!weights) return 0;
  const known = found.get(run.weights) ?? {};
  found.set(run.weights, known);
  known[`${layer}.${head}`] ??= weights.reduce((most, weight) => (weight > most ? weight : most), 0);
  return known[`${layer}.${head}`];
}

/** The ramp of a head, by default of the one that is shown. @param {{ layer: number, head: number }} [of] */
export function useColours(of) {
  const session = useSession();
  const run = session.run.value;
  const { colours } = session.state.value;
  const ramp = RAMP[session.theme.value];
  const { layer, head } = of ?? run ?? { layer: 0, head: 0 };
  return stretched(ramp, colours, colours === 'head' ? mostOf(run, layer, head) : 1);
}
