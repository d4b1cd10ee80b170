// Qwen 2 and Qwen 3.

import { attentionBias, type Config, type Family, windowsByLayer } from './common.ts';
import { decoder, lmHeadKind } from './decoder.ts';
import { GGUF_HEAD_NORMS, LLAMA, LLAMA_GGUF, LLAMA_PREFIXES, llamaOptions } from './llama.ts';
import { DECODER_HEADS, type Published, SIZES } from './published.ts';

const qwenWindow = (c: Config) => {
  const windows = windowsByLayer(c, (i) => i >= (c.max_window_layers ?? 28));
  return c.use_sliding_window && c.sliding_window ? windows : null;
};

export const qwen2: Family = {
  name: 'qwen2',
  types: ['qwen2'],
  gguf: { qwen2: { ...LLAMA_GGUF, type: 'qwen2' } },
  prefixes: LLAMA_PREFIXES,
  options: decoder(
    (c, has) => ({
      ...llamaOptions(c),
      head: lmHeadKind(has, c.tie_word_embeddings ?? false),
      bias: { query: true, key: true, value: true },
      window: qwenWindow(c),
    }),
    { qwen2: { max_position_embeddings: 2 ** 15, sliding_window: 4096 } },
  ),
  names: LLAMA,
};

export const qwen3: Family = {
  name: 'qwen3',
  types: ['qwen3'],
  gguf: { qwen3: { ...LLAMA_GGUF, type: 'qwen3', names: { ...LLAMA_GGUF.names, ...GGUF_HEAD_NORMS } } },
  prefixes: LLAMA_PREFIXES,
  options: decoder(
    (c, has) => {
      const bias = !!c.attention_bias;
      return {
        ...llamaOptions(c),
        head: lmHeadKind(has, c.tie_word_embeddings ?? false),
        bias: attentionBias(bias),
        queryKeyNorm: true,
        window: qwenWindow(c),
      };
    },
    { qwen3: { max_position_embeddings: 2 ** 15, sliding_window: 4096, head_dim: 128 } },
  ),
  names: {
    ...LLAMA,
    'blocks.L.attention.normQ': 'layers.L.self_attn.q_norm',
    'blocks.L.attention.normK': 'layers.L.self_attn.k_norm',
  },
};

export const published = (): Published => ({
  qwen2: {
    models: ['Qwen (1.5, 2 and 2.5)'],
    heads: DECODER_HEADS,
    config: { ...SIZES, num_key_value_heads: 2, sliding_window: 8, use_sliding_window: true, max_window_layers: 0 },
  },
  qwen3: {
    models: ['Qwen (3)'],
    heads: DECODER_HEADS,
    config: {
      ...SIZES,
      head_dim: 16,
      num_key_value_heads: 2,
      sliding_window: 8,
      use_sliding_window: true,
      max_window_layers: 0,
    },
  },
});
