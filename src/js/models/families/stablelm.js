// StableLM.

import { expectField } from './common.js';
import { decoder, lmHeadKind } from './decoder.js';
import { LLAMA, LLAMA_PREFIXES, llamaOptions } from './llama.js';

/** @import { Family } from './common.js' */

/** @type {Family} */
export const stablelm = {
  name: 'stablelm',
  prefixes: LLAMA_PREFIXES,
  options: decoder(
    (c, has) => {
      // Norms of queries and keys are not supported here, because each head has its own weights for them.
      expectField(c, 'qk_layernorm', false);
      const bias = !!c.use_qkv_bias;
      return {
        ...llamaOptions(c),
        norm: 'layer',
        normEps: c.layer_norm_eps ?? 1e-5,
        ...(c.use_parallel_residual && { normPlace: /** @type {const} */ ('parallel'), sharedNorm: true }),
        bias: { query: bias, key: bias, value: bias },
        head: lmHeadKind(has, c.tie_word_embeddings ?? false),
      };
    },
    { stablelm: { max_position_embeddings: 4096, num_key_value_heads: 32, partial_rotary_factor: 0.25 } },
  ),
  names: LLAMA,
};
