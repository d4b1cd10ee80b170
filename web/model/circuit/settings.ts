// The settings of a circuit in the state of the page: the value that a cut edge carries, how many edges are kept, and
// which edges are cut.

/**
 * carries: null for the default: the value in the other sentence if that has as many tokens, else the mean, or zero
 * where a mean has no meaning for the model. lines: edges kept, null for the fewest that keep most of the prediction.
 * cut: names.
 */
export type CircuitSettings = { carries: Carries | null; lines: number | null; cut: string[] };

/** The values that cut edges can carry. */
export const CARRIES = ['other', 'mean', 'zero'] as const;
export type Carries = (typeof CARRIES)[number];
/** Maximum number of edges that are measured one by one. */
export const MAX_LINES = 64;
const MAX_CUT = 64;

export const usualCircuit: CircuitSettings = { carries: null, lines: null, cut: [] };

/** Returns true for a name in the form that lineNames.ts writes. */
const isLineName = (x: unknown) => typeof x === 'string' && /^[ehm][\d.]*-[lqkvm][\d.]*$/.test(x);
export const isCircuit = (x: any) =>
  x === null ||
  ((x?.carries === null || CARRIES.includes(x?.carries)) &&
    (x.lines === null || (Number.isInteger(x.lines) && x.lines >= 1 && x.lines <= MAX_LINES)) &&
    Array.isArray(x.cut) &&
    x.cut.length <= MAX_CUT &&
    x.cut.every(isLineName));

export const writeCircuit = ({ carries, lines, cut }: CircuitSettings) =>
  [carries ?? 'usual', lines ?? '', ...cut].join('_');
export function readCircuit(text: string): unknown {
  const [carries, lines, ...cut] = text.split('_');
  return { carries: carries === 'usual' ? null : carries, lines: lines ? Number(lines) : null, cut };
}
