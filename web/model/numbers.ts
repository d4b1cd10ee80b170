// Writes numbers as texts of the page.

/** Writes a probability as 95%, 0.7% or <0.1%, and 99.6% if it is close to one. */
export const shareText = (p: number) => {
  if (p > 0 && p < 0.0005) return '<0.1%';
  if (p < 1 && p >= 0.9995) return '>99.9%';
  const isFine = (p > 0 && p < 0.00995) || (p < 1 && p >= 0.995);
  return `${(100 * p).toFixed(isFine ? 1 : 0)}%`;
};
export const weightText = (weight: number) => (Number.isFinite(weight) ? weight.toFixed(2) : String(weight));
/** Writes a weight in a cell as .79 or 1.0. */
export const cellText = (weight: number) =>
  !Number.isFinite(weight) ? '' : weight >= 0.995 ? '1.0' : weight.toFixed(2).replace(/^0/, '');
/** Writes +1.92 or −1.92, with a minus as wide as the plus. A rounded 0 has no sign. */
export const signed = (x: number, digits = 2) => {
  const figure = Math.abs(x).toFixed(digits);
  return Number(figure) === 0 ? figure : `${x < 0 ? '−' : '+'}${figure}`;
};
/** Writes 1.92 or −1.92, with the minus that `signed` also writes. */
export const plain = (x: number, digits = 2) => `${x < 0 ? '−' : ''}${Math.abs(x).toFixed(digits)}`;
/** Writes an angle, not negative, as 3.4° or 12°. */
export const degrees = (x: number) => `${x.toFixed(x < 9.95 ? 1 : 0)}°`;
/** Writes a sum, not negative, as 52.31, 1234.5 or 1.23e5. */
export const sumText = (x: number) =>
  x >= 1e5 || x < 0.01 ? x.toExponential(2).replace('e+', 'e') : plain(x, x < 100 ? 2 : 1);
/** Writes a share, 0 to 1, as 99.9%. Only all of it is 100.0%. */
export const fineShareText = (x: number) => `${(x < 1 ? Math.min(100 * x, 99.9) : 100).toFixed(1)}%`;

/** Returns a probability with as many digits as it needs. */
export function percentText(p: number) {
  const percent = 100 * p;
  if (percent >= 1 || percent === 0) return `${Math.round(percent)}%`;
  return percent < 0.01 ? '<0.01%' : `${percent.toFixed(percent < 0.1 ? 2 : 1)}%`;
}
