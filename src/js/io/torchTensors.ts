// Reads the tensors of a pickle of torch.save: views of a storage with an offset and strides, which are checked before
// memory is allocated.

import { quote } from '../check/quote.ts';
import { MAX_AXES } from '../check/shape.ts';
import type { NumberArray } from '../check/tensorlike.ts';
import { A_SHAPE, allocate, countElements, formatError, isShape } from './bytes.ts';
import { type DType, decode, isKnown, KINDS, type StoredTensor, undecoded, unknownDType } from './dtypes.ts';
import { Global, type Meaning } from './pickle.ts';

/** count: elements in the file. offset: of the first element, if it is a view of another storage. */
export type Storage = { key: string; dtype: DType; count: number; offset: number };
/**
 * A tensor in a file, from first to last element. contiguous: in row-major order without gaps. strides: in elements.
 */
export type TorchRange = {
  dtype: DType;
  shape: number[];
  strides: number[];
  contiguous: boolean;
  begin: number;
  end: number;
};

/** Element types of the storage classes of PyTorch. */
const STORAGES: Record<string, DType> = {
  DoubleStorage: 'F64',
  FloatStorage: 'F32',
  HalfStorage: 'F16',
  BFloat16Storage: 'BF16',
  LongStorage: 'I64',
  IntStorage: 'I32',
  ShortStorage: 'I16',
  CharStorage: 'I8',
  ByteStorage: 'U8',
  BoolStorage: 'BOOL',
  ComplexFloatStorage: 'C64',
  ComplexDoubleStorage: 'C128',
};
const ELEMENTS: Record<string, DType> = {
  ...{ float64: 'F64', float32: 'F32', float16: 'F16', bfloat16: 'BF16', int64: 'I64', int32: 'I32', int16: 'I16' },
  ...{ int8: 'I8', uint8: 'U8', bool: 'BOOL', complex64: 'C64', complex128: 'C128', uint64: 'U64', uint32: 'U32' },
  ...{ uint16: 'U16', float8_e4m3fn: 'F8_E4M3', float8_e5m2: 'F8_E5M2' },
};
/** Sizes in bytes of elements that are not decoded. */
const OTHER_SIZES: Record<string, number> = { C64: 8, C128: 16 };
const MAX_DEPTH = 64;
/**
 * Limit of the bytes of all tensors relative to the file, because tensors may be views of one storage, as tied weights
 * are. The second number is added, so that small files are not limited.
 */
const [MAX_REUSE, ANY_REUSE] = [16, 2 ** 20];
const MAX_NAME = 1024;
const MAX_KEY = 255;

/** A tensor of a pickle, which is not validated yet. */
export class TorchTensor {
  declare storage: unknown;
  declare offset: unknown;
  declare shape: unknown;
  declare strides: unknown;
  declare dtype: DType | undefined;

  /** dtype: default: type of the storage */
  constructor(storage: unknown, offset: unknown, shape: unknown, strides: unknown, dtype?: DType) {
    this.storage = storage;
    this.offset = offset;
    // The lists may be long and shared by many tensors, so no more is copied than needed to reject them.
    this.shape = Array.isArray(shape) ? shape.slice(0, MAX_AXES + 1) : shape;
    this.strides = Array.isArray(strides) ? strides.slice(0, MAX_AXES + 1) : strides;
    this.dtype = dtype;
  }
}

export class TorchStorage {
  declare key: string;
  declare dtype: DType;
  declare count: number;
  declare offset: number;

  constructor({ key, dtype, count, offset }: Storage) {
    this.key = key;
    this.dtype = dtype;
    this.count = count;
    this.offset = offset;
  }
}

export const sizeOf = (dtype: DType) => (isKnown(dtype) ? KINDS[dtype].bytes : OTHER_SIZES[dtype]);

const GLOBALS = new Map([
  ...Object.entries(STORAGES).map(([name, dtype]) => [`torch ${name}`, new Global(dtype)] as const),
  ...Object.entries(ELEMENTS).map(([name, dtype]) => [`torch ${name}`, new Global(dtype)] as const),
  ['torch.storage UntypedStorage', new Global('U8')],
  ['torch UntypedStorage', new Global('U8')],
  ['torch Size', new Global(undefined, ([sizes]) => sizes)],
  ['torch device', new Global(undefined, (args) => args)],
  ['collections OrderedDict', new Global(undefined, () => new Map())],
  ['torch._utils _rebuild_parameter', new Global(undefined, ([tensor]) => tensor)],
  ['torch._utils _rebuild_tensor', new Global(undefined, rebuild)],
  ['torch._utils _rebuild_tensor_v2', new Global(undefined, rebuild)],
  ['torch._utils _rebuild_tensor_v3', new Global(undefined, rebuildTyped)],
]);

