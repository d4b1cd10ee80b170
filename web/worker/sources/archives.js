// Reads the files in a zip archive that this page has saved, and recognises the file of `save`.

import { readSafetensorsHeader, readSafetensorsHeaderEnd } from '../../../src/js/io/safetensors.js';
import { readZip, unpack } from '../../../src/js/io/zip.js';

/** @import { UserFile } from '../../store/protocol.js' */

/** @param {readonly UserFile[]} files */
export const isArchive = (files) => files.length === 1 && /\.zip$/i.test(files[0].path);

/** @param {UserFile} archive @returns {Promise<UserFile[]>} */
export async function filesInArchive({ file }) {
  const found = readZip('open', new Uint8Array(await file.arrayBuffer())).filter(({ name }) => !name.endsWith('/'));
  return Promise.all(
    found.map(async (one) => ({
      path: one.name,
      file: new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (await unpack('open', one))]),
    })),
  );
}

/**
 * Returns true if one of the files is the only file with weights, and `save` wrote it.
 * @param {readonly UserFile[]} files
 */
export async function isSavedModel(files) {
  const weights = files.filter(({ path }) => /\.safetensors$/i.test(path));
  if (weights.length !== 1) return false;
  const [{ file }] = weights;
  const bytesOf = async (/** @type {number} */ end) => new Uint8Array(await file.slice(0, end).arrayBuffer());
  try {
    const end = readSafetensorsHeaderEnd(await bytesOf(9), file.size);
    return readSafetensorsHeader(await bytesOf(end), file.size).metadata.headlight !== undefined;
  } catch {
    // A damaged file is reported when it is read.
    return false;
  }
}
