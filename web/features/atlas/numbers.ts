// Numbers as texts, in the form that the atlas shows.

import type { AxisName } from './axes.ts';

export function valueText(axis: AxisName, value: number) {
  if (!Number.isFinite(value)) return '–';
  const isInTokens = axis === 'distance' || axis === 'variation' || axis === 'spread';
  return isInTokens ? value.toFixed(value < 10 ? 1 : 0) : value.toFixed(2);
}
export const percentText = (share: number) => (Number.isFinite(share) ? `${Math.round(100 * share)}%` : '–');
/** Returns a weight without the zero before the point, as in the drawings. */
export const weightText = (weight: number) => (weight >= 0.995 ? '1.00' : weight.toFixed(2).replace(/^0/, ''));
/** Returns a number of bits with two decimals, or with three if it is small. */
export const bitsText = (bits: number) => {
  const size = Math.abs(bits);
  return size < 0.0005 ? '0' : size < 0.095 ? size.toFixed(3) : size.toFixed(2);
};

export function timeText(
  texts: { seconds: (n: number) => string; minutes: (n: number) => string },
  milliseconds: number,
) {
  const seconds = Math.max(Math.round(milliseconds / 1000), 1);
  return seconds < 90
    ? texts.seconds(seconds < 10 ? seconds : 5 * Math.round(seconds / 5))
    : texts.minutes(Math.round(seconds / 60));
}
