// Numbers as texts, in the form that the atlas shows.

/** @import { AxisName } from './axes.js' */

/** Returns a value on an axis as a text. @param {AxisName} axis @param {number} value */
export function valueText(axis, value) {
  if (!Number.isFinite(value)) return '–';
  const isInTokens = axis === 'distance' || axis === 'variation' || axis === 'spread';
  return isInTokens ? value.toFixed(value < 10 ? 1 : 0) : value.toFixed(2);
}
/** @param {number} share */
export const percentText = (share) => (Number.isFinite(share) ? `${Math.round(100 * share)}%` : '–');
/** Returns a weight without the zero before the point, as in the drawings. @param {number} weight */
export const weightText = (weight) => (weight >= 0.995 ? '1.00' : weight.toFixed(2).replace(/^0/, ''));
/** Returns a number of bits with two decimals, or with three if it is small. @param {number} bits */
export const bitsText = (bits) => {
  const size = Math.abs(bits);
  return size < 0.0005 ? '0' : size < 0.095 ? size.toFixed(3) : size.toFixed(2);
};

/**
 * Returns a duration in seconds or minutes, in the language of the page.
 * @param {{ seconds: (n: number) => string, minutes: (n: number) => string }} texts
 * @param {number} milliseconds
 */
export function timeText(texts, milliseconds) {
  const seconds = Math.max(Math.round(milliseconds / 1000), 1);
  return seconds < 90
    ? texts.seconds(seconds < 10 ? seconds : 5 * Math.round(seconds / 5))
    : texts.minutes(Math.round(seconds / 60));
}
