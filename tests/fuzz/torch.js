// Reads valid, damaged and random files of torch.save. A valid file must give its tensors; any other file must give
// complete tensors or a HeadlightError with a short message.
//
//   node tests/fuzz/torch.js [count] [seed]

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { HeadlightError } from 'headlight-attention';
import { readTorch, writeSafetensors } from 'headlight-attention/formats';
import { join } from '../support/files.js';
import { global, pickle, pickled, Raw, reduce, tensor, torchLegacy, torchZip, tuple } from '../support/torch_files.js';
import { makeSource } from './source.js';

const GOLDEN = new URL('../golden/torch/', import.meta.url);
const SIZES = { F64: 8, F32: 4, F16: 2, BF16: 2, I64: 8, I32: 4, I16: 2, I8: 1, U8: 1, BOOL: 1 };
const DTYPES = Object.keys(SIZES);
const NAMES = ['a', 'b', 'weight', 'blocks.0.wq', '', '__proto__', 'constructor', '猫', '_orig_mod.x', 'x'.repeat(300)];
const NUMBERS = [0, 1, 2, 3, 255, 256, 65535, 2 ** 31 - 1, -1, -(2 ** 31), 2 ** 32, 2 ** 53, 0.5];
const GLOBALS = [
  ...['torch FloatStorage', 'torch HalfStorage', 'torch ComplexFloatStorage', 'torch.storage UntypedStorage'],
  ...['torch Size', 'torch device', 'torch float16', 'torch float8_e4m3fn', 'collections OrderedDict', 'os system'],
  ...['torch._utils _rebuild_tensor', 'torch._utils _rebuild_tensor_v2', 'torch._utils _rebuild_tensor_v3'],
  ...['torch._utils _rebuild_parameter', 'builtins eval', ' ', 'torch  '],
];
/** Opcodes without an argument. */
const SIMPLE = '(.N})]tR0b12Qaesu\x85\x86\x87\x88\x89\x93\x94\x81\x8f';

const count = (shape) => shape.reduce((a, b) => a * b, 1);

/** Returns the random bytes of elements of a type. */
export const content = (source, dtype, elements) =>
  Uint8Array.from({ length: elements * SIZES[dtype] }, () => source.below(dtype === 'BOOL' ? 2 : 256));

/** Makes a random view of a storage. Also returns its elements in row-major order, which are copied one by one. */
function makeView(source, storage) {
  const shape = Array.from({ length: source.below(4) }, () => (source.chance(0.05) ? 0 : source.between(1, 4)));
  let step = source.chance(0.2) ? source.below(3) : 1;
  const strides = new Array(shape.length);
  const axes = shape.map((_, axis) => axis);
  if (source.chance(0.4)) axes.sort(() => source.below(2) - 0.5);
  for (const axis of axes.reverse()) {
    strides[axis] = step;
    step *= Math.max(1, shape[axis] + (source.chance(0.1) ? 1 : 0));
  }
  const span = shape.includes(0) ? 0 : shape.reduce((sum, n, axis) => sum + (n - 1) * strides[axis], 1);
  if (span > storage.count) return makeView(source, storage);
  const offset = source.below(storage.count - span + 1);
  const size = SIZES[storage.dtype];
  const raw = new Uint8Array(count(shape) * size);
  for (let i = 0; i < count(shape); i++) {
    let [rest, at] = [i, offset];
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      at += (rest % shape[axis]) * strides[axis];
      rest = Math.floor(rest / shape[axis]);
    }
    raw.set(storage.bytes.subarray(at * size, (at + 1) * size), i * size);
  }
  const value = tensor(storage, shape, strides, { offset, parameter: source.chance(0.2) });
  return { value, expected: { dtype: storage.dtype, shape, raw } };
}

/** Makes a dict of tensors and other values. Also returns the storages, and the tensors by name. */
function makeContent(source) {
  const storages = Array.from({ length: source.between(1, 4) }, (_, i) => {
    const dtype = source.pick(DTYPES);
    const elements = source.below(60);
    return { key: source.chance(0.8) ? i : 1000 + i, dtype, count: elements, bytes: content(source, dtype, elements) };
  });
  const expected = new Map();
  const dict = (depth, prefix) => {
    const members = new Map();
    for (let i = source.below(5); i >= 0; i--) {
      const name = source.pick(NAMES);
      if (members.has(name)) continue;
      if (depth < 2 && source.chance(0.2)) members.set(name, dict(depth + 1, [...prefix, name]));
      else if (source.chance(0.2)) members.set(name, source.pick([null, true, 'text', 5, -7, 2.5, [], [1, [2]], {}]));
      else {
        const full = [...prefix, name].join('.');
        if (expected.has(full)) continue;
        const view = makeView(source, source.pick(storages));
        members.set(name, view.value);
        expected.set(full, view.expected);
      }
    }
    return members;
  };
  return { value: dict(0, []), storages, expected };
}

