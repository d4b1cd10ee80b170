// Recognizes what Headlight and its page write, apart from checkpoints: a zip of a folder, and the file of `save`.
// Files without a model are refused by their kind.

import { HeadlightError } from '../../check/errors.ts';
import { quote } from '../../check/quote.ts';
import { readSafetensorsHeader, readSafetensorsHeaderEnd } from '../../io/safetensors.ts';
import { readZip, unpack } from '../../io/zip.ts';
import type { Memory } from '../../memory/memory.ts';
import type { Transformer } from '../transformer.ts';
import type { Folder } from './files.ts';
import type { Storage } from './readWeights.ts';
import { openSavedModel } from './savedModel.ts';
export type Options = {
  storage: Storage;
  layers?: number;
  signal?: AbortSignal;
  onProgress?: (progress: { read: number; total: number; name: string }) => unknown;
};

const CALLER = 'openModel';

/** Kinds of files without a model, and what reads them. */
const OTHERS: [RegExp, (name: string) => string][] = [
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

export async function unpackedFiles(folder: Folder, name: string) {
  const size = (await folder.size(name, true)) as number;
  const files = readZip(CALLER, await folder.read(name, 0, size)).filter((file) => !file.name.endsWith('/'));
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [file.name, await unpack(CALLER, file)] as const)),
  );
}

/** undefined without a file of `save`; refuses other kinds. folder: without config.json. */
export async function openOwnFile(memory: Memory, folder: Folder, options: Options): Promise<Transformer | undefined> {
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

async function isSaved(folder: Folder, name: string) {
  const size = (await folder.size(name, true)) as number;
  const end = readSafetensorsHeaderEnd(await folder.read(name, 0, Math.min(9, size)), size);
  return readSafetensorsHeader(await folder.read(name, 0, end), size).metadata.headlight !== undefined;
}

async function openSaved(memory: Memory, folder: Folder, name: string, { signal, onProgress, ...how }: Options) {
  const read = async (file: string) => {
    const size = await folder.size(file);
    return size === null ? undefined : folder.read(file, 0, size);
  };
  const bytes = (await read(name)) as Uint8Array;
  await onProgress?.({ read: bytes.length, total: bytes.length, name });
  const tokenizer = await read('tokenizer.json');
  signal?.throwIfAborted();
  return openSavedModel(memory, bytes, tokenizer, how);
}
