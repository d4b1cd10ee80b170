// Reads files of torch.save. A file is a zip archive of a pickle and storages or, before PyTorch 1.6, pickles followed
// by storages. The pickle describes the tensors. Nothing in it is executed.

import { quote, quoteNames } from '../check/quote.js';
import { formatError, readBytes } from './bytes.js';
import { identify } from './identify.js';
import { readPickle, Truncated } from './pickle.js';
import { locateTensors, namedTensors, readTensor, sizeOf, torchMeaning } from './torchTensors.js';
import {
  checksum,
  damaged,
  dataStart,
  findDirectory,
  HEADER,
  limitsOf,
  MAX_TAIL,
  readDirectory,
  STORED,
} from './zip.js';

/** @import { StoredTensor } from './dtypes.js' */
/** @import { TorchStorage, Vocabulary } from './torchTensors.js' */
/** @import { Entry } from './zip.js' */

/**
 * Contents of a file. value: the saved value, with dicts as Map and tensors as TorchTensor. begins: positions of the
 * storages. budget: maximum work for the names of tensors, see namedTensors.
 * @typedef {{ value: unknown, begins: Map<TorchStorage, number>, budget: number }} TorchFile
 */
/** @typedef {[begin: number, end: number]} Range */
/**
 * A generator that reads a file in steps. Each step yields the ranges that are needed next, and receives their bytes.
 * @template T
 * @typedef {Generator<Range[], T, Uint8Array[]>} Steps
 */

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
 * Returns the tensors of a file of torch.save by name. The keys of nested dicts are joined by dots.
 * @param {ArrayBuffer | ArrayBufferView} source
 * @returns {Record<string, StoredTensor>} tensors; the data of a tensor is decoded at the first access and then cached
 */
export function readTorch(source) {
  const caller = 'readTorch';
  const bytes = readBytes(caller, source);
  const { value, begins, budget } = run(torchSteps(caller, bytes.length), bytes);
  const ranges = locateTensors(caller, namedTensors(caller, value, budget), begins, bytes.length);
  /** @type {Record<string, StoredTensor>} */
  const tensors = Object.create(null);
  for (const [name, range] of ranges) tensors[name] = readTensor(caller, name, range, bytes);
  return tensors;
}

/**
 * Reads an archive of torch.save in a format that uses only some of the Python objects to which a pickle may refer.
 * @param {string} caller
 * @param {Uint8Array} bytes
 * @param {Vocabulary} only
 * @returns {TorchFile}
 */
export function readTorchArchive(caller, bytes, only) {
  const start = bytes.subarray(0, START);
  if (!isArchive(start)) throw notTorch(caller, start, 'a zip archive of torch.save');
  return run(readArchive(caller, bytes.length, start, only), bytes);
}

/** @param {Uint8Array} start */
const isArchive = (start) => start[0] === 0x50 && start[1] === 0x4b;

/** @template T @param {Steps<T>} steps @param {Uint8Array} bytes of the whole file @returns {T} */
function run(steps, bytes) {
  let step = steps.next();
  while (!step.done) step = steps.next(step.value.map(([begin, end]) => bytes.subarray(begin, end)));
  return step.value;
}

/**
 * @param {string} caller
 * @param {number} size of the file
 * @returns {Steps<TorchFile>}
 */
export function* torchSteps(caller, size) {
  const [start] = yield [[0, Math.min(START, size)]];
  if (isArchive(start)) return yield* readArchive(caller, size, start);
  if (start[0] === 0x80) return yield* readLegacy(caller, size, start);
  throw notTorch(caller, start);
}

/** @param {string} caller @param {Uint8Array} start @param {string} [expected] */
function notTorch(caller, start, expected = 'a file of torch.save') {
  const kind = identify(start);
  return formatError(
    caller,
    `${kind ? `this is ${kind}` : 'the file is neither a zip archive nor a pickle'}, expected ${expected}`,
    { parameter: 'bytes', expected, got: kind },
  );
}

/**
 * @param {string} caller
 * @param {number} size
 * @param {Uint8Array} start
 * @param {Vocabulary} [only]
 * @returns {Steps<TorchFile>}
 */
function* readArchive(caller, size, start, only) {
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
  /** Finds the positions of the data of some files. @param {Entry[]} some @returns {Steps<number[]>} */
  function* startsOf(some) {
    const headers = yield some.map(({ offset }) => /** @type {Range} */ ([offset, Math.min(offset + HEADER, size)]));
    return some.map((entry, i) => dataStart(entry, headers[i], /** @type {number} */ (limits.get(entry)), fail));
  }
  const order = files.get(`${root}byteorder`);
  if (order) {
    const [at] = yield* startsOf([order]);
    checkByteOrder(caller, yield* text(at, Math.min(order.size, START)));
  }
  const pickle = /** @type {Entry} */ (files.get(`${root}data.pkl`));
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
  /** @type {Map<TorchStorage, number>} */
  const begins = new Map();
  for (const [i, { list }] of used.entries())
    for (const storage of list) begins.set(storage, beginOf(storage, starts[i]));
  return { value, begins, budget: budgetOf(pickle.size) };
}

/**
 * Returns the maximum work for the names of tensors, which is linear in the size of the pickle.
 * @param {number} size
 */
const budgetOf = (size) => 16 * size + START;

/** @param {TorchStorage} storage @param {number} start */
const beginOf = ({ dtype, offset }, start) => start + offset * sizeOf(dtype);

/** @param {number} begin @param {number} length @returns {Steps<string>} */
function* text(begin, length) {
  const [bytes] = yield [[begin, begin + length]];
  return new TextDecoder().decode(bytes.slice());
}

/** @param {string} caller @param {string} order */
function checkByteOrder(caller, order) {
  if (order.trim() !== 'little')
    throw formatError(caller, `the byte order is ${quote(order)}, expected 'little'; big-endian files are not read`, {
      parameter: 'byteorder',
      expected: 'little',
      got: order,
    });
}

/**
 * Returns the files of an archive by name, and the path of the folder that contains them.
 * @param {string} caller
 * @param {Entry[]} entries
 * @param {Uint8Array} start
 */
function nameFiles(caller, entries, start) {
  /** @type {Map<string, Entry>} */
  const files = new Map();
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

/**
 * @param {string} caller
 * @param {Map<string, Entry>} files
 * @param {string} name
 * @param {TorchStorage[]} storages storages whose elements the file contains
 */
function storageFile(caller, files, name, storages) {
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

/**
 * @param {string} caller
 * @param {number} size
 * @param {Uint8Array} start
 * @returns {Steps<TorchFile>}
 */
function* readLegacy(caller, size, start) {
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

/**
 * @param {string} caller
 * @param {Uint8Array} bytes
 * @param {Uint8Array} start
 */
function readPickles(caller, bytes, start) {
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
 * Finds the storages of a file from before PyTorch 1.6. The storages follow the pickles in the order of the list of
 * keys. Each begins with the number of its elements in 8 bytes.
 * @param {string} caller
 * @param {{ keys: unknown, storages: Map<string, TorchStorage[]>, end: number }} pickles
 * @param {number} size
 * @returns {Steps<Map<TorchStorage, number>>}
 */
function* findStorages(caller, { keys, storages, end }, size) {
  /** @type {Map<TorchStorage, number>} */
  const begins = new Map();
  const list = Array.isArray(keys) ? keys : [];
  /** @type {{ key: string, count: number, at: number }[]} */
  const found = [];
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
  const counts = yield found.map(({ at }) => /** @type {Range} */ ([at, at + 8]));
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
