// The type of the documentation's entries about families, from which src/build/families.ts makes its texts. Each file
// of families exports its entries as a function. No file of the module imports the function, so bundlers drop it.

import type { Config } from './common.ts';

/** By the name of the family. */
export type Published = Record<
  string,
  {
    /** names of published models, each followed by its versions in parentheses, if not all are supported */
    models: readonly string[];
    heads: string;
    /** the fields of a config.json that the family needs, and those that turn on its special features */
    config: Config;
  }
>;

export const DECODER_HEADS = 'next token, classes, token classes, answers';
export const ENCODER_HEADS = 'masked word, classes, token classes, answers, choices';

/** Fields that most families read. */
export const SIZES = {
  num_hidden_layers: 2,
  hidden_size: 64,
  num_attention_heads: 4,
  intermediate_size: 128,
  vocab_size: 100,
  max_position_embeddings: 64,
};
/** Fields of families with an encoder and a decoder. */
export const STACK_SIZES = {
  encoder_layers: 2,
  decoder_layers: 2,
  d_model: 64,
  encoder_attention_heads: 4,
  decoder_attention_heads: 4,
  encoder_ffn_dim: 128,
  decoder_ffn_dim: 128,
  vocab_size: 100,
};
