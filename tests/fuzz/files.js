// Reads and writes valid, damaged and random files of every kind. Each call must return a correct result or throw a
// HeadlightError with a short message. A refused model must leave no memory allocated.
//
//   node tests/fuzz/files.js [count] [seed]

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { HeadlightError, load } from 'headlight-attention';
import {
  readNpy,
  readNpz,
  readSafetensors,
  readSafetensorsHeader,
  readSafetensorsTensor,
  writeNpy,
  writeSafetensors,
} from 'headlight-attention/formats';
import { uniformSource } from '../../src/js/ops/random.ts';
import { join, npy, safetensors, zip } from '../support/files.js';

const SIZES = {
  ...{ F64: 8, I64: 8, U64: 8, F32: 4, I32: 4, U32: 4, F16: 2, BF16: 2, I16: 2, U16: 2 },
  ...{ F8_E4M3: 1, F8_E5M2: 1, I8: 1, U8: 1, BOOL: 1 },
};
const DTYPES = Object.keys(SIZES);
const NPY = { F64: 'f8', I64: 'i8', U64: 'u8', F32: 'f4', I32: 'i4', U32: 'u4', F16: 'f2', I16: 'i2', U16: 'u2' };
Object.assign(NPY, { I8: 'i1', U8: 'u1', BOOL: 'b1' });
const ARRAYS = [Float64Array, Float32Array, Int32Array, Uint32Array, Int16Array, Uint16Array, Int8Array, Uint8Array];
const NUMBERS = [
  0,
  -0,
  1,
  -1,
  2,
  7,
  255,
  256,
  65535,
  2 ** 31,
  2 ** 32,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 63,
  2 ** 64,
  1e308,
  1.5,
];
const WORDS = [
  'null',
  'true',
  '""',
  '[]',
  '{}',
  '"F8"',
  '"F32"',
  '-',
  '1e9',
  '"\\u0000"',
  '"__proto__"',
  '"__metadata__"',
];
const PYTHON = [
  "'descr'",
  "'fortran_order'",
  "'shape'",
  ':',
  ',',
  '{',
  '}',
  '(',
  ')',
  '[',
  ']',
  'True',
  'False',
  "'<f4'",
];
const JSON_PARTS = [
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  '"a"',
  '"dtype"',
  '"shape"',
  '"data_offsets"',
  '"F32"',
  '0',
  '4',
  ' ',
];
const NAMES = ['a', 'b', '', '__proto__', 'constructor', 'blocks.0.wq', '猫', '"', '\\', '\n', 'x'.repeat(300)];
const MODEL = { layers: 1, dModel: 4, numHeads: 2, vocab: 3, context: 2, mlp: 3 };

/** Returns functions that make the random choices of one seed. */
function makeSource(seed) {
  const random = uniformSource(seed);
  const below = (n) => Math.floor(random() * n);
  const pick = (list) => list[below(list.length)];
  const bytes = (count) =>
    Uint8Array.from({ length: count }, () => (random() < 0.2 ? pick([0, 255, 128, 127]) : below(256)));
  const shape = () => Array.from({ length: below(5) }, () => (random() < 0.1 ? 0 : 1 + below(4)));
  return { random, below, pick, bytes, shape };
}

const count = (shape) => shape.reduce((a, b) => a * b, 1);

/** Returns random bytes for a tensor of any type. */
const content = ({ bytes, below }, dtype, shape) =>
  dtype === 'BOOL' ? bytes(count(shape)).map(() => below(2)) : bytes(count(shape) * SIZES[dtype]);

// ---- valid files and their contents ----

function rightSafetensors(source) {
  const names = [...new Set(Array.from({ length: source.below(5) }, () => source.pick(NAMES)))];
  const expected = new Map();
  const entries = [];
  let at = 0;
  for (const name of names) {
    const [dtype, shape] = [source.pick(DTYPES), source.shape()];
    const raw = content(source, dtype, shape);
    expected.set(name, { dtype, shape, raw });
    entries.push([name, { dtype, shape, data_offsets: [at, at + raw.length] }]);
    at += raw.length;
  }
  if (source.random() < 0.5) entries.push(['__metadata__', { format: 'pt', [source.pick(NAMES)]: 'text' }]);
  entries.sort(() => source.random() - 0.5);
  const text = JSON.stringify(Object.fromEntries(entries)) + ' '.repeat(source.below(9));
  return { bytes: safetensors(text, join(...[...expected.values()].map(({ raw }) => raw))), expected };
}

