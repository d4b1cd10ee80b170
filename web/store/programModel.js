// The model that a program passes to the page: weights, queries and keys, or files of a checkpoint.

import { PROGRAM_MODEL } from './state.js';

/** @import { ProgramInput } from '../worker/sources/programInput.js' */

/** @param {ProgramInput | null} first @param {import('./requests.js').Requests} requests */
export function createProgramModel(first, requests) {
  let input = first;
  /** Sends the model to the worker, if the program has passed one. */
  function send() {
    if (input) requests.send({ verb: 'openInput', name: PROGRAM_MODEL, input });
  }
  /** @param {ProgramInput} next */
  function replace(next) {
    input = next;
    send();
    requests.show();
  }
  return {
    send,
    replace,
    /** Exchanges rows and columns of attention weights. */
    async transpose() {
      const [{ readWeights }, { swapped }] = await Promise.all([
        import('../worker/sources/programInput.js'),
        import('../features/open/rowSums.js'),
      ]);
      if (input?.kind !== 'weights') return;
      const { tokens, keys, layers } = input;
      const square = layers[0].shape[1] === layers[0].shape[2];
      const names = square ? { tokens, keys } : { tokens: keys, keys: tokens };
      replace({ ...input, ...readWeights('transpose', swapped(layers)), ...names });
    },
  };
}
/** @typedef {ReturnType<typeof createProgramModel>} ProgramModel */
