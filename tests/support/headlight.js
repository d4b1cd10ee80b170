// Loads one instance of each flavour of the core that this Node supports. The tests of a file share the instances.

import { load } from 'headlight-attention';
import { uniformSource } from '../../src/js/ops/random.ts';
import { inTier } from './tier.js';

/** Name of the flavour, if only one flavour has been built. */
const only = process.env.HEADLIGHT_FLAVOUR;
export const flavours = await Promise.all(
  (only ? [only] : ['simd128', 'relaxed']).map((simd) =>
    load({ simd }).catch((error) => {
      if (error.code !== 'LOAD') throw error;
      return null;
    }),
  ),
).then((instances) => instances.filter(Boolean));

export const hl = flavours.at(-1);

/**
 * In the default tier only one flavour, for slow tests of JavaScript. tests/js/ops compares every flavour with
 * references.
 */
export const someFlavours = inTier(flavours, [hl]);

/** Runs a test once for each flavour, and checks that it leaves no memory allocated. */
export function everywhere(fn) {
  return async (t) => {
    for (const instance of flavours) {
      const before = instance.info.memory.used;
      await instance.scope(() => void fn(instance, t));
      const after = instance.info.memory.used;
      if (after !== before) throw new Error(`${instance.info.simd}: ${after - before} bytes were not given back`);
    }
  };
}

/** Builds a model with random biases and norms, because zeros and ones would hide mistakes. */
export function build(hl, options) {
  const model = hl.transformer(options);
  const random = uniformSource(12);
  for (const { data } of Object.values(model.parameters)) data.forEach((x, i) => void (data[i] = x + random() - 0.5));
  return model;
}

/** Frees what unreachable tensors of earlier tests hold, so that a later collection does not change `memory.used`. */
export async function collectGarbage() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    // Finalizers run in a later task.
    await new Promise((resolve) => setTimeout(resolve));
  }
}
