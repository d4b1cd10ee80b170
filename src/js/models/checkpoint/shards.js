// Reads the index that lists in which file each tensor of a checkpoint is.

import { HeadlightError } from '../../check/errors.js';
import { quote } from '../../check/quote.js';

/** @import { Stored } from './readWeights.js' */

export const INDEX = 'model.safetensors.index.json';

/** @param {string} caller @param {string} message @param {string} parameter @param {object} [details] */
const fail = (caller, message, parameter, details) =>
  new HeadlightError('FORMAT', `${caller}: ${message}`, { parameter, ...details });

/**
 * Returns the name of the file of each tensor. The names come from the author of a model and files of these names are
 * requested, so each must be the name of a file in the same folder.
 * @param {string} caller
 * @param {Record<string, any>} content of the index
 * @param {string} [index] name of the index
 * @returns {Map<string, string>}
 */
export function readWeightMap(caller, { weight_map: map }, index = INDEX) {
  if (map === null || typeof map !== 'object' || Array.isArray(map))
    throw fail(caller, `${index} has no weight_map`, index);
  const entries = Object.entries(map);
  for (const [tensor, file] of entries)
    if (!isFileName(file)) {
      const text = `${index}: the file of ${quote(tensor)} is ${quote(file)}`;
      throw fail(caller, `${text}, expected the name of a file in the same folder`, index, { got: file });
    }
  return new Map(entries);
}

/** @param {unknown} name */
const isFileName = (name) =>
  typeof name === 'string' && /^[^:/\\?#\p{Cc}]+$/u.test(name) && name.length <= 255 && !/^\.\.?$/.test(name);

/**
 * Adds the tensors of one file to those of the previous files.
 * @param {string} caller
 * @param {Map<string, Stored>} tensors
 * @param {string} file
 * @param {Record<string, Omit<Stored, 'file'> & { file?: string }>} ranges ranges of the tensors; a range may have
 *   another file
 * @param {Map<string, string>} map
 * @param {string} [index] name of the index
 */
export function addShard(caller, tensors, file, ranges, map, index = INDEX) {
  for (const [name, range] of Object.entries(ranges)) {
    const [other, named] = [tensors.get(name)?.file, map.get(name) ?? file];
    if (other !== undefined) throw fail(caller, `${quote(name)} is in ${quote(other)} and in ${quote(file)}`, name);
    if (named !== file)
      throw fail(caller, `${quote(name)} is in ${quote(file)}, but ${index} says ${quote(named)}`, name);
    tensors.set(name, { file, ...range });
  }
}

/**
 * Checks that every tensor that the index lists is in a file.
 * @param {string} caller
 * @param {Map<string, Stored>} tensors
 * @param {Map<string, string>} map
 * @param {string} [index] name of the index
 */
export function checkShards(caller, tensors, map, index = INDEX) {
  for (const [name, file] of map)
    if (!tensors.has(name))
      throw fail(caller, `${index} says that ${quote(name)} is in ${quote(file)}, but it is not`, name);
}
