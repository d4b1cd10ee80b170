// The request for everything that the page shows of a state.

import { showTransformer } from '../run/showTransformer.js';

/** @import { Handler } from '../types.js' */

/** @type {Handler<'show'>} */
export const show = {
  async answer({ state }, reply, worker) {
    const source = await worker.sourceOf(state, reply);
    const hl = await worker.core();
    if ('headvis' in source) return (await import('../sources/headvisSource.js')).showHeadvis(source, state, reply);
    if ('attentions' in source) {
      const { showWeights } = await import('../sources/showWeights.js');
      return showWeights(source, state, reply);
    }
    if ('headInputs' in source) {
      const { showHeads } = await import('../sources/attentionOnly.js');
      return showHeads(hl, source, state, reply);
    }
    return showTransformer(hl, source, state, reply, worker);
  },
};
