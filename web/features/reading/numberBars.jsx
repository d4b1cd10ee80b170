// Numbers as bars: above and below a line in the middle; weights, which are never negative, above a line at the bottom.

import { useSession } from '../../ui/context.js';
import { RAMP } from '../heatmap/colourRamp.js';

/** @import { Theme } from '../../ui/palette.js' */

/** Units of the drawing, which CSS stretches. */
const [WIDTH, HEIGHT] = [200, 40];
/** The least height of the bar of a number that is not 0; the largest gap between two bars. */
const [MIN_BAR, MAX_GAP] = [0.6, 1.2];
/** Smaller weights have no bar. */
const MIN_WEIGHT = 0.004;
/** The emphasized weight has at least the colour of this weight. */
const MIN_MARKED = 0.3;

/** `mark`: the bar that is emphasized. @param {{ kind: string, values: ArrayLike<number>, mark?: number }} props */
export function Bars({ kind, values, mark }) {
  const theme = useSession().theme.value;
  const isWeights = kind === 'softmax';
  const all = Array.from(values, (x, i) => /** @type {[number, number]} */ ([x, i]));
  const pathOf = barsOf(values, isWeights);
  return (
    <svg class="bars" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="line" d={`M0 ${isWeights ? HEIGHT - 0.5 : HEIGHT / 2}H${WIDTH}`} />
      {isWeights ? (
        all
          .filter(([x]) => x >= MIN_WEIGHT)
          .map(([x, i]) => {
            const fill = RAMP[/** @type {Theme} */ (theme)].css(i === mark ? Math.max(x, MIN_MARKED) : x);
            return <path key={i} d={pathOf(x, i)} style={{ fill }} />;
          })
      ) : (
        <path d={all.map(([x, i]) => pathOf(x, i)).join('')} />
      )}
    </svg>
  );
}

/**
 * The bar of a number at a position as an SVG path. The scale is common to all numbers: weights fill the height at 1,
 * others at the largest.
 * @param {ArrayLike<number>} values @param {boolean} isWeights
 */
function barsOf(values, isWeights) {
  const most = Array.from(values).reduce((max, x) => (Math.abs(x) > max ? Math.abs(x) : max), isWeights ? 1 : 1e-9);
  const [pitch, zero] = [WIDTH / values.length, isWeights ? HEIGHT : HEIGHT / 2];
  const gap = Math.min(pitch * 0.12, MAX_GAP);
  return (/** @type {number} */ x, /** @type {number} */ i) => {
    if (x === 0 || !Number.isFinite(x)) return '';
    const exact = (x / most) * zero;
    const height = Math.abs(exact) < MIN_BAR ? Math.sign(exact) * MIN_BAR || MIN_BAR : exact;
    const [left, width] = [i * pitch + gap / 2, pitch - gap].map((number) => number.toFixed(2));
    return `M${left} ${zero}h${width}v${(-height).toFixed(2)}h-${width}z`;
  };
}
