// How much the weights in few bits change the attention. Few visitors ask: the code is loaded by the first request.

/** @import { Handler } from '../types.js' */

/** @type {Handler<'rounding'>} */
export const rounding = {
  async answer({ state }, reply, worker) {
    const source = await worker.sourceOf(state, reply);
    if (!('model' in source)) return;
    const { measureRounding } = await import('../run/rounding.js');
    await measureRounding(await worker.core(), source, state, reply);
  },
};
