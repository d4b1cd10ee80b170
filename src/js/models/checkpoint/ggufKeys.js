// Makes the metadata of a GGUF file that describes a model. This is the inverse of ggufConfig.js, which reads such
// metadata. Entries that llama.cpp does not need are left out if they have their usual value.

import { frequencies } from '../../ops/rotary.js';

/** @import { RotaryScaling } from '../../ops/rotary.js' */
/** @import { Value } from '../../io/ggufWriter.js' */
/** @import { Resolved } from '../options.js' */

/** @typedef {Record<string, Value | undefined>} Keys undefined: left out */

/** @param {number} value @returns {Value} */
export const u32 = (value) => ({ kind: 'u32', value });
/** @param {number} value @returns {Value} */
export const f32 = (value) => ({ kind: 'f32', value: Math.fround(value) });
/** @param {string} value @returns {Value} */
export const string = (value) => ({ kind: 'string', value });
/** @param {boolean} value @returns {Value} */
export const bool = (value) => ({ kind: 'bool', value });

/** @param {Resolved} o @returns {Keys} */
const sizes = (o) => ({
  block_count: u32(o.layers),
  context_length: u32(o.context),
  embedding_length: u32(o.dModel),
  feed_forward_length: u32(o.mlp),
  'attention.head_count': u32(o.numHeads),
  vocab_size: u32(o.vocab),
});

/**
 * Returns the divisors of the rotary angles that the file must contain as a tensor; undefined if it needs none.
 * @param {Resolved} o
 */
export function divisorsOf({ rotary, headDim }) {
  const { theta = 10000, width = headDim, scaling } = rotary ?? {};
  if (scaling?.type !== 'factors' && scaling?.type !== 'llama3') return undefined;
  const plain = frequencies(theta, width).angles;
  return Float32Array.from(frequencies(theta, width, scaling).angles, (angle, n) => plain[n] / angle);
}

/** @param {RotaryScaling | undefined} scaling @returns {Keys} */
function scalingKeys(scaling) {
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

/** @param {Resolved} o @returns {Keys} */
const decoder = (o) => ({
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

/** Returns the window of the layers that have one; 0 if there is none. @param {Resolved} o */
const widthOf = ({ window }) => window?.find((width) => width !== null) ?? 0;

/** @param {Resolved} o @returns {Keys} */
function windowKeys(o) {
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

/**
 * Returns the metadata entries of Gemma 2, whose architecture determines which layers have the window.
 * @param {Resolved} o
 * @returns {Keys}
 */
const gemma2 = (o) => ({
  ...decoder(o),
  'attention.sliding_window': u32(widthOf(o)),
  attn_logit_softcapping: o.softcap === 0 ? undefined : f32(o.softcap),
  final_logit_softcapping: o.logitSoftcap === 0 ? undefined : f32(o.logitSoftcap),
});

/** Functions that make the entries, by general.architecture. @type {Record<string, (o: Resolved) => Keys>} */
export const KEYS = {
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
