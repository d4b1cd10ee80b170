// The request for the probability of each token of the text. Few visitors send it, so the first request loads the code.

/** @import { Handler } from '../types.js' */

/** @type {Handler<'surprise'>} */
export const surprise = {
  async answer({ state }, reply, worker) {
    const source = await worker.sourceOf(state, reply);
    if (!('model' in source)) return;
    const hl = await worker.core();
    const { measureSurprise } = await import('../run/surprise.js');
    await measureSurprise(hl, source, state, reply, worker);
  },
};
