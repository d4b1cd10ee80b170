// The steps of the first visit, as changes of the state: 0 the sentence, 1 the sentence with the head off, 2 the
// picture, 3 all heads. After the last step `first` is null.

import { initialState } from '../../store/state.js';

/** @import { Session } from '../../store/session.js' */
/** @import { State } from '../../store/state.js' */

const OFF = 1;
/** The first step that shows the picture. */
export const PICTURE = 2;
export const HEADS = 3;

/** The name under which the browser stores that the first visit is over. */
export const STORED = 'first';

/**
 * Returns the part of the state at the beginning of a step that differs from the initial state of the page.
 * @param {number} first
 * @returns {Partial<State>}
 */
export const beginningOf = (first) => ({
  first,
  scale: first === OFF ? { [`${initialState.layer}.${initialState.head}`]: 0 } : {},
});

/** True while the sentence is shown alone. @param {Pick<State, 'first'>} state */
export const isSentence = ({ first }) => first !== null && first < PICTURE;

/** Returns the step after a step; null after the last one. @param {number} first */
export const stepAfter = (first) => (first < PICTURE ? PICTURE : first < HEADS ? first + 1 : null);

/**
 * The initial state of the page, from which the first visit can be replayed. It leaves out what the visitor has set up.
 * @type {Partial<State>}
 */
const PAGE = Object.fromEntries(
  Object.entries(initialState).filter(([name]) => !['colours', 'training', 'lesson', 'hide', 'versus'].includes(name)),
);

/**
 * Goes to a step; null ends the first visit and shows the instrument.
 * @param {Session} session
 * @param {number | null} first
 */
export function goToFirst(session, first) {
  const before = session.state.peek().first;
  const isOver = before === null;
  session.markFirstMoved();
  session.setHover(null);
  session.setArriving(first === null);
  session.update(first === null ? { first } : { ...(isOver && PAGE), ...beginningOf(first) });
  if (first === null) session.setClosing(before === HEADS ? 'why' : 'skip');
}

/** Switches on or off the head that copies the word of the sentence. @param {Session} session @param {boolean} on */
export function switchHead(session, on) {
  session.markFirstTried();
  session.update(beginningOf(on ? 0 : OFF));
}

/**
 * Returns the address with which the page begins. The first visit begins if the address has no state and the browser
 * has not stored that the visit is over.
 * @param {string} address the part of the address after #
 * @param {string | undefined} stored the value under STORED
 */
export const firstAddress = (address, stored) => (address === '' && stored === undefined ? 'first=0' : address);
