// A plain object that is replaced on every change, with listeners.

/**
 * @template {object} T
 * @param {T} first
 */
export function createStore(first) {
  let current = first;
  /** @type {Set<(now: T, before: T) => void>} */
  const listeners = new Set();
  return {
    get: () => current,
    /** @param {Partial<T>} patch */
    set(patch) {
      const before = current;
      current = Object.assign({}, before, patch);
      for (const listener of listeners) listener(current, before);
    },
    /** @param {(now: T, before: T) => void} listener called after every change @returns {() => void} what ends that */
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
