// Reads the options of the convolutions before the blocks.

import { readBoolean, readNumber, readOptions, readWord } from '../../check/arguments.js';
import { argumentError } from '../../check/errors.js';
import { ACTIVATIONS } from '../../ops/activation.js';
import { SIZE } from '../partOptions.js';

/** @import { ActivationKind } from '../../ops/activation.js' */

/**
 * @typedef {object} SoundOptions
 * @property {readonly number[]} widths channels of each convolution
 * @property {readonly number[]} kernels number of samples or frames that each convolution reads at once
 * @property {readonly number[]} strides
 * @property {'first' | 'all'} [norm] norm after convolutions. 'first': of each channel over time, only after the first
 *   convolution; 'all': of all channels, after each convolution. Default 'first'
 * @property {boolean} [bias] true: the convolutions have a bias; default false
 * @property {boolean} [projectNorm] a norm before the projection to dModel; default true
 * @property {ActivationKind} [activation] activation after each convolution; default 'gelu'
 * @property {{ kernel: number, groups: number }} positions convolution over frames, whose result is added to the frames
 */
/** @typedef {Readonly<Required<SoundOptions>>} Sound */

const MAX_CONVOLUTIONS = 64;
const NAMES = ['widths', 'kernels', 'strides', 'norm', 'bias', 'projectNorm', 'activation', 'positions'];

/** @param {string} caller @param {SoundOptions | undefined} options @param {number} dModel @returns {Sound} */
export function readSound(caller, options, dModel) {
  const where = `${caller}: sound`;
  const given = readOptions(where, options ?? /** @type {any} */ (null), NAMES);
  const widths = readSizes(where, 'widths', given.widths);
  const positions = readOptions(`${where}: positions`, given.positions, ['kernel', 'groups']);
  const groups = readNumber(where, 'positions.groups', positions.groups, SIZE);
  if (dModel % groups !== 0)
    throw argumentError(where, 'positions.groups', groups, `a divisor of ${dModel}, the width of the model`);
  return Object.freeze({
    widths,
    kernels: readSizes(where, 'kernels', given.kernels, widths.length),
    strides: readSizes(where, 'strides', given.strides, widths.length),
    norm: readWord(where, 'norm', given.norm ?? 'first', /** @type {const} */ (['first', 'all'])),
    bias: readBoolean(where, 'bias', given.bias ?? false),
    projectNorm: readBoolean(where, 'projectNorm', given.projectNorm ?? true),
    activation: /** @type {ActivationKind} */ (
      readWord(where, 'activation', given.activation ?? 'gelu', Object.keys(ACTIVATIONS))
    ),
    positions: Object.freeze({ kernel: readNumber(where, 'positions.kernel', positions.kernel, SIZE), groups }),
  });
}

/** @param {string} where @param {string} name @param {unknown} sizes @param {number} [count] */
function readSizes(where, name, sizes, count) {
  if (!Array.isArray(sizes) || sizes.length === 0 || sizes.length > MAX_CONVOLUTIONS)
    throw argumentError(where, name, sizes, `a list of up to ${MAX_CONVOLUTIONS} numbers`);
  if (count !== undefined && sizes.length !== count)
    throw argumentError(where, name, sizes, `${count} numbers, as many as there are widths`);
  return Object.freeze(sizes.map((size, i) => readNumber(where, `${name}[${i}]`, size, SIZE)));
}

/**
 * Returns the number of frames that result from this number of samples.
 * @param {Sound} sound
 * @param {number} samples
 */
export const framesOf = ({ kernels, strides }, samples) =>
  kernels.reduce((n, kernel, i) => Math.max(Math.floor((n - kernel) / strides[i]) + 1, 0), samples);

/**
 * Returns the smallest number of samples that result in this number of frames.
 * @param {Sound} sound
 * @param {number} frames
 */
export const samplesFor = ({ kernels, strides }, frames) =>
  kernels.reduceRight((n, kernel, i) => (n - 1) * strides[i] + kernel, frames);
