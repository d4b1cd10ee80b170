// Reads the options of the convolutions before the blocks.

import { readBoolean, readNumber, readOptions, readWord } from '../../check/arguments.ts';
import { argumentError } from '../../check/errors.ts';
import { ACTIVATIONS, type ActivationKind } from '../../ops/activation.ts';
import { SIZE } from '../partOptions.ts';

export type SoundOptions = {
  /** channels of each convolution */
  widths: readonly number[];
  /** number of samples or frames that each convolution reads at once */
  kernels: readonly number[];
  strides: readonly number[];
  /**
   * norm after convolutions. 'first' (default): of each channel over time, after the first one; 'all': of all channels,
   * after each
   */
  norm?: 'first' | 'all' | undefined;
  /** true: the convolutions have a bias; default false */
  bias?: boolean | undefined;
  /** a norm before the projection to dModel; default true */
  projectNorm?: boolean | undefined;
  /** activation after each convolution; default 'gelu' */
  activation?: ActivationKind | undefined;
  /** convolution over frames, whose result is added to the frames */
  positions: { kernel: number; groups: number };
};
export type Sound = Readonly<Required<SoundOptions>>;

const MAX_CONVOLUTIONS = 64;
const NAMES = ['widths', 'kernels', 'strides', 'norm', 'bias', 'projectNorm', 'activation', 'positions'];

export function readSound(caller: string, options: SoundOptions | undefined, dModel: number): Sound {
  const where = `${caller}: sound`;
  const given = readOptions(where, options ?? (null as any), NAMES);
  const widths = readSizes(where, 'widths', given.widths);
  const positions = readOptions(`${where}: positions`, given.positions, ['kernel', 'groups']);
  const groups = readNumber(where, 'positions.groups', positions.groups, SIZE);
  if (dModel % groups !== 0)
    throw argumentError(where, 'positions.groups', groups, `a divisor of ${dModel}, the width of the model`);
  return Object.freeze({
    widths,
    kernels: readSizes(where, 'kernels', given.kernels, widths.length),
    strides: readSizes(where, 'strides', given.strides, widths.length),
    norm: readWord(where, 'norm', given.norm ?? 'first', ['first', 'all'] as const),
    bias: readBoolean(where, 'bias', given.bias ?? false),
    projectNorm: readBoolean(where, 'projectNorm', given.projectNorm ?? true),
    activation: readWord(where, 'activation', given.activation ?? 'gelu', Object.keys(ACTIVATIONS)) as ActivationKind,
    positions: Object.freeze({ kernel: readNumber(where, 'positions.kernel', positions.kernel, SIZE), groups }),
  });
}

function readSizes(where: string, name: string, sizes: unknown, count?: number) {
  if (!Array.isArray(sizes) || sizes.length === 0 || sizes.length > MAX_CONVOLUTIONS)
    throw argumentError(where, name, sizes, `a list of up to ${MAX_CONVOLUTIONS} numbers`);
  if (count !== undefined && sizes.length !== count)
    throw argumentError(where, name, sizes, `${count} numbers, as many as there are widths`);
  return Object.freeze(sizes.map((size, i) => readNumber(where, `${name}[${i}]`, size, SIZE)));
}

/** Returns the number of frames that result from this number of samples. */
export const framesOf = ({ kernels, strides }: Sound, samples: number) =>
  kernels.reduce((n, kernel, i) => Math.max(Math.floor((n - kernel) / strides[i]) + 1, 0), samples);

/** Returns the smallest number of samples that result in this number of frames. */
export const samplesFor = ({ kernels, strides }: Sound, frames: number) =>
  kernels.reduceRight((n, kernel, i) => (n - 1) * strides[i] + kernel, frames);
