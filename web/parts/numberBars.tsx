// Numbers as bars above and below a line in the middle. Weights, which are never negative, are bars above a line at the
// bottom.

import { RAMP } from '../drawing/colourRamp.ts';
import { useSession } from '../store/context.ts';
import type { Theme } from '../ui/palette.ts';
import { barsOf, HEIGHT, WIDTH } from './bars.ts';

/** Minimum weight of a bar. */
const MIN_WEIGHT = 0.004;
/** The bar of the emphasized weight has at least the colour of this weight. */
const MIN_MARKED = 0.3;

/** mark: position of the bar that is emphasized */
export function Bars({ kind, values, mark }: { kind: string; values: ArrayLike<number>; mark?: number }) {
  const theme = useSession().theme.value;
  const isWeights = kind === 'softmax';
  const all = Array.from(values, (x, i) => [x, i] as [number, number]);
  const pathOf = barsOf(values, isWeights);
  return (
    <svg class="bars" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="line" d={`M0 ${isWeights ? HEIGHT - 0.5 : HEIGHT / 2}H${WIDTH}`} />
      {isWeights ? (
        all
          .filter(([x]) => x >= MIN_WEIGHT)
          .map(([x, i]) => {
            const fill = RAMP[theme as Theme].css(i === mark ? Math.max(x, MIN_MARKED) : x);
            return <path key={i} d={pathOf(x, i)} style={{ fill }} />;
          })
      ) : (
        <path d={all.map(([x, i]) => pathOf(x, i)).join('')} />
      )}
    </svg>
  );
}
