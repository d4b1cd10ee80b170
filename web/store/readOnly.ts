// Signals that components can read but not set.

import type { ReadonlySignal } from '@preact/signals';

/** Returns a signal with a type that has no setter, so that components change the session only by its named actions. */
export const readOnly = <T>(signal: ReadonlySignal<T>): ReadonlySignal<T> => signal;
