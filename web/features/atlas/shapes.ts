// The shape of a head on the map, which depends on its usual role: SVG paths around the origin, for a shape of size 1.

import type { AtlasRole } from '../../model/protocol/atlasProtocol.ts';

export const SHAPES: Record<AtlasRole | 'none', string> = {
  previous: 'M.5 -.5V.5L-.5 0Z',
  itself: 'M0 -.45A.45 .45 0 1 1 0 .45A.45 .45 0 1 1 0 -.45Z',
  induction: 'M0 -.58L.58 0L0 .58L-.58 0Z',
  first: 'M-.2 -.5H.2V.5H-.2Z',
  duplicate: 'M-.55 -.36H.55V-.09H-.55ZM-.55 .09H.55V.36H-.55Z',
  nearby: 'M-.42 -.42H.42V.42H-.42Z',
  none: 'M0 -.36A.36 .36 0 1 1 0 .36A.36 .36 0 1 1 0 -.36Z',
};

/** With more than MANY heads all shapes have the size SMALL, otherwise the size USUAL. */
const [MANY, SMALL, USUAL] = [300, 7, 12];
/** Factors on the usual size at cost 0 and at the highest cost; the size grows with the square root of the cost. */
const [LEAST, MOST] = [0.8, 1.8];

/** Returns the size of a head's shape, in pixels. `heads`: of the model; `highest`: highest cost of all heads. */
export function sizeOf(heads: number, cost: number | undefined, highest: number) {
  if (heads > MANY) return SMALL;
  if (cost === undefined || !(highest > 0)) return USUAL;
  return USUAL * (LEAST + (MOST - LEAST) * Math.sqrt(Math.max(cost, 0) / highest));
}
