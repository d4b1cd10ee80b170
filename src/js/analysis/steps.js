// Runs the steps of a function that runs a model many times. Between steps, yields to the event loop, reports progress,
// and stops if the caller aborted.

import { readSignal } from '../check/arguments.js';
import { argumentError } from '../check/errors.js';

/** @typedef {{ done: number, total: number }} Progress number of finished steps and of all steps */
/**
 * @template {Progress} T
 * @typedef {object} StepOptions
 * @property {(progress: T) => unknown} [onProgress] a promise is awaited; if it rejects, the function rejects
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
     * Yields to the event loop, so that an abort is handled and progress can be displayed, and then runs a step.
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
