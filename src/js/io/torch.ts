// Reads files of torch.save: a zip archive of a pickle and storages or, before PyTorch 1.6, pickles and storages. The
// pickle describes the tensors; nothing in it is executed.

import { quote, quoteNames } from '../check/quote.ts';
import { formatError, readBytes } from './bytes.ts';
import type { StoredTensor } from './dtypes.ts';
import { identify } from './identify.ts';
import { readPickle, Truncated } from './pickle.ts';
import {
  locateTensors,
  namedTensors,
  readTensor,
  sizeOf,
  type TorchStorage,
  torchMeaning,
  type Vocabulary,
} from './torchTensors.ts';
import {
  checksum,
  damaged,
  dataStart,
  type Entry,
  findDirectory,
  HEADER,
  limitsOf,
  MAX_TAIL,
  readDirectory,
  STORED,
} from './zip.ts';

/** value: dicts as Map, tensors as TorchTensor. begins: positions of storages. budget: see namedTensors. */
export type TorchFile = { value: unknown; begins: Map<TorchStorage, number>; budget: number };
export type Range = [begin: number, end: number];
/**
 * A generator that reads a file in steps. Each step yields the ranges that are needed next, and receives their bytes.
 */
export type Steps<T> = Generator<Range[], T, Uint8Array[]>;

/** Maximum bytes of the pickle, and of the central directory of an archive. */
const MAX_PICKLE = 2 ** 27;
const MAX_DIRECTORY = 2 ** 25;
/** Bytes of the first read of pickles without a known length, and the factor by which each further read is longer. */
const [FIRST, FACTOR] = [2 ** 16, 4];
/** Bytes that are enough to recognize a file. */
const START = 512;
const PICKLE = /^([^/\\]+\/)data\.pkl$/;
const MAGIC = 0x1950a86a20f9469cfc6cn;
const LEGACY_PROTOCOL = 1001;
const TORCHSCRIPT = 'a TorchScript archive, which contains a program: save its state_dict() with torch.save';

/**
 * Returns the tensors of a file of torch.save by name: keys of nested dicts, joined by dots. Their data is decoded at
 * the first access and then kept.
 */
export function readTorch(source: ArrayBuffer | ArrayBufferView): Record<string, StoredTensor> {
  const caller = 'readTorch';
  const bytes = readBytes(caller, source);
  const { value, begins, budget } = run(torchSteps(caller, bytes.length), bytes);
  const ranges = locateTensors(caller, namedTensors(caller, value, budget), begins, bytes.length);
  const tensors: Record<string, StoredTensor> = Object.create(null);
  for (const [name, range] of ranges) tensors[name] = readTensor(caller, name, range, bytes);
  return tensors;
}

/** Reads an archive of torch.save in a format that uses only some of the Python objects to which a pickle may refer. */
export function readTorchArchive(caller: string, bytes: Uint8Array, only: Vocabulary): TorchFile {
  const start = bytes.subarray(0, START);
  if (!isArchive(start)) throw notTorch(caller, start, 'a zip archive of torch.save');
  return run(readArchive(caller, bytes.length, start, only), bytes);
}

const isArchive = (start: Uint8Array) => start[0] === 0x50 && start[1] === 0x4b;

function run<T>(steps: Steps<T>, bytes: Uint8Array): T {
  let step = steps.next();
  while (!step.done) step = steps.next(step.value.map(([begin, end]) => bytes.subarray(begin, end)));
  return step.value;
}

export function* torchSteps(caller: string, size: number): Steps<TorchFile> {
  const [start] = yield [[0, Math.min(START, size)]];
  if (isArchive(start)) return yield* readArchive(caller, size, start);
  if (start[0] === 0x80) return yield* readLegacy(caller, size, start);
  throw notTorch(caller, start);
}

function notTorch(caller: string, start: Uint8Array, expected = 'a file of torch.save') {
  const kind = identify(start);
  return formatError(
    caller,
    `${kind ? `this is ${kind}` : 'the file is neither a zip archive nor a pickle'}, expected ${expected}`,
    { parameter: 'bytes', expected, got: kind },
  );
}

