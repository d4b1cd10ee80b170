// The model that a program passes to the page: weights, queries and keys, or files of a checkpoint.

import type { ProgramInput } from '../../model/protocol/programInput.ts';
import { PROGRAM_MODEL } from '../../model/state.ts';
import type { Requests } from '../requests.ts';

export function createProgramModel(first: ProgramInput | null, requests: Requests) {
  let input = first;
  /** Sends the model to the worker, if the program has passed one. */
  function send() {
    if (input) requests.send({ verb: 'openInput', name: PROGRAM_MODEL, input });
  }
  function replace(next: ProgramInput) {
    input = next;
    send();
    requests.show();
  }
  return {
    send,
    replace,
    async transpose() {
      const [{ readWeights }, { swapped }] = await Promise.all([
        import('../../model/programInput.ts'),
        import('../../model/rowSums.ts'),
      ]);
      if (input?.kind !== 'weights') return;
      const { tokens, keys, layers } = input;
      const square = layers[0].shape[1] === layers[0].shape[2];
      const names = square ? { tokens, keys } : { tokens: keys, keys: tokens };
      replace({ ...input, ...readWeights('transpose', swapped(layers)), ...names });
    },
  };
}
export type ProgramModel = ReturnType<typeof createProgramModel>;
