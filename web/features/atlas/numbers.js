// Numbers as the atlas shows them.

/** @import { AxisName } from './axes.js' */

/** A value on an axis. @param {AxisName} axis @param {number} value */
export function valueText(axis, value) {
  if (!Number.isFinite(value)) return '–';
  const isInTokens = axis === 'distance' || axis === 'variation' || axis === 'spread';
  return isInTokens ? value.toFixed(value < 10 ? 1 : 0) : value.toFixed(2);
}
/** @param {number} share */
export const percentText = (share) => (Number.isFinite(share) ? `${Math.round(100 * share)}%` : '–');
/** As on the drawings: without the zero. @param {number} weight */
export const weightText = (weight) => (weight >= 0.995 ? '1.00' : weight.toFixed(2).replace(/^0/, ''));
/** Bits with two figures or more. @param {number} bits */
export const bitsText = (bits) => {
  const size = Math.abs(bits);
  return size < 0.0005 ? '0' : size < 0.095 ? size.toFixed(3) : size.toFixed(2);
};

/**
 * A time in the words of the page.
 * @param {{ seconds: (n: number) => string, minutes: (n: number) => string }} texts
 * @param {number} milliseconds
 */
export function timeText(texts, milliseconds) {
  const seconds = Math.max(Math.round(milliseconds / 1000), 1);
  return seconds < 90
    ? texts.seconds(seconds < 10 ? seconds : 5 * Math.round(seconds / 5))
    : texts.minutes(Math.round(seconds / 60));
}
