// Names the roles of heads by the metrics in a HeadVis folder that another program wrote. These metrics count rows and
// keys that the rules of roles leave out, so the mean weight of a rule is at least as large as computed here.

import type { Numbers } from '../../../src/js/analysis/arrays.ts';
import type { HeadvisSample, HeadvisScan } from '../../../src/js/analysis/headvis/headvisReader.ts';
import { headRoles } from '../../../src/js/analysis/roles/headRoles.ts';
import { boundsOf, countRows } from '../../../src/js/analysis/roles/roleRules.ts';
import { prepare } from '../../../src/js/analysis/scan/headSums.ts';

/** Maximum samples whose tokens are read. */
const SAMPLES = 20;

/** `samples`: of a head, which show how often tokens repeat. */
export function rolesByMetrics({ metrics, heads }: HeadvisScan, samples: readonly Pick<HeadvisSample, 'tokens'>[]) {
  const { shape } = metrics.entropy;
  const used = samples.slice(0, SAMPLES).map(({ tokens }) => tokens);
  const length = used.reduce((sum, tokens) => sum + tokens.length, 0) / Math.max(used.length, 1);
  const chances = chancesOf(used);
  const known = new Set(heads.map(({ layer, head }) => layer * shape[1] + head));
  const numbers = (of: (head: number) => number) => ({
    data: Float32Array.from({ length: shape[0] * shape[1] }, (_, i) => (known.has(i) ? of(i) : Number.NaN)),
    shape,
  });
  const valuesOf = ({ data }: Numbers, change: (x: number) => number) => numbers((i) => change(data[i]));
  return headRoles({
    mean: {
      induction: valuesOf(metrics.induction, (x) => x),
      // Row 1, in which the previous token is token 0, may have a weight of 1.
      previous: valuesOf(metrics.previous, (x) => (x * (length - 1) - 1) / (length - 2)),
      // In row 0 the weight of the token on itself is 1.
      itself: valuesOf(metrics.selfAttention, (x) => (x * length - 1) / (length - 1)),
    },
    chance: {
      induction: numbers(() => chances.induction),
      previous: numbers(() => chances.previous),
      itself: numbers(() => chances.itself),
    },
  });
}

/** Returns the mean share of the predicted keys among the visible keys, by role. */
function chancesOf(passages: readonly string[][]) {
  const sums = { induction: [0, 0], previous: [0, 0], itself: [0, 0] };
  const roles = Object.keys(sums) as (keyof typeof sums)[];
  const [bounds] = boundsOf({ layers: 1 });
  for (const tokens of passages) {
    const ids: Map<string, number> = new Map();
    for (const token of tokens) if (!ids.has(token)) ids.set(token, ids.size);
    const sequence = prepare(Int32Array.from(tokens, (token) => ids.get(token) as number));
    const { rows, shares } = countRows(sequence.ids, sequence.equalsBefore, bounds);
    for (const role of roles) {
      sums[role][0] += shares[role];
      sums[role][1] += rows[role];
    }
  }
  return Object.fromEntries(roles.map((role) => [role, sums[role][0] / sums[role][1]]));
}
