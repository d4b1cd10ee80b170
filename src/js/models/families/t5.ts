// T5 and mT5.

import type { TransformerOptions } from '../options.ts';
import {
  ANY_LENGTH,
  type Architecture,
  type Family,
  type Names,
  prefixKeys,
  projections,
  readActivation,
  type TensorSource,
} from './common.ts';
import { countClasses } from './heads.ts';
import type { Published } from './published.ts';

/** @param last index of the feed-forward in a block */
const t5Stack = (stack: string, last: number): Names => ({
  'buckets.table': `${stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight`,
  'blocks.L.norm1': `${stack}.block.L.layer.0.layer_norm`,
  ...projections('blocks.L.attention', `${stack}.block.L.layer.0.SelfAttention`, ['q', 'k', 'v', 'o']),
  'blocks.L.norm2': `${stack}.block.L.layer.${last}.layer_norm`,
  'blocks.L.gate': `${stack}.block.L.layer.${last}.DenseReluDense.wi_0`,
  'blocks.L.up': {
    from: `${stack}.block.L.layer.${last}.DenseReluDense.wi_1`,
    also: `${stack}.block.L.layer.${last}.DenseReluDense.wi`,
  },
  'blocks.L.down': `${stack}.block.L.layer.${last}.DenseReluDense.wo`,
  norm: `${stack}.final_layer_norm`,
});

/** @param last index of the feed-forward in a block */
const ggufStack = (at: 'enc' | 'dec', stack: 'encoder' | 'decoder', last: number): Record<string, string> => ({
  [`${at}.output_norm`]: `${stack}.final_layer_norm`,
  [`${at}.blk.L.attn_norm`]: `${stack}.block.L.layer.0.layer_norm`,
  ...Object.fromEntries(
    ['q', 'k', 'v', 'o'].map((p) => [`${at}.blk.L.attn_${p}`, `${stack}.block.L.layer.0.SelfAttention.${p}`]),
  ),
  [`${at}.blk.L.attn_rel_b`]: `${stack}.block.L.layer.0.SelfAttention.relative_attention_bias`,
  [`${at}.blk.L.ffn_norm`]: `${stack}.block.L.layer.${last}.layer_norm`,
  [`${at}.blk.L.ffn_gate`]: `${stack}.block.L.layer.${last}.DenseReluDense.wi_0`,
  [`${at}.blk.L.ffn_up`]: `${stack}.block.L.layer.${last}.DenseReluDense.wi_1`,
  [`${at}.blk.L.ffn_down`]: `${stack}.block.L.layer.${last}.DenseReluDense.wo`,
});

const GGUF: Architecture = {
  type: 't5',
  names: {
    token_embd: 'shared',
    output: 'lm_head',
    ...ggufStack('enc', 'encoder', 1),
    ...ggufStack('dec', 'decoder', 2),
    'dec.blk.L.cross_attn_norm': 'decoder.block.L.layer.1.layer_norm',
    ...Object.fromEntries(
      ['q', 'k', 'v', 'o'].map((p) => [`dec.blk.L.cross_attn_${p}`, `decoder.block.L.layer.1.EncDecAttention.${p}`]),
    ),
    'dec.blk.L.cross_attn_rel_b': 'decoder.block.L.layer.1.EncDecAttention.relative_attention_bias',
  },
};

const encoderDecoder: Family = {
  name: 't5',
  types: ['t5', 'mt5'],
  gguf: { t5: GGUF, t5encoder: GGUF },
  prefixes: [''],
  options: (c, has) => {
    const kind = c.feed_forward_proj ?? (c.model_type === 'mt5' ? 'gated-gelu' : 'relu');
    const gated = c.is_gated_act ?? kind.startsWith('gated-');
    const name = kind === 'gated-gelu' ? 'gelu_new' : kind.replace('gated-', '');
    // Later versions of transformers write tie_word_embeddings: true for every model. They write scale_decoder_outputs
    // for scaled heads, which are the tied heads.
    const tie = c.tie_word_embeddings ?? c.model_type !== 'mt5';
    const scaled = c.scale_decoder_outputs ?? tie;
    const hasHead = has('/lm_head.weight');
    const tied = !hasHead || (scaled && tie);
    const stack: TransformerOptions = {
      layers: c.num_layers,
      dModel: c.d_model,
      numHeads: c.num_heads,
      headDim: c.d_kv,
      vocab: c.vocab_size,
      context: ANY_LENGTH,
      mlp: c.d_ff,
      causal: false,
      norm: 'rms',
      normEps: c.layer_norm_epsilon ?? 1e-6,
      positions: 'buckets',
      buckets: { count: c.relative_attention_num_buckets ?? 32, distance: c.relative_attention_max_distance ?? 128 },
      activation: readActivation('feed_forward_proj', c.dense_act_fn ?? name),
      gated,
      bias: false,
      scale: 1,
      head: 'none',
    };
    if (!has('decoder.final_layer_norm.weight')) return stack;
    return {
      ...stack,
      layers: c.num_decoder_layers ?? c.num_layers,
      causal: true,
      head: hasHead || tie ? 'logits' : 'none',
      tied,
      ...(scaled && { logitScale: c.d_model ** -0.5 }),
      ...(has('/qa_outputs.weight') && {
        ...{ head: 'logits', tied: false, logitScale: 1 },
        classes: countClasses(c),
        bias: { head: true },
      }),
      encoder: { ...stack, sharedEmbedding: true },
    };
  },
  names: {
    'embedding.table': {
      from: 'shared.weight',
      also: ['encoder.embed_tokens.weight', 'decoder.embed_tokens.weight'],
    },
    ...t5Stack('decoder', 2),
    'blocks.L.cross.norm': 'decoder.block.L.layer.1.layer_norm',
    ...projections('blocks.L.cross', 'decoder.block.L.layer.1.EncDecAttention', ['q', 'k', 'v', 'o']),
    head: { from: '/lm_head', also: '/qa_outputs' },
    ...prefixKeys('encoder', t5Stack('encoder', 1)),
  },
  // Early files contain a bias that the model does not use.
  constants: ['decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight'],
};

const encoder: Family = {
  ...encoderDecoder,
  names: {
    'embedding.table': encoderDecoder.names['embedding.table'] as TensorSource,
    ...t5Stack('encoder', 1),
  },
};

export const t5: Family = {
  ...encoderDecoder,
  encoderOnly: { without: 'decoder.final_layer_norm.weight', family: encoder },
};

export const published = (): Published => ({
  t5: {
    models: ['T5', 'Flan-T5', 'mT5'],
    heads: 'next token, answers; the encoder alone',
    config: { num_layers: 2, d_model: 64, d_kv: 16, num_heads: 4, d_ff: 128, vocab_size: 100 },
  },
});
