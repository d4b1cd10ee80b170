// Losses and their gradients: cross-entropy of softmax(logits), and mean squared error.

import { LOSS, WORDS } from '../../../dist/abi/abi.js';
import { readNumber, readOptions } from '../check/arguments.ts';
import { shapeError } from '../check/errors.ts';
import { formatShape, sameShape } from '../check/shape.ts';
import type { Source, TensorLike } from '../check/tensorlike.ts';

import type { Memory } from '../memory/memory.ts';
import type { Tensor } from '../memory/tensor.ts';
import { readNumbers, toLabels } from './labels.ts';

export type LossOptions = {
  /** share of the target probability that is spread over all classes; default 0 */
  labelSmoothing?: number | undefined;
  /** rows with this target are not counted; default −100 */
  ignore?: number | undefined;
};
export type LossResult = {
  /** mean over the counted rows; 0 if there are none */
  loss: number;
  /** gradient of the loss, with the shape of the logits */
  dLogits: Tensor;
  /** counted rows in which the first of the largest logits is the target */
  correct: number;
  /** number of rows that are not ignored */
  counted: number;
};

const LABEL = { integer: true, least: -(2 ** 31), most: 2 ** 31 - 1 };

/** logits: (…,V); targets: (…); caller: name of the function in errors; parameter: name of the targets in errors */
export function crossEntropy(
  memory: Memory,
  logits: TensorLike,
  targets: TensorLike | Source,
  options: LossOptions,
  caller = 'crossEntropy',
  parameter = 'targets',
): LossResult {
  const given = readOptions(caller, options, ['labelSmoothing', 'ignore']);
  const smoothing = readNumber(caller, 'labelSmoothing', given.labelSmoothing ?? 0, { least: 0, most: 1 });
  const ignore = readNumber(caller, 'ignore', given.ignore ?? -100, LABEL);
  const numbers = readNumbers(targets, caller, parameter);
  return memory.frame(caller, (frame) => {
    const { block, shape } = frame.input(frame.read(logits, 'logits'), 'logits');
    if (shape.length === 0) throw shapeError(caller, 'logits', shape, '(…,V)');
    const [outer, classes] = [shape.slice(0, -1), shape[shape.length - 1]];
    const { ints, shape: labelled } = toLabels(numbers, caller, classes, ignore, parameter);
    if (!sameShape(labelled, outer)) throw shapeError(caller, parameter, labelled, formatShape(outer));
    const rows = ints.length;
    const result = frame.copyIn(new Int32Array(WORDS.LOSS));
    const [losses, best] = [frame.copyIn(new Float32Array(rows)), frame.copyIn(new Int32Array(rows))]; // (N), (N)
    const target = frame.copyIn(ints); // (N)
    const dLogits = frame.make([...shape]); // (N,V)
    memory.call(
      'hl_cross_entropy',
      caller,
      result,
      dLogits,
      losses,
      best,
      block,
      target,
      rows,
      classes,
      smoothing,
      ignore,
    );
    const words = frame.words(result, WORDS.LOSS);
    return {
      loss: new Float32Array(words.buffer)[LOSS.loss],
      dLogits,
      correct: words[LOSS.correct],
      counted: words[LOSS.counted],
    };
  });
}

/** prediction: of any shape; target: of the same shape; returns dPrediction: of the same shape */
export function meanSquaredError(
  memory: Memory,
  prediction: TensorLike,
  target: TensorLike,
): { loss: number; dPrediction: Tensor } {
  const caller = 'meanSquaredError';
  return memory.frame(caller, (frame) => {
    const inputs = [frame.read(prediction, 'prediction'), frame.read(target, 'target')];
    const [x, y] = [frame.input(inputs[0], 'prediction'), frame.input(inputs[1], 'target')];
    if (!sameShape(y.shape, x.shape)) throw shapeError(caller, 'target', y.shape, formatShape(x.shape));
    const dPrediction = frame.make([...x.shape]);
    const result = frame.copyIn(new Float32Array(1));
    memory.call('hl_mean_squared_error', caller, result, dPrediction, x.block, y.block, dPrediction.size);
    return { loss: new Float32Array(frame.words(result, 1).buffer)[0], dPrediction };
  });
}
