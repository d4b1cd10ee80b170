// safetensors and npy, read and written. Files are checked before anything is allocated by what they claim.

import { HeadlightError } from '../check/errors.js';
import { elementCount, formatShape } from '../check/shape.js';

/** @import { NumberArray } from '../check/tensorlike.js' */

/** @typedef {'BOOL' | 'U8' | 'I8' | 'U16' | 'I16' | 'U32' | 'I32' | 'U64' | 'I64' | 'F16' | 'BF16' | 'F32' | 'F64'} DType */
/** @typedef {{ dtype: DType, shape: number[], data: NumberArray }} StoredTensor F16 and BF16 as Float32Array, BOOL as Uint8Array of 0 and 1 */
/** @typedef {{ data: NumberArray, shape: readonly number[], dtype?: DType }} WritableTensor */

/** @typedef {{ bytes: number, array: any, decode?: (bits: number) => number, encode?: (x: number) => number, npy?: string }} Kind */

/** How each type is stored, and what it becomes in memory. @type {Record<DType, Kind>} */
const KINDS = {
  F64: { bytes: 8, array: Float64Array, npy: 'f8' },
  I64: { bytes: 8, array: BigInt64Array, npy: 'i8' },
  U64: { bytes: 8, array: BigUint64Array, npy: 'u8' },
  F32: { bytes: 4, array: Float32Array, npy: 'f4' },
  I32: { bytes: 4, array: Int32Array, npy: 'i4' },
  U32: { bytes: 4, array: Uint32Array, npy: 'u4' },
  F16: { bytes: 2, array: Uint16Array, decode: halfToNumber, encode: numberToHalf, npy: 'f2' },
  BF16: { bytes: 2, array: Uint16Array, decode: brainToNumber, encode: numberToBrain },
  I16: { bytes: 2, array: Int16Array, npy: 'i2' },
  U16: { bytes: 2, array: Uint16Array, npy: 'u2' },
  I8: { bytes: 1, array: Int8Array, npy: 'i1' },
  U8: { bytes: 1, array: Uint8Array, npy: 'u1' },
  BOOL: { bytes: 1, array: Uint8Array, npy: 'b1' },
};
const MOST_HEADER = 100_000_000;

