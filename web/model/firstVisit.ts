// The steps of the first visit, as changes of the state: 0 the sentence, 1 the sentence with the head off, 2 the
// picture, 3 all heads. After the last step `first` is null.

import { initialState, type State } from './state.ts';

export const OFF = 1;
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

/**
 * Returns the address with which the page begins. The first visit begins if the address has no state and the browser
 * has not stored that the visit is over.
 * @param address the part of the address after #
 * @param stored the value under STORED
 */
export const firstAddress = (address: string, stored: string | undefined) =>
  address === '' && stored === undefined ? 'first=0' : address;
