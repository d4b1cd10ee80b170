// Sentence embeddings: one vector for each text, pooled from the hidden states of its tokens.

import { readBoolean, readOptions, readWord } from '../../check/arguments.ts';
import { argumentError } from '../../check/errors.ts';
import type { Memory } from '../../memory/memory.ts';
import type { Tensor } from '../../memory/tensor.ts';
import type { Transformer } from '../transformer.ts';
import { encodeBatch } from './encodeBatch.ts';
import { runOnce, wrongModel } from './oneSequence.ts';

export type Pooling = 'mean' | 'first' | 'last' | 'max';
export type EmbedOptions = {
  /** how the tokens that are not padding are pooled; default: as modules.json says */
  pooling?: Pooling | undefined;
  /** true: vectors of length 1; default: as modules.json says, else false */
  normalize?: boolean | undefined;
  /** text that is put before each text; default: the prompt in config_sentence_transformers.json, else none */
  prompt?: string | undefined;
};
/**
 * The settings of a sentence encoder in its files. unsupported: description of a module that embed() does not support.
 */
export type SentenceSettings = {
  pooling?: Pooling;
  normalize: boolean;
  maxLength?: number;
  prompt: string;
  unsupported?: string;
};

const CALLER = 'embed';
const POOLINGS = ['mean', 'first', 'last', 'max'] as const;

/** returns (N,C) */
export function embedTexts(
  model: Transformer,
  memory: Memory,
  given: string | readonly string[],
  options: EmbedOptions,
): Tensor {
  const { pooling, normalize, prompt } = readEmbedOptions(model, options);
  const texts = typeof given === 'string' ? [given] : given;
  if (!Array.isArray(texts)) throw argumentError(CALLER, 'texts', texts, 'a text, or a list of texts');
  const { dModel: width, context } = model.options;
  const vectors = new Float32Array(texts.length * width);
  const most = Math.min(model.sentence?.maxLength ?? Infinity, context);
  // The model reads one text at a time, so that the bits of a vector do not depend on the other texts.
  texts.forEach((text, i) => {
    if (typeof text !== 'string') throw argumentError(CALLER, `texts[${i}]`, text, 'a text');
    const { ids, typeIds } = encodeBatch(model, CALLER, [prompt + text], most);
    if (ids.data.length === 0) throw argumentError(CALLER, `texts[${i}]`, text, 'a text with at least one token');
    const vector = vectors.subarray(i * width, (i + 1) * width);
    runOnce(model, CALLER, { ids, ...(typeIds && { typeIds }) }, {}, ({ hidden }) =>
      vector.set(pool(hidden.data, width, pooling)),
    );
    if (normalize) scaleToOne(vector);
  });
  return memory.tensor({ data: vectors, shape: [texts.length, width] }, CALLER, 'texts');
}

function readEmbedOptions({ sentence, options: { input, encoder } }: Transformer, options: EmbedOptions) {
  const read = readOptions(CALLER, options, ['pooling', 'normalize', 'prompt']);
  if (sentence?.unsupported) throw wrongModel(CALLER, `modules.json has ${sentence.unsupported}, which is unsupported`);
  if (input !== 'tokens' || encoder) throw wrongModel(CALLER, 'this model does not read texts alone');
  const pooling = read.pooling ?? sentence?.pooling;
  if (pooling === undefined)
    throw argumentError(CALLER, 'pooling', pooling, `one of ${POOLINGS.join(', ')}, as there is no modules.json`);
  const { prompt = sentence?.prompt ?? '', normalize = sentence?.normalize ?? false } = read;
  if (typeof prompt !== 'string') throw argumentError(CALLER, 'prompt', prompt, 'a text');
  return {
    pooling: readWord(CALLER, 'pooling', pooling, POOLINGS),
    normalize: readBoolean(CALLER, 'normalize', normalize),
    prompt,
  };
}

/** states: (T,C); returns (C) */
function pool(states: Float32Array, width: number, pooling: Pooling): ArrayLike<number> {
  if (pooling === 'first') return states.subarray(0, width);
  if (pooling === 'last') return states.subarray(states.length - width);
  const pooled = new Float64Array(width).fill(pooling === 'max' ? Number.NEGATIVE_INFINITY : 0);
  for (let i = 0; i < states.length; i++) {
    const c = i % width;
    pooled[c] = pooling === 'max' ? Math.max(pooled[c], states[i]) : pooled[c] + states[i];
  }
  return pooling === 'max' ? pooled : pooled.map((sum) => (sum * width) / states.length);
}

function scaleToOne(vector: Float32Array) {
  const length = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));
  // As in sentence-transformers, a vector of zeros stays a vector of zeros.
  vector.forEach((x, i) => {
    vector[i] = x / Math.max(length, 1e-12);
  });
}
