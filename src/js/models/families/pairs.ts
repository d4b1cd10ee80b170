// Models for texts and pictures: two towers in one checkpoint, and the factors of their similarity.

import { clip, clipVision } from './clip.ts';
import type { Config, Family } from './common.ts';
import { siglip, siglipVision } from './siglip.ts';
import { towerConfig } from './towers.ts';

/**
 * bias: true if a bias is added to similarities; the probability of a text is then a sigmoid, not a softmax over texts.
 * projected: true if both towers end with a projection.
 */
export type PairFamily = { text: Family; vision: Family; bias: boolean; projected: boolean };
export type Tower = 'text' | 'vision';

/** The pairs by model_type. */
export const PAIRS: ReadonlyMap<unknown, PairFamily> = new Map(
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

export const hasTower = (tensors: ReadonlyMap<string, unknown>, tower: Tower) => tensors.has(FIRST[tower]);

/**
 * Returns the config.json of a tower alone.
 * @param config of both towers
 * @param projected true if the tower ends with a projection
 */
export function configOfTower(config: Config, tower: Tower, projected: boolean) {
  const name = config.model_type === 'clip' ? 'CLIP' : 'Siglip';
  const { projection_dim: width } = config;
  return {
    ...towerConfig(config, tower),
    ...(width !== undefined && { projection_dim: width }),
    model_type: `${config.model_type}_${tower}_model`,
    architectures: [`${name}${tower === 'text' ? 'Text' : 'Vision'}Model${projected ? 'WithProjection' : ''}`],
  };
}
