// The store's signals as components see them.

/**
 * The same signal without its setter: components change the session by its named actions only.
 * @template T
 * @param {import('@preact/signals').ReadonlySignal<T>} signal
 * @returns {import('@preact/signals').ReadonlySignal<T>}
 */
export const readOnly = (signal) => signal;
