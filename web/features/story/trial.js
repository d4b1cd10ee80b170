// Changes inside a head that the story tries. Each has a name in state.trial. '4.2.13.29' is a changed component of a
// query, by layer, head, token and index. '3.3-4.2' is a cut edge, from head 3.3 to the keys of head 4.2.

/** @typedef {{ layer: number, head: number }} Place */
/** @typedef {{ from: Place, to: Place }} Line */

/** The edge from the previous-token head to the keys of the induction head. */
export const TRICK = { from: { layer: 3, head: 3 }, to: { layer: 4, head: 2 } };
/** @param {Place} place */
export const headName = ({ layer, head }) => `${layer}.${head}`;
/** @param {Line} line */
export const lineKey = ({ from, to }) => `${headName(from)}-${headName(to)}`;
/** @param {Place & { token: number, index: number }} number */
export const numberKey = ({ layer, head, token, index }) => [layer, head, token, index].join('.');

/** @param {string} name @returns {Place} */
function placeOf(name) {
  const [layer, head] = name.split('.').map(Number);
  return { layer, head };
}

/** @param {{ trial?: Record<string, number> }} state */
export const hasTrial = ({ trial = {} }) => Object.keys(trial).length > 0;

/** @param {Record<string, number>} trial */
export function readTrial(trial) {
  const all = Object.entries(trial);
  return {
    numbers: all
      .filter(([key]) => !key.includes('-'))
      .map(([key, value]) => {
        const [layer, head, token, index] = key.split('.').map(Number);
        return { layer, head, token, index, value };
      }),
    /** @type {Line[]} */
    lines: all
      .filter(([key]) => key.includes('-'))
      .map(([key]) => {
        const [from, to] = key.split('-').map(placeOf);
        return { from, to };
      }),
  };
}