function rightZip(source) {
  const { value, storages, expected } = makeContent(source);
  const options = {
    root: source.pick(['archive', 'a', 'x y']),
    described: source.chance(0.5),
    wide: source.chance(0.3),
  };
  return { bytes: torchZip(value, storages, { ...options, order: source.pick([undefined, 'little']) }), expected };
}

function rightLegacy(source) {
  const { value, storages, expected } = makeContent(source);
  // The file contains only storages that a tensor uses.
  const used = storages.filter(({ key }) => hasKey(pickle(value), String(key)));
  return { bytes: torchLegacy(value, used), expected };
}

const hasKey = (bytes, key) => {
  const length = String.fromCharCode(key.length);
  return String.fromCharCode(...bytes.slice(0, 60000)).includes(`X${length}\0\0\0${key}X\x03\0\0\0cpu`);
};

// ---- damaged files ----

const MUTATIONS = [
  function flip(bytes, { below }) {
    if (bytes.length > 0) bytes[below(bytes.length)] ^= 1 << below(8);
    return bytes;
  },
  function cut(bytes, { below }) {
    return bytes.subarray(0, below(bytes.length + 1));
  },
  function drop(bytes, { below }) {
    const at = below(bytes.length + 1);
    return join(bytes.subarray(0, at), bytes.subarray(at + 1 + below(20)));
  },
  function repeat(bytes, { below }) {
    const at = below(bytes.length + 1);
    const part = bytes.subarray(at, at + below(60));
    return join(bytes.subarray(0, at), ...new Array(1 + below(4)).fill(part), bytes.subarray(at));
  },
  function opcode(bytes, { below, pick }) {
    const at = below(bytes.length + 1);
    return join(bytes.subarray(0, at), [pick([...SIMPLE]).charCodeAt(0)], bytes.subarray(at + below(2)));
  },
  function number(bytes, { below, pick }) {
    const size = pick([1, 2, 4, 8]);
    if (bytes.length < size) return bytes;
    const value = BigInt.asUintN(8 * size, BigInt(Math.trunc(pick(NUMBERS))));
    const at = below(bytes.length - size + 1);
    for (let i = 0; i < size; i++) bytes[at + i] = Number((value >> BigInt(8 * i)) & 255n);
    return bytes;
  },
];

export function damage(bytes, source) {
  let result = bytes.slice();
  for (let i = source.below(3); i >= 0; i--) result = Uint8Array.from(source.pick(MUTATIONS)(result, source));
  return result;
}

/** Makes a file with a damaged pickle in a valid archive, so that the damage reaches the pickle reader. */
function damagedPickle(source) {
  const { value, storages } = makeContent(source);
  const bytes = damage(pickle(value), source);
  return source.chance(0.5) ? torchZip(null, storages, { bytes }) : torchLegacy(null, storages, { bytes });
}

// ---- random pickles ----

export function anyValue(source, depth = 0) {
  const inner = () => anyValue(source, depth + 1);
  if (depth > 4 || source.chance(0.3)) return source.pick([...NUMBERS, ...NAMES, null, true, false]);
  const several = () => Array.from({ length: source.below(4) }, inner);
  return source.pick([
    () => several(),
    () => tuple(several()),
    () => new Map(several().map((value) => [source.chance(0.9) ? source.pick(NAMES) : inner(), value])),
    () => reduce(source.pick(GLOBALS), ...several()),
    () => global(source.pick(GLOBALS)),
    () => anyTensor(source, inner),
    () => new Raw(tuple(['storage', ...several()]), [0x51]),
  ])();
}

/** Makes a tensor whose fields may be invalid. */
function anyTensor(source, inner) {
  const odd = (usual) => (source.chance(0.1) ? inner() : usual);
  const storage = {
    key: source.below(3),
    dtype: source.pick([...DTYPES, 'C64']),
    count: source.pick([0, 1, 4, 8, 2 ** 40]),
  };
  const shape = Array.from({ length: source.below(4) }, () => odd(source.below(4)));
  const strides = shape.map(() => odd(source.below(4)));
  return tensor(storage, shape, strides, { offset: odd(source.below(3)), view: source.maybe(0.1, inner) });
}

