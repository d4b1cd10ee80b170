// Opens a checkpoint of torch.save: pytorch_model.bin, parts that an index lists, or one of a training run. Only the
// pickle is read at first; weights are read in ranges, because storages are not compressed.

import { HeadlightError } from '../../../check/errors.ts';
import { quote, quoteNames } from '../../../check/quote.ts';
import { elementCount } from '../../../check/shape.ts';
import { type Steps, torchSteps } from '../../../io/torch.ts';
import {
  inRowMajor,
  locateTensors,
  namedTensors,
  sizeOf,
  type TorchRange,
  TorchTensor,
} from '../../../io/torchTensors.ts';
import { nanogpt, nanogptConfig } from '../../families/nanogpt.ts';
import type { Container } from '../containers.ts';
import type { Folder, Stream } from '../files.ts';
import { addShard, checkShards, readWeightMap } from '../folder/shards.ts';
import { openTokenizerJson, readGenerationJson, readJson } from '../folder/smallFiles.ts';
import type { Stored } from '../readWeights.ts';

/** A tensor that is not contiguous. */
export type Strided = { file: string; range: TorchRange };

const CALLER = 'openModel';
/** Names of the dict with the weights in the checkpoints of training programs. */
const DICTS = ['model', 'state_dict', 'model_state_dict', 'module'];
/** Prefix that torch.compile adds to names. */
const COMPILED = /^_orig_mod\./;
/** If the length of a file is unknown, the file is read up to this byte to find its end. */
const MAX_UNKNOWN = 2 ** 33;
/** Small ranges within TOGETHER bytes are read in one request. AT_ONCE requests are sent at the same time. */
const TOGETHER = 2 ** 16;
const AT_ONCE = 16;

const fail = (file: string, message: string, parameter: string = file) =>
  new HeadlightError('FORMAT', `${CALLER}: ${file}: ${message}`, { parameter });

/** file: that contains the tensors, or the index of such files */
export async function openTorch(folder: Folder, file: string): Promise<Container> {
  const isIndex = file.endsWith('.index.json');
  const map = isIndex ? readWeightMap(CALLER, await readJson(folder, file), file) : new Map();
  const files = isIndex ? [...new Set(map.values())].sort() : [file];
  const tensors: Map<string, Stored> = new Map();
  const strided: Map<string, Strided> = new Map();
  let args: ReadonlyMap<unknown, unknown> | undefined;
  for (const part of files) {
    const opened = await openPart(folder, part, isIndex ? file : undefined);
    args ??= opened.args;
    addShard(CALLER, tensors, part, toStored(part, opened.ranges, strided), map, file);
  }
  checkShards(CALLER, tensors, map, file);
  const own = args && (await folder.size('config.json')) === null ? args : undefined;
  const config = own ? nanogptConfig(own) : await readJson(folder, 'config.json');
  return {
    format: 'torch',
    folder: withStrided(folder, strided),
    config,
    generationConfig: await readGenerationJson(folder),
    tensors,
    files,
    openTokenizer: (fixed) => openTokenizerJson(folder, config.model_type, fixed),
    ...(own && { family: nanogpt, describedBy: `the model_args of ${file}` }),
  };
}

/** Returns the tensors of one file, and the options of its training program. index: index that lists the file. */
async function openPart(folder: Folder, file: string, index?: string) {
  const caller = `${CALLER}: ${file}`;
  const size = await findSize(folder, file, index);
  const { value, begins, budget } = await run(torchSteps(caller, size), folder, file);
  const { dict, args } = findDict(file, value);
  const tensors = namedTensors(caller, dict, budget);
  return { args, ranges: locateTensors(caller, tensors, begins, size) };
}

async function findSize(folder: Folder, file: string, index?: string) {
  const size = await folder.size(file, true);
  if (size === null) throw fail(file, index ? `it is missing, but ${index} lists it` : 'there is no such file');
  if (size < Infinity) return size;
  await folder.read(file, MAX_UNKNOWN, MAX_UNKNOWN + 1);
  const found = await folder.size(file, true);
  if (found === null || found === Infinity) throw fail(file, `it is longer than ${MAX_UNKNOWN} bytes`);
  return found;
}

async function run<T>(steps: Steps<T>, folder: Folder, file: string) {
  let step = steps.next();
  while (!step.done) step = steps.next(await readRanges(folder, file, step.value));
  return step.value;
}

