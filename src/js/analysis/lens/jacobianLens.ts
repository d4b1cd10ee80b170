// The Jacobian lens, which is the logit lens applied after the mean linear effect of all later blocks.

import { readNumber } from '../../check/arguments.ts';
import { argumentError, HeadlightError, shapeError } from '../../check/errors.ts';
import { quote } from '../../check/quote.ts';
import { formatShape } from '../../check/shape.ts';
import { type Model, type Numbers, type Result, readArray } from '../arrays.ts';
import { type LensLayer, type LensOptions, readStages } from './logitLens.ts';

export type JacobianLens = {
  /** blocks whose outputs the lens reads, in ascending order */
  layers: number[];
  /** (C,C) for each block; row i is the mean gradient of output channel i */
  matrices: { [layer: number]: Numbers };
  /** number of sequences of which the matrices are the mean */
  prompts: number;
  width: number;
  /** relative change of the mean after each sequence, NaN for the first; empty if unknown */
  changes: number[];
};
export type ReadLens = { layers: number[]; prompts: number; width: number; matrices: Map<number, Float32Array> };

const CAPTURE = ['blocks.*.out'];

/**
 * Returns the predictions head(norm(J · h)) from the output h of each block of the lens, in its order. J · h is the
 * final residual stream to which h leads on average. The logit lens is head(norm(h)), without J.
 * @param result of forward with capture: ['blocks.*.out']
 */
export function jacobianLens(model: Model, result: Result, lens: JacobianLens, options: LensOptions = {}): LensLayer[] {
  const caller = 'jacobianLens';
  const { layers, matrices, width } = readLens(caller, 'lens', lens);
  const { dModel, layers: blocks } = model.options;
  if (width !== dModel)
    throw shapeError(caller, 'lens', [width, width], `${formatShape([dModel, dModel])}, the width of this model`);
  if (layers[layers.length - 1] >= blocks)
    throw wrongLayers(caller, 'lens', layers, `layers below ${blocks}, the number of blocks of this model`);
  const stages = layers.map((layer) => ({
    at: `blocks.${layer}.out`,
    transport: (h: Float64Array) => product(matrices.get(layer) as Float32Array, h),
  }));
  return readStages(caller, model, result, CAPTURE, stages, options);
}

const wrongLayers = (caller: string, parameter: string, got: unknown, expected: string) =>
  new HeadlightError('SHAPE', `${caller}: ${parameter} has the layers ${quote(got)}, expected ${expected}`, {
    parameter,
    expected,
    got,
  });

/** matrix: (C,C); x: (C) */
function product(matrix: Float32Array, x: Float64Array) {
  return x.map((_, i) => {
    let sum = 0;
    for (let j = 0; j < x.length; j++) sum += matrix[i * x.length + j] * x[j];
    return sum;
  });
}

/**
 * Merges lenses of the same layers and width, fitted to different sequences: the means of their matrices, weighted by
 * `prompts`.
 */
export function mergeJacobianLenses(lenses: readonly JacobianLens[]): JacobianLens {
  const caller = 'mergeJacobianLenses';
  if (!Array.isArray(lenses) || lenses.length === 0)
    throw argumentError(caller, 'lenses', lenses, 'a list of lenses, one at least');
  const read = lenses.map((lens, i) => readLens(caller, `lenses[${i}]`, lens));
  const [{ layers, width }] = read;
  for (const [i, other] of read.entries()) {
    const parameter = `lenses[${i}]`;
    if (other.width !== width)
      throw shapeError(caller, parameter, [other.width, other.width], `${formatShape([width, width])}, like lenses[0]`);
    if (String(other.layers) !== String(layers))
      throw wrongLayers(caller, parameter, other.layers, `${quote(layers)}, the layers of lenses[0]`);
  }
  const prompts = read.reduce((sum, lens) => sum + lens.prompts, 0);
  readNumber(caller, 'lenses', prompts, { integer: true });
  const mean = (layer: number) => {
    const sums = new Float64Array(width * width);
    for (const lens of read) {
      const part = lens.matrices.get(layer) as Float32Array;
      for (let i = 0; i < sums.length; i++) sums[i] += (lens.prompts / prompts) * part[i];
    }
    return Float32Array.from(sums);
  };
  return makeLens({ layers, width, prompts, matrices: new Map(layers.map((layer) => [layer, mean(layer)])) }, []);
}

export function makeLens({ layers, matrices, prompts, width }: ReadLens, changes: number[]): JacobianLens {
  const named = [...matrices].map(([layer, data]) => [layer, { data, shape: [width, width] }]);
  return { layers, matrices: Object.fromEntries(named), prompts, width, changes };
}

/** returns validated lens; its matrices are not copied */
export function readLens(caller: string, parameter: string, lens: JacobianLens): ReadLens {
  if (typeof lens !== 'object' || lens === null)
    throw argumentError(caller, parameter, lens, 'a lens of fitJacobianLens or readJacobianLens');
  const { layers, matrices, prompts, width } = lens;
  readNumber(caller, `${parameter}.width`, width, { integer: true, least: 1 });
  readNumber(caller, `${parameter}.prompts`, prompts, { integer: true, least: 1 });
  if (!isAscending(layers))
    throw argumentError(caller, `${parameter}.layers`, layers, 'numbers of layers in ascending order');
  if (typeof matrices !== 'object' || matrices === null)
    throw argumentError(caller, `${parameter}.matrices`, matrices, 'an object with a matrix for each layer');
  const read = layers.map((layer) => {
    const name = `${parameter}.matrices[${layer}]`;
    const { floats, shape } = readArray(caller, name, matrices[layer], 'CC');
    if (shape[0] !== width || shape[1] !== width)
      throw shapeError(caller, name, shape, `${formatShape([width, width])}, the width of the lens`);
    return [layer, floats] as [number, Float32Array];
  });
  return { layers: [...layers], matrices: new Map(read), prompts, width };
}

const isAscending = (layers: unknown): layers is number[] =>
  Array.isArray(layers) &&
  layers.length > 0 &&
  layers.every((layer, i) => Number.isSafeInteger(layer) && layer >= 0 && (i === 0 || layer > layers[i - 1]));
