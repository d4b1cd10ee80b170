// Reads the files in a zip archive that this page has saved, and recognises the file of `save`.

import { readSafetensorsHeader, readSafetensorsHeaderEnd } from '../../../src/js/io/safetensors.ts';
import { readZip, unpack } from '../../../src/js/io/zip.ts';

import type { UserFile } from '../../model/protocol/protocol.ts';

export const isArchive = (files: readonly UserFile[]) => files.length === 1 && /\.zip$/i.test(files[0].path);

export async function filesInArchive({ file }: UserFile): Promise<UserFile[]> {
  const found = readZip('open', new Uint8Array(await file.arrayBuffer())).filter(({ name }) => !name.endsWith('/'));
  return Promise.all(
    found.map(async (one) => ({
      path: one.name,
      file: new Blob([(await unpack('open', one)) as Uint8Array<ArrayBuffer>]),
    })),
  );
}

/** Returns true if one of the files is the only file with weights, and `save` wrote it. */
export async function isSavedModel(files: readonly UserFile[]) {
  const weights = files.filter(({ path }) => /\.safetensors$/i.test(path));
  if (weights.length !== 1) return false;
  const [{ file }] = weights;
  const bytesOf = async (end: number) => new Uint8Array(await file.slice(0, end).arrayBuffer());
  try {
    const end = readSafetensorsHeaderEnd(await bytesOf(9), file.size);
    return readSafetensorsHeader(await bytesOf(end), file.size).metadata.headlight !== undefined;
  } catch {
    // A damaged file is reported when it is read.
    return false;
  }
}
