// Loads the parts of the module that few models need.

import { setRareParts } from './rareParts.js';

/**
 * Loads the parts that a model with these options needs.
 * @param {{ input?: string, pool?: string, disentangled?: object, patch?: { anySize?: boolean }, encoder?: object,
 *   head?: string, queryKeyNorm?: boolean | string }} options
 */
export async function loadRareParts({ input, pool, disentangled, patch, encoder, head, queryKeyNorm }) {
  if (input === 'sound') setRareParts({ sound: await import('./sound/index.js') });
  if (disentangled) setRareParts({ disentangled: await import('./disentangled.js') });
  if (patch?.anySize) setRareParts({ resizedPositions: await import('./resizedPositions.js') });
  if (queryKeyNorm === 'layer' || queryKeyNorm === 'each') setRareParts({ headNorms: await import('./headNorms.js') });
  if (encoder && head === 'pooled') setRareParts({ shiftedInput: await import('./results/shiftedInput.js') });
  if (pool === 'attention') setRareParts({ attentionPool: await import('./attentionPool.js') });
}
