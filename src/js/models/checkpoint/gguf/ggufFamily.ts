// Adapts a family to a GGUF file, where matrices are (out, in), weights of norms contain their offset, and the rows of
// q, k and v follow each other.

import type { Family, Names } from '../../families/common.ts';
import type { ModelMetadata } from './ggufConfig.ts';

/** How the vector of a text is pooled, by pooling_type. */
const POOLING: Record<number, 'mean' | 'first' | 'last'> = { 1: 'mean', 2: 'first', 3: 'last' };

export function ggufSources(sources: Names): Names {
  const names: Names = {};
  for (const [key, source] of Object.entries(sources)) {
    const { from, also, part, form } = typeof source === 'string' ? { from: source } : source;
    names[key] = {
      from,
      ...(also !== undefined && { also }),
      ...(part && { part: part[0] === 'heads' ? ['rows', part[1]] : part }),
      ...(form && { form }),
    };
  }
  return names;
}

/** Returns the family for a GGUF file, with the biases that the file has. tensors: by GGUF's names. */
export function ggufFamily(family: Family, tensors: { has: (name: string) => boolean }, meta: ModelMetadata): Family {
  const has = (name: string) => tensors.has(`blk.0.${name}.bias`);
  const options: Family['options'] = (config, hasTensor) => ({
    ...family.options(config, hasTensor),
    ...(family.name === 'llama' && {
      bias: {
        query: has('attn_q') || has('attn_qkv'),
        key: has('attn_k') || has('attn_qkv'),
        value: has('attn_v') || has('attn_qkv'),
        out: has('attn_output'),
        mlp: has('ffn_up'),
      },
    }),
    ...(family.name === 'bert' && { pool: POOLING[meta.integer('pooling_type', 0)] ?? 'none' }),
  });
  return { ...family, names: ggufSources(family.names), options };
}
