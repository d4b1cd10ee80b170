// Parts of the module for mechanisms that few models have. loadRareParts.js loads them when a model needs them. In Node
// they are always loaded.

import { HeadlightError } from '../check/errors.js';

/**
 * @typedef {object} RareParts
 * @property {typeof import('./sound/index.js')} sound
 * @property {typeof import('./disentangled.js')} disentangled
 * @property {typeof import('./attentionPool.js')} attentionPool
 * @property {typeof import('./headNorms.js')} headNorms
 * @property {typeof import('./resizedPositions.js')} resizedPositions
 * @property {typeof import('./results/shiftedInput.js')} shiftedInput
 */

/** @type {Partial<RareParts>} */
const parts = {};

/** @param {Partial<RareParts>} loaded */
export const setRareParts = (loaded) => void Object.assign(parts, loaded);

/**
 * @template {keyof RareParts} N
 * @param {N} name
 * @param {string} caller
 * @returns {RareParts[N]}
 */
export function rarePart(name, caller) {
  const part = parts[name];
  if (part) return /** @type {RareParts[N]} */ (part);
  throw new HeadlightError(
    'STATE',
    `${caller}: the part for ${name} is not loaded; first call hl.openModel with a model that needs it`,
    { parameter: name },
  );
}