function* readArchive(caller: string, size: number, start: Uint8Array, only?: Vocabulary): Steps<TorchFile> {
  const fail = damaged(caller);
  const base = Math.max(0, size - MAX_TAIL);
  const [tail] = yield [[base, size]];
  const directory = findDirectory(tail, base, fail);
  if (directory.size > MAX_DIRECTORY)
    throw formatError(caller, `the directory has ${directory.size} bytes, expected at most ${MAX_DIRECTORY}`);
  const [listing] = yield [[directory.offset, directory.offset + directory.size]];
  const entries = readDirectory(caller, listing, directory);
  const limits = limitsOf(entries, directory);
  const { root, files } = nameFiles(caller, entries, start);
  function* startsOf(some: Entry[]): Steps<number[]> {
    const headers = yield some.map(({ offset }) => [offset, Math.min(offset + HEADER, size)] as Range);
    return some.map((entry, i) => dataStart(entry, headers[i], limits.get(entry) as number, fail));
  }
  const order = files.get(`${root}byteorder`);
  if (order) {
    const [at] = yield* startsOf([order]);
    checkByteOrder(caller, yield* text(at, Math.min(order.size, START)));
  }
  const pickle = files.get(`${root}data.pkl`) as Entry;
  if (pickle.size > MAX_PICKLE)
    throw formatError(caller, `the pickle has ${pickle.size} bytes, expected at most ${MAX_PICKLE}`);
  const [at] = yield* startsOf([pickle]);
  const [bytes] = yield [[at, at + pickle.size]];
  // PyTorch can be told not to compute checksums, and then writes 0.
  if (pickle.crc !== 0 && checksum(bytes) !== pickle.crc)
    throw fail(`${quote(pickle.name)} has a different checksum from that in the directory`);
  const { meaning, storages } = torchMeaning(caller, only);
  const { value } = readPickle(caller, bytes, 0, meaning);
  const used = [...storages].map(([key, list]) => ({
    list,
    entry: storageFile(caller, files, `${root}data/${key}`, list),
  }));
  const starts = yield* startsOf(used.map(({ entry }) => entry));
  const begins: Map<TorchStorage, number> = new Map();
  for (const [i, { list }] of used.entries())
    for (const storage of list) begins.set(storage, beginOf(storage, starts[i]));
  return { value, begins, budget: budgetOf(pickle.size) };
}

/** Returns the maximum work for the names of tensors, which is linear in the size of the pickle. */
const budgetOf = (size: number) => 16 * size + START;

const beginOf = ({ dtype, offset }: TorchStorage, start: number) => start + offset * sizeOf(dtype);

function* text(begin: number, length: number): Steps<string> {
  const [bytes] = yield [[begin, begin + length]];
  return new TextDecoder().decode(bytes.slice());
}

function checkByteOrder(caller: string, order: string) {
  if (order.trim() !== 'little')
    throw formatError(caller, `the byte order is ${quote(order)}, expected 'little'; big-endian files are not read`, {
      parameter: 'byteorder',
      expected: 'little',
      got: order,
    });
}

/** Returns the files of an archive by name, and the path of the folder that contains them. */
function nameFiles(caller: string, entries: Entry[], start: Uint8Array) {
  const files: Map<string, Entry> = new Map();
  for (const entry of entries) {
    if (files.has(entry.name))
      throw formatError(caller, `there are two files ${quote(entry.name)}`, { parameter: entry.name });
    files.set(entry.name, entry);
  }
  const names = [...files.keys()];
  const details = { parameter: 'bytes', expected: 'a file of torch.save' };
  if (names.some((name) => /^[^/]+\/constants\.pkl$/.test(name)))
    throw formatError(caller, `this is ${TORCHSCRIPT}`, details);
  const packed = [...files.values()].find(({ method, name }) => method !== STORED && !name.endsWith('/'));
  if (packed)
    throw formatError(caller, `${quote(packed.name)} is compressed, expected it as torch.save writes it`, details);
  const pickles = names.filter((name) => PICKLE.test(name));
  if (pickles.length > 1)
    throw formatError(caller, `the zip archive has the pickles ${quoteNames(pickles)}, expected one`, details);
  if (pickles.length === 0) {
    const kind = identify(start);
    if (kind && !kind.includes('PyTorch')) throw notTorch(caller, start);
    throw formatError(caller, 'the zip archive has no FOLDER/data.pkl, expected a file of torch.save', details);
  }
  return { root: pickles[0].replace(PICKLE, '$1'), files };
}

