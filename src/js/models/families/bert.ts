// BERT.

import { ALL_BIASES, type Config, expectField, type Family, projections, readActivation } from './common.ts';
import { classHead, maskedHead } from './heads.ts';
import { type Published, SIZES } from './published.ts';

/** How the vector of a text is pooled, by pooling_type in GGUF. */
const GGUF_POOLING: Record<number, 'mean' | 'first' | 'last'> = { 1: 'mean', 2: 'first', 3: 'last' };

export const BERT_LAYER = {
  ...projections('blocks.L.attention', 'encoder.layer.L.attention', [
    'self.query',
    'self.key',
    'self.value',
    'output.dense',
  ]),
  'embedding.table': 'embeddings.word_embeddings.weight',
  'embedding.position': 'embeddings.position_embeddings.weight',
  'embedding.type': 'embeddings.token_type_embeddings.weight',
  'embedding.norm': 'embeddings.LayerNorm',
  'blocks.L.norm1': 'encoder.layer.L.attention.output.LayerNorm',
  'blocks.L.up': 'encoder.layer.L.intermediate.dense',
  'blocks.L.down': 'encoder.layer.L.output.dense',
  'blocks.L.norm2': 'encoder.layer.L.output.LayerNorm',
};

export function bertOptions(c: Config) {
  expectField(c, 'position_embedding_type', 'absolute');
  expectField(c, 'add_cross_attention', false);
  expectField(c, 'embedding_size', c.hidden_size);
  return {
    layers: c.num_hidden_layers,
    dModel: c.hidden_size,
    numHeads: c.num_attention_heads,
    vocab: c.vocab_size,
    mlp: c.intermediate_size,
    causal: !!c.is_decoder,
    countPadding: true,
    normEps: c.layer_norm_eps ?? 1e-12,
    normPlace: 'after' as const,
    embedNorm: true,
    activation: readActivation('hidden_act', c.hidden_act ?? 'gelu'),
    tokenTypes: c.type_vocab_size ?? 2,
  };
}

export const bert: Family = {
  name: 'bert',
  types: ['bert'],
  gguf: {
    bert: {
      type: 'bert',
      names: {
        token_embd: 'embeddings.word_embeddings',
        position_embd: 'embeddings.position_embeddings',
        token_types: 'embeddings.token_type_embeddings',
        token_embd_norm: 'embeddings.LayerNorm',
        'blk.L.attn_output': 'encoder.layer.L.attention.output.dense',
        'blk.L.attn_output_norm': 'encoder.layer.L.attention.output.LayerNorm',
        'blk.L.ffn_up': 'encoder.layer.L.intermediate.dense',
        'blk.L.ffn_down': 'encoder.layer.L.output.dense',
        'blk.L.layer_output_norm': 'encoder.layer.L.output.LayerNorm',
      },
      qkv: [
        'encoder.layer.L.attention.self.query',
        'encoder.layer.L.attention.self.key',
        'encoder.layer.L.attention.self.value',
      ],
      others: ['cls', 'cls.output'],
      options: (_, integer) => ({ pool: GGUF_POOLING[integer('pooling_type', 0)] ?? 'none' }),
    },
  },
  prefixes: ['bert.', ''],
  options: (c, has) => {
    // Some files contain only a part of the head for masked tokens, which cannot be used.
    const part = (name: string) => has(`/cls.predictions.${name}`);
    const masked =
      part('transform.dense.weight') && part('transform.dense.bias') && (part('bias') || part('decoder.bias'));
    const pooled = has('pooler.dense.weight');
    return {
      ...bertOptions(c),
      context: c.max_position_embeddings,
      bias: ALL_BIASES,
      ...(pooled && { pool: 'first', pooler: 'tanh' }),
      ...(masked ? maskedHead(c) : classHead(c, has, pooled)),
      ...(pooled && has('/cls.seq_relationship.weight') && { relationship: 2 }),
    };
  },
  names: {
    ...BERT_LAYER,
    pooler: 'pooler.dense',
    'head.dense': '/cls.predictions.transform.dense',
    'head.norm': '/cls.predictions.transform.LayerNorm',
    head: { from: '/cls.predictions.decoder', also: ['/cls.predictions', '/classifier', '/qa_outputs'] },
    relationship: '/cls.seq_relationship',
  },
  constants: ['/cls.predictions.bias', '/cls.predictions.decoder.bias'],
};

export const published = (): Published => ({
  bert: {
    models: ['BERT', 'MiniLM', 'E5', 'BGE'],
    heads: 'masked word, next sentence, classes, token classes, answers, choices',
    config: SIZES,
  },
});
