// Models of the Hugging Face Hub: what they are before their weights are downloaded, opening them, and the list of the
// stored ones.

import { cached, forget } from '../../../src/js/hub/hub.js';
import { readName } from '../../../src/js/hub/names.js';
import { openContainer } from '../../../src/js/models/checkpoint/containers.js';
import { openFolder } from '../../../src/js/models/checkpoint/files.js';
import { FAMILIES } from '../../../src/js/models/families/index.js';
import { hasTower, PAIRS } from '../../../src/js/models/families/pairs.js';
import { describeOpened, readPreprocessor } from './checkpointFiles.js';
import { hubProblem } from './hubProblems.js';
import { Problem } from './problem.js';

/** @import { HubOptions } from '../../../src/js/hub/options.js' */
/** @import { Container } from '../../../src/js/models/checkpoint/containers.js' */
/** @import { Stored } from '../../../src/js/models/checkpoint/readWeights.js' */
/** @import { Folder, HubOrigin } from '../../../src/js/models/checkpoint/files.js' */
/** @import { HubModel, StoredHubModel } from '../../store/hubProtocol.js' */
/** @import { RequestOf } from '../../store/protocol.js' */
/** @import { Reply, WorkerContext } from '../types.js' */
/** @import { Hl } from './types.js' */

const CALLER = 'openModel';
/** Cancelled requests are looked for after so many milliseconds. */
const CANCEL_INTERVAL = 100;
/** Bytes of a float32 number, and of one that is rounded to nine bits, with the factor of its row. */
const [FLOAT, ROUNDED] = [4, 1.16];
/** Types of numbers of 16 bits. */
const HALVES = ['F16', 'BF16'];

/**
 * The address of a model as openModel takes it.
 * @param {string} text a name or a link, as it was typed or copied
 */
