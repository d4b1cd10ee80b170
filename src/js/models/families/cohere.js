// Cohere's Command R, and Command R7B.

import { attentionBias, expectField, windowsByLayer } from './common.js';
import { decoder, lmHeadKind } from './decoder.js';
import { LLAMA, LLAMA_PREFIXES, llamaOptions } from './llama.js';

/** @import { Config, Family } from './common.js' */

/**
 * Returns the options of Cohere 2, in which only layers with a window rotate queries and keys.
 * @param {Config} c
 * @param {object} rotary
 */
function localRotation(c, rotary) {
  const every = c.sliding_window_pattern ?? c._sliding_window_pattern ?? 4;
  const window = windowsByLayer(c, (i) => (i + 1) % every !== 0);
  return { window, rotary: { ...rotary, layers: window.map((width) => width !== null) } };
}

/** Blocks compute attention and feed-forward in parallel, after one norm without bias. @type {Family} */
export const cohere = {
  name: 'cohere',
  prefixes: LLAMA_PREFIXES,
  options: decoder(
    (c, has) => {
      // Norms of queries and keys are not supported here, because each head has its own weights for them.
      expectField(c, 'use_qk_norm', false);
      const bias = !!c.attention_bias;
      const tied = c.tie_word_embeddings ?? true;
      const options = llamaOptions(c);
      const rotary = { ...options.rotary, pairing: /** @type {const} */ ('neighbours') };
      return {
        ...options,
        norm: 'layer',
        normEps: c.layer_norm_eps ?? 1e-5,
        normPlace: 'parallel',
        sharedNorm: true,
        rotary,
        ...(c.model_type === 'cohere2' && localRotation(c, rotary)),
        bias: { ...attentionBias(bias), norm: false },
        logitScale: c.logit_scale ?? 0.0625,
        tied,
        head: lmHeadKind(has, tied),
      };
    },
    {
      cohere: { max_position_embeddings: 8192 },
      cohere2: { max_position_embeddings: 8192, sliding_window: 4096 },
    },
  ),
  names: LLAMA,
};
