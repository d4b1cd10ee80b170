// The history of the state, for undo and redo. Changes of one gesture (a drag, a word being typed) are one step.

/** @import { State } from './state.js' */

/** @typedef {{ past: State[], now: State, future: State[], gesture: string | null }} History */

const MAX_STEPS = 200;

/** @param {State} now @returns {History} */
export const startHistory = (now) => ({ past: [], now, future: [], gesture: null });

/**
 * @param {History} history
 * @param {State} next
 * @param {string | null} [gesture] successive changes with the same name are one step
 * @returns {History}
 */
export function record(history, next, gesture = null) {
  if (next === history.now) return history;
  const continues = gesture !== null && gesture === history.gesture;
  const past = continues ? history.past : [...history.past, history.now].slice(-MAX_STEPS);
  return { past, now: next, future: [], gesture };
}

/**
 * Makes a change that is not an undo step: the choice of the explained cell.
 * @param {History} history @param {State} next @returns {History}
 */
export const replace = (history, next) => ({ ...history, now: next });

/** Ends the gesture, so that the next change is a step of its own. @param {History} history @returns {History} */
export const settle = (history) => (history.gesture === null ? history : { ...history, gesture: null });

/** @param {History} history @returns {History} */
export function undo({ past, now, future, ...rest }) {
  const before = past.at(-1);
  return before
    ? { past: past.slice(0, -1), now: before, future: [now, ...future], gesture: null }
    : { past, now, future, ...rest };
}

/** @param {History} history @returns {History} */
export function redo({ past, now, future, ...rest }) {
  const [next, ...later] = future;
  return next ? { past: [...past, now], now: next, future: later, gesture: null } : { past, now, future, ...rest };
}