/** storages: storages whose elements the file contains */
function storageFile(caller: string, files: Map<string, Entry>, name: string, storages: TorchStorage[]) {
  const entry = files.get(name);
  if (!entry) throw formatError(caller, `the storage ${quote(name)} is missing`, { parameter: name });
  for (const { dtype, count } of storages) {
    const need = count * sizeOf(dtype);
    if (need !== entry.size)
      throw formatError(caller, `${quote(name)} has ${entry.size} bytes, expected ${need} for ${count} of ${dtype}`, {
        parameter: name,
        expected: need,
        got: entry.size,
      });
  }
  return entry;
}

function* readLegacy(caller: string, size: number, start: Uint8Array): Steps<TorchFile> {
  for (let length = FIRST; ; length *= FACTOR) {
    const [bytes] = yield [[0, Math.min(length, size)]];
    let pickles;
    try {
      pickles = readPickles(caller, bytes, start);
    } catch (error) {
      if (!(error instanceof Truncated) || length >= size) throw error;
      if (length >= MAX_PICKLE)
        throw formatError(caller, `the pickles have more than ${length} bytes, expected at most ${MAX_PICKLE}`);
      continue;
    }
    const begins = yield* findStorages(caller, pickles, size);
    return { value: pickles.value, begins, budget: budgetOf(pickles.end) };
  }
}

function readPickles(caller: string, bytes: Uint8Array, start: Uint8Array) {
  const { meaning, storages } = torchMeaning(caller);
  const magic = readPickle(caller, bytes, 0, meaning);
  if (magic.value !== MAGIC) throw notTorch(caller, start);
  const protocol = readPickle(caller, bytes, magic.end, meaning);
  if (protocol.value !== LEGACY_PROTOCOL)
    throw formatError(caller, `the file has protocol ${quote(protocol.value)}, expected ${LEGACY_PROTOCOL}`);
  const system = readPickle(caller, bytes, protocol.end, meaning);
  const isLittle = system.value instanceof Map ? system.value.get('little_endian') : undefined;
  checkByteOrder(caller, isLittle === true ? 'little' : isLittle === false ? 'big' : 'unknown');
  const saved = readPickle(caller, bytes, system.end, meaning);
  const keys = readPickle(caller, bytes, saved.end, meaning);
  return { value: saved.value, keys: keys.value, storages, end: keys.end };
}

/**
 * Finds the storages of a file from before PyTorch 1.6: after the pickles in the order of the list of keys, each after
 * the number of its elements in 8 bytes.
 */
function* findStorages(
  caller: string,
  { keys, storages, end }: { keys: unknown; storages: Map<string, TorchStorage[]>; end: number },
  size: number,
): Steps<Map<TorchStorage, number>> {
  const begins: Map<TorchStorage, number> = new Map();
  const list = Array.isArray(keys) ? keys : [];
  const found: { key: string; count: number; at: number }[] = [];
  let at = end;
  for (const key of list) {
    const users = storages.get(key);
    const [{ dtype, count } = { dtype: 'U8', count: 0 }] = users ?? [];
    if (!users || begins.has(users[0]) || users.some((other) => other.dtype !== dtype || other.count !== count))
      throw formatError(caller, `the storage ${quote(key)} is not described exactly once`, { parameter: 'bytes' });
    found.push({ key, count, at });
    for (const storage of users) begins.set(storage, beginOf(storage, at + 8));
    at += 8 + count * sizeOf(dtype);
    if (at > size)
      throw formatError(caller, `the storage ${quote(key)} ends at byte ${at} of ${size}: the file is truncated`);
  }
  if (begins.size < [...storages.values()].reduce((sum, { length }) => sum + length, 0))
    throw formatError(caller, 'some storages of the pickle are not in its list of keys', { parameter: 'bytes' });
  const counts = yield found.map(({ at }) => [at, at + 8] as Range);
  for (const [i, { key, count }] of found.entries()) {
    const got = Number(new DataView(counts[i].buffer, counts[i].byteOffset, 8).getBigUint64(0, true));
    if (got !== count)
      throw formatError(caller, `the storage ${quote(key)} has ${got} elements, expected ${count}`, {
        parameter: key,
        expected: count,
        got,
      });
  }
  return begins;
}
