// The state as the part of an address after #, and back. What is as the example starts is left out.

import { change, initialState } from './state.js';

/** @import { State } from './types.js' */

/** @param {State} state */
export function writeState(state) {
  const parameters = new URLSearchParams(state.example === initialState.example ? '' : { example: state.example });
  for (const [name, first] of Object.entries({
    ...change(initialState, { example: state.example }),
    page: initialState.page,
    task: initialState.task,
  })) {
    const [value, plain] = [/** @type {any} */ (state)[name], typeof first === 'string'];
    if (JSON.stringify(value) !== JSON.stringify(first)) parameters.set(name, plain ? value : JSON.stringify(value));
  }
  return String(parameters);
}

/** What cannot be read, or is not possible, stays as at the start. @param {string} text @returns {State} */
export function readState(text) {
  /** @type {Record<string, unknown>} */
  const patch = {};
  for (const [name, written] of new URLSearchParams(text)) {
    if (!Object.hasOwn(initialState, name)) continue;
    try {
      patch[name] = typeof (/** @type {any} */ (initialState)[name]) === 'string' ? written : JSON.parse(written);
    } catch {
      // Not JSON: not written by this page.
    }
  }
  return change(initialState, patch);
}
