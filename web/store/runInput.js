// What a model is run with: the text, and what is changed in the model. It is a part of the state.

/**
 * What decides the numbers: with these a model can be run again.
 * @typedef {object} Run
 * @property {string} text
 * @property {string} [second] what follows in a model with an encoder
 * @property {Record<string, number>} temperature by place
 * @property {Record<string, string>} mask by place: 'none', 'past' where a model sees ahead by itself, or the number of
 *   keys of a window
 * @property {Record<string, string>} painted by place: what is hidden by hand, see hiddenCells.js
 * @property {Record<string, number>} scale by place: what a head writes is multiplied by it, 0 is off
 * @property {Record<string, number>} patch by place: 1 where what a head writes is that of the pinned run
 */

/** The names of its fields. */
export const RUN = /** @type {const} */ (['text', 'second', 'temperature', 'mask', 'painted', 'scale', 'patch']);
/** In the state: the model that is trained here. */
export const TRAINED = 'trained';

/** @param {Run} state @returns {Run} */
export const runOf = ({ text, second = '', temperature, mask, painted = {}, scale, patch }) => ({
  text,
  second,
  temperature,
  mask,
  painted,
  scale,
  patch,
});

/** @param {Record<string, unknown>} map */
const isEmpty = (map) => Object.keys(map).length === 0;
/** Whether anything is changed in the model. @param {Run} run */
export const isChanged = ({ temperature, mask, painted = {}, scale, patch }) =>
  ![temperature, mask, painted, scale, patch].every(isEmpty);
/** Nothing is changed in the model. */
export const UNCHANGED = { temperature: {}, mask: {}, painted: {}, scale: {}, patch: {} };
