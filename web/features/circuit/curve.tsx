// The curve of a circuit, which is also a slider. The horizontal axis is the number of edges that are kept, the
// vertical axis the share of the prediction that remains.

import { useRef } from 'preact/hooks';
import { MAX_LINES } from '../../model/circuit/settings.ts';
import { type Circuit, curveOf } from '../../model/circuit/shownLines.ts';
import type { CurvePoint } from '../../model/protocol/circuitProtocol.ts';
import { useSession } from '../../store/context.ts';
import { useSize } from '../../ui/useSize.ts';
import { keepLines, textsIn } from './circuitState.ts';

/** Height of the drawing, and its margins with the numbers on the axes. */
const [HEIGHT, LEFT, RIGHT, TOP, BASE] = [138, 32, 10, 10, 22];
const DOUBLINGS = Math.log2(MAX_LINES);

export function Curve({ circuit, count }: { circuit: Circuit; count: number }) {
  const session = useSession();
  const area = useRef(null);
  const { width } = useSize(area);
  const acrossOf = (n: number) => LEFT + (Math.log2(n) / DOUBLINGS) * Math.max(width - LEFT - RIGHT, 0);
  const own = textsIn(session);
  const curve = curveOf(circuit);
  const others = curveOf(circuit, true);
  // The vertical axis ends at the whole prediction, or higher if a share exceeds it.
  const most = Math.max(1, ...curve.map(({ kept }) => kept));
  const upOf = (kept: number) => HEIGHT - BASE - (Math.max(kept, 0) / most) * (HEIGHT - BASE - TOP);
  const pathOf = (points: CurvePoint[]) =>
    points
      .map((point, i) => `${i ? 'L' : 'M'}${acrossOf(point.count).toFixed(1)} ${upOf(point.kept).toFixed(1)}`)
      .join('');
  const point = curve.find((one) => one.count === count);
  const text = point ? own.keep(count, Math.round(100 * point.kept)) : String(count);
  const measured = Math.max(circuit.lines.length, 1);
  return (
    <div class="circuit-curve" ref={area}>
      <svg width={width} height={HEIGHT} aria-hidden="true">
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <path class="grid" d={`M${LEFT} ${upOf(share)}H${width - RIGHT}`} />
            <text x={LEFT - 6} y={upOf(share) + 4} text-anchor="end">
              {100 * share}
            </text>
          </g>
        ))}
        {Array.from({ length: DOUBLINGS + 1 }, (_, i) => 2 ** i).map((n) => (
          <text key={n} x={acrossOf(n)} y={HEIGHT - 6} text-anchor="middle">
            {n}
          </text>
        ))}
        <path class="random" d={pathOf(others)} />
        <path class="kept" d={pathOf(curve)} />
        {point && (
          <>
            <path class="now" d={`M${acrossOf(count)} ${upOf(point.kept)}V${HEIGHT - BASE}`} />
            <circle class="knob" cx={acrossOf(count)} cy={upOf(point.kept)} r="5.5" />
          </>
        )}
      </svg>
      <input
        type="range"
        min="0"
        max={DOUBLINGS}
        step="any"
        value={Math.log2(count)}
        aria-label={own.howMany}
        aria-valuetext={text}
        onInput={(event) => keepLines(session, Math.min(Math.round(2 ** Number(event.currentTarget.value)), measured))}
        onChange={session.endGesture}
        onKeyDown={(event) => {
          const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
          if (!step) return;
          event.preventDefault();
          event.stopPropagation();
          keepLines(session, count + step);
        }}
      />
      <p class="curve-name">{own.howMany}</p>
      {others.length > 0 && (
        <p class="curve-name">
          <svg viewBox="0 0 18 8" aria-hidden="true" class="random-sample">
            <path class="random" d="M0 4H18" />
          </svg>{' '}
          {own.random}
        </p>
      )}
    </div>
  );
}
