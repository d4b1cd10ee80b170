// What a worker does: a message in is a state, with tensors where they are a visitor's own; a message out is what attention makes of it.

import { compute } from './compute.js';

/** @param {() => Promise<object>} load */
export function answer(load) {
  const ready = load();
  ready.catch(() => {});
  onmessage = async ({ data: { id, state, given } }) => {
    try {
      postMessage({ id, result: compute(await ready, state, given) });
    } catch (error) {
      postMessage({ id, error: error.message });
    }
  };
}
