// Cohere's Command R, and Command R7B.

import { attentionBias, type Config, expectField, type Family, windowsByLayer } from './common.ts';
import { decoder, lmHeadKind } from './decoder.ts';
import { LLAMA, LLAMA_PREFIXES, llamaOptions } from './llama.ts';
import { DECODER_HEADS, type Published, SIZES } from './published.ts';

/** Returns the options of Cohere 2, in which only layers with a window rotate queries and keys. */
function localRotation(c: Config, rotary: object) {
  const every = c.sliding_window_pattern ?? c._sliding_window_pattern ?? 4;
  const window = windowsByLayer(c, (i) => (i + 1) % every !== 0);
  return { window, rotary: { ...rotary, layers: window.map((width) => width !== null) } };
}

/** Blocks compute attention and feed-forward in parallel, after one norm without bias. */
export const cohere: Family = {
  name: 'cohere',
  types: ['cohere', 'cohere2'],
  prefixes: LLAMA_PREFIXES,
  options: decoder(
    (c, has) => {
      // Norms of queries and keys are not supported here, because each head has its own weights for them.
      expectField(c, 'use_qk_norm', false);
      const bias = !!c.attention_bias;
      const tied = c.tie_word_embeddings ?? true;
      const options = llamaOptions(c);
      const rotary = { ...options.rotary, pairing: 'neighbours' as const };
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

export const published = (): Published => ({
  cohere: {
    models: ['Command R', 'Command R7B', 'Aya'],
    heads: DECODER_HEADS,
    config: { ...SIZES, num_key_value_heads: 2, sliding_window: 8 },
  },
});
