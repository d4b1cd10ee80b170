// The text next to the picture in the last two steps of the first visit, and the button that leads to the next step.

import { useLayoutEffect, useRef } from 'preact/hooks';
import { weightsOf } from '../../model/derivation.ts';
import { PICTURE, stepAfter } from '../../model/firstVisit.ts';
import { weightText } from '../../model/numbers.ts';
import { attendsToFirst, rowsWithNothing } from '../../model/roles.ts';
import type { Run } from '../../model/types.ts';
import { goToFirst } from '../../parts/goToFirst.ts';
import { useSession } from '../../store/context.ts';
import type { Session } from '../../store/session.ts';
import { unfold } from './unfold.ts';

export function FirstPanel() {
  const session = useSession();
  const words = session.words.value.first;
  const step = Number(session.state.value.first);
  const run = session.run.value;
  const panel = useRef(null as HTMLElement | null);
  const title = useRef(null as HTMLHeadingElement | null);
  useLayoutEffect(() => {
    // The title takes the focus only after a step of the visitor, not when the page opens at an address.
    if (!session.firstMoved.peek()) return;
    title.current?.focus({ preventScroll: true });
    panel.current?.scrollIntoView({ block: 'nearest' });
  }, [step]);
  useUnfolding(panel);
  if (!run?.T) return <section class="first-panel" ref={panel} />;
  const { layers, heads } = run.about;
  const inPicture = step === PICTURE;
  return (
    <section class="first-panel" aria-labelledby="first-title" ref={panel}>
      <h2 id="first-title" tabIndex={-1} ref={title}>
        {inPicture ? words.wordsTitle : words.headsTitle(layers, heads)}
      </h2>
      <p>{inPicture ? words.words(run.pieces[run.T - 1].name) : words.heads(layers, heads)}</p>
      <p>{inPicture ? foundText(session, run) : words.sum}</p>
      <button type="button" class="go filled" onClick={() => goToFirst(session, stepAfter(step))}>
        {inPicture ? words.otherHeads : words.why(weightOfCell(session, run))}
      </button>
    </section>
  );
}

/** Says how many of the last rows find an earlier occurrence of their words, and where the others look. */
function foundText(session: Session, run: Run) {
  const { T, layer, head, pieces } = run;
  const words = session.words.value.first;
  const nothing = rowsWithNothing(
    'induction',
    pieces.map(({ id }) => id),
  );
  let found = 0;
  while (found < T && !nothing.includes(T - 1 - found)) found++;
  const weights = weightsOf(run, layer, head);
  const first = weights && attendsToFirst(weights, T, nothing);
  return [found > 0 && words.found(found), first && words.nothing].filter(Boolean).join(' ');
}

function weightOfCell(session: Session, run: Run) {
  const { t, s } = session.cell.value ?? { t: run.T - 1, s: 0 };
  return weightText(weightsOf(run, run.layer, run.head)?.[t * run.S + s] as number);
}

/** Unfolds the picture once, if the previous step was the sentence. */
function useUnfolding(panel: { current: Element | null }) {
  const session = useSession();
  const isDrawn = session.run.value !== null;
  useLayoutEffect(() => {
    const from = session.unfolding.peek();
    if (!from || !panel.current) return;
    session.setUnfolding(null);
    const root = panel.current.getRootNode() as ShadowRoot;
    // The labels are placed in one of the next frames, when the size of the picture is known.
    let tries = 0;
    const begin = () => {
      if (!unfold(root, from) && tries++ < MAX_FRAMES) requestAnimationFrame(begin);
    };
    begin();
  }, [isDrawn]);
}
/** Maximum number of frames to wait for the picture. */
const MAX_FRAMES = 10;