async function readRanges(folder: Folder, file: string, ranges: [begin: number, end: number][]) {
  const results: Uint8Array[] = [];
  const groups: { begin: number; end: number; parts: number[] }[] = [];
  const order = ranges.map((_, i) => i).sort((a, b) => ranges[a][0] - ranges[b][0]);
  for (const i of order) {
    const [begin, end] = ranges[i];
    const group = groups.at(-1);
    if (group && Math.max(end, group.end) - group.begin <= TOGETHER) {
      group.end = Math.max(end, group.end);
      group.parts.push(i);
    } else groups.push({ begin, end, parts: [i] });
  }
  for (let first = 0; first < groups.length; first += AT_ONCE)
    await Promise.all(
      groups.slice(first, first + AT_ONCE).map(async ({ begin, end, parts }) => {
        const bytes = await folder.read(file, begin, end);
        if (bytes.length !== end - begin) throw fail(file, `it ends before byte ${end}: it is truncated`);
        for (const i of parts) results[i] = bytes.subarray(ranges[i][0] - begin, ranges[i][1] - begin);
      }),
    );
  return results;
}

/** Returns the dict of the weights, and model_args of nanoGPT. value: that was saved. */
function findDict(file: string, value: unknown) {
  if (!(value instanceof Map)) throw fail(file, 'it does not contain a dict of tensors');
  const name = DICTS.find((key) => value.get(key) instanceof Map);
  const dict = name === undefined ? value : value.get(name);
  if (![...dict.values()].some((item) => item instanceof TorchTensor)) {
    const keys = [...value.keys()].map((key) => quote(key));
    throw fail(file, `there are no tensors in it, nor in its ${DICTS.join(', ')}; its keys are ${quoteNames(keys)}`);
  }
  const args = value.get('model_args');
  return { dict, args: args instanceof Map ? args : undefined };
}

/** strided: map to which tensors that are not contiguous are added, each as a file with a name of its own */
function toStored(file: string, ranges: Map<string, TorchRange>, strided: Map<string, Strided>) {
  const stored: Record<string, Stored> = Object.create(null);
  for (const [long, range] of ranges) {
    const name = long.replace(COMPILED, '');
    const { dtype, shape, contiguous, begin, end } = range;
    if (name in stored) throw fail(file, `there are two tensors ${quote(name)}`, name);
    stored[name] = { dtype, shape, begin, end, file };
    if (contiguous) continue;
    // No other file has this name: names in a folder have no slash.
    const own = `${file}/${name}`;
    strided.set(own, { file, range });
    stored[name] = { dtype, shape, begin: 0, end: elementCount(shape) * sizeOf(dtype), file: own };
  }
  return stored;
}

/** Tensors that are not contiguous are files in row-major order, of which one is in memory at a time. */
function withStrided(folder: Folder, strided: ReadonlyMap<string, Strided>): Folder {
  if (strided.size === 0) return folder;
  let last: { name: string; bytes: Promise<Uint8Array> } | undefined;
  const gather = async ({ file, range }: Strided) => {
    const bytes = await folder.read(file, range.begin, range.end);
    if (bytes.length !== range.end - range.begin) throw fail(file, `it ends before byte ${range.end}: it is truncated`);
    return inRowMajor(`${CALLER}: ${file}`, range, bytes);
  };
  const read: Folder['read'] = async (name, begin, end, buffer) => {
    const tensor = strided.get(name);
    if (!tensor) return folder.read(name, begin, end, buffer);
    if (last?.name !== name) last = { name, bytes: gather(tensor) };
    return (await last.bytes).subarray(begin, end);
  };
  const inSteps: (name: string, begin: number) => Stream = (name, begin) => {
    let at = begin;
    return {
      read: (target) => {
        at += target.length;
        return read(name, at - target.length, at);
      },
      close: () => {},
    };
  };
  const { names, hint, origin, stream, plan, complete } = folder;
  const whole = (range: { file: string; begin: number; end: number }) => {
    const tensor = strided.get(range.file);
    return tensor ? { file: tensor.file, begin: tensor.range.begin, end: tensor.range.end } : range;
  };
  return {
    ...{ names, hint, origin, read },
    size: (name, required) => folder.size(name, required),
    close: () => folder.close(),
    ...(plan && { plan: (ranges) => plan.call(folder, ranges.map(whole)) }),
    ...(complete && { complete: () => complete.call(folder) }),
    ...(stream && {
      stream: (name, begin, end) => (strided.has(name) ? inSteps(name, begin) : stream(name, begin, end)),
    }),
  };
}
