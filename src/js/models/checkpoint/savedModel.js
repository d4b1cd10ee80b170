// Opens the file of a model that `save` has written.

import { readSafetensors } from '../../io/safetensors.js';
import { openTokenizer } from '../../text/tokenizer.js';
import { loadTransformer } from '../loadTransformer.js';

/** @import { Memory } from '../../memory/memory.js' */
/** @import { SavedTransformer } from '../loadTransformer.js' */
/** @import { Storage } from './readWeights.js' */

/**
 * @param {Memory} memory
 * @param {Uint8Array} bytes of the file
 * @param {Uint8Array | undefined} tokenizer bytes of tokenizer.json
 * @param {{ storage: Storage, layers?: number }} options
 */
export function openSavedModel(memory, bytes, tokenizer, { storage, layers }) {
  const saved = /** @type {SavedTransformer} */ (readSafetensors(bytes));
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

/** @param {SavedTransformer} saved @param {number} layers @returns {SavedTransformer} */
function firstLayers({ tensors, metadata }, layers) {
  const options = JSON.parse(metadata.headlight);
  const isUsed = (/** @type {string} */ name) => !(Number(/^blocks\.(\d+)\./.exec(name)?.[1]) >= layers);
  return {
    tensors: Object.fromEntries(Object.entries(tensors).filter(([name]) => isUsed(name))),
    metadata: { ...metadata, headlight: JSON.stringify({ ...options, layers: Math.min(options.layers, layers) }) },
  };
}
