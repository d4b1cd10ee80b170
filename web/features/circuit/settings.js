// The settings of a circuit in the state of the page: the value that a cut line carries, how many lines are kept, and
// which lines are cut.

/**
 * carries: null for the value in the other sentence if there is one, otherwise for the mean. lines: null for the least
 * number of lines that keep most of the prediction. cut: names of lines.
 * @typedef {{ carries: Carries | null, lines: number | null, cut: string[] }} CircuitSettings
 */

/** The values that cut lines can carry. */
export const CARRIES = /** @type {const} */ (['other', 'mean', 'zero']);
/** @typedef {typeof CARRIES[number]} Carries */
/** Maximum number of lines that are measured one by one. */
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
