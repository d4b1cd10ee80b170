// Adapts a family to a GGUF file, where matrices are (out, in), weights of norms contain their offset, and the rows of
// q, k and v follow each other.

import type { Family, Names } from '../../families/common.ts';
import type { ModelMetadata } from './ggufConfig.ts';

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
  const hasBias = (name: string) => tensors.has(`blk.0.${name}.bias`);
  const options: Family['options'] = (config, hasTensor) => ({
    ...family.options(config, hasTensor),
    ...family.gguf?.[String(meta.architecture)]?.options?.(hasBias, (key, fallback) => meta.integer(key, fallback)),
  });
  return { ...family, names: ggufSources(family.names), options };
}
