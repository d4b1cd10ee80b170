// The texts of the panel that opens models, in English.

import type { AttentionSizes } from '../../model/protocol/protocol.ts';

export const texts = {
  files: 'Files…',
  folder: 'A folder…',
  drop: 'Or drop them anywhere on this page, or paste. Nothing leaves this machine.',
  which: 'Which files?',
  kinds: [
    [
      'A model',
      'A .gguf file. Or a folder: config.json, tokenizer.json, and safetensors or pytorch_model.bin. Or ckpt.pt of nanoGPT.',
    ],
    [
      'Attention weights',
      'npy, npz, safetensors or JSON of (layers, heads, tokens, tokens), (heads, tokens, tokens) or (tokens, tokens); optionally with a JSON list of the tokens.',
    ],
    [
      'Queries, keys and values',
      'safetensors, npz, npy or JSON with query, key and value; or a layer’s weights with its input (hidden_states).',
    ],
  ],
  paste: 'Paste weights or a list of tokens here, as JSON',
  show: 'Show it',
  reading: 'Reading',
  progress: (read: string, total: string) => `${read} of ${total} read`,
  isWeights: {
    rows: 'Attention weights without a model: rows sum to 1. Nothing is predicted, and nothing can be changed.',
    columns: 'Weights without a model: columns sum to 1, rows do not. Are they transposed?',
    neither: 'Weights without a model: neither rows nor columns sum to 1.',
  },
  weightsOf: ({ name, layers, heads, wholeT, wholeS, causal }: AttentionSizes, named: boolean) =>
    `${named ? `${name}: ` : ''}${layers} ${layers === 1 ? 'layer' : 'layers'} × ${heads} ${heads === 1 ? 'head' : 'heads'}, ` +
    `${wholeT === wholeS ? `${wholeT} tokens` : `${wholeT} queries, ${wholeS} keys`}${causal ? ', causal' : ''}.`,
  cutTo: (all: number, shown: number) => `The first ${shown} of ${all} tokens are shown.`,
  batchOf: (n: number) => `The axes are layers, a batch of ${n}, heads: choose the entry above the picture.`,
  weightsNan: 'Some weights are NaN: they are shown as crosses.',
  unused: (names: string) => `Not used: ${names}.`,
  isModel: (family: string, layers: number, heads: number, width: number) =>
    `${family}: ${layers} layers × ${heads} heads of ${width}.`,
  size: (
    parameters: number,
    file: string,
    weights: 'float32' | 'stored' | 'int8',
    /** size in memory */ memory: string,
  ) =>
    `${parameters < 1e6 ? parameters.toLocaleString('en') : `${(parameters / 1e6).toFixed(1)} million`} parameters. File: ${file}. ` +
    {
      int8: `In memory: ${memory}, stored as int8 because it is large: numbers differ slightly from float32.`,
      stored: 'In memory as in the file.',
      float32: `In memory: ${memory}, as float32.`,
    }[weights],
  rounding: {
    compare: 'compare with float32',
    reading: 'Reading the weights in float32:',
    cancel: 'cancel',
    measured: (tokens: number, share: string, largest: string) =>
      `Compared with float32, over the first ${tokens} tokens: the strongest key is the same in ${share}% of rows, and no attention weight changes by more than ${largest}.`,
    tooLarge: 'In float32, the model does not fit into memory.',
    failed: (message: string) => `The comparison failed: ${message}`,
  },
  does: {
    next: 'It predicts the next token.',
    masked: 'It fills in masked words.',
    classes: 'It classifies a picture.',
    letters: 'It names a letter for each frame of the sound.',
    frames: 'It names a class for each frame of the sound.',
    sounds: 'It classifies the sound.',
    nothing: 'It makes no predictions, so only its attention is shown.',
    unasked: 'It fills in masked words, but its tokenizer has no [MASK], so only its attention is shown.',
  },
  missing: {
    letters: 'vocab.json is missing: letters are numbered.',
    tokenizer: 'tokenizer.json is missing: type token numbers in place of words.',
    preprocessor: 'preprocessor_config.json is missing: colours use mean 0.5 and deviation 0.5.',
  },
  modelNan: (n: number, name: string) =>
    `${n} ${n === 1 ? 'tensor holds' : 'tensors hold'} NaN (${name}): results that depend on them are shown as crosses. Save the model again from a run that did not diverge.`,
};
