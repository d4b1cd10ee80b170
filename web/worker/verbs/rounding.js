// The request for the comparison of a quantized model with its float32 weights. Few visitors send it, so the first
// request loads the code.

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
