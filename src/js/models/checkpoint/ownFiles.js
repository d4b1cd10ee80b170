// Recognises what Headlight and its page write, apart from checkpoints: a zip archive of a folder, and the file of
// `save`. Files without a model are refused by their kind.

import { HeadlightError } from '../../check/errors.js';
import { quote } from '../../check/quote.js';
import { readSafetensorsHeader, readSafetensorsHeaderEnd } from '../../io/safetensors.js';
import { readZip, unpack } from '../../io/zip.js';
import { openSavedModel } from './savedModel.js';

/** @import { Memory } from '../../memory/memory.js' */
/** @import { Transformer } from '../transformer.js' */
/** @import { Folder } from './files.js' */
/** @import { Storage } from './readWeights.js' */
/**
 * @typedef {{ storage: Storage, layers?: number, signal?: AbortSignal,
 *   onProgress?: (progress: { read: number, total: number, name: string }) => unknown }} Options
 */

const CALLER = 'openModel';

/** Kinds of files without a model, and what reads them. @type {[RegExp, (name: string) => string][]} */
const OTHERS = [
  [
    /^scatter_data\.json$/,
    () => "this is a HeadVis folder, which has no model: readHeadvis of 'headlight-attention/analysis' reads it",
  ],
  [
    /\.np[yz]$/i,
    (name) => `${quote(name)} has arrays, not a model: readNpy and readNpz of 'headlight-attention/formats' read it`,
  ],
  [/\.csv$/i, (name) => `${quote(name)} is a table, not a model`],
  [
    /\.onnx$/i,
    (name) => `${quote(name)} is an ONNX file, which cannot be opened: open the model from which it was exported`,
  ],
];

/**
 * Returns the files of an archive by name.
 * @param {Folder} folder @param {string} name of the archive
 */
export async function unpackedFiles(folder, name) {
  const size = /** @type {number} */ (await folder.size(name, true));
  const files = readZip(CALLER, await folder.read(name, 0, size)).filter((file) => !file.name.endsWith('/'));
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => /** @type {const} */ ([file.name, await unpack(CALLER, file)]))),
  );
}

/**
 * Opens the file of `save`; undefined if the folder has no such file. Refuses files of other kinds.
 * @param {Memory} memory
 * @param {Folder} folder without config.json
 * @param {Options} options
 * @returns {Promise<Transformer | undefined>}
 */
export async function openOwnFile(memory, folder, options) {
  const names = folder.names ?? [];
  const weights = names.filter((name) => /\.safetensors$/i.test(name));
  if (weights.length === 1 && (await isSaved(folder, weights[0])))
    return openSaved(memory, folder, weights[0], options);
  for (const [pattern, reason] of OTHERS) {
    const name = names.find((one) => pattern.test(one));
    if (name === undefined || weights.length > 0) continue;
    throw new HeadlightError('FORMAT', `${CALLER}: ${reason(name)}`, { parameter: 'files', got: [...names] });
  }
  return undefined;
}

/** Returns true if `save` wrote a file. @param {Folder} folder @param {string} name */
async function isSaved(folder, name) {
  const size = /** @type {number} */ (await folder.size(name, true));
  const end = readSafetensorsHeaderEnd(await folder.read(name, 0, Math.min(9, size)), size);
  return readSafetensorsHeader(await folder.read(name, 0, end), size).metadata.headlight !== undefined;
}

/** @param {Memory} memory @param {Folder} folder @param {string} name @param {Options} options */
async function openSaved(memory, folder, name, { signal, onProgress, ...how }) {
  const read = async (/** @type {string} */ file) => {
    const size = await folder.size(file);
    return size === null ? undefined : folder.read(file, 0, size);
  };
  const bytes = /** @type {Uint8Array} */ (await read(name));
  await onProgress?.({ read: bytes.length, total: bytes.length, name });
  const tokenizer = await read('tokenizer.json');
  signal?.throwIfAborted();
  return openSavedModel(memory, bytes, tokenizer, how);
}
