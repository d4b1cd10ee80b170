// Opens a checkpoint by config.json and the table of its family. Everything is checked before anything is allocated,
// then the tensors are read.

import { readNumber, readOptions, readSignal, readWord } from '../../check/arguments.ts';
import { argumentError, unreadable } from '../../check/errors.ts';
import type { HubOptions } from '../../hub/options.ts';
import type { HubPlatform } from '../../hub/types.ts';
import type { Memory } from '../../memory/memory.ts';
import type { Tokenizer } from '../../text/tokenizer.ts';
import { hasTower, PAIRS, type Tower } from '../families/pairs.ts';
import type { TextImageModel } from '../textImage/textImageModel.ts';
import type { Transformer } from '../transformer.ts';
import { isArchive } from './chosenFile.ts';
import { openContainer } from './containers.ts';
import { type Folder, type HubOrigin, type ModelFiles, type OpenPath, openFile, openFolder } from './files.ts';
import { readAll } from './folder/smallFiles.ts';
import { completeModel, newModel } from './newModel.ts';
import { type Plan, planModel } from './plan.ts';
import { readWeights, type Storage } from './readWeights.ts';

export type OpenOptions = {
  /**
   * type of the weights in memory; default 'float32'. 'stored': float16 and bfloat16 stay so, with half the memory and
   * the same results; GGUF's blocks of fewer bits stay blocks, and inputs of their products are rounded to 16 bits.
   * 'int8': matrices are rounded to nine bits, integers from −254 to 254 with a scale for 128 inputs, 29% of the
   * memory,
   * and inputs of products to 16 bits, or to 12 where four products of bytes are one instruction (VNNI, ARM's dot
   * product). 'int4': to four bits in blocks of 32, 16%, and inputs of products to 8 bits. Only float32 weights can be
   * trained
   */
  weights?: 'float32' | 'stored' | 'int8' | 'int4' | undefined;
  /** number of blocks that are opened, from the first; default: all */
  layers?: number | undefined;
  /**
   * model for texts and pictures: one tower alone, or both required. Default: both if the files contain both. Models
   * without towers ignore one tower and refuse 'both'
   */
  tower?: Tower | 'both' | undefined;
  signal?: AbortSignal | undefined;
  /** read, total: bytes; name: the current tensor. A promise is awaited; if it rejects, openModel rejects */
  onProgress?: ((progress: { read: number; total: number; name: string }) => unknown) | undefined;
  hub?: HubOptions | undefined;
};
/**
 * Id and commit of a model from the Hub, the files with its tensors, their format, and the form of the weights in
 * memory.
 */
export type ModelSource = Partial<HubOrigin> & {
  files: { name: string; size: number }[];
  format: 'safetensors' | 'gguf' | 'torch';
  weights: Storage;
};
/**
 * A transformer with its config.json and its tokenizer, undefined without a tokenizer.json. For 'demo' and a file of
 * `save`, family, config and source are undefined. `optimizer` continues a training that the folder contains.
 */
export type OpenedModel = Transformer & {
  family: string;
  config: Record<string, any>;
  tokenizer: Tokenizer;
  source: ModelSource;
};

const CALLER = 'openModel';
const TOWERS = ['text', 'vision'] as const;
const CHOICES = ['both', ...TOWERS] as const;

export type Environment = {
  /** the address of the module; the files of the demo are in the same folder */
  module?: string | undefined;
  /** opens a folder on disk; only in Node */
  openPath?: OpenPath | undefined;
  /** the code for models on the Hub; only in Node */
  hub?: (() => Promise<HubPlatform>) | undefined;
};