function rebuild([storage, offset, shape, strides]: unknown[]) {
  return new TorchTensor(storage, offset, shape, strides);
}

/**
 * Makes a tensor of a type for which PyTorch has no storage class. Its storage is untyped, with elements of one byte.
 */
function rebuildTyped([storage, offset, shape, strides, , , dtype]: unknown[]) {
  return new TorchTensor(storage, offset, shape, strides, (dtype instanceof Global && dtype.dtype) || '');
}

/** The objects of GLOBALS that a file format uses, and the name of the format in errors. */
export type Vocabulary = { globals: readonly string[]; format: string };

/** only: default: all of GLOBALS; returns storages: filled with the storages of the pickle, by key */
export function torchMeaning(
  caller: string,
  only?: Vocabulary,
): { meaning: Meaning; storages: Map<string, TorchStorage[]> } {
  const storages: Map<string, TorchStorage[]> = new Map();
  const known: Map<string, TorchStorage> = new Map();
  const persistent = (id: unknown) => {
    const storage = readStorage(caller, id);
    const { key, dtype, count, offset } = storage;
    const full = `${dtype} ${count} ${offset} ${key}`;
    const same = known.get(full);
    if (same) return same;
    known.set(full, storage);
    // A key may have storages with different types or counts. Each is compared with the file.
    const users = storages.get(key);
    if (users) users.push(storage);
    else storages.set(key, [storage]);
    return storage;
  };
  const globals = only ? new Map([...GLOBALS].filter(([name]) => only.globals.includes(name))) : GLOBALS;
  return { meaning: { globals, persistent, format: only?.format ?? 'a tensor' }, storages };
}

/** Reads the persistent id of a storage, ('storage', type, key, location, count[, view]). */
function readStorage(caller: string, id: unknown) {
  const [word, type, key, , count, view] = Array.isArray(id) ? id : [];
  if (word !== 'storage')
    throw formatError(caller, `the pickle has a persistent id ${quote(id)}, expected a storage`, { got: id });
  const dtype = type instanceof Global && !type.call ? type.dtype : undefined;
  if (dtype === undefined || typeof key !== 'string' || key.length > MAX_KEY || !isCount(count))
    throw formatError(caller, `the storage ${quote(key)} has the type ${quote(type)} and ${quote(count)} elements`, {
      parameter: 'bytes',
    });
  // A view of a storage is a tuple of a key of its own, an offset and a count.
  const [, offset = 0] = Array.isArray(view) ? view : [];
  if (!isCount(offset) || offset > count)
    throw formatError(caller, `the storage ${quote(key)} begins at ${quote(offset)} of ${count}`, { got: offset });
  return new TorchStorage({ key, dtype, count, offset });
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/**
 * Returns tensors by name: keys of nested dicts and indices of lists, joined by dots. budget: most entries and
 * characters of names, because a pickle can contain the same dict many times.
 */
export function namedTensors(caller: string, value: unknown, budget: number): Map<string, TorchTensor> {
  const tensors: Map<string, TorchTensor> = new Map();
  let work = 0;
  const spend = (amount: number) => {
    work += amount;
    if (work > budget) throw formatError(caller, 'the pickle repeats its dicts too often', { parameter: 'bytes' });
  };
  const path: string[] = [];
  const add = (tensor: TorchTensor) => {
    // The keys are truncated, so that long keys in many dicts do not take a long time.
    const name = path.map((part) => part.slice(0, MAX_NAME + 1)).join('.');
    spend(name.length);
    if (name.length > MAX_NAME)
      throw formatError(caller, `the name ${quote(name)} is longer than ${MAX_NAME} characters`);
    if (tensors.has(name)) throw formatError(caller, `there are two tensors ${quote(name)}`, { parameter: name });
    tensors.set(name, tensor);
  };
  const walk = (item: unknown) => {
    if (item instanceof TorchTensor) return add(item);
    const entries = item instanceof Map ? item : Array.isArray(item) ? item.entries() : [];
    for (const [key, inner] of entries) {
      spend(1);
      if (typeof inner !== 'object' || inner === null) continue;
      if (path.length === MAX_DEPTH)
        throw formatError(caller, `dicts are nested deeper than ${MAX_DEPTH} levels`, { parameter: 'bytes' });
      path.push(typeof key === 'string' ? key : typeof key === 'number' ? String(key) : '?');
      walk(inner);
      path.pop();
    }
  };
  walk(value);
  return tensors;
}

export function locateTensors(
  caller: string,
  tensors: Map<string, TorchTensor>,
  begins: ReadonlyMap<TorchStorage, number>,
  fileSize: number,
): Map<string, TorchRange> {
  const ranges: Map<string, TorchRange> = new Map();
  let total = 0;
  for (const [name, tensor] of tensors) {
    const range = locate(caller, name, tensor, begins);
    total += countElements(range.shape) * sizeOf(range.dtype);
    if (total > MAX_REUSE * fileSize + ANY_REUSE)
      throw formatError(caller, `the tensors up to ${quote(name)} have ${total} bytes, in a file of ${fileSize}`, {
        parameter: name,
      });
    ranges.set(name, range);
  }
  return ranges;
}

function locate(
  caller: string,
  name: string,
  { storage, offset, shape, strides, dtype: own }: TorchTensor,
  begins: ReadonlyMap<TorchStorage, number>,
): TorchRange {
  const fail = (reason: string, got: unknown) =>
    formatError(caller, `tensor ${quote(name)} has ${reason}`, { parameter: name, got });
  const base = storage instanceof TorchStorage ? begins.get(storage) : undefined;
  if (!(storage instanceof TorchStorage) || base === undefined) throw fail('no storage', storage);
  if (!isShape(shape)) throw fail(`shape ${quote(shape)}, expected ${A_SHAPE}`, shape);
  if (!Array.isArray(strides) || strides.length !== shape.length || !strides.every(isCount))
    throw fail(`strides ${quote(strides)}, expected a non-negative integer for each axis of ${quote(shape)}`, strides);
  if (!isCount(offset)) throw fail(`offset ${quote(offset)}, expected a non-negative integer`, offset);
  const dtype = own ?? storage.dtype;
  const size = sizeOf(dtype);
  if (size === undefined) throw fail('no type', dtype);
  const available = (storage.count - storage.offset) * sizeOf(storage.dtype);
  const isEmpty = countElements(shape) === 0;
  const span = isEmpty ? 0 : shape.reduce((sum, n, axis) => sum + (n - 1) * strides[axis], 1);
  // Sums of large numbers are inexact, but such sums are larger than any storage.
  if ((isEmpty ? 0 : offset + span) * size > available)
    throw fail(
      `offset ${offset}, shape ${quote(shape)} and strides ${quote(strides)}, which select elements beyond the ` +
        `${Math.floor(available / size)} of its storage`,
      strides,
    );
  const begin = base + (isEmpty ? 0 : offset * size);
  return { dtype, shape, strides, contiguous: isRowMajor(shape, strides), begin, end: begin + span * size };
}

function isRowMajor(shape: number[], strides: number[]) {
  let expected = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    // The stride of an axis of size 1 is never used.
    if (shape[axis] !== 1 && strides[axis] !== expected) return shape.includes(0);
    expected *= shape[axis];
  }
  return true;
}

