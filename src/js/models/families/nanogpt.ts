// Checkpoints of nanoGPT: a GPT-2 whose matrices are (out, in), and whose layers may have no biases. There is no
// config.json, because the training program saves its options as model_args.

import { ALL_BIASES, type Config, type Family } from './common.ts';
import { gpt2 } from './gpt2.ts';

const NO_BIASES = Object.fromEntries(Object.keys(ALL_BIASES).map((name) => [name, false]));

export const nanogpt: Family = {
  ...gpt2,
  options: (c, has) => ({ ...gpt2.options(c, has), ...(c.bias === false && { bias: NO_BIASES }) }),
  names: Object.fromEntries(
    Object.entries(gpt2.names).map(([name, source]) => [
      name,
      typeof source === 'string' ? source : { ...source, transposed: false },
    ]),
  ),
};

/** Converts model_args to a config.json of GPT-2. nanoGPT computes the exact GELU. */
export const nanogptConfig = (args: ReadonlyMap<unknown, unknown>): Config => ({
  model_type: 'gpt2',
  architectures: ['GPT2LMHeadModel'],
  n_layer: args.get('n_layer'),
  n_head: args.get('n_head'),
  n_embd: args.get('n_embd'),
  n_positions: args.get('block_size'),
  vocab_size: args.get('vocab_size'),
  activation_function: 'gelu',
  layer_norm_epsilon: 1e-5,
  bias: args.get('bias') ?? true,
  tie_word_embeddings: true,
});
