// Signals that components can read but not set.

/**
 * Returns a signal with a type that has no setter, so that components change the session only by its named actions.
 * @template T
 * @param {import('@preact/signals').ReadonlySignal<T>} signal
 * @returns {import('@preact/signals').ReadonlySignal<T>}
 */
export const readOnly = (signal) => signal;