function rightNpy(source) {
  const [dtype, shape] = [source.pick(Object.keys(NPY)), source.shape()];
  const raw = content(source, dtype, shape);
  const space = () => ' '.repeat(source.below(3));
  const fields = [
    `'descr':${space()}'${source.pick(['<', '=', '|'])}${NPY[dtype]}'`,
    `'fortran_order'${space()}: False`,
    `'shape': (${shape.map((n) => `${n},`).join(space())}${space()})`,
  ].sort(() => source.random() - 0.5);
  const header = `{${fields.join(`${space()},`)}${source.pick(['', ',', ', '])}}${space()}\n`;
  return { bytes: npy(header, raw, 1 + source.below(3)), expected: new Map([['', { dtype, shape, raw }]]) };
}

function rightNpz(source) {
  const names = [...new Set(Array.from({ length: source.below(4) }, () => source.pick(NAMES)))];
  const arrays = names.map((name) => [name, rightNpy(source)]);
  const options = () => ({
    deflate: source.random() < 0.5,
    wide: source.random() < 0.3,
    described: source.random() < 0.3,
  });
  const files = arrays.map(([name, { bytes }]) => ({ name: `${name}.npy`, bytes, ...options() }));
  return {
    bytes: zip(files, { wide: source.random() < 0.3, comment: 'PK'.repeat(source.below(3)) }),
    expected: new Map(arrays.map(([name, { expected }]) => [name, expected.get('')])),
  };
}

// ---- damaged files ----

