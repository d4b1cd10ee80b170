// Reads the options of rotary positions.

import { readBoolean, readNumber, readOptions, readWord } from '../check/arguments.js';
import { argumentError } from '../check/errors.js';
import { checkFactors, readScaling } from '../ops/rotary.js';

/** @import { RotaryScaling } from '../ops/rotary.js' */

/**
 * @typedef {object} RotaryOptions
 * @property {number} [theta] default 10000
 * @property {number} [localTheta] theta of layers with a window. The angles of these layers are not scaled; `scaling`
 *   and `long` are for the other layers. Default: layers with a window have the theta and the scaling of the other
 *   layers
 * @property {number} [width] number of elements of a head that are rotated; default headDim
 * @property {'halves' | 'neighbours'} [pairing] which elements are rotated together: n and n + width/2, or 2n and
 *   2n + 1; default 'halves'
 * @property {readonly boolean[]} [layers] true for layers whose queries and keys are rotated; default: all
 * @property {RotaryScaling} [scaling]
 * @property {{ beyond: number, scaling: RotaryScaling }} [long] the scaling of sequences longer than `beyond` tokens
 */
/**
 * The options with their defaults. The last four options have no defaults.
 * @typedef {Readonly<Required<Omit<RotaryOptions, 'localTheta' | 'layers' | 'scaling' | 'long'>>
 *   & Pick<RotaryOptions, 'localTheta' | 'layers' | 'scaling' | 'long'>>} ResolvedRotary
 */

const LENGTH = { integer: true, least: 1, most: 2 ** 20 };

/**
 * @param {string} caller
 * @param {RotaryOptions} options
 * @param {{ headDim: number, layers: number }} sizes
 * @returns {ResolvedRotary}
 */
export function readRotary(caller, options, { headDim, layers }) {
  const where = `${caller}: rotary`;
  const given = readOptions(where, options, ['theta', 'localTheta', 'width', 'pairing', 'layers', 'scaling', 'long']);
  const theta = readNumber(where, 'theta', given.theta ?? 10000, { least: 1 });
  const width = readNumber(where, 'width', given.width ?? headDim, { integer: true, least: 2, most: headDim });
  if (width % 2 !== 0) throw argumentError(where, 'width', width, 'an even number');
  const scalingOf = (/** @type {unknown} */ scaling) => {
    const read = readScaling(where, scaling);
    checkFactors(where, read, width);
    return Object.freeze(read);
  };
  return Object.freeze({
    theta,
    localTheta: readLocalTheta(where, given, theta),
    width,
    pairing: readWord(where, 'pairing', given.pairing ?? 'halves', /** @type {const} */ (['halves', 'neighbours'])),
    layers: given.layers === undefined ? undefined : readLayers(where, given.layers, layers),
    scaling: given.scaling === undefined ? undefined : scalingOf(given.scaling),
    long: given.long === undefined ? undefined : readLong(`${where}: long`, given.long, scalingOf),
  });
}

/**
 * Returns undefined if localTheta makes no difference, because files that older versions have saved always contain it.
 * @param {string} caller @param {RotaryOptions} given @param {number} theta
 */
function readLocalTheta(caller, { localTheta, scaling, long }, theta) {
  const local = readNumber(caller, 'localTheta', localTheta ?? theta, { least: 1 });
  const isSame = local === theta && !scaling && !long;
  return localTheta === undefined || isSame ? undefined : local;
}

/** @param {string} caller @param {NonNullable<RotaryOptions['layers']>} given @param {number} layers */
function readLayers(caller, given, layers) {
  if (!Array.isArray(given) || given.length !== layers)
    throw argumentError(caller, 'layers', given, `${layers} values, true or false, one for each layer`);
  return Object.freeze(given.map((rotates, i) => readBoolean(caller, `layers[${i}]`, rotates)));
}

/**
 * @param {string} caller
 * @param {NonNullable<RotaryOptions['long']>} options
 * @param {(scaling: unknown) => RotaryScaling} scalingOf
 */
function readLong(caller, options, scalingOf) {
  const given = readOptions(caller, options, ['beyond', 'scaling']);
  return Object.freeze({
    beyond: readNumber(caller, 'beyond', given.beyond, LENGTH),
    scaling: scalingOf(given.scaling),
  });
}

/**
 * Returns the options for the angles of rotary positions in a layer.
 * @param {{ rotary: ResolvedRotary | undefined, window: readonly (number | null)[] | null }} options of a transformer
 * @param {number} layer
 * @returns {Pick<RotaryOptions, 'scaling' | 'long'> & { theta: number } | undefined} undefined: nothing is rotated
 */
export function anglesOf({ rotary, window }, layer) {
  if (!rotary || rotary.layers?.[layer] === false) return undefined;
  const { theta, localTheta, scaling, long } = rotary;
  const isLocal = localTheta !== undefined && window !== null && window[layer] !== null;
  return isLocal ? { theta: localTheta } : { theta, scaling, long };
}
