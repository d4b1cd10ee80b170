// Describes models of the Hugging Face Hub before their weights are downloaded, opens models of the Hub, and lists the
// models that the browser stores.

import { cached, forget } from '../../../src/js/hub/hub.ts';
import { readName } from '../../../src/js/hub/names.ts';
import type { HubOptions } from '../../../src/js/hub/options.ts';
import { type Container, openContainer } from '../../../src/js/models/checkpoint/containers.ts';
import { type Folder, type HubOrigin, openFolder } from '../../../src/js/models/checkpoint/files.ts';
import type { Stored } from '../../../src/js/models/checkpoint/readWeights.ts';
import { FAMILIES } from '../../../src/js/models/families/index.ts';
import { hasTower, PAIRS } from '../../../src/js/models/families/pairs.ts';
import type { HubModel, StoredHubModel } from '../../model/protocol/hubProtocol.ts';
import type { RequestOf } from '../../model/protocol/protocol.ts';
import type { Reply, WorkerContext } from '../types.ts';
import { describeOpened } from './checkpointFiles.ts';
import { hubProblem } from './hubProblems.ts';
import { Problem } from './problem.ts';
import type { Hl } from './types.ts';

const CALLER = 'openModel';
/** Milliseconds between two checks whether the request was cancelled. */
const CANCEL_INTERVAL = 100;
/** Bytes of a float32 number, and mean bytes of a number that is rounded to nine bits, including a share of a scale. */
const [FLOAT, ROUNDED] = [4, 1.16];
/** Types of numbers with 16 bits. */
const HALVES = ['F16', 'BF16'];

/** Returns a model's address as openModel accepts it. `text`: a name or a link, as typed or copied. */
export function addressOf(text: string) {
  const typed = text.trim();
  if (/^(www\.)?(huggingface\.co|hf\.co)\//i.test(typed)) return `https://${typed}`;
  return /^(https?|hf):/i.test(typed) ? typed : `hf://${typed}`;
}

/** Runs a task, and aborts it when the request is cancelled. Errors of the Hub become problems. */
async function cancellable<T>(reply: Reply, task: (signal: AbortSignal) => Promise<T>) {
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

/** Opens the files so that tensors keep the types that they have in the files. */
const openStored: (folder: Folder, weights: 'stored') => Promise<Container> = openContainer;

/** Settled when the last download has ended and its files are written. */
let downloading: Promise<unknown> = Promise.resolve();

export const describeModel = (hl: Hl, { address, token }: RequestOf<'hubDescribe'>, reply: Reply): Promise<HubModel> =>
  cancellable(reply, async (signal) => {
    await downloading;
    const named = addressOf(address);
    const { path } = readName(CALLER, named);
    const folder = await openFolder(CALLER, named, undefined, signal, { options: hubOptions(token, reply) });
    try {
      const container = await openStored(folder, 'stored');
      const { id, revision, cached: stores } = folder.origin as HubOrigin;
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

export function openHubModel(request: RequestOf<'hubOpen'>, reply: Reply, worker: WorkerContext) {
  const opening = cancellable(reply, (signal) => openNow(request, reply, worker, signal));
  downloading = opening.catch(() => {});
  return opening;
}

async function openNow(
  { name, weights, token }: RequestOf<'hubOpen'>,
  reply: Reply,
  worker: WorkerContext,
  signal: AbortSignal,
) {
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
  });
  if (reply.isCancelled()) return source.dispose?.();
  worker.sources.set(name, Promise.resolve(source));
  reply.send('opened', { about: source.about, summary });
}

/** Deletes the stored model with the id `remove`, if present, and lists the remaining ones. */
export async function storedModels(remove?: string): Promise<StoredHubModel[]> {
  if (remove !== undefined) await forget(remove);
  const models = await cached();
  return models.map(({ id, revision, size }) => ({ id, revision, size }));
}

async function bytesStored(id: string, revision: string, { files }: Container) {
  const model = (await cached()).find((one) => one.id === id && one.revision === revision);
  const isMine = (name: string) => files.some((file) => name === file || name.endsWith(`/${file}`));
  const mine = model?.files.filter(({ name }) => isMine(name)) ?? [];
  return mine.reduce((sum, file) => sum + file.cached, 0);
}

const hubOptions = (token: string, reply: Reply): HubOptions => ({
  ...(token !== '' && { token }),
  onWait: ({ seconds }) => reply.send('hub', { waits: seconds }),
});

async function bytesOf(folder: Folder, { files }: Container) {
  const sizes = await Promise.all(files.map((file) => folder.size(file)));
  return sizes.reduce((sum: number, size) => sum + (size ?? 0), 0);
}

/** Reads the family and the numbers of layers and heads from config.json. */
function countsIn({ config, tensors }: Container) {
  const pair = PAIRS.get(config.model_type);
  const family = pair && !hasTower(tensors, 'text') ? pair.vision : FAMILIES.get(config.model_type);
  if (!family) throw new Problem('unknownFamily', String(config.model_type));
  const { layers, numHeads } = family.options(config, (name) =>
    family.prefixes.some((prefix) => tensors.has(prefix + name)),
  );
  const isWhole = pair && hasTower(tensors, 'text') && hasTower(tensors, 'vision');
  return { family: isWhole ? config.model_type : family.name, layers, heads: numHeads };
}

/** Computes the sum of a value, such as bytes, over all numbers in the tensors of a model. */
function sumOf({ tensors }: Container, each: (isMatrix: boolean, tensor: Stored) => number) {
  let sum = 0;
  for (const tensor of tensors.values()) {
    const { shape } = tensor;
    sum += shape.reduce((a, b) => a * b, 1) * each(shape.filter((size) => size > 1).length > 1, tensor);
  }
  return sum;
}

/** Returns the mean bytes in memory of a number, if a tensor keeps the type of the file. */
function storedBytes({ dtype, form }: Stored) {
  if (form) return form.bits / 8 + (FLOAT * (form.hasMinimums ? 2 : 1)) / form.length;
  return HALVES.includes(dtype) ? FLOAT / 2 : FLOAT;
}

/** Lists the possible forms of the weights and their bytes in memory. Only matrices can be below float32. */
export function formsOf(container: Container) {
  const forms: HubModel['forms'] = [{ weights: 'float32', bytes: sumOf(container, () => FLOAT) }];
  const stored = sumOf(container, (isMatrix, tensor) => (isMatrix ? storedBytes(tensor) : FLOAT));
  const inBlocks = [...container.tensors.values()].some(({ form }) => form);
  if (stored < forms[0].bytes) forms.push({ weights: 'stored', inBlocks, bytes: stored });
  const rounded = sumOf(container, (isMatrix) => (isMatrix ? ROUNDED : FLOAT));
  return [...forms, { weights: 'int8' as const, bytes: rounded }];
}