const MUTATIONS = [
  function flip(bytes, { below }) {
    if (bytes.length > 0) bytes[below(bytes.length)] ^= 1 << below(8);
    return bytes;
  },
  function put(bytes, { below, pick }) {
    const at = below(bytes.length + 1);
    return join(
      bytes.subarray(0, at),
      pick([[0], [255], [34], [92], [123, 123], [91], [32, 32]]),
      bytes.subarray(at + below(2)),
    );
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
  function number(bytes, { below, pick }) {
    const size = pick([2, 4, 8]);
    if (bytes.length < size) return bytes;
    const value = BigInt(Math.trunc(Math.min(pick(NUMBERS), 2 ** 63)));
    const view = new DataView(bytes.buffer, bytes.byteOffset + below(bytes.length - size + 1));
    if (size === 2) view.setUint16(0, Number(BigInt.asUintN(16, value)), true);
    else if (size === 4) view.setUint32(0, Number(BigInt.asUintN(32, value)), true);
    else view.setBigUint64(0, BigInt.asUintN(64, value), true);
    return bytes;
  },
  /** Replaces a number or a word of the header. The lengths in the file remain correct. */
  function word(bytes, source) {
    return changeText(bytes, (text) => {
      const words = [...text.matchAll(/\d+|"[^"]*"|[[\]{}:,]/g)];
      if (words.length === 0) return text;
      const { 0: old, index } = source.pick(words);
      const fresh =
        source.random() < 0.5 ? String(source.pick(NUMBERS)) : source.pick([...WORDS, ...words.map(([w]) => w)]);
      return text.slice(0, index) + fresh + text.slice(index + old.length);
    });
  },
  function spaces(bytes, { below }) {
    return changeText(bytes, (text) => {
      const at = below(text.length + 1);
      return `${text.slice(0, at)}${' '.repeat(below(3000))}${text.slice(at)}`;
    });
  },
];

/** Replaces the header of a safetensors or npy file, and pads it as the format requires. */
function changeText(bytes, change) {
  const decode = (from, to) => String.fromCharCode(...bytes.subarray(from, to).slice(0, 20000));
  const encode = (text) => Uint8Array.from(text, (sign) => sign.charCodeAt(0));
  if (bytes.length < 13) return bytes;
  if (bytes[0] === 0x93) {
    const start = bytes[6] === 1 ? 10 : 12;
    const end = start + bytes[8] + 256 * bytes[9];
    const text = encode(change(decode(start, end)));
    return join(
      npy('', [], bytes[6]).subarray(0, 8),
      [text.length & 255, text.length >> 8, 0, 0].slice(0, start - 8),
      text,
      bytes.subarray(end),
    );
  }
  const end = 8 + bytes[0] + 256 * bytes[1] + 65536 * bytes[2];
  const text = encode(change(decode(8, end)));
  return join(safetensors('', [], text.length), text, bytes.subarray(end));
}

function damage(bytes, source) {
  let result = bytes.slice();
  for (let i = source.below(2); i >= 0; i--) result = Uint8Array.from(source.pick(MUTATIONS)(result, source));
  return result;
}

/** Returns words in random order, which are almost never a valid header. */
const soup = (source, words) => Array.from({ length: source.below(30) }, () => source.pick(words)).join('');

/** Makes a safetensors file whose header has the usual fields, each of which may be invalid. */
function madeSafetensors(source) {
  const odd = (usual) => (source.random() < 0.15 ? source.pick([...NUMBERS.map(String), ...WORDS]) : usual);
  let at = 0;
  const entries = Array.from({ length: source.below(4) }, () => {
    const [dtype, shape] = [source.pick([...DTYPES, 'F4', 'C64']), source.shape()];
    const end = at + count(shape) * (SIZES[dtype] ?? 1);
    const range =
      source.random() < 0.9 ? `[${at},${end}]` : source.pick(['[0,0]', '[0]', '[4,0]', '[0,0,0]', '[0,1e1]']);
    at = end;
    const shapeText = `[${shape.map((n) => odd(`${n}`))}]`;
    const fields = [`"dtype":${odd(`"${dtype}"`)}`, `"shape":${odd(shapeText)}`, `"data_offsets":${odd(range)}`];
    if (source.random() < 0.1) fields.push(source.pick([...fields, '"more":[{"a":1}]']));
    return `${JSON.stringify(source.pick(NAMES))}:${odd(`{${fields.sort(() => source.random() - 0.5)}}`)}`;
  });
  if (source.random() < 0.3) entries.push(`"__metadata__":${odd(`{"a":${odd('"b"')}}`)}`);
  return safetensors(source.random() < 0.1 ? soup(source, JSON_PARTS) : `{${entries}}`, source.bytes(at));
}

/** Makes an npy file whose dict has the usual fields, each of which may be invalid. */
function madeNpy(source) {
  const odd = (usual) => (source.random() < 0.1 ? soup(source, PYTHON) : usual);
  const [dtype, shape] = [source.pick(Object.keys(NPY)), source.shape()];
  const descr = `'${source.pick(['<', '>', '|', '='])}${source.pick([NPY[dtype], NPY[dtype], 'U4', 'O', 'c8'])}'`;
  const fields = [
    `'descr': ${odd(descr)}`,
    `'fortran_order': ${odd(source.pick(['True', 'False']))}`,
    `'shape': ${odd(`(${shape.map((n) => `${n}${source.pick(['', 'L'])},`).join('')})`)}`,
  ].sort(() => source.random() - 0.5);
  const header = source.random() < 0.1 ? soup(source, PYTHON) : `{${fields}${odd('')}}`;
  return npy(header, content(source, dtype, shape), source.below(20) === 0 ? source.below(256) : 1 + source.below(3));
}

// ---- comparisons ----

/** Returns the result of a call, or undefined if the call was refused with a valid error. */
async function answer(call) {
  try {
    return await call();
  } catch (error) {
    assert.ok(error instanceof HeadlightError, error?.stack);
    assert.ok(error.message.length < 700, `a message of ${error.message.length} characters`);
    return undefined;
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength);
const dataOf = (file) => file.subarray(8 + Number(new DataView(file.buffer).getBigUint64(0, true)));

/** Checks that a tensor that was read is valid, and has the same bits after it is written and read again. */
function checkTensor(tensor) {
  const { dtype, shape } = tensor;
  assert.ok(shape.length <= 32 && shape.every((n) => Number.isSafeInteger(n) && n >= 0 && !Object.is(n, -0)));
  if (!DTYPES.includes(dtype)) {
    assert.throws(() => tensor.data, HeadlightError);
    return;
  }
  const { data } = tensor;
  assert.equal(data.length, count(shape));
  const again = readSafetensors(writeSafetensors({ x: tensor })).tensors.x;
  assert.deepEqual([again.dtype, again.shape, bytesOf(again.data)], [dtype, shape, bytesOf(data)]);
  if (!(dtype in NPY)) return;
  const array = readNpy(writeNpy(tensor));
  assert.deepEqual([array.dtype, array.shape, bytesOf(array.data)], [dtype, shape, bytesOf(data)]);
}

/** Checks all tensors that were read. `expected` has the tensors of a valid file, by name. */
function checkAll(tensors, expected) {
  for (const tensor of Object.values(tensors)) checkTensor(tensor);
  if (!expected) return;
  assert.deepEqual(Object.keys(tensors).sort(), [...expected.keys()].sort());
  for (const [name, { dtype, shape, raw }] of expected) {
    assert.deepEqual([tensors[name].dtype, tensors[name].shape], [dtype, shape]);
    assert.deepEqual(dataOf(writeSafetensors({ x: tensors[name] })), raw);
  }
}

async function checkSafetensors(bytes, expected) {
  const read = await answer(() => readSafetensors(bytes));
  const header = await answer(() => readSafetensorsHeader(bytes));
  assert.equal(read === undefined, header === undefined);
  if (!read) return false;
  checkAll(read.tensors, expected);
  for (const [name, range] of Object.entries(header.tensors)) {
    if (!DTYPES.includes(range.dtype)) continue;
    const raw = bytes.subarray(range.begin, range.end);
    assert.deepEqual(readSafetensorsTensor(range, raw), read.tensors[name]);
    if (range.dtype !== 'BOOL') assert.deepEqual(dataOf(writeSafetensors({ x: read.tensors[name] })), raw);
  }
  return true;
}

async function checkNpy(bytes, expected) {
  const tensor = await answer(() => readNpy(bytes));
  if (tensor) checkAll({ '': tensor }, expected);
  return tensor !== undefined;
}

async function checkNpz(bytes, expected) {
  const read = await answer(() => readNpz(bytes, { maxSize: 2 ** 20 }));
  if (read) checkAll(read.tensors, expected);
  return read !== undefined;
}

async function checkModel(hl, bytes) {
  const { used } = hl.info.memory;
  const model = await answer(() => hl.loadTransformer(bytes));
  if (model) {
    const result = model.forward([0]);
    assert.deepEqual(result.logits.shape, [1, model.options.vocab]);
    result.dispose();
    model.dispose();
  }
  assert.equal(hl.info.memory.used, used, 'memory was leaked');
  return model !== undefined;
}

/** Returns the numbers with 0 instead of −0, because integers have no −0. */
const numbersOf = (data) => Array.from(data, (x) => Number(x) + 0);

/** Checks that numbers written as another type are written exactly or refused. */
async function checkWrite(source) {
  const integers = source.random() < 0.3;
  const array = integers ? source.pick([BigInt64Array, BigUint64Array]) : source.pick(ARRAYS);
  const values = Array.from({ length: source.below(4) }, () => source.pick([...NUMBERS, NaN, -Infinity, -128, 0.1]));
  const data = array.from(values, (x) => (integers ? BigInt(Math.trunc(Number.isFinite(x) ? x : 5)) : x));
  const dtype = source.pick([...DTYPES, undefined, 'F9', 'toString', 5, null]);
  const shape = source.random() < 0.9 ? [data.length] : source.pick([null, [-1], [1.5], 'x', [data.length, 0]]);
  const file = await answer(() => writeSafetensors({ [source.pick(NAMES)]: { data, shape, dtype } }));
  await answer(() => writeNpy({ data, shape, dtype }));
  if (!file) return false;
  for (const tensor of Object.values(readSafetensors(file).tensors)) {
    checkTensor(tensor);
    if (/^[IU]|BOOL|F64/.test(tensor.dtype)) assert.deepEqual(numbersOf(tensor.data), numbersOf(data));
  }
  return true;
}

/**
 * @param {number} total number of files
 * @param {number} seed
 * @returns {Promise<Record<string, { files: number, read: number, slowest: number }>>} counts by kind of file; slowest
 * in milliseconds
 */
export async function fuzzFiles(total, seed) {
  const hl = await load();
  const model = hl.transformer(MODEL);
  const saved = model.save();
  model.dispose();
  const right = [
    ['safetensors', rightSafetensors, checkSafetensors],
    ['npy', rightNpy, checkNpy],
    ['npz', rightNpz, checkNpz],
  ];
  /** Functions by kind of file, which receive a source and return a check and the bytes to check. */
  const kinds = Object.fromEntries([
    ...right.map(([name, make, check]) => [
      name,
      (source) => {
        const { bytes, expected } = make(source);
        return [bytes, async () => assert.ok(await check(bytes, expected), 'a valid file was refused')];
      },
    ]),
    ...right.map(([name, make, check]) => [
      `damaged ${name}`,
      (source) => {
        const bytes = damage(make(source).bytes, source);
        return [bytes, () => check(bytes)];
      },
    ]),
    ['random safetensors', (source) => made(madeSafetensors(source), checkSafetensors)],
    ['random npy', (source) => made(madeNpy(source), checkNpy)],
    ['damaged model', (source) => made(damage(saved, source), (bytes) => checkModel(hl, bytes))],
    ['written', (source) => [new Uint8Array(0), () => checkWrite(source)]],
  ]);
  const names = Object.keys(kinds);
  const report = Object.fromEntries(names.map((name) => [name, { files: 0, read: 0, slowest: 0 }]));
  for (let i = 0; i < total; i++) {
    const name = names[i % names.length];
    const [bytes, check] = kinds[name](makeSource(seed + i));
    const start = performance.now();
    try {
      if ((await check()) !== false) report[name].read++;
    } catch (error) {
      const file = Buffer.from(bytes).toString('base64');
      throw new Error(`file ${i} of seed ${seed}, ${name}: ${error.message}\n${file.slice(0, 3000)}`, { cause: error });
    }
    report[name].files++;
    report[name].slowest = Math.max(report[name].slowest, performance.now() - start);
  }
  hl.dispose();
  return report;
}

const made = (bytes, check) => [bytes, () => check(bytes)];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [total = 100000, seed = 1] = process.argv.slice(2).map(Number);
  console.log(`${total} files, seed ${seed}`);
  console.table(await fuzzFiles(total, seed));
}
