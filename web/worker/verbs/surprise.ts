// The request for the probability of each token of the text. Few visitors send it, so the first request loads the code.

import type { Handler } from '../types.ts';

export const surprise: Handler<'surprise'> = {
  async answer({ state }, reply, worker) {
    const source = await worker.sourceOf(state, reply);
    if (!('model' in source)) return;
    const hl = await worker.core();
    const { measureSurprise } = await import('../run/surprise.ts');
    await measureSurprise(hl, source, state, reply, worker);
  },
};
