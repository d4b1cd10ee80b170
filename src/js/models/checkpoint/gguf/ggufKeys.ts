// Makes the metadata of a GGUF file, the inverse of ggufConfig.ts. Entries that llama.cpp does not need are left out if
// they are as usual.

import type { Value } from '../../../io/ggufWriter.ts';
import { frequencies, type RotaryScaling } from '../../../ops/rotary.ts';
import type { Resolved } from '../../options.ts';

/** undefined: left out */
export type Keys = Record<string, Value | undefined>;

export const u32 = (value: number): Value => ({ kind: 'u32', value });
export const f32 = (value: number): Value => ({ kind: 'f32', value: Math.fround(value) });
export const string = (value: string): Value => ({ kind: 'string', value });
export const bool = (value: boolean): Value => ({ kind: 'bool', value });

const sizes = (o: Resolved): Keys => ({
  block_count: u32(o.layers),
  context_length: u32(o.context),
  embedding_length: u32(o.dModel),
  feed_forward_length: u32(o.mlp),
  'attention.head_count': u32(o.numHeads),
  vocab_size: u32(o.vocab),
});

/** Returns the divisors of the rotary angles that the file must contain as a tensor; undefined if it needs none. */
export function divisorsOf({ rotary, headDim }: Resolved) {
  const { theta = 10000, width = headDim, scaling } = rotary ?? {};
  if (scaling?.type !== 'factors' && scaling?.type !== 'llama3') return undefined;
  const plain = frequencies(theta, width).angles;
  return Float32Array.from(frequencies(theta, width, scaling).angles, (angle, n) => plain[n] / angle);
}

function scalingKeys(scaling: RotaryScaling | undefined): Keys {
  if (!scaling || scaling.type === 'llama3') return {};
  if (scaling.type === 'factors') {
    const { attentionFactor = 1 } = scaling;
    return { 'rope.scaling.attn_factor': attentionFactor === 1 ? undefined : f32(attentionFactor) };
  }
  const { type, factor } = scaling;
  const keys = { 'rope.scaling.type': string(type), 'rope.scaling.factor': f32(factor) };
  if (type === 'linear') return keys;
  const { originalContext, betaFast = 32, betaSlow = 1, attentionFactor } = scaling;
  const usual = factor > 1 ? 0.1 * Math.log(factor) + 1 : 1;
  return {
    ...keys,
    'rope.scaling.original_context_length': u32(originalContext),
    'rope.scaling.yarn_beta_fast': betaFast === 32 ? undefined : f32(betaFast),
    'rope.scaling.yarn_beta_slow': betaSlow === 1 ? undefined : f32(betaSlow),
    // llama.cpp multiplies YaRN's usual attention factor by the factor in the metadata.
    'rope.scaling.attn_factor': attentionFactor === undefined ? undefined : f32(attentionFactor / usual),
  };
}

const decoder = (o: Resolved): Keys => ({
  ...sizes(o),
  'attention.head_count_kv': u32(o.kvHeads),
  ...(o.headDim * o.numHeads !== o.dModel && {
    'attention.key_length': u32(o.headDim),
    'attention.value_length': u32(o.headDim),
  }),
  'attention.layer_norm_rms_epsilon': f32(o.normEps),
  'rope.dimension_count': u32(o.rotary?.width ?? o.headDim),
  'rope.freq_base': f32(o.rotary?.theta ?? 10000),
  ...scalingKeys(o.rotary?.scaling),
});

/** Returns the window of the layers that have one; 0 if there is none. */
const widthOf = ({ window }: Resolved) => window?.find((width) => width !== null) ?? 0;

function windowKeys(o: Resolved): Keys {
  const { window } = o;
  if (!window || widthOf(o) === 0) return {};
  const mixed = window.some((width) => width === null);
  return {
    'attention.sliding_window': u32(widthOf(o)),
    ...(mixed && {
      'attention.sliding_window_pattern': { kind: 'bool', value: window.map((width) => width !== null) },
    }),
  };
}

/** Returns the metadata entries of Gemma 2, whose architecture determines which layers have the window. */
const gemma2 = (o: Resolved): Keys => ({
  ...decoder(o),
  'attention.sliding_window': u32(widthOf(o)),
  attn_logit_softcapping: o.softcap === 0 ? undefined : f32(o.softcap),
  final_logit_softcapping: o.logitSoftcap === 0 ? undefined : f32(o.logitSoftcap),
});

/** Functions that make the entries, by general.architecture. */
export const KEYS: Record<string, (o: Resolved) => Keys> = {
  llama: (o) => ({ ...decoder(o), ...windowKeys(o) }),
  gpt2: (o) => ({ ...sizes(o), 'attention.layer_norm_epsilon': f32(o.normEps) }),
  qwen2: (o) => ({ ...decoder(o), ...windowKeys(o) }),
  qwen3: (o) => ({
    ...decoder(o),
    'attention.key_length': u32(o.headDim),
    'attention.value_length': u32(o.headDim),
    ...windowKeys(o),
  }),
  gemma: (o) => ({
    ...decoder(o),
    'attention.key_length': u32(o.headDim),
    'attention.value_length': u32(o.headDim),
  }),
  gemma2,
  gemma3: (o) => ({
    ...gemma2(o),
    'rope.freq_base_swa': o.rotary?.localTheta === 10000 ? undefined : f32(o.rotary?.localTheta ?? 10000),
  }),
};
