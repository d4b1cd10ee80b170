// Writes a model in training as files for other programs.

import { writeSafetensors } from '../../../src/js/io/safetensors.js';
import { uniformSource } from '../../../src/js/ops/random.js';
import { batchOf } from '../../features/train/tasks.js';

/** @import { Labels } from '../../store/types.js' */
/** @import { Trainer } from './trainer.js' */

/** The number of training steps whose sequences an exported folder contains. */
const STEPS_AHEAD = 100;

/** Writes a tokenizer.json whose tokens are characters. @param {readonly string[]} tokens */
const characterTokenizer = (tokens) =>
  JSON.stringify({
    version: '1.0',
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: { type: 'Fuse' },
    model: { type: 'BPE', vocab: Object.fromEntries(tokens.map((token, i) => [token, i])), merges: [] },
  });

/**
 * Writes a folder with which PyTorch can continue the training: the model, the state of the optimizer, and the
 * sequences of the next steps.
 * @param {Trainer} trainer
 * @returns {Promise<Record<string, Uint8Array>>}
 */
export async function pytorchFolder(trainer) {
  const { model, optimizer, task, settings } = trainer;
  trainer.resume();
  const random = uniformSource(settings.seed);
  for (let i = 0; i < trainer.drawn; i++) random();
  const { labels, targets } = batchOf(task, random, task.training.batch * STEPS_AHEAD);
  const Integers = task.tokens.length > 128 ? Int16Array : Int8Array;
  const small = (/** @type {Labels} */ { data, shape }) => ({ data: Integers.from(data), shape });
  const tokenizer = (await task.base?.readTokenizer()) ?? characterTokenizer(task.tokens);
  return {
    ...(await model.saveFolder({ tokenizer, optimizer })),
    'tokens.safetensors': writeSafetensors({ tokens: small(labels), targets: small(targets) }),
  };
}

/** Writes an ONNX file that returns the logits and the attention weights of every head. @param {Trainer} trainer */
export async function onnxFile(trainer) {
  trainer.resume();
  return (await trainer.model.toOnnx({ weights: true }))['model.onnx'];
}
