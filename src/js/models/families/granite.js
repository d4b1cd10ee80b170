// Granite.

import { attentionBias } from './common.js';
import { decoder, lmHeadKind } from './decoder.js';
import { LLAMA, LLAMA_PREFIXES, llamaOptions } from './llama.js';

/** @import { Family } from './common.js' */

/** Llama with four more factors. @type {Family} */
export const granite = {
  name: 'granite',
  prefixes: LLAMA_PREFIXES,
  options: decoder(
    (c, has) => {
      const bias = !!c.attention_bias;
      return {
        ...llamaOptions(c),
        embedScale: c.embedding_multiplier ?? 1,
        residualScale: c.residual_multiplier ?? 1,
        scale: c.attention_multiplier ?? 1,
        logitScale: 1 / (c.logits_scaling ?? 1),
        bias: { ...attentionBias(bias), mlp: !!c.mlp_bias },
        head: lmHeadKind(has, c.tie_word_embeddings ?? false),
      };
    },
    { granite: { max_position_embeddings: 2048 } },
  ),
  names: LLAMA,
};
