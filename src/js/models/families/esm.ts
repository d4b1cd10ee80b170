// ESM-1 and ESM-2, models of proteins.

import { BERT_LAYER, bertOptions } from './bert.ts';
import { ALL_BIASES, expectField, type Family } from './common.ts';
import { type Published, SIZES } from './published.ts';
import { ROBERTA_HEAD, robertaHead } from './roberta.ts';

/** The share of tokens that were masked in training: 15% were selected, and 80% of these became the mask. */
const MASKED = 0.15 * 0.8;

export const esm: Family = {
  name: 'esm',
  types: ['esm'],
  prefixes: ['esm.', ''],
  options: (c, has) => {
    expectField(c, 'is_folding_model', false);
    expectField(c, 'position_embedding_type', 'absolute', 'rotary');
    const padding = c.pad_token_id ?? 1;
    const rotary = c.position_embedding_type === 'rotary';
    return {
      ...bertOptions({ ...c, position_embedding_type: undefined }),
      ...(rotary
        ? { positions: 'rotary', context: c.max_position_embeddings }
        : {
            context: c.max_position_embeddings - padding - 1,
            positionOffset: padding + 1,
            padToken: padding,
          }),
      normPlace: 'before',
      embedNorm: c.emb_layer_norm_before ?? false,
      activation: 'gelu',
      tokenTypes: 0,
      bias: ALL_BIASES,
      ...(c.token_dropout && { tokenDropout: { token: c.mask_token_id, share: MASKED } }),
      ...robertaHead(c, has),
    };
  },
  names: {
    ...BERT_LAYER,
    'embedding.norm': 'embeddings.layer_norm',
    'blocks.L.norm1': 'encoder.layer.L.attention.LayerNorm',
    'blocks.L.norm2': 'encoder.layer.L.LayerNorm',
    norm: 'encoder.emb_layer_norm_after',
    ...ROBERTA_HEAD,
  },
  constants: ['/lm_head.bias', '/lm_head.decoder.bias'],
  // Files of models with rotary positions contain a table of positions that is not used.
  others: ['pooler.dense', 'contact_head', 'embeddings.position_embeddings'],
};

export const published = (): Published => ({
  esm: {
    models: ['ESM-1', 'ESM-2'],
    heads: 'masked word, classes, token classes',
    config: { ...SIZES, token_dropout: true, mask_token_id: 1 },
  },
});
