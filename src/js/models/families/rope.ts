// Reads the fields of config.json about rotary positions.

import type { RotaryScaling } from '../../ops/rotary.ts';
import { type Config, UnsupportedField } from './common.ts';

/** Reads both forms of these fields: rope_scaling, and the newer rope_parameters. */
export function readRotary(config: Config, headDim: number) {
  const nested = config.rope_scaling ?? config.rope_parameters ?? {};
  if (Object.values(nested).some((value) => value && typeof value === 'object' && !Array.isArray(value)))
    throw new UnsupportedField('rope_parameters', nested, 'the same for all layers');
  const fields = scalingFields(config);
  const theta = nested.rope_theta ?? config.rotary_emb_base ?? config.rope_theta ?? 10000;
  const share = nested.partial_rotary_factor ?? config.rotary_pct ?? config.partial_rotary_factor ?? 1;
  const width = Math.floor(headDim * share);
  if (!fields) return { theta, width };
  const scaling = readScaling(fields, config);
  const beyond = fields.original_max_position_embeddings ?? config.original_max_position_embeddings;
  if (scaling?.type !== 'factors' || !fields.long_factor || !beyond) return { theta, width, scaling };
  return { theta, width, scaling, long: { beyond, scaling: { ...scaling, factors: fields.long_factor } } };
}

/** Returns the fields of the scaling, or null if there is none. */
export function scalingFields({ rope_scaling: scaling, rope_parameters: nested }: Config): Config | null {
  return scaling ?? ((nested?.rope_type ?? nested?.type ?? 'default') === 'default' ? null : nested);
}

function readScaling(fields: Config, config: Config): RotaryScaling | undefined {
  const type = fields.rope_type ?? fields.type;
  const originalContext =
    fields.original_max_position_embeddings ??
    config.original_max_position_embeddings ??
    config.max_position_embeddings;
  const { factor } = fields;
  // 'dynamic' changes only sequences longer than the context, which are refused.
  if (type === 'default' || type === 'dynamic') return undefined;
  if (type === 'linear') return { type, factor };
  if (type === 'llama3')
    return {
      type,
      factor,
      originalContext,
      lowFreqFactor: fields.low_freq_factor,
      highFreqFactor: fields.high_freq_factor,
    };
  if (type === 'yarn') return readYarn(fields, originalContext);
  if (type === 'longrope' || type === 'su') return readLongRope(fields, config, originalContext);
  throw new UnsupportedField('rope_scaling', type ?? fields, 'linear, dynamic, llama3, yarn or longrope');
}

function readYarn(fields: Config, originalContext: number): RotaryScaling {
  const { factor, mscale, mscale_all_dim: mscaleAll } = fields;
  const magnitude = (scale: number) => (factor > 1 ? 0.1 * scale * Math.log(factor) + 1 : 1);
  const ratio = mscale && mscaleAll ? magnitude(mscale) / magnitude(mscaleAll) : undefined;
  const attentionFactor = fields.attention_factor ?? ratio;
  return {
    type: 'yarn',
    factor,
    originalContext,
    betaFast: fields.beta_fast ?? 32,
    betaSlow: fields.beta_slow ?? 1,
    ...(attentionFactor !== undefined && { attentionFactor }),
    ...(fields.truncate === false && { truncate: false }),
  };
}

/** Returns the scaling for sequences within the original context. */
function readLongRope(fields: Config, config: Config, originalContext: number): RotaryScaling {
  const ratio = config.max_position_embeddings / originalContext;
  const extension = config.original_max_position_embeddings ? ratio : (fields.factor ?? ratio);
  const magnitude = extension <= 1 ? 1 : Math.sqrt(1 + Math.log(extension) / Math.log(originalContext));
  return { type: 'factors', factors: fields.short_factor, attentionFactor: fields.attention_factor ?? magnitude };
}
