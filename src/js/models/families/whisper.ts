// Whisper.

import { type Family, type Names, prefixKeys, projections, readActivation } from './common.ts';
import { type Published, STACK_SIZES } from './published.ts';

const whisperStack = (stack: string): Names => ({
  'embedding.position': `${stack}.embed_positions.weight`,
  'blocks.L.norm1': `${stack}.layers.L.self_attn_layer_norm`,
  ...projections('blocks.L.attention', `${stack}.layers.L.self_attn`, ['q_proj', 'k_proj', 'v_proj', 'out_proj']),
  'blocks.L.norm2': `${stack}.layers.L.final_layer_norm`,
  'blocks.L.up': `${stack}.layers.L.fc1`,
  'blocks.L.down': `${stack}.layers.L.fc2`,
  norm: `${stack}.layer_norm`,
});

export const whisper: Family = {
  name: 'whisper',
  types: ['whisper'],
  prefixes: ['model.', ''],
  options: (c) => {
    const shared = {
      dModel: c.d_model,
      normEps: 1e-5,
      activation: readActivation('activation_function', c.activation_function ?? 'gelu'),
      bias: { query: true, key: false, value: true, out: true, mlp: true, norm: true },
    };
    return {
      ...shared,
      layers: c.decoder_layers,
      numHeads: c.decoder_attention_heads,
      vocab: c.vocab_size,
      context: c.max_target_positions,
      mlp: c.decoder_ffn_dim,
      tied: c.tie_word_embeddings ?? true,
      encoder: {
        ...shared,
        layers: c.encoder_layers,
        numHeads: c.encoder_attention_heads,
        context: c.max_source_positions,
        mlp: c.encoder_ffn_dim,
        causal: false,
        input: 'audio',
        channels: c.num_mel_bins,
        head: 'none',
      },
    };
  },
  names: {
    'embedding.table': 'decoder.embed_tokens.weight',
    ...whisperStack('decoder'),
    'blocks.L.cross.norm': 'decoder.layers.L.encoder_attn_layer_norm',
    ...projections('blocks.L.cross', 'decoder.layers.L.encoder_attn', ['q_proj', 'k_proj', 'v_proj', 'out_proj']),
    head: '/proj_out',
    ...prefixKeys('encoder', whisperStack('encoder')),
    'encoder.embedding.conv1': { from: 'encoder.conv1', form: 'convolution' },
    'encoder.embedding.conv2': { from: 'encoder.conv2', form: 'convolution' },
  },
};

export const published = (): Published => ({
  whisper: {
    models: ['Whisper'],
    heads: 'next token',
    config: { ...STACK_SIZES, max_source_positions: 64, max_target_positions: 64, num_mel_bins: 80 },
  },
});