export async function openModel(
  memory: Memory,
  files: ModelFiles,
  options: OpenOptions,
  environment: Environment,
): Promise<OpenedModel | TextImageModel> {
  const given = readOptions(CALLER, options, ['weights', 'layers', 'tower', 'signal', 'onProgress', 'hub']);
  const words = ['float32', 'stored', 'int8', 'int4'] as const;
  const storage = readWord(CALLER, 'weights', given.weights ?? 'float32', words);
  const { layers, onProgress } = given;
  const signal = readSignal(CALLER, given.signal);
  if (layers !== undefined) readNumber(CALLER, 'layers', layers, { integer: true, least: 0 });
  const tower = given.tower === undefined ? undefined : readWord(CALLER, 'tower', given.tower, CHOICES);
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw argumentError(CALLER, 'onProgress', onProgress, 'a function');
  signal?.throwIfAborted();
  if (files === 'demo') {
    const { openDemo } = await import('../demo.ts');
    const model = await openDemo(CALLER, memory, environment, { storage, layers, signal, onProgress });
    return model as OpenedModel;
  }
  const hub = { options: given.hub, platform: environment.hub };
  const folder = await unpacked(await openFolder(CALLER, files, environment.openPath, signal, hub), signal);
  try {
    const own = await openOwn(memory, folder, { storage, layers, signal, onProgress });
    if (own) return own;
    const container = await openContainer(folder, storage);
    const how = { storage, layers, signal, onProgress };
    const pair = PAIRS.get(container.config.model_type);
    const present = pair ? TOWERS.filter((name) => hasTower(container.tensors, name)) : [];
    const single = tower === 'both' ? undefined : tower;
    if (pair && present.length === 2 && !single) {
      const { openTextImage } = await import('./openTextImage.ts');
      return await openTextImage(memory, folder, container, pair, how);
    }
    if (tower === 'both')
      throw argumentError(CALLER, 'tower', tower, 'no such option, because the files do not contain two towers');
    const planned = await planModel(container, how, pair?.[single ?? present[0] ?? 'text']);
    const training = await openTraining(folder, planned, how);
    const plan = training ? { ...planned, options: { ...planned.options, ...training.resumed.options } } : planned;
    const weights = await readWeights(memory, container.folder, plan.found, how);
    const model = newModel(memory, plan, weights, training?.resumed.step);
    try {
      if (training) model.optimizer = await training.resume(memory, folder, model, training.resumed, signal);
      await completeModel(model, folder, container, plan, storage);
      signal?.throwIfAborted();
      return model as OpenedModel;
    } catch (error) {
      model.dispose();
      throw error;
    }
  } finally {
    await folder.close();
  }
}

/** Names of files, other than checkpoints, that Headlight or its page writes. */
const OWN = /\.(safetensors|onnx|np[yz]|csv)$|^scatter_data\.json$/i;

/** Returns the folder of the files in an archive, if the folder has nothing else. */
async function unpacked(folder: Folder, signal?: AbortSignal) {
  const [name = '', ...others] = folder.names ?? [];
  if (others.length > 0 || !isArchive(name)) return folder;
  const { unpackedFiles } = await import('./ownFiles.ts');
  const files = await unpackedFiles(folder, name);
  await folder.close();
  return openFolder(CALLER, files, undefined, signal);
}

/** Opens a model that `save` has written; undefined if the folder is that of a checkpoint. */
async function openOwn(
  memory: Memory,
  folder: Folder,
  how: { storage: Storage; layers?: number; signal?: AbortSignal; onProgress?: OpenOptions['onProgress'] },
) {
  const { names } = folder;
  if (!names?.some((name) => OWN.test(name))) return undefined;
  // A HeadVis folder has a config.json too.
  if (!names.includes('scatter_data.json') && (await folder.size('config.json')) !== null) return undefined;
  const { openOwnFile } = await import('./ownFiles.ts');
  return openOwnFile(memory, folder, how) as Promise<OpenedModel | undefined>;
}

/** Reads a training from a folder on disk, or among files. Others are not asked, because most have none. */
async function openTraining(folder: Folder, plan: Plan, { storage, layers }: { storage: Storage; layers?: number }) {
  const isPresent = folder.names?.includes('optimizer.safetensors') && !folder.origin;
  if (!isPresent || storage !== 'float32' || layers !== undefined) return undefined;
  const { readResumed, resume } = await import('./folder/resume.ts');
  const resumed = await readResumed(folder, plan);
  return resumed && { resumed, resume };
}

/** file: a path in Node, a URL, hf://owner/name, or the bytes of the file */
export async function openTokenizerFile(
  file: string | URL | Blob | ArrayBuffer | ArrayBufferView,
  environment: Environment,
) {
  const caller = 'openTokenizer';
  const { openTokenizer } = await import('../../text/tokenizer.ts');
  if (file instanceof ArrayBuffer || ArrayBuffer.isView(file)) return openTokenizer(file);
  if (typeof file !== 'string' && !(file instanceof URL || file instanceof Blob))
    throw argumentError(caller, 'file', file, 'a path, a URL, a Blob or bytes');
  const { folder, name } = await openFile(caller, file, environment.openPath, { platform: environment.hub });
  try {
    const size = await folder.size(name, true);
    if (size === null) throw unreadable(caller, String(file), 'there is no such file');
    return openTokenizer(await readAll(folder, name, size));
  } finally {
    await folder.close();
  }
}
