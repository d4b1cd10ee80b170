// Opens a checkpoint in safetensors files. If there are several, model.safetensors.index.json lists their tensors.

import { HeadlightError } from '../../../check/errors.ts';
import { readSafetensorsHeader, readSafetensorsHeaderEnd } from '../../../io/safetensors.ts';
import type { FixedLength } from '../../../text/fixedLength.ts';
import type { Container } from '../containers.ts';
import type { Folder } from '../files.ts';
import type { Stored } from '../readWeights.ts';
import { addShard, checkShards, INDEX, readWeightMap } from './shards.ts';
import { openTokenizerJson, readGenerationJson, readJson } from './smallFiles.ts';

const CALLER = 'openModel';

const fail = (message: string, parameter?: string, more: object = {}) =>
  new HeadlightError('FORMAT', `${CALLER}: ${message}`, { parameter, ...more });

/** file: that contains the tensors, or the index of such files */
export async function openSafetensors(folder: Folder, file: string): Promise<Container> {
  const config = await readJson(folder, 'config.json');
  const generationConfig = await readGenerationJson(folder);
  const map = file === INDEX ? readWeightMap(CALLER, await readJson(folder, INDEX)) : new Map();
  const files = file === INDEX ? [...new Set(map.values())].sort() : [file];
  const tensors = await readHeaders(folder, files, map);
  const openTokenizer = (fixed: FixedLength | undefined) => openTokenizerJson(folder, config.model_type, fixed);
  return { format: 'safetensors', folder, config, generationConfig, tensors, files, openTokenizer };
}

async function readHeaders(folder: Folder, files: string[], map: Map<string, string>) {
  const tensors: Map<string, Stored> = new Map();
  for (const file of files) addShard(CALLER, tensors, file, await readRanges(folder, file), map);
  checkShards(CALLER, tensors, map);
  return tensors;
}

async function readRanges(folder: Folder, file: string) {
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

function inFile<T>(file: string, read: () => T) {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof HeadlightError)) throw error;
    const { parameter, expected, got } = error;
    throw fail(`${file}: ${error.message}`, parameter, { expected, got, cause: error });
  }
}