// ---- numbers ----

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** @param {number} half */
function halfToNumber(half) {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** To nearest, ties to even. @param {number} x */
function numberToHalf(x) {
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
  const size = Math.abs(x);
  if (Number.isNaN(x)) return 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  const exponent = Math.max(Math.floor(Math.log2(size)), -14);
  const step = 2 ** (exponent - 10);
  const steps = roundToEven(size / step);
  /* A fraction that rounds up to 2048 carries into the exponent, as it should. */
  return sign | (exponent === -14 ? steps : ((exponent + 15) << 10) + steps - 1024);
}

/** @param {number} x */
function roundToEven(x) {
  const floor = Math.floor(x);
  const rest = x - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}

/** The upper half of a float32. @param {number} brain */
function brainToNumber(brain) {
  bits[0] = brain << 16;
  return float[0];
}

/** @param {number} x */
function numberToBrain(x) {
  float[0] = x;
  if (Number.isNaN(x)) return 0x7fc0;
  const half = bits[0] & 0xffff;
  const whole = bits[0] >>> 16;
  return half > 0x8000 || (half === 0x8000 && whole & 1) ? whole + 1 : whole;
}

// ---- bytes and arrays ----

/**
 * @param {string} caller
 * @param {string} message
 * @param {{ parameter?: string, expected?: unknown, got?: unknown }} [details]
 */
const formatError = (caller, message, details) => new HeadlightError('FORMAT', `${caller}: ${message}`, details);

/**
 * @param {string} caller
 * @param {unknown} source
 */
function readBytes(caller, source) {
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  throw formatError(caller, 'expected the bytes of a file, as an ArrayBuffer or a typed array', {
    parameter: 'bytes',
    got: typeof source,
  });
}

/**
 * A copy of the bytes as the array they stand for.
 * @param {Uint8Array} bytes
 * @param {DType} dtype
 * @param {boolean} [bigEndian]
 * @returns {NumberArray}
 */
function decode(bytes, dtype, bigEndian = false) {
  const { array, decode: toNumber, bytes: size } = KINDS[dtype];
  const copy = bytes.slice();
  if (bigEndian) for (let i = 0; i < copy.length; i += size) copy.subarray(i, i + size).reverse();
  const raw = new array(copy.buffer);
  if (dtype === 'BOOL') for (let i = 0; i < raw.length; i++) raw[i] = raw[i] === 0 ? 0 : 1;
  return toNumber ? Float32Array.from(raw, toNumber) : raw;
}

/**
 * @param {string} caller
 * @param {string} name
 * @param {unknown} value
 * @returns {{ dtype: DType, shape: readonly number[], bytes: Uint8Array }}
 */
function encode(caller, name, value) {
  const { data, shape, dtype = dtypeOf(data) } = /** @type {WritableTensor} */ (value ?? {});
  if (!dtype || !KINDS[dtype] || !ArrayBuffer.isView(data)) {
    throw formatError(
      caller,
      `${name} needs data in a typed array${dtype && !KINDS[dtype] ? `, and a dtype among ${Object.keys(KINDS).join(', ')}` : ''}`,
      { parameter: name, got: dtype },
    );
  }
  if (!isShape(shape) || elementCount(shape) !== data.length) {
    throw formatError(
      caller,
      `${name} has ${data.length} elements, expected as many as its shape ${Array.isArray(shape) ? formatShape(shape) : shape} holds`,
      { parameter: name, expected: shape, got: data.length },
    );
  }
  const { array, encode: fromNumber } = KINDS[dtype];
  const big = array === BigInt64Array || array === BigUint64Array;
  const stored = fromNumber
    ? array.from(/** @type {ArrayLike<number>} */ (data), fromNumber)
    : big
      ? array.from(data, BigInt)
      : array.from(data, Number);
  return { dtype, shape, bytes: new Uint8Array(stored.buffer) };
}

/** @param {unknown} data @returns {DType | undefined} */
const dtypeOf = (data) =>
  /** @type {DType | undefined} */ (
    Object.keys(KINDS).find(
      (name) =>
        ArrayBuffer.isView(data) &&
        data.constructor === KINDS[/** @type {DType} */ (name)].array &&
        !KINDS[/** @type {DType} */ (name)].decode,
    )
  );

/** @param {unknown} shape @returns {shape is number[]} */
const isShape = (shape) =>
  Array.isArray(shape) &&
  shape.every((n) => Number.isSafeInteger(n) && n >= 0) &&
  Number.isSafeInteger(elementCount(shape));

// ---- safetensors: 8 bytes of header length, a JSON header, the data ----

/**
 * @param {ArrayBuffer | ArrayBufferView} source
 * @returns {{ tensors: Record<string, StoredTensor>, metadata: Record<string, string> }}
 */
export function readSafetensors(source) {
  const caller = 'readSafetensors';
  const bytes = readBytes(caller, source);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 8)
    throw formatError(caller, `the file has ${bytes.length} bytes, expected at least the 8 of the header's length`, {
      got: bytes.length,
    });
  const length = Number(view.getBigUint64(0, true));
  if (length > MOST_HEADER || length > bytes.length - 8) {
    throw formatError(
      caller,
      `the header claims ${length} bytes, expected at most the ${bytes.length - 8} that follow; this is no safetensors file, or a truncated one`,
      { expected: bytes.length - 8, got: length },
    );
  }
  const header = readHeader(caller, bytes.subarray(8, 8 + length));
  const data = bytes.subarray(8 + length);
  const { __metadata__: metadata = {}, ...entries } = header;
  if (!isRecord(metadata) || !Object.values(metadata).every((text) => typeof text === 'string')) {
    throw formatError(caller, '__metadata__ is expected to map names to strings', { parameter: '__metadata__' });
  }
  /** @type {Record<string, StoredTensor>} */
  const tensors = Object.create(null);
  let end = 0;
  const ranges = Object.entries(entries).map(([name, entry]) => ({
    name,
    ...checkEntry(caller, name, entry, data.length),
  }));
  for (const { name, from, to } of [...ranges].sort((a, b) => a.from - b.from || a.to - b.to)) {
    if (from !== end)
      throw formatError(caller, `tensor "${name}" begins at byte ${from}, expected ${end}: no gap and no overlap`, {
        parameter: name,
        expected: end,
        got: from,
      });
    end = to;
  }
  if (end !== data.length)
    throw formatError(caller, `the tensors end at byte ${end}, expected ${data.length}, the end of the file`, {
      expected: data.length,
      got: end,
    });
  for (const { name, dtype, shape, from, to } of ranges)
    tensors[name] = { dtype, shape, data: decode(data.subarray(from, to), dtype) };
  return { tensors, metadata: /** @type {Record<string, string>} */ ({ ...metadata }) };
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isRecord = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * @param {string} caller
 * @param {Uint8Array} bytes
 * @returns {Record<string, unknown>}
 */
function readHeader(caller, bytes) {
  let header;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw formatError(caller, `the header is not JSON: ${/** @type {Error} */ (error).message}`);
  }
  if (!isRecord(header)) throw formatError(caller, 'the header is expected to be a JSON object');
  return header;
}

