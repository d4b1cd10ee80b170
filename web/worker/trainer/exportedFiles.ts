// Writes a model in training as files for other programs.

import { writeSafetensors } from '../../../src/js/io/safetensors.ts';
import { uniformSource } from '../../../src/js/ops/random.ts';
import { batchOf } from '../../model/training/tasks.ts';

import type { Labels } from '../../model/types.ts';
import type { Trainer } from './trainer.ts';

/** The number of training steps whose sequences an exported folder contains. */
const STEPS_AHEAD = 100;

const characterTokenizer = (tokens: readonly string[]) =>
  JSON.stringify({
    version: '1.0',
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: { type: 'Fuse' },
    model: { type: 'BPE', vocab: Object.fromEntries(tokens.map((token, i) => [token, i])), merges: [] },
  });

/** Writes a folder to continue in PyTorch: model, state of the optimizer, and sequences of the next steps. */
export async function pytorchFolder(trainer: Trainer): Promise<Record<string, Uint8Array>> {
  const { model, optimizer, task, settings } = trainer;
  trainer.resume();
  const random = uniformSource(settings.seed);
  for (let i = 0; i < trainer.drawn; i++) random();
  const { labels, targets } = batchOf(task, random, task.training.batch * STEPS_AHEAD);
  const Integers = task.tokens.length > 128 ? Int16Array : Int8Array;
  const small = ({ data, shape }: Labels) => ({ data: Integers.from(data), shape });
  const tokenizer = (await task.base?.readTokenizer()) ?? characterTokenizer(task.tokens);
  return {
    ...(await model.saveFolder({ tokenizer, optimizer })),
    'tokens.safetensors': writeSafetensors({ tokens: small(labels), targets: small(targets) }),
  };
}

/** Writes an ONNX file that returns the logits and the attention weights of every head. */
export async function onnxFile(trainer: Trainer) {
  trainer.resume();
  return (await trainer.model.toOnnx({ weights: true }))['model.onnx'];
}
