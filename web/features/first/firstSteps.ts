// The steps of the first visit, as changes of the state: 0 the sentence, 1 the sentence with the head off, 2 the
// picture, 3 all heads. After the last step `first` is null.

import type { Session } from '../../store/session.ts';
import { initialState, type State } from '../../store/state.ts';

const OFF = 1;
/** The first step that shows the picture. */
export const PICTURE = 2;
export const HEADS = 3;

/** The name under which the browser stores that the first visit is over. */
export const STORED = 'first';

/** Returns the part of the state at the beginning of a step that differs from the initial state of the page. */
export const beginningOf = (first: number): Partial<State> => ({
  first,
  scale: first === OFF ? { [`${initialState.layer}.${initialState.head}`]: 0 } : {},
});

/** True while the sentence is shown alone. */
export const isSentence = ({ first }: Pick<State, 'first'>) => first !== null && first < PICTURE;

/** Returns the step after a step; null after the last one. */
export const stepAfter = (first: number) => (first < PICTURE ? PICTURE : first < HEADS ? first + 1 : null);

/** The initial state of the page, from which the first visit can be replayed. It leaves out what the visitor has set up. */
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

/** Returns the address to begin with: the first visit if `address` (after #) and `stored` (under STORED) are empty. */
export const firstAddress = (address: string, stored: string | undefined) =>
  address === '' && stored === undefined ? 'first=0' : address;