/**
 * @param {string} caller
 * @param {string} name
 * @param {unknown} entry
 * @param {number} available
 */
function checkEntry(caller, name, entry, available) {
  const at = `tensor "${name}"`;
  const { dtype, shape, data_offsets: offsets } = /** @type {Record<string, any>} */ (isRecord(entry) ? entry : {});
  if (typeof dtype !== 'string' || !Object.hasOwn(KINDS, dtype)) {
    throw formatError(
      caller,
      `${at} has dtype ${JSON.stringify(dtype)}, expected one of ${Object.keys(KINDS).join(', ')}`,
      { parameter: name, got: dtype },
    );
  }
  if (!isShape(shape))
    throw formatError(caller, `${at} has shape ${JSON.stringify(shape)}, expected an array of non-negative integers`, {
      parameter: name,
      got: shape,
    });
  const [from, to] = Array.isArray(offsets) ? offsets : [];
  if (!Array.isArray(offsets) || offsets.length !== 2 || !isShape(offsets) || from > to || to > available) {
    throw formatError(
      caller,
      `${at} has data_offsets ${JSON.stringify(offsets)}, expected [begin, end] within the ${available} bytes of data`,
      { parameter: name, got: offsets },
    );
  }
  const kind = /** @type {DType} */ (dtype);
  const need = elementCount(shape) * KINDS[kind].bytes;
  if (to - from !== need)
    throw formatError(caller, `${at} has ${to - from} bytes, expected ${need} for ${kind} ${formatShape(shape)}`, {
      parameter: name,
      expected: need,
      got: to - from,
    });
  return { dtype: kind, shape, from, to };
}

/**
 * @param {Record<string, WritableTensor>} tensors a Headlight Tensor fits; dtype follows the array, and may ask for another
 * @param {Record<string, string>} [metadata]
 * @returns {Uint8Array}
 */
