// The settings of a circuit in the state of the page: the value that a cut edge carries, how many edges are kept, and
// which edges are cut.

/**
 * carries: null for the default, which is the value in the other sentence if both have the same number of tokens,
 * otherwise the mean, or zero if a mean has no meaning for the model. lines: number of edges that are kept, null for
 * the least number that keeps most of the prediction. cut: names of edges.
 * @typedef {{ carries: Carries | null, lines: number | null, cut: string[] }} CircuitSettings
 */

/** The values that cut edges can carry. */
export const CARRIES = /** @type {const} */ (['other', 'mean', 'zero']);
/** @typedef {typeof CARRIES[number]} Carries */
/** Maximum number of edges that are measured one by one. */
export const MAX_LINES = 64;
const MAX_CUT = 64;

/** @type {CircuitSettings} */
export const usualCircuit = { carries: null, lines: null, cut: [] };

/** Returns true for a name in the form that lineNames.js writes. @param {unknown} x */
const isLineName = (x) => typeof x === 'string' && /^[ehm][\d.]*-[lqkvm][\d.]*$/.test(x);
/** @param {any} x */
export const isCircuit = (x) =>
  x === null ||
  ((x?.carries === null || CARRIES.includes(x?.carries)) &&
    (x.lines === null || (Number.isInteger(x.lines) && x.lines >= 1 && x.lines <= MAX_LINES)) &&
    Array.isArray(x.cut) &&
    x.cut.length <= MAX_CUT &&
    x.cut.every(isLineName));

/** @param {CircuitSettings} settings */
export const writeCircuit = ({ carries, lines, cut }) => [carries ?? 'usual', lines ?? '', ...cut].join('_');
/** @param {string} text @returns {unknown} */
export function readCircuit(text) {
  const [carries, lines, ...cut] = text.split('_');
  return { carries: carries === 'usual' ? null : carries, lines: lines ? Number(lines) : null, cut };
}
