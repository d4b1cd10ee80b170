// Computes losses and their gradients: cross-entropy of softmax(logits), and mean squared error.

import { LOSS, WORDS } from '../../../dist/abi/abi.js';
import { readNumber, readOptions } from '../check/arguments.js';
import { shapeError } from '../check/errors.js';
import { formatShape, sameShape } from '../check/shape.js';
import { readNumbers, toLabels } from './labels.js';

/** @import { Memory } from '../memory/memory.js' */
/** @import { Tensor } from '../memory/tensor.js' */
/** @import { Source, TensorLike } from '../check/tensorlike.js' */

/**
 * @typedef {object} LossOptions
 * @property {number} [labelSmoothing] share of the target probability that is spread over all classes; default 0
 * @property {number} [ignore] rows with this target are not counted; default −100
 */
/**
 * @typedef {object} LossResult
 * @property {number} loss mean over the counted rows; 0 if there are none
 * @property {Tensor} dLogits gradient of the loss, with the shape of the logits
 * @property {number} correct number of counted rows in which the argmax of the logits is the target; among equal
 *   logits, the first is the argmax
 * @property {number} counted number of rows that are not ignored
 */

const LABEL = { integer: true, least: -(2 ** 31), most: 2 ** 31 - 1 };

/**
 * @param {Memory} memory
 * @param {TensorLike} logits (…,V)
 * @param {TensorLike | Source} targets (…)
 * @param {LossOptions} options
 * @param {string} [caller] name of the function in errors
 * @param {string} [parameter] name of the targets in errors
 * @returns {LossResult}
 */
export function crossEntropy(memory, logits, targets, options, caller = 'crossEntropy', parameter = 'targets') {
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

/**
 * @param {Memory} memory
 * @param {TensorLike} prediction of any shape
 * @param {TensorLike} target of the same shape
 * @returns {{ loss: number, dPrediction: Tensor }} dPrediction: of the same shape
 */
export function meanSquaredError(memory, prediction, target) {
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
