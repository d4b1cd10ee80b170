// The request for everything that the page shows of a state.

import { showTransformer } from '../run/showTransformer.ts';

import type { Handler } from '../types.ts';

export const show: Handler<'show'> = {
  async answer({ state }, reply, worker) {
    const source = await worker.sourceOf(state, reply);
    const hl = await worker.core();
    if ('headvis' in source) return (await import('../sources/headvisSource.ts')).showHeadvis(source, state, reply);
    if ('attentions' in source) {
      const { showWeights } = await import('../sources/showWeights.ts');
      return showWeights(source, state, reply);
    }
    if ('headInputs' in source) {
      const { showHeads } = await import('../sources/attentionOnly.ts');
      return showHeads(hl, source, state, reply);
    }
    return showTransformer(hl, source, state, reply, worker);
  },
};