export function writeSafetensors(tensors, metadata) {
  const caller = 'writeSafetensors';
  if (
    metadata !== undefined &&
    (!isRecord(metadata) || !Object.values(metadata).every((text) => typeof text === 'string'))
  ) {
    throw formatError(caller, 'metadata is expected to map names to strings', { parameter: 'metadata' });
  }
  // Wide types first keeps every tensor aligned to its own size.
  const entries = Object.entries(tensors).map(([name, value]) => ({
    name,
    ...encode(caller, `tensor "${name}"`, value),
  }));
  entries.sort((a, b) => KINDS[b.dtype].bytes - KINDS[a.dtype].bytes || (a.name < b.name ? -1 : 1));
  /** @type {Record<string, unknown>} */
  const header = Object.create(null);
  if (metadata) header.__metadata__ = metadata;
  let at = 0;
  for (const { name, dtype, shape, bytes } of entries) {
    if (name === '__metadata__')
      throw formatError(caller, 'a tensor cannot be called __metadata__', { parameter: name });
    header[name] = { dtype, shape, data_offsets: [at, at + bytes.length] };
    at += bytes.length;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = Math.ceil(text.length / 8) * 8;
  const file = new Uint8Array(8 + length + at);
  new DataView(file.buffer).setBigUint64(0, BigInt(length), true);
  file.set(text, 8);
  file.fill(0x20, 8 + text.length, 8 + length);
  let to = 8 + length;
  for (const { bytes } of entries) {
    file.set(bytes, to);
    to += bytes.length;
  }
  return file;
}

// ---- npy: magic, version, header length, a Python dict, the data ----

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
const HEADER =
  /^\s*\{\s*(?:'(descr|fortran_order|shape)'\s*:\s*('[^']*'|True|False|\([\d,\s]*\))\s*,?\s*)(?:'(descr|fortran_order|shape)'\s*:\s*('[^']*'|True|False|\([\d,\s]*\))\s*,?\s*)(?:'(descr|fortran_order|shape)'\s*:\s*('[^']*'|True|False|\([\d,\s]*\))\s*,?\s*)\}\s*$/;

/**
 * @param {ArrayBuffer | ArrayBufferView} source
 * @returns {StoredTensor}
 */
export function readNpy(source) {
  const caller = 'readNpy';
  const bytes = readBytes(caller, source);
  if (bytes.length < 12 || !MAGIC.every((byte, i) => bytes[i] === byte))
    throw formatError(caller, 'the file does not begin with \\x93NUMPY: it is no npy file');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = bytes[6];
  if (version < 1 || version > 3)
    throw formatError(caller, `the file has version ${version}, expected 1, 2 or 3`, { got: version });
  const start = version === 1 ? 10 : 12;
  const end = start + (version === 1 ? view.getUint16(8, true) : view.getUint32(8, true));
  if (end > bytes.length)
    throw formatError(
      caller,
      `the header ends at byte ${end}, expected at most ${bytes.length}: the file is truncated`,
      { expected: bytes.length, got: end },
    );
  const text = new TextDecoder(version === 3 ? 'utf-8' : 'latin1').decode(bytes.subarray(start, end));
  const match = HEADER.exec(text);
  if (!match)
    throw formatError(
      caller,
      `cannot read the header ${JSON.stringify(text.trim().slice(0, 120))}, expected {'descr': '<f4', 'fortran_order': False, 'shape': (…)}; arrays of records are not supported`,
    );
  const fields = Object.fromEntries([1, 3, 5].map((i) => [match[i], match[i + 1]]));
  const descr = /^'([<>|=]?)([a-zA-Z]\d+)'$/.exec(fields.descr ?? '');
  const dtype = /** @type {DType | undefined} */ (
    Object.keys(KINDS).find((name) => descr && KINDS[/** @type {DType} */ (name)].npy === descr[2])
  );
  if (!descr || !dtype)
    throw formatError(
      caller,
      `descr ${fields.descr} is not supported, expected one of ${Object.values(KINDS)
        .flatMap(({ npy }) => npy ?? [])
        .join(', ')} with < or >`,
      { parameter: 'descr', got: fields.descr },
    );
  if (!/^\(/.test(fields.shape ?? '') || !/^(True|False)$/.test(fields.fortran_order ?? ''))
    throw formatError(caller, 'the header lacks shape or fortran_order');
  const shape = fields.shape
    .slice(1, -1)
    .split(',')
    .filter((n) => n.trim())
    .map(Number);
  const need = elementCount(shape) * KINDS[dtype].bytes;
  if (!isShape(shape) || need !== bytes.length - end) {
    throw formatError(
      caller,
      `the file has ${bytes.length - end} bytes of data, expected ${need} for ${dtype} ${formatShape(shape)}`,
      { expected: need, got: bytes.length - end },
    );
  }
  const data = decode(bytes.subarray(end), dtype, descr[1] === '>');
  return { dtype, shape, data: fields.fortran_order === 'True' ? toRowMajor(data, shape) : data };
}

/**
 * @param {NumberArray} data first axis fastest
 * @param {number[]} shape
 * @returns {NumberArray}
 */
function toRowMajor(data, shape) {
  const to = data.slice();
  const strides = shape.map((_, axis) => elementCount(shape.slice(0, axis)));
  for (let i = 0; i < to.length; i++) {
    let [rest, from] = [i, 0];
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      from += (rest % shape[axis]) * strides[axis];
      rest = Math.floor(rest / shape[axis]);
    }
    to[i] = data[from];
  }
  return to;
}

/**
 * @param {WritableTensor} tensor a Headlight Tensor fits
 * @returns {Uint8Array}
 */
export function writeNpy(tensor) {
  const caller = 'writeNpy';
  const { dtype, shape, bytes } = encode(caller, 'the tensor', tensor);
  const { npy, bytes: size } = KINDS[dtype];
  if (!npy)
    throw formatError(caller, `npy has no ${dtype}; F32 holds every ${dtype} number`, {
      parameter: 'dtype',
      got: dtype,
    });
  const tuple = `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`;
  const header = `{'descr': '${size === 1 ? '|' : '<'}${npy}', 'fortran_order': False, 'shape': ${tuple}, }`;
  // The data begins at a multiple of 64.
  const length = Math.ceil((10 + header.length + 1) / 64) * 64 - 10;
  const file = new Uint8Array(10 + length + bytes.length);
  file.set([...MAGIC, 1, 0]);
  new DataView(file.buffer).setUint16(8, length, true);
  file.set(new TextEncoder().encode(`${header.padEnd(length - 1)}\n`), 10);
  file.set(bytes, 10 + length);
  return file;
}
