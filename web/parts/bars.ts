// Draws numbers as bars, which are SVG paths.

/** Width and height of the drawing in SVG units. CSS stretches the drawing. */
export const [WIDTH, HEIGHT] = [200, 40];
/** Minimum height of the bar of a number that is not 0, and maximum gap between two bars. */
const [MIN_BAR, MAX_GAP] = [0.6, 1.2];

/** Returns a function that draws a number's bar. Full height is 1 for weights, else the largest absolute value. */
export function barsOf(values: ArrayLike<number>, isWeights: boolean) {
  const most = Array.from(values).reduce((max, x) => (Math.abs(x) > max ? Math.abs(x) : max), isWeights ? 1 : 1e-9);
  const [pitch, zero] = [WIDTH / values.length, isWeights ? HEIGHT : HEIGHT / 2];
  const gap = Math.min(pitch * 0.12, MAX_GAP);
  return (x: number, i: number) => {
    if (x === 0 || !Number.isFinite(x)) return '';
    const exact = (x / most) * zero;
    const height = Math.abs(exact) < MIN_BAR ? Math.sign(exact) * MIN_BAR || MIN_BAR : exact;
    const [left, width] = [i * pitch + gap / 2, pitch - gap].map((number) => number.toFixed(2));
    return `M${left} ${zero}h${width}v${(-height).toFixed(2)}h-${width}z`;
  };
}
