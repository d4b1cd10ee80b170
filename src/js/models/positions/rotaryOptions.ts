// Reads the options of rotary positions.

import { readBoolean, readNumber, readOptions, readWord } from '../../check/arguments.ts';
import { argumentError } from '../../check/errors.ts';
import { checkFactors, type RotaryScaling, readScaling } from '../../ops/rotary.ts';

export type RotaryOptions = {
  /** default 10000 */
  theta?: number | undefined;
  /**
   * theta of layers with a window, whose angles `scaling` and `long` do not change. Default: they have the theta and
   * scaling of other layers
   */
  localTheta?: number | undefined;
  /** number of elements of a head that are rotated; default headDim */
  width?: number | undefined;
  /** which elements are rotated together: n and n + width/2, or 2n and 2n + 1; default 'halves' */
  pairing?: 'halves' | 'neighbours' | undefined;
  /** true for layers whose queries and keys are rotated; default: all */
  layers?: readonly boolean[] | undefined;
  scaling?: RotaryScaling | undefined;
  /** the scaling of sequences longer than `beyond` tokens */
  long?: { beyond: number; scaling: RotaryScaling } | undefined;
};
/** The options with their defaults. The last four options have no defaults. */
export type ResolvedRotary = Readonly<
  Required<Omit<RotaryOptions, 'localTheta' | 'layers' | 'scaling' | 'long'>> &
    Pick<RotaryOptions, 'localTheta' | 'layers' | 'scaling' | 'long'>
>;

const LENGTH = { integer: true, least: 1, most: 2 ** 20 };

export function readRotary(
  caller: string,
  options: RotaryOptions,
  { headDim, layers }: { headDim: number; layers: number },
): ResolvedRotary {
  const where = `${caller}: rotary`;
  const given = readOptions(where, options, ['theta', 'localTheta', 'width', 'pairing', 'layers', 'scaling', 'long']);
  const theta = readNumber(where, 'theta', given.theta ?? 10000, { least: 1 });
  const width = readNumber(where, 'width', given.width ?? headDim, { integer: true, least: 2, most: headDim });
  if (width % 2 !== 0) throw argumentError(where, 'width', width, 'an even number');
  const scalingOf = (scaling: unknown) => {
    const read = readScaling(where, scaling);
    checkFactors(where, read, width);
    return Object.freeze(read);
  };
  return Object.freeze({
    theta,
    localTheta: readLocalTheta(where, given, theta),
    width,
    pairing: readWord(where, 'pairing', given.pairing ?? 'halves', ['halves', 'neighbours'] as const),
    layers: given.layers === undefined ? undefined : readLayers(where, given.layers, layers),
    scaling: given.scaling === undefined ? undefined : scalingOf(given.scaling),
    long: given.long === undefined ? undefined : readLong(`${where}: long`, given.long, scalingOf),
  });
}

/**
 * Returns undefined if localTheta makes no difference, because files that older versions have saved always contain it.
 */
function readLocalTheta(caller: string, { localTheta, scaling, long }: RotaryOptions, theta: number) {
  const local = readNumber(caller, 'localTheta', localTheta ?? theta, { least: 1 });
  const isSame = local === theta && !scaling && !long;
  return localTheta === undefined || isSame ? undefined : local;
}

function readLayers(caller: string, given: NonNullable<RotaryOptions['layers']>, layers: number) {
  if (!Array.isArray(given) || given.length !== layers)
    throw argumentError(caller, 'layers', given, `${layers} values, true or false, one for each layer`);
  return Object.freeze(given.map((rotates, i) => readBoolean(caller, `layers[${i}]`, rotates)));
}

function readLong(
  caller: string,
  options: NonNullable<RotaryOptions['long']>,
  scalingOf: (scaling: unknown) => RotaryScaling,
) {
  const given = readOptions(caller, options, ['beyond', 'scaling']);
  return Object.freeze({
    beyond: readNumber(caller, 'beyond', given.beyond, LENGTH),
    scaling: scalingOf(given.scaling),
  });
}

/** Options for the angles of a layer. options: of a transformer; returns undefined if nothing is rotated. */
export function anglesOf(
  { rotary, window }: { rotary: ResolvedRotary | undefined; window: readonly (number | null)[] | null },
  layer: number,
): (Pick<RotaryOptions, 'scaling' | 'long'> & { theta: number }) | undefined {
  if (!rotary || rotary.layers?.[layer] === false) return undefined;
  const { theta, localTheta, scaling, long } = rotary;
  const isLocal = localTheta !== undefined && window !== null && window[layer] !== null;
  return isLocal ? { theta: localTheta } : { theta, scaling, long };
}
