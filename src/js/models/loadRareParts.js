// Loads the parts of the module that few models need.

import { setRareParts } from './rareParts.js';

/**
 * Loads the parts that a model with these options needs.
 * @param {{ input?: string, pool?: string, disentangled?: object }} options
 */
export async function loadRareParts({ input, pool, disentangled }) {
  if (input === 'sound') setRareParts({ sound: await import('./sound/index.js') });
  if (disentangled) setRareParts({ disentangled: await import('./disentangled.js') });
  if (pool === 'attention') setRareParts({ attentionPool: await import('./attentionPool.js') });
}