/** Makes a tensor whose data is decoded at the first access. */
export function readTensor(caller: string, name: string, range: TorchRange, file: Uint8Array): StoredTensor {
  const { dtype, shape } = range;
  if (!isKnown(dtype)) return undecoded(dtype, shape, () => unknownDType(caller, name, dtype));
  let data: NumberArray | undefined;
  return {
    dtype,
    shape,
    get data() {
      data ??= decode(caller, inRowMajor(caller, range, file.subarray(range.begin, range.end)), dtype);
      return data;
    },
  };
}

/** Elements in row-major order: `bytes` itself if the tensor is contiguous. */
export function inRowMajor(
  caller: string,
  { dtype, shape, strides, contiguous }: TorchRange,
  bytes: Uint8Array,
): Uint8Array {
  if (contiguous) return bytes;
  const size = sizeOf(dtype);
  const total = countElements(shape) * size;
  const target = allocate(caller, total, () => new Uint8Array(total));
  // Elements are copied in units of at most 4 bytes, so that an 8-byte element has two units.
  const unit = Math.min(size, 4);
  const array = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[unit] as any;
  const aligned = bytes.byteOffset % unit === 0 ? bytes : bytes.slice();
  const from = new array(aligned.buffer, aligned.byteOffset, bytes.length / unit);
  gather(new array(target.buffer), from, size / unit, shape, strides);
  return target;
}

/** Copies elements with strides to row-major order. units: number of units of an element; strides: in elements. */
function gather(
  to: Uint8Array | Uint16Array | Uint32Array,
  from: Uint8Array | Uint16Array | Uint32Array,
  units: number,
  shape: number[],
  strides: number[],
) {
  const last = shape.length - 1;
  const index = new Array(last).fill(0);
  let at = 0;
  for (let out = 0; out < to.length; ) {
    for (let i = 0; i < shape[last]; i++)
      for (let u = 0; u < units; u++) to[out++] = from[(at + i * strides[last]) * units + u];
    for (let axis = last - 1; axis >= 0; axis--) {
      at += strides[axis];
      if (++index[axis] < shape[axis]) break;
      at -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}
