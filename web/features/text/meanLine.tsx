// The mean surprise along the text. The drawing also marks the part of a long text that is visible, and a click goes to
// the token at the position of the click.

import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useSession } from '../../store/context.ts';
import type { Measured } from '../../store/measured/surprise.ts';
import { px } from '../../ui/px.ts';
import { meansOf } from './measured.ts';
import { chooseToken, otherName, textsIn, tokenIn } from './textState.ts';
export type Box = RefObject<HTMLDivElement | null>;

/** Height of the drawing in pixels, and the number of bits at its top unless a mean is larger. */
const [HEIGHT, USUAL_BITS] = [44, 8];

export function MeanLine({ measured, box, width }: { measured: Measured; box: Box; width: number }) {
  const session = useSession();
  const own = textsIn(session);
  const line = useRef(null as HTMLDivElement | null);
  const { pieces, now, other } = measured;
  const T = pieces.length;
  const lines = [now, other].map((tokens) => meansOf(tokens, T));
  const most = Math.max(USUAL_BITS, ...lines.flat().filter((x) => !Number.isNaN(x)));
  const t = tokenIn(session, measured);
  const sight = useSight(box, measured, width);
  const jump = (event: PointerEvent) => {
    const { left, width: wide } = (line.current as HTMLDivElement).getBoundingClientRect();
    const at = Math.floor((T * (event.clientX - left)) / wide);
    chooseToken(session, Math.min(Math.max(at, 0), T - 1));
  };
  const name = measured.other.some(Boolean) ? otherName(session, measured) : '';
  return (
    <div class="mean-line">
      <p>
        <b>{own.along}</b> {own.alongAbout}
        {name && `; ${own.thin(name)}`}
      </p>
      <div
        class="mean-track"
        ref={line}
        role="img"
        aria-label={own.along}
        style={px({ height: HEIGHT })}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          jump(event);
        }}
        onPointerMove={(event) => event.buttons === 1 && jump(event)}
      >
        {sight && (
          <span class="in-sight" style={px({ left: `${100 * sight[0]}%`, width: `${100 * (sight[1] - sight[0])}%` })} />
        )}
        <svg viewBox={`0 0 ${Math.max(T, 1)} ${HEIGHT}`} preserveAspectRatio="none" height={HEIGHT} aria-hidden="true">
          <path class="thin" d={pathOf(lines[1], most)} />
          <path d={pathOf(lines[0], most)} />
        </svg>
        <span class="here" style={px({ left: `${(100 * (t + 0.5)) / T}%` })} />
      </div>
      <p class="ends">
        <span>{own.token(0)}</span>
        <span>{own.token(T - 1)}</span>
      </p>
    </div>
  );
}

function pathOf(means: number[], most: number) {
  let isDrawn = false;
  return means
    .map((bits, t) => {
      if (Number.isNaN(bits)) {
        isDrawn = false;
        return '';
      }
      const command = isDrawn ? 'L' : 'M';
      isDrawn = true;
      return `${command}${t + 0.5} ${(HEIGHT - 1 - ((HEIGHT - 3) * bits) / most).toFixed(1)}`;
    })
    .join('');
}

/** Returns the visible part of the text as shares of its tokens; null if all of it is visible. */
function useSight(box: Box, measured: Measured, width: number) {
  const [sight, setSight] = useState(null as [number, number] | null);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => {
      const { scrollTop, clientHeight, scrollHeight } = element;
      if (scrollHeight <= clientHeight + 1) return setSight(null);
      setSight([scrollTop / scrollHeight, (scrollTop + clientHeight) / scrollHeight]);
    };
    look();
    element.addEventListener('scroll', look, { passive: true });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', look);
      observer.disconnect();
    };
  }, [measured.pieces, width]);
  return sight;
}
