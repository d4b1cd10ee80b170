// Runs the steps of a long function. Between steps, yields to the event loop, reports progress, and stops if aborted.

import { readSignal } from '../check/arguments.ts';
import { argumentError } from '../check/errors.ts';

/** number of finished steps and of all steps */
export type Progress = { done: number; total: number };
export type StepOptions<T extends Progress> = {
  /** a promise is awaited; if it rejects, the function rejects */
  onProgress?: ((progress: T) => unknown) | undefined;
  signal?: AbortSignal | undefined;
};

export function readSteps<T extends Progress>(caller: string, { onProgress, signal: given }: StepOptions<T>) {
  const signal = readSignal(caller, given);
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw argumentError(caller, 'onProgress', onProgress, 'a function');
  return {
    check: () => signal?.throwIfAborted(),

    /** Yields to the event loop, so that an abort is handled and progress can be displayed, and then runs a step. */
    async run<R>(step: () => R) {
      await new Promise((resolve) => setTimeout(resolve));
      signal?.throwIfAborted();
      return step();
    },

    report: async (progress: T) => void (await onProgress?.(progress)),
  };
}
