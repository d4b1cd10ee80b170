// Moves between the steps of the first visit.

import { beginningOf, HEADS, OFF } from '../model/firstVisit.ts';
import { initialState, type State } from '../model/state.ts';
import type { Session } from '../store/session.ts';

/**
 * The initial state of the page, from which the first visit can be replayed. It leaves out what the visitor has set up.
 */
const PAGE: Partial<State> = Object.fromEntries(
  Object.entries(initialState).filter(([name]) => !['colours', 'training', 'lesson', 'hide', 'versus'].includes(name)),
);

/** Goes to a step; null ends the first visit and shows the instrument. */
export function goToFirst(session: Session, first: number | null) {
  const before = session.state.peek().first;
  const isOver = before === null;
  session.markFirstMoved();
  session.setHover(null);
  session.setArriving(first === null);
  session.update(first === null ? { first } : { ...(isOver && PAGE), ...beginningOf(first) });
  if (first === null) session.setClosing(before === HEADS ? 'why' : 'skip');
}

/** Switches on or off the head that copies the word of the sentence. */
export function switchHead(session: Session, on: boolean) {
  session.markFirstTried();
  session.update(beginningOf(on ? 0 : OFF));
}
