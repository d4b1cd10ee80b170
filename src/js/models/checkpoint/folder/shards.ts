// Reads the index that lists in which file each tensor of a checkpoint is.

import { HeadlightError } from '../../../check/errors.ts';
import { quote } from '../../../check/quote.ts';

import type { Stored } from '../readWeights.ts';

export const INDEX = 'model.safetensors.index.json';

const fail = (caller: string, message: string, parameter: string, details?: object) =>
  new HeadlightError('FORMAT', `${caller}: ${message}`, { parameter, ...details });

/**
 * Returns the file of each tensor. These names come from the author of a model and are requested, so each must be in
 * the same folder. index: name, for errors.
 */
export function readWeightMap(
  caller: string,
  { weight_map: map }: Record<string, any>,
  index: string = INDEX,
): Map<string, string> {
  if (map === null || typeof map !== 'object' || Array.isArray(map))
    throw fail(caller, `${index} has no weight_map`, index);
  const entries = Object.entries<string>(map);
  for (const [tensor, file] of entries)
    if (!isFileName(file)) {
      const text = `${index}: the file of ${quote(tensor)} is ${quote(file)}`;
      throw fail(caller, `${text}, expected the name of a file in the same folder`, index, { got: file });
    }
  return new Map(entries);
}

const isFileName = (name: unknown) =>
  typeof name === 'string' && /^[^:/\\?#\p{Cc}]+$/u.test(name) && name.length <= 255 && !/^\.\.?$/.test(name);

/** Adds the tensors of one file to the previous ones. ranges: may name another file; index: for errors. */
export function addShard(
  caller: string,
  tensors: Map<string, Stored>,
  file: string,
  ranges: Record<string, Omit<Stored, 'file'> & { file?: string }>,
  map: Map<string, string>,
  index: string = INDEX,
) {
  for (const [name, range] of Object.entries(ranges)) {
    const [other, named] = [tensors.get(name)?.file, map.get(name) ?? file];
    if (other !== undefined) throw fail(caller, `${quote(name)} is in ${quote(other)} and in ${quote(file)}`, name);
    if (named !== file)
      throw fail(caller, `${quote(name)} is in ${quote(file)}, but ${index} says ${quote(named)}`, name);
    tensors.set(name, { file, ...range });
  }
}

/** Checks that every tensor that the index lists is in a file. index: name of the index. */
export function checkShards(
  caller: string,
  tensors: Map<string, Stored>,
  map: Map<string, string>,
  index: string = INDEX,
) {
  for (const [name, file] of map)
    if (!tensors.has(name))
      throw fail(caller, `${index} says that ${quote(name)} is in ${quote(file)}, but it is not`, name);
}