export function addressOf(text) {
  const typed = text.trim();
  if (/^(www\.)?(huggingface\.co|hf\.co)\//i.test(typed)) return `https://${typed}`;
  return /^(https?|hf):/i.test(typed) ? typed : `hf://${typed}`;
}

/**
 * Runs a task that ends when its request is cancelled. Errors of the Hub become problems.
 * @template T
 * @param {Reply} reply
 * @param {(signal: AbortSignal) => Promise<T>} task
 */
async function cancellable(reply, task) {
  const running = new AbortController();
  const timer = setInterval(() => reply.isCancelled() && running.abort(), CANCEL_INTERVAL);
  try {
    return await task(running.signal);
  } catch (error) {
    throw hubProblem(error);
  } finally {
    clearInterval(timer);
  }
}

/**
 * Tensors have the types that the form 'stored' keeps.
 * @type {(folder: Folder, weights: 'stored') => Promise<Container>}
 */
const openStored = openContainer;

/** Settled when the last download has ended: until then its file is being written. @type {Promise<unknown>} */
let downloading = Promise.resolve();

/**
 * @param {Hl} hl
 * @param {RequestOf<'hubDescribe'>} request
 * @param {Reply} reply
 * @returns {Promise<HubModel>}
 */
export const describeModel = (hl, { address, token }, reply) =>
  cancellable(reply, async (signal) => {
    await downloading;
    const named = addressOf(address);
    const { path } = readName(CALLER, named);
    const folder = await openFolder(CALLER, named, undefined, signal, { options: hubOptions(token, reply) });
    try {
      const container = await openStored(folder, 'stored');
      const { id, revision, cached: stores } = /** @type {HubOrigin} */ (folder.origin);
      const size = await bytesOf(folder, container);
      const { used, limit } = hl.info.memory;
      return {
        name: `${id}@${revision}${path ? `/${path}` : ''}`,
        ...countsIn(container),
        parameters: sumOf(container, () => 1),
        size,
        download: Math.max(size - (await bytesStored(id, revision, container)), 0),
        forms: formsOf(container),
        room: limit - used,
        stores,
      };
    } finally {
      await folder.close();
    }
  });

/**
 * @param {RequestOf<'hubOpen'>} request
 * @param {Reply} reply
 * @param {WorkerContext} worker
 */
export function openHubModel(request, reply, worker) {
  const opening = cancellable(reply, (signal) => openNow(request, reply, worker, signal));
  downloading = opening.catch(() => {});
  return opening;
}

/**
 * @param {RequestOf<'hubOpen'>} request
 * @param {Reply} reply
 * @param {WorkerContext} worker
 * @param {AbortSignal} signal
 */
async function openNow({ name, weights, token }, reply, worker, signal) {
  const hl = await worker.core();
  const address = `hf://${name}`;
  const hub = hubOptions(token, reply);
  const model = await hl.openModel(address, {
    weights,
    hub,
    signal,
    onProgress: ({ read, total }) => reply.send('opening', { read, total }),
  });
  const [title] = name.split('@');
  const { source, summary } = await describeOpened(name, model, {
    title: title.slice(title.indexOf('/') + 1),
    bytes: model.source.files.reduce((sum, { size }) => sum + size, 0),
    weights,
    openExact: (signal, onProgress) =>
      hl.openModel(address, { hub, signal, onProgress: ({ read, total }) => onProgress(read, total) }),
    readPreprocessor: () => readPreprocessor(address, hub),
  });
  if (reply.isCancelled()) return source.dispose?.();
  worker.sources.set(name, Promise.resolve(source));
  reply.send('opened', { about: source.about, summary });
}

/**
 * Deletes a stored model, and lists the others.
 * @param {string} [remove] its id
 * @returns {Promise<StoredHubModel[]>}
 */
export async function storedModels(remove) {
  if (remove !== undefined) await forget(remove);
  const models = await cached();
  return models.map(({ id, revision, size }) => ({ id, revision, size }));
}

/**
 * Bytes of the weights that this browser stores.
 * @param {string} id
 * @param {string} revision
 * @param {Container} container
 */
async function bytesStored(id, revision, { files }) {
  const model = (await cached()).find((one) => one.id === id && one.revision === revision);
  const isMine = (/** @type {string} */ name) => files.some((file) => name === file || name.endsWith(`/${file}`));
  const mine = model?.files.filter(({ name }) => isMine(name)) ?? [];
  return mine.reduce((sum, file) => sum + file.cached, 0);
}

/** @param {string} token @param {Reply} reply @returns {HubOptions} */
const hubOptions = (token, reply) => ({
  ...(token !== '' && { token }),
  onWait: ({ seconds }) => reply.send('hub', { waits: seconds }),
});

/** Bytes of the files with the weights. @param {Folder} folder @param {Container} container */
async function bytesOf(folder, { files }) {
  const sizes = await Promise.all(files.map((file) => folder.size(file)));
  return sizes.reduce((/** @type {number} */ sum, size) => sum + (size ?? 0), 0);
}

/** Family, layers and heads, as config.json has them. @param {Container} container */
function countsIn({ config, tensors }) {
  const pair = PAIRS.get(config.model_type);
  const family = pair && !hasTower(tensors, 'text') ? pair.vision : FAMILIES.get(config.model_type);
  if (!family) throw new Problem('unknownFamily', String(config.model_type));
  const { layers, numHeads } = family.options(config, (name) =>
    family.prefixes.some((prefix) => tensors.has(prefix + name)),
  );
  const isWhole = pair && hasTower(tensors, 'text') && hasTower(tensors, 'vision');
  return { family: isWhole ? config.model_type : family.name, layers, heads: numHeads };
}

/**
 * The sum over all numbers of the model.
 * @param {Container} container
 * @param {(isMatrix: boolean, tensor: Stored) => number} each
 */
function sumOf({ tensors }, each) {
  let sum = 0;
  for (const tensor of tensors.values()) {
    const { shape } = tensor;
    sum += shape.reduce((a, b) => a * b, 1) * each(shape.filter((size) => size > 1).length > 1, tensor);
  }
  return sum;
}

/** Bytes of a number that is stored as in the file. @param {Stored} tensor */
function storedBytes({ dtype, form }) {
  if (form) return form.bits / 8 + (FLOAT * (form.hasMinimums ? 2 : 1)) / form.length;
  return HALVES.includes(dtype) ? FLOAT / 2 : FLOAT;
}

/**
 * The forms of the weights and their bytes in memory: only matrices are kept in few bits.
 * @param {Container} container
 */
export function formsOf(container) {
  /** @type {HubModel['forms']} */
  const forms = [{ weights: 'float32', bytes: sumOf(container, () => FLOAT) }];
  const stored = sumOf(container, (isMatrix, tensor) => (isMatrix ? storedBytes(tensor) : FLOAT));
  const inBlocks = [...container.tensors.values()].some(({ form }) => form);
  if (stored < forms[0].bytes) forms.push({ weights: 'stored', inBlocks, bytes: stored });
  const rounded = sumOf(container, (isMatrix) => (isMatrix ? ROUNDED : FLOAT));
  return [...forms, { weights: /** @type {const} */ ('int8'), bytes: rounded }];
}
