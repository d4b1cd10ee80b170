// Recognises a model that this page has trained and saved.

import { readSafetensorsHeader, readSafetensorsHeaderEnd } from '../../src/js/io/safetensors.ts';

/** Returns the bytes of a model that this page has trained; null for any other file. */
export async function trainedModelIn(file: Blob) {
  const bytesOf = async (end: number) => new Uint8Array(await file.slice(0, end).arrayBuffer());
  try {
    const end = readSafetensorsHeaderEnd(await bytesOf(9), file.size);
    const { metadata } = readSafetensorsHeader(await bytesOf(end), file.size);
    if (metadata.headlight === undefined || metadata.settings === undefined) return null;
    return await bytesOf(file.size);
  } catch {
    // The reader of all other files says why it cannot be read.
    return null;
  }
}
