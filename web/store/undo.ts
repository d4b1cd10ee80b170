// The history of the state, for undo and redo. Changes of one gesture (a drag, a word being typed) are one step.

import type { State } from '../model/state.ts';

export type History = { past: State[]; now: State; future: State[]; gesture: string | null };

const MAX_STEPS = 200;

export const startHistory = (now: State): History => ({ past: [], now, future: [], gesture: null });

/** `gesture`: successive changes with the same name are one step. */
export function record(history: History, next: State, gesture: string | null = null): History {
  if (next === history.now) return history;
  const continues = gesture !== null && gesture === history.gesture;
  const past = continues ? history.past : [...history.past, history.now].slice(-MAX_STEPS);
  return { past, now: next, future: [], gesture };
}

/** Makes a change that is not an undo step: the choice of the explained cell. */
export const replace = (history: History, next: State): History => ({ ...history, now: next });

/** Ends the gesture, so that the next change is a step of its own. */
export const settle = (history: History): History =>
  history.gesture === null ? history : { ...history, gesture: null };

export function undo({ past, now, future, ...rest }: History): History {
  const before = past.at(-1);
  return before
    ? { past: past.slice(0, -1), now: before, future: [now, ...future], gesture: null }
    : { past, now, future, ...rest };
}

export function redo({ past, now, future, ...rest }: History): History {
  const [next, ...later] = future;
  return next ? { past: [...past, now], now: next, future: later, gesture: null } : { past, now, future, ...rest };
}
