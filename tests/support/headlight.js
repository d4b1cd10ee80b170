// One instance of each flavour that this Node runs, shared by the tests of a file.

import { load } from 'headlight';

export const flavours = await Promise.all(
  ['simd128', 'relaxed'].map((simd) =>
    load({ simd }).catch((error) => {
      if (error.code !== 'LOAD') throw error;
      return null;
    }),
  ),
).then((instances) => instances.filter(Boolean));

export const hl = flavours.at(-1);

/** Runs a test once for each flavour, and checks that it leaves no memory behind. */
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
