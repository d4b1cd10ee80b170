// The state as the part of an address after #, and back. What is as the example starts is left out.

import { EXAMPLES } from './examples.js';
import { change, initialState, LINES, MASKS, PAGES, SCALES, VIEWS } from './state.js';
import { TASK_NAMES } from './tasks.js';

const CHOICES = {
  example: Object.keys(EXAMPLES),
  mask: MASKS,
  scale: SCALES,
  view: VIEWS,
  lines: Object.keys(LINES),
  page: PAGES,
  task: TASK_NAMES,
};

const isIndex = (x) => Number.isSafeInteger(x) && x >= 0;

/** Whether a value read from an address may stand under this name. */
function fits(name, value) {
  if (CHOICES[name]) return CHOICES[name].includes(value);
  if (name === 'cell')
    return value === null || (typeof value === 'object' && isIndex(value.query) && isIndex(value.key));
  if (Array.isArray(initialState[name])) return Array.isArray(value) && value.every(isIndex);
  return typeof value === typeof initialState[name] && (typeof value !== 'number' || Number.isFinite(value));
}

export function writeState(state) {
  const parameters = new URLSearchParams(state.example === initialState.example ? '' : { example: state.example });
  for (const [name, first] of Object.entries({
    ...change(initialState, { example: state.example }),
    page: initialState.page,
    task: initialState.task,
  })) {
    const [value, plain] = [state[name], typeof first === 'string'];
    if (JSON.stringify(value) !== JSON.stringify(first)) parameters.set(name, plain ? value : JSON.stringify(value));
  }
  return String(parameters);
}

/** What cannot be read, or is not possible, stays as at the start. */
export function readState(text) {
  const patch = {};
  for (const [name, written] of new URLSearchParams(text)) {
    if (!Object.hasOwn(initialState, name)) continue;
    try {
      const value = typeof initialState[name] === 'string' ? written : JSON.parse(written);
      if (fits(name, value)) patch[name] = value;
    } catch {
      // Not JSON: somebody else's.
    }
  }
  return change(initialState, patch);
}
