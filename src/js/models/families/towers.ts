// CLIP and SigLIP have two towers, one for texts and one for pictures. In the files, the tensors of both towers have
// the same names after their prefixes.

import type { TransformerOptions } from '../options.ts';
import { type Config, type Names, projections, readActivation } from './common.ts';

/**
 * Returns the fields of a tower. In a config.json of both towers they are nested in text_config or vision_config. If it
 * also has text_config_dict or vision_config_dict, only this object is used. Its missing fields have their defaults.
 */
export const towerConfig = (config: Config, tower: 'text' | 'vision'): Config =>
  config[`${tower}_config_dict`] ?? config[`${tower}_config`] ?? (isWhole(config) ? {} : config);

/** True for a config.json of both towers, which may leave out all fields of a tower. */
const isWhole = ({ model_type: type }: Config) => type === 'clip' || type === 'siglip';

/** Returns the options that both towers of a family have in common. */
export const towerOptions = (
  c: Config,
  {
    width,
    heads,
    mlp,
    activation,
    eps,
  }: { width: number; heads: number; mlp: number; activation: string; eps: number },
) => ({
  layers: c.num_hidden_layers ?? 12,
  dModel: c.hidden_size ?? width,
  numHeads: c.num_attention_heads ?? heads,
  mlp: c.intermediate_size ?? mlp,
  normEps: c.layer_norm_eps ?? eps,
  activation: readActivation('hidden_act', c.hidden_act ?? activation),
  head: 'none' as const,
});

export const towerBlocks: Names = {
  'blocks.L.norm1': 'encoder.layers.L.layer_norm1',
  ...projections('blocks.L.attention', 'encoder.layers.L.self_attn', ['q_proj', 'k_proj', 'v_proj', 'out_proj']),
  'blocks.L.norm2': 'encoder.layers.L.layer_norm2',
  'blocks.L.up': 'encoder.layers.L.mlp.fc1',
  'blocks.L.down': 'encoder.layers.L.mlp.fc2',
};

/**
 * Returns the options of CLIP's projection to the vectors that are compared. In both towers the width of the vectors is
 * the projection_dim of the whole model.
 */
export const projectedTo = ({ projection_dim: whole }: Config, { projection_dim: own }: Config) => ({
  pooler: 'linear' as const,
  poolDim: whole ?? own ?? 512,
});

/**
 * Returns the options of a tower that reads pictures.
 * @param standard size of a patch, if the config has none
 */
export function pictureOptions(
  { image_size: side = 224, patch_size: size, num_channels: channels = 3 }: Config,
  standard: number,
  how: { classTokens: number; bias: boolean },
): Pick<TransformerOptions, 'input' | 'patch' | 'context' | 'causal'> {
  const image = (Array.isArray(side) ? side : [side, side]) as [number, number];
  const patch = size ?? standard;
  const patches = image.reduce((count, length) => count * Math.floor(length / patch), 1);
  return {
    input: 'patches',
    patch: { size: patch, image, channels, ...how },
    context: patches + how.classTokens,
    causal: false,
  };
}
