// Opens a checkpoint. config.json describes the model; the table of its family maps tensors to parameters. Everything
// is checked before anything is allocated, then the tensors are read.

import { readNumber, readOptions, readSignal, readWord } from '../../check/arguments.js';
import { argumentError, unreadable } from '../../check/errors.js';
import { hasTower, PAIRS } from '../families/pairs.js';
import { isArchive } from './chosenFile.js';
import { openContainer } from './containers.js';
import { openFile, openFolder } from './files.js';
import { completeModel, newModel } from './newModel.js';
import { planModel } from './plan.js';
import { readWeights } from './readWeights.js';
import { readAll } from './smallFiles.js';

/** @import { Tokenizer } from '../../text/tokenizer.js' */
/** @import { Memory } from '../../memory/memory.js' */
/** @import { Tower } from '../families/pairs.js' */
/** @import { HubPlatform } from '../../hub/types.js' */
/** @import { HubOptions } from '../../hub/options.js' */
/** @import { Folder, HubOrigin, ModelFiles, OpenPath } from './files.js' */
/** @import { TextImageModel } from '../textImage/textImageModel.js' */
/** @import { Transformer } from '../transformer.js' */
/** @import { Container } from './containers.js' */
/** @import { Storage } from './readWeights.js' */

/**
 * @typedef {object} OpenOptions
 * @property {'float32' | 'stored' | 'int8' | 'int4'} [weights] type of the weights in memory; default 'float32'. With
 *   'stored', matrices that the file stores as float16 or bfloat16 keep this type, which takes half the memory and
 *   gives the same results. Matrices that a GGUF file stores in blocks of fewer bits keep these blocks, and the inputs
 *   of their products are rounded to 16 bits. With 'int8', matrices are rounded to nine bits and take 29% of the
 *   memory; with 'int4', they are rounded to four bits in blocks of 32 and take 16%, and the inputs of their products
 *   are rounded to 8 bits. Only models with float32 weights can be trained
 * @property {number} [layers] number of blocks that are opened, from the first; default: all
 * @property {Tower | 'both'} [tower] for a model for texts and pictures: opens one tower alone, or requires both.
 *   Default: both towers if the files contain both. Without effect for a
 *   model that has no towers, except that 'both' is refused
 * @property {AbortSignal} [signal]
 * @property {(progress: { read: number, total: number, name: string }) => unknown} [onProgress] read: bytes that have
 *   been read; total: all bytes; name: the current tensor. A promise is awaited; if it rejects, openModel rejects
 * @property {HubOptions} [hub] for a model on the Hugging Face Hub
 */
/**
 * Where a model comes from: its id and commit if it was opened from the Hub, the files with its tensors, their format,
 * and the form of the weights in memory.
 * @typedef {Partial<HubOrigin> & { files: { name: string, size: number }[],
 *   format: 'safetensors' | 'gguf' | 'torch', weights: Storage }} ModelSource
 */
/**
 * A transformer with its config.json and its tokenizer. Without a tokenizer.json the tokenizer is undefined. For 'demo'
 * and for a file of `save`, family, config and source are undefined. If the folder contains the optimizer of a
 * training, `optimizer` continues it.
 * @typedef {Transformer & { family: string, config: Record<string, any>, tokenizer: Tokenizer,
 *   source: ModelSource }} OpenedModel
 */

const CALLER = 'openModel';
const TOWERS = /** @type {const} */ (['text', 'vision']);
const CHOICES = /** @type {const} */ (['both', ...TOWERS]);

/**
 * The environment of the module.
 * @typedef {object} Environment
 * @property {string} [module] the address of the module; the files of the demo are in the same folder
 * @property {OpenPath} [openPath] opens a folder on disk; only in Node
 * @property {() => Promise<HubPlatform>} [hub] the code for models on the Hub; only in Node
 */

/**
 * @param {Memory} memory
 * @param {ModelFiles} files
 * @param {OpenOptions} options
 * @param {Environment} environment
 * @returns {Promise<OpenedModel | TextImageModel>}
 */
export async function openModel(memory, files, options, environment) {
  const given = readOptions(CALLER, options, ['weights', 'layers', 'tower', 'signal', 'onProgress', 'hub']);
  const words = /** @type {const} */ (['float32', 'stored', 'int8', 'int4']);
  const storage = readWord(CALLER, 'weights', given.weights ?? 'float32', words);
  const { layers, onProgress } = given;
  const signal = readSignal(CALLER, given.signal);
  if (layers !== undefined) readNumber(CALLER, 'layers', layers, { integer: true, least: 0 });
  const tower = given.tower === undefined ? undefined : readWord(CALLER, 'tower', given.tower, CHOICES);
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw argumentError(CALLER, 'onProgress', onProgress, 'a function');
  signal?.throwIfAborted();
  if (files === 'demo') {
    const { openDemo } = await import('../demo.js');
    const model = await openDemo(CALLER, memory, environment, { storage, layers, signal, onProgress });
    return /** @type {OpenedModel} */ (model);
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
      const { openTextImage } = await import('./openTextImage.js');
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
      return /** @type {OpenedModel} */ (model);
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

/**
 * Returns the folder of the files in an archive, if the folder has nothing else.
 * @param {Folder} folder @param {AbortSignal} [signal]
 */
async function unpacked(folder, signal) {
  const [name = '', ...others] = folder.names ?? [];
  if (others.length > 0 || !isArchive(name)) return folder;
  const { unpackedFiles } = await import('./ownFiles.js');
  const files = await unpackedFiles(folder, name);
  await folder.close();
  return openFolder(CALLER, files, undefined, signal);
}

/**
 * Opens a model that `save` has written; undefined if the folder is that of a checkpoint.
 * @param {Memory} memory
 * @param {Folder} folder
 * @param {{ storage: Storage, layers?: number, signal?: AbortSignal, onProgress?: OpenOptions['onProgress'] }} how
 */
async function openOwn(memory, folder, how) {
  const { names } = folder;
  if (!names?.some((name) => OWN.test(name))) return undefined;
  // A HeadVis folder has a config.json too.
  if (!names.includes('scatter_data.json') && (await folder.size('config.json')) !== null) return undefined;
  const { openOwnFile } = await import('./ownFiles.js');
  return /** @type {Promise<OpenedModel | undefined>} */ (openOwnFile(memory, folder, how));
}

/**
 * Reads the state of a training from a folder on disk, or among files, that contains the optimizer. Other folders are
 * not asked for it, because most have none.
 * @param {import('./files.js').Folder} folder
 * @param {import('./plan.js').Plan} plan
 * @param {{ storage: Storage, layers?: number }} how
 */
async function openTraining(folder, plan, { storage, layers }) {
  const isPresent = folder.names?.includes('optimizer.safetensors') && !folder.origin;
  if (!isPresent || storage !== 'float32' || layers !== undefined) return undefined;
  const { readResumed, resume } = await import('./resume.js');
  const resumed = await readResumed(folder, plan);
  return resumed && { resumed, resume };
}

/**
 * @param {string | URL | Blob | ArrayBuffer | ArrayBufferView} file a path in Node, a URL, hf://owner/name, or the
 *   bytes of the file
 * @param {Environment} environment
 */
export async function openTokenizerFile(file, environment) {
  const caller = 'openTokenizer';
  const { openTokenizer } = await import('../../text/tokenizer.js');
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