/** Returns random opcodes in random order. */
function opcodes(source) {
  const parts = Array.from({ length: source.below(60) }, () => {
    if (source.chance(0.5)) return [source.pick([...SIMPLE]).charCodeAt(0)];
    if (source.chance(0.3)) return [source.pick([0x71, 0x68]), source.below(4)];
    return pickled(anyValue(source, 4)).bytes;
  });
  return join([0x80, source.chance(0.95) ? 2 : source.below(256)], ...parts, [0x2e]);
}

function madeUp(source) {
  const bytes = source.chance(0.3) ? opcodes(source) : pickle(anyValue(source));
  const storages = [0, 1, 2].map((key) => {
    const dtype = source.pick(DTYPES);
    return { key, dtype, bytes: content(source, dtype, source.pick([0, 1, 4, 8])) };
  });
  if (source.chance(0.3)) return torchLegacy(null, storages.slice(source.below(3)), { bytes });
  const more = source.maybe(0.1, () => [{ name: source.pick(['archive/data/0', '../data.pkl', '/x']), bytes: [1] }]);
  return torchZip(null, storages, { bytes, more, order: source.maybe(0.3, () => source.pick(['little', 'big', ''])) });
}

// ---- comparisons ----

/** Returns the tensors, or undefined if the file is refused with a valid error. */
function answer(bytes) {
  try {
    return readTorch(bytes);
  } catch (error) {
    assert.ok(error instanceof HeadlightError && error.code === 'FORMAT', error?.stack);
    assert.ok(error.message.length < 900, `a message of ${error.message.length} characters`);
    return undefined;
  }
}

const dataOf = (file) => file.subarray(8 + Number(new DataView(file.buffer).getBigUint64(0, true)));

function check(bytes, expected) {
  const tensors = answer(bytes);
  if (!tensors) {
    assert.ok(!expected, 'a right file was refused');
    return false;
  }
  for (const read of Object.values(tensors)) {
    if (/^C/.test(read.dtype)) assert.throws(() => read.data, { code: 'FORMAT' });
    else assert.equal(read.data.length, count(read.shape));
  }
  if (!expected) return true;
  assert.deepEqual(Object.keys(tensors).sort(), [...expected.keys()].sort());
  for (const [name, { dtype, shape, raw }] of expected) {
    assert.deepEqual([tensors[name].dtype, tensors[name].shape], [dtype, shape], name);
    if (/F16/.test(dtype) && hasNaN(tensors[name].data)) continue;
    assert.deepEqual(dataOf(writeSafetensors({ x: tensors[name] })), raw, name);
  }
  return true;
}

/** Returns true if an array contains NaN. The bits of a 16-bit NaN change when it is converted to float32. */
const hasNaN = (data) => data.some(Number.isNaN);

/**
 * @param {number} total files
 * @param {number} seed
 * @returns {Record<string, { files: number, read: number, slowest: number }>} counts by kind of file; slowest in
 * milliseconds
 */
export function fuzzTorch(total, seed) {
  const names = readdirSync(GOLDEN).filter((name) => /^(?!nanogpt).*\.pt$/.test(name));
  const golden = names.map((name) => new Uint8Array(readFileSync(new URL(name, GOLDEN))));
  /**
   * Functions by kind of file, which return the bytes of a file, and its tensors if they are known.
   * @type {Record<string, Function>}
   */
  const kinds = {
    archive: rightZip,
    legacy: rightLegacy,
    'damaged archive': (source) => ({ bytes: damage(rightZip(source).bytes, source) }),
    'damaged legacy': (source) => ({ bytes: damage(rightLegacy(source).bytes, source) }),
    'damaged file of PyTorch': (source) => ({ bytes: damage(source.pick(golden), source) }),
    'damaged pickle': (source) => ({ bytes: damagedPickle(source) }),
    'made up': (source) => ({ bytes: madeUp(source) }),
  };
  const kindNames = Object.keys(kinds);
  const report = Object.fromEntries(kindNames.map((name) => [name, { files: 0, read: 0, slowest: 0 }]));
  for (let i = 0; i < total; i++) {
    const name = kindNames[i % kindNames.length];
    const { bytes, expected } = kinds[name](makeSource(seed + i));
    const start = performance.now();
    try {
      if (check(bytes, expected)) report[name].read++;
    } catch (error) {
      const file = Buffer.from(bytes).toString('base64');
      throw new Error(`file ${i} of seed ${seed}, ${name}: ${error.message}\n${file.slice(0, 3000)}`, { cause: error });
    }
    report[name].files++;
    report[name].slowest = Math.max(report[name].slowest, performance.now() - start);
  }
  return report;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [total = 200000, seed = 1] = process.argv.slice(2).map(Number);
  console.log(`${total} files, seed ${seed}`);
  console.table(fuzzTorch(total, seed));
}
