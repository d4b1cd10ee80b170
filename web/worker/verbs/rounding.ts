// The request for the comparison of a quantized model with its float32 weights. Few visitors send it, so the first
// request loads the code.

import type { Handler } from '../types.ts';

export const rounding: Handler<'rounding'> = {
  async answer({ state }, reply, worker) {
    const source = await worker.sourceOf(state, reply);
    if (!('model' in source)) return;
    const { measureRounding } = await import('../run/rounding.ts');
    await measureRounding(await worker.core(), source, state, reply);
  },
};
