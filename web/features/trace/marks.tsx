// The legend of a trace, with shares from −100 to 100 per cent.

import { useEffect, useRef } from 'preact/hooks';
import { differenceAt, SIGNED, signedPlace } from '../../drawing/tokenPairs.ts';
import { isOpen } from '../../model/training/settings.ts';
import { paintRamp, Ramp } from '../../parts/ramp.tsx';
import { useSession } from '../../store/context.ts';
import type { Theme } from '../../ui/palette.ts';
import { px } from '../../ui/px.ts';
import { useSize } from '../../ui/useSize.ts';
import { textsIn } from './traceState.ts';

const MARKS = [-100, -25, 0, 25, 100];

export function TraceMarks() {
  const session = useSession();
  const own = textsIn(session);
  const state = session.state.value;
  const theme: Theme = session.theme.value;
  const [box, canvas] = [useRef(null), useRef(null as HTMLCanvasElement | null)];
  const { width } = useSize(box);
  const trace = session.trace.value;
  const isShown = state.pinned !== null && !trace?.problem && !isOpen(state);
  useEffect(() => {
    paintRamp(canvas.current, width, (place) => SIGNED[theme].css(differenceAt(place)));
  }, [width, theme, isShown]);
  if (!isShown) return isOpen(state) ? <Ramp isWhole /> : null;
  const [from, to] = trace && !trace.problem ? [trace.answers[1], trace.answers[0]] : ['', ''];
  const way = own.way(from, to);
  return (
    <>
      <div class="ramp shares" ref={box} role="img" aria-label={own.scale}>
        <canvas ref={canvas} />
        {MARKS.map((mark) => (
          <span key={mark} style={px({ left: `${100 * signedPlace(mark / 100)}%` })}>
            {String(mark).replace('-', '−')}
            {mark === 100 && '%'}
          </span>
        ))}
      </div>
      {from && (
        <span class="sample trace-way">{way.map((text, i) => (i % 2 === 1 ? <i key={i}>{text}</i> : text))}</span>
      )}
    </>
  );
}
