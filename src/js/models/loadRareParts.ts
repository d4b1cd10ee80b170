// Loads the parts of the module that few models need.

import { setRareParts } from './rareParts.ts';

/** Loads the parts that a model with these options needs. */
export async function loadRareParts({
  input,
  pool,
  disentangled,
  patch,
  encoder,
  head,
  queryKeyNorm,
}: {
  input?: string;
  pool?: string;
  disentangled?: object;
  patch?: { anySize?: boolean };
  encoder?: object;
  head?: string;
  queryKeyNorm?: boolean | string;
}) {
  if (input === 'sound') setRareParts({ sound: await import('./sound/index.ts') });
  if (disentangled) setRareParts({ disentangled: await import('./mixers/disentangled.ts') });
  if (patch?.anySize) setRareParts({ resizedPositions: await import('./positions/resizedPositions.ts') });
  if (queryKeyNorm === 'layer' || queryKeyNorm === 'each')
    setRareParts({ headNorms: await import('./mixers/headNorms.ts') });
  if (encoder && head === 'pooled') setRareParts({ shiftedInput: await import('./results/shiftedInput.ts') });
  if (pool === 'attention') setRareParts({ attentionPool: await import('./mixers/attentionPool.ts') });
}
