// The input of a run: the text, and the changes of the model. It consists of some fields of the state.

/**
 * Everything that the numbers of a run depend on, except the model. state.js explains places.
 * @typedef {object} Run
 * @property {string} text
 * @property {string} [second] the decoder's text, in a model with an encoder; other sentences, if several
 *   are compared: see features/textImage/sentences.js
 * @property {Record<string, number>} temperature by place
 * @property {Record<string, string>} mask by place: 'none', 'past' in a model without a causal mask, or the
 *   number of keys of a sliding window
 * @property {Record<string, string>} painted by place: cells that were masked by hand, see hiddenCells.js
 * @property {Record<string, number>} scale by place: factor of a head's output, 0 is off
 * @property {'zero' | 'mean'} [off] what replaces the output of a head that is off: zero by default, or its mean over
 *   the tokens of the run
 * @property {Record<string, number>} patch by place: 1 replaces a head's output by that of the pinned run
 */

/** The names of the fields of a run. */
export const RUN = /** @type {const} */ (['text', 'second', 'temperature', 'mask', 'painted', 'scale', 'off', 'patch']);
/** Name of the model that is trained on the page. */
export const TRAINED = 'trained';

/** @param {Run} state @returns {Run} */
export const runOf = ({ text, second = '', temperature, mask, painted = {}, scale, off = 'zero', patch }) => ({
  text,
  second,
  temperature,
  mask,
  painted,
  scale,
  off,
  patch,
});

/**
 * True if the tokens of a word are joined in the picture.
 * @param {{ units: string, view: string, panel: string, first: number | null }} state
 */
export const joinsWords = ({ units, view, panel, first }) =>
  units === 'words' && (view === 'heatmap' || view === 'lines') && panel !== 'story' && first === null;

/** @param {Record<string, unknown>} map */
const isEmpty = (map) => Object.keys(map).length === 0;
/** Returns true if a run changes the model. @param {Run} run */
export const isChanged = ({ temperature, mask, painted = {}, scale, patch }) =>
  ![temperature, mask, painted, scale, patch].every(isEmpty);
/** The fields of a run that does not change the model. */
export const UNCHANGED = {
  temperature: {},
  mask: {},
  painted: {},
  scale: {},
  off: /** @type {const} */ ('zero'),
  patch: {},
};
