// Computes the probability of each token of the text after the tokens before it, with and without the state's changes.

import type { Run } from '../../model/protocol/protocol.ts';
import { runOf, UNCHANGED } from '../../model/runInput.ts';
import { readRun } from '../run/modelInput.ts';
import { probabilities, rowOf } from '../run/predictions.ts';
import { transformerOf } from '../sources/sources.ts';
import type { Handler } from '../types.ts';

export const tokenProbabilities: Handler<'tokenProbabilities'> = {
  async answer({ state }, reply, worker) {
    const source = transformerOf(await worker.sourceOf(state, reply));
    const hl = await worker.core();
    const { ids } = readRun(source, state);
    const { layer, pinned } = state;
    const under = (run: Run) => {
      const values = worker.runs.values(hl, source, run, { layer, pinned });
      return Float64Array.from(ids.slice(1), (id, t) => probabilities(rowOf(values, t))[id]);
    };
    if (ids.length < 2) return reply.send('tokenProbabilities', { state, now: [], ever: [] });
    const run = runOf(state);
    reply.send('tokenProbabilities', { state, now: under(run), ever: under({ ...run, ...UNCHANGED }) });
  },
};
