// The steps of a method that runs a model many times: it yields between them, reports progress and can be aborted.

import { readSignal } from '../check/arguments.js';
import { argumentError } from '../check/errors.js';

/** @typedef {{ done: number, total: number }} Progress the number of finished steps, and of all */
/**
 * @template {Progress} T
 * @typedef {object} StepOptions
 * @property {(progress: T) => unknown} [onProgress] a promise is awaited; if it rejects, so does the method
 * @property {AbortSignal} [signal]
 */

/**
 * @template {Progress} T
 * @param {string} caller
 * @param {StepOptions<T>} options
 */
export function readSteps(caller, { onProgress, signal: given }) {
  const signal = readSignal(caller, given);
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw argumentError(caller, 'onProgress', onProgress, 'a function');
  return {
    check: () => signal?.throwIfAborted(),

    /**
     * Runs a step, after it has yielded to the event loop, so that an abort is noticed and progress can be displayed.
     * @template R
     * @param {() => R} step
     */
    async run(step) {
      await new Promise((resolve) => setTimeout(resolve));
      signal?.throwIfAborted();
      return step();
    },

    /** @param {T} progress */
    report: async (progress) => void (await onProgress?.(progress)),
  };
}
