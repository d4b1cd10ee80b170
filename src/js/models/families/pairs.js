// Models for texts and pictures: two towers in one checkpoint, and the factors of their similarity.

import { clip, clipVision } from './clip.js';
import { siglip, siglipVision } from './siglip.js';
import { towerConfig } from './towers.js';

/** @import { Config, Family } from './common.js' */

/**
 * bias: true if a bias is added to similarities; the probability of a text is then a sigmoid, not a softmax over texts.
 * projected: true if both towers end with a projection.
 * @typedef {{ text: Family, vision: Family, bias: boolean, projected: boolean }} PairFamily
 */
/** @typedef {'text' | 'vision'} Tower */

/** The pairs by model_type. @type {ReadonlyMap<unknown, PairFamily>} */
export const PAIRS = new Map(
  Object.entries({
    clip: { text: clip, vision: clipVision, bias: false, projected: true },
    siglip: { text: siglip, vision: siglipVision, bias: true, projected: false },
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
