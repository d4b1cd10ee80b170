// Opens a checkpoint in safetensors files. If there are several, model.safetensors.index.json lists their tensors.

import { HeadlightError } from '../../check/errors.js';
import { readSafetensorsHeader, readSafetensorsHeaderEnd } from '../../io/safetensors.js';
import { addShard, checkShards, INDEX, readWeightMap } from './shards.js';
import { openTokenizerJson, readGenerationJson, readJson } from './smallFiles.js';

/** @import { FixedLength } from '../../text/fixedLength.js' */
/** @import { Container } from './containers.js' */
/** @import { Folder } from './files.js' */
/** @import { Stored } from './readWeights.js' */

const CALLER = 'openModel';

/** @param {string} message @param {string} [parameter] @param {object} [more] */
const fail = (message, parameter, more = {}) =>
  new HeadlightError('FORMAT', `${CALLER}: ${message}`, { parameter, ...more });

/**
 * @param {Folder} folder
 * @param {string} file that contains the tensors, or the index of such files
 * @returns {Promise<Container>}
 */
export async function openSafetensors(folder, file) {
  const config = await readJson(folder, 'config.json');
  const generationConfig = await readGenerationJson(folder);
  const map = file === INDEX ? readWeightMap(CALLER, await readJson(folder, INDEX)) : new Map();
  const files = file === INDEX ? [...new Set(map.values())].sort() : [file];
  const tensors = await readHeaders(folder, files, map);
  const openTokenizer = (/** @type {FixedLength | undefined} */ fixed) =>
    openTokenizerJson(folder, config.model_type, fixed);
  return { format: 'safetensors', folder, config, generationConfig, tensors, files, openTokenizer };
}

/**
 * Returns the tensors of all files, by name.
 * @param {Folder} folder
 * @param {string[]} files
 * @param {Map<string, string>} map
 */
async function readHeaders(folder, files, map) {
  /** @type {Map<string, Stored>} */
  const tensors = new Map();
  for (const file of files) addShard(CALLER, tensors, file, await readRanges(folder, file), map);
  checkShards(CALLER, tensors, map);
  return tensors;
}

/** Returns the byte ranges of the tensors in a file. @param {Folder} folder @param {string} file */
async function readRanges(folder, file) {
  const size = await folder.size(file, true);
  if (size === null) throw fail(`${file} is missing, but ${INDEX} lists it`, file);
  const start = await folder.read(file, 0, Math.min(8 + 1, size));
  const end = inFile(file, () => readSafetensorsHeaderEnd(start, size));
  const header = await folder.read(file, 0, end);
  const { tensors } = inFile(file, () => readSafetensorsHeader(header, size));
  // The size is unknown if the server sends the whole file without its length.
  const last = Object.values(tensors).reduce((max, range) => Math.max(max, range.end), end);
  if (size === Infinity && (await folder.read(file, last, last + 1)).length > 0)
    throw fail(`${file} continues after byte ${last}, where the tensors end`, file);
  return tensors;
}

/** Adds the name of the file to errors of a reader. @template T @param {string} file @param {() => T} read */
function inFile(file, read) {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof HeadlightError)) throw error;
    const { parameter, expected, got } = error;
    throw fail(`${file}: ${error.message}`, parameter, { expected, got, cause: error });
  }
}
