// The part of the module for models that read samples of sound. openModel loads it when the first such model is opened.

import { HeadlightError } from '../check/errors.js';

/** @typedef {typeof import('./sound/index.js')} SoundPart */

/** @type {SoundPart | undefined} */
let part;

/** @param {SoundPart} loaded */
export const setSoundPart = (loaded) => void (part = loaded);

/** @param {string} caller */
export function soundPart(caller) {
  if (part) return part;
  throw new HeadlightError('STATE', `${caller}: call hl.openModel with a model of sound first`);
}
