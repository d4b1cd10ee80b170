// Makes sources of a model for texts and pictures. Each of its two towers is a source of its own.

import { drawnPixels, pixelsOf } from './pictures.js';
import { transformerSource } from './sources.js';

/** @import { TextImageModel } from '../../../src/js/models/textImage/textImageModel.js' */
/** @import { PatchOptions, Pixels, TransformerSource } from './types.js' */

/**
 * Returns the source of the tower for texts, whose field `towers` contains both sources.
 * @param {string} name
 * @param {TextImageModel} pair
 * @param {{ bytes: number, title?: string }} files
 * @returns {TransformerSource}
 */
export function textImageSource(name, pair, files) {
  const towerSource = (/** @type {'text' | 'vision'} */ part) => {
    const source = transformerSource(name, { model: pair[part], tokenizer: pair[part].tokenizer, ...files });
    const { about } = source;
    const matches = pair.similarity.independent ? /** @type {const} */ ('each') : /** @type {const} */ ('all');
    return { ...source, part, about: { ...about, family: pair.family, parts: PARTS, compares: null, matches } };
  };
  /** @type {TransformerSource} */
  const text = { ...towerSource('text'), dispose: () => pair.dispose() };
  /** @type {TransformerSource} */
  const vision = towerSource('vision');
  const patch = /** @type {PatchOptions} */ (vision.model.options.patch);
  vision.pixels = drawnPixels(patch, vision.model.preprocessor);
  text.towers = { pair, text, vision, vectors: new Map() };
  vision.towers = text.towers;
  return text;
}

/** @type {('text' | 'vision')[]} */
const PARTS = ['text', 'vision'];

/**
 * Prepares a picture for the tower in the way that the files of the model prescribe.
 * @param {TransformerSource} source the tower for pictures
 * @param {ImageBitmap} picture
 * @returns {Promise<Pixels>}
 */
export async function towerPixels({ model }, picture) {
  const { preprocessor, options } = model;
  const isWhole = preprocessor !== undefined && !preprocessor.do_center_crop;
  const pixels = pixelsOf(picture, /** @type {PatchOptions} */ (options.patch), preprocessor, isWhole);
  if (!preprocessor) return pixels;
  const { data, shape } = (await model.pixels(picture)).pixels;
  return { ...pixels, data, shape };
}
