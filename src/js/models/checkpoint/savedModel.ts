// Opens the file of a model that `save` has written.

import { readSafetensors } from '../../io/safetensors.ts';
import type { Memory } from '../../memory/memory.ts';
import { openTokenizer } from '../../text/tokenizer.ts';
import { loadTransformer, type SavedTransformer } from '../loadTransformer.ts';
import type { Storage } from './readWeights.ts';

export function openSavedModel(
  memory: Memory,
  bytes: Uint8Array,
  tokenizer: Uint8Array | undefined,
  { storage, layers }: { storage: Storage; layers?: number },
) {
  const saved = readSafetensors(bytes) as SavedTransformer;
  const model = loadTransformer(memory, layers === undefined ? saved : firstLayers(saved, layers));
  try {
    if (tokenizer) {
      model.tokenizerFile = tokenizer;
      model.tokenizer = openTokenizer(tokenizer);
    }
    if (storage === 'int8' || storage === 'int4') model.quantize(storage);
    return model;
  } catch (error) {
    model.dispose();
    throw error;
  }
}

function firstLayers({ tensors, metadata }: SavedTransformer, layers: number): SavedTransformer {
  const options = JSON.parse(metadata.headlight);
  const isUsed = (name: string) => !(Number(/^blocks\.(\d+)\./.exec(name)?.[1]) >= layers);
  return {
    tensors: Object.fromEntries(Object.entries(tensors).filter(([name]) => isUsed(name))),
    metadata: { ...metadata, headlight: JSON.stringify({ ...options, layers: Math.min(options.layers, layers) }) },
  };
}
