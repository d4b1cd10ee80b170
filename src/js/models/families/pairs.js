// Models for texts and pictures: two towers in one checkpoint, and the factors of their similarity.

import { clip, clipVision } from './clip.js';
import { siglip, siglipVision } from './siglip.js';
import { towerConfig } from './towers.js';

/** @import { Config, Family } from './common.js' */

/**
 * bias: true if a bias is added to similarities; the probability of a text is then a sigmoid, not a softmax over texts.
 * projected: true if both towers end with a projection. picture: the fields of preprocessor_config.json that a file may
 * leave out, by the height and the width of the pictures.
 * @typedef {{ text: Family, vision: Family, bias: boolean, projected: boolean,
 *   picture: (image: readonly [number, number]) => Config }} PairFamily
 */
/** @typedef {'text' | 'vision'} Tower */

const BICUBIC = 3;
const SHARED = { do_resize: true, resample: BICUBIC, do_rescale: true, rescale_factor: 1 / 255, do_normalize: true };

/** The pairs by model_type. @type {ReadonlyMap<unknown, PairFamily>} */
export const PAIRS = new Map(
  Object.entries({
    clip: {
      text: clip,
      vision: clipVision,
      bias: false,
      projected: true,
      picture: ([height, width]) => ({
        ...SHARED,
        ...{ size: { shortest_edge: Math.min(height, width) }, do_center_crop: true, crop_size: { height, width } },
        image_mean: [0.48145466, 0.4578275, 0.40821073],
        image_std: [0.26862954, 0.26130258, 0.27577711],
      }),
    },
    siglip: {
      text: siglip,
      vision: siglipVision,
      bias: true,
      projected: false,
      picture: ([height, width]) => ({
        ...SHARED,
        ...{ size: { height, width }, image_mean: [0.5, 0.5, 0.5], image_std: [0.5, 0.5, 0.5] },
      }),
    },
  }),
);

/** A tensor of each tower, which shows that the files contain this tower. */
const FIRST = {
  text: 'text_model.embeddings.token_embedding.weight',
  vision: 'vision_model.embeddings.patch_embedding.weight',
};

/** @param {ReadonlyMap<string, unknown>} tensors @param {Tower} tower */
export const hasTower = (tensors, tower) => tensors.has(FIRST[tower]);

/**
 * Returns the config.json of a tower alone.
 * @param {Config} config of both towers
 * @param {Tower} tower
 * @param {boolean} projected true if the tower ends with a projection
 */
export function configOfTower(config, tower, projected) {
  const name = config.model_type === 'clip' ? 'CLIP' : 'Siglip';
  const { projection_dim: width } = config;
  return {
    ...towerConfig(config, tower),
    ...(width !== undefined && { projection_dim: width }),
    model_type: `${config.model_type}_${tower}_model`,
    architectures: [`${name}${tower === 'text' ? 'Text' : 'Vision'}Model${projected ? 'WithProjection' : ''}`],
  };
}

/**
 * Returns preprocessor_config.json with all fields. If size is a number, it is the side of a square, or for CLIP the
 * shortest edge.
 * @param {Config} given
 * @param {Config} defaults
 * @returns {Config}
 */
export function completePreprocessor(given, defaults) {
  const { size } = given;
  const edge = typeof size === 'number' && 'shortest_edge' in defaults.size;
  return { ...defaults, ...given, ...(edge && { size: { shortest_edge: size } }) };
}
