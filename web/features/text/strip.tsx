// The words of the text. The line below a token is the deeper, the more the token surprised the model. A thin line
// shows the other case where it differs.

import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { writtenFrom } from '../../model/written.ts';
import { useSession } from '../../store/context.ts';
import type { Measured } from '../../store/measured/surprise.ts';
import type { Session } from '../../store/session.ts';
import { px } from '../../ui/px.ts';
import { bitsOf, differs, unbroken } from './measured.ts';
import { chooseToken, textsIn, tokenIn } from './textState.ts';
export type Box = RefObject<HTMLDivElement | null>;

/** Maximum number of bits in the depth of a line. Deeper lines would touch the next row of words. */
export const MAX_BITS = 13;
/** Maximum length of a piece of text without a space that is kept on one line. */
const MAX_UNBROKEN = 24;

export function Strip({
  measured,
  box,
  onKey,
  width,
}: {
  measured: Measured;
  box: Box;
  onKey: (event: KeyboardEvent) => void;
  width: number;
}) {
  const session = useSession();
  const own = textsIn(session);
  // The tokens are memoized, because the pointer moves only the frame.
  const { written } = session.state.value;
  const tokens = useMemo(() => <Tokens measured={measured} written={written} />, [measured, written]);
  return (
    <div
      class="strip-box"
      id="picture"
      role="application"
      aria-roledescription={session.words.value.views.text}
      aria-label={`${own.title}. ${own.keys}`}
      tabIndex={0}
      ref={box}
      onKeyDown={onKey}
      onPointerMove={(event) => event.pointerType !== 'touch' && point(session, event)}
      onPointerLeave={() => session.setHover(null)}
      onClick={(event) => press(session, event)}
    >
      <p lang="en">
        {tokens}
        <ReadFrame measured={measured} box={box} width={width} />
      </p>
    </div>
  );
}

/** Returns the token at which an event is, −1 for none. */
function tokenAt({ target }: Event) {
  const token = (target as Element).closest('[data-t]') as HTMLElement | null;
  return token ? Number(token.dataset.t) : -1;
}
function point(session: Session, event: Event) {
  const t = tokenAt(event);
  if (t >= 0 && session.hover.peek()?.t !== t) session.setHover({ t, s: -1 });
}
/** Keeps the token that is pressed, or releases it. */
function press(session: Session, event: Event) {
  const t = tokenAt(event);
  if (t < 0) return;
  if (session.state.peek().cell?.t === t) session.look({ cell: null });
  else chooseToken(session, t);
}

function Tokens({ measured, written }: { measured: Measured; written: number | null }) {
  const { pieces } = measured;
  const from = writtenFrom({ written }, measured);
  return unbroken(pieces).map(([first, end]) => {
    const group = pieces.slice(first, end);
    const length = group.reduce((sum, { text }) => sum + text.length, 0);
    return (
      <span key={first}>
        {group[0].space.includes('\n') ? <br /> : first > 0 && ' '}
        <span class={length <= MAX_UNBROKEN ? 'unbroken' : undefined}>
          {group.map((_, i) => (
            <Token key={i} measured={measured} t={first + i} isWritten={first + i >= from} />
          ))}
        </span>
      </span>
    );
  });
}

function Token({ measured, t, isWritten }: { measured: Measured; t: number; isWritten: boolean }) {
  const { pieces, now, other, silent } = measured;
  const { text, name } = pieces[t];
  const [bits, others] = [now[t], other[t]].map((token) => Math.min(bitsOf(token), MAX_BITS));
  // Below the deepest line there is no room to draw a difference.
  const isThin = differs(measured, t) && bits !== others;
  const look = silent.includes(t) ? 'silent' : !now[t] ? 'waiting' : isThin ? (others > bits ? 'worse' : 'better') : '';
  const depths = now[t] && { '--bits': bits.toFixed(2), ...(isThin && { '--other': others.toFixed(2) }) };
  return (
    <span class={`token ${look} ${text ? '' : 'inserted'} ${isWritten ? 'by-model' : ''}`} data-t={t} style={depths}>
      {text || name}
    </span>
  );
}

/** The frame around the token that is read. A chosen token is scrolled into view. */
function ReadFrame({ measured, box, width }: { measured: Measured; box: Box; width: number }) {
  const session = useSession();
  const t = tokenIn(session, measured);
  const chosen = session.state.value.cell;
  const [place, setPlace] = useState(null as Record<string, number> | null);
  useLayoutEffect(() => {
    const token = (box.current?.querySelector(`[data-t="${t}"]`) ?? null) as HTMLElement | null;
    if (!token) return setPlace(null);
    const { offsetLeft: left, offsetTop: top, offsetWidth, offsetHeight } = token;
    setPlace({ left, top, width: offsetWidth, height: offsetHeight });
  }, [measured, t, width]);
  useEffect(() => {
    if (!chosen || !place || !box.current) return;
    const { clientHeight, scrollTop } = box.current;
    if (place.top < scrollTop || place.top + 3 * place.height > scrollTop + clientHeight)
      box.current.scrollTop = place.top - clientHeight / 2;
  }, [chosen?.t, place?.top]);
  return place && <span class="read-token" aria-hidden="true" style={px(place)} />;
}
