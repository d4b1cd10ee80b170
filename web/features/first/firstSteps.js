// The steps of the first visit, as changes of the state: 0 the sentence, 1 the same with the head off, 2 the picture,
// 3 all heads. After the last one `first` is null.

import { initialState } from '../../store/state.js';

/** @import { Session } from '../../store/session.js' */
/** @import { State } from '../../store/state.js' */

const OFF = 1;
/** The first step with the picture. */
export const PICTURE = 2;
export const HEADS = 3;

/** The name under which the browser stores that the first visit is over. */
export const STORED = 'first';

/**
 * The state at the beginning of a step, without what it has in common with the beginning of the page.
 * @param {number} first
 * @returns {Partial<State>}
 */
export const beginningOf = (first) => ({
  first,
  scale: first === OFF ? { [`${initialState.layer}.${initialState.head}`]: 0 } : {},
});

/** True while the sentence is shown alone. @param {Pick<State, 'first'>} state */
export const isSentence = ({ first }) => first !== null && first < PICTURE;

/** The step after one; null after the last. @param {number} first */
export const stepAfter = (first) => (first < PICTURE ? PICTURE : first < HEADS ? first + 1 : null);

/** The beginning of the page, from which the first visit can be replayed. @type {Partial<State>} */
const PAGE = Object.fromEntries(
  Object.entries(initialState).filter(([name]) => !['colours', 'training', 'lesson', 'hide', 'versus'].includes(name)),
);

/** Goes to a step, or to the instrument. @param {Session} session @param {number | null} first */
export function goToFirst(session, first) {
  const isOver = session.state.peek().first === null;
  session.markFirstMoved();
  session.setHover(null);
  session.setArriving(first === null);
  session.update(first === null ? { first } : { ...(isOver && PAGE), ...beginningOf(first) });
}

/** Switches the head of the sentence. @param {Session} session @param {boolean} on */
export function switchHead(session, on) {
  session.markFirstTried();
  session.update(beginningOf(on ? 0 : OFF));
}

/**
 * The step that the page begins with: an address that carries a state has none.
 * @param {string} address the part after #
 * @param {string | undefined} stored under STORED
 */
export const firstAddress = (address, stored) => (address === '' && stored === undefined ? 'first=0' : address);
