// Reads and writes npy files: magic bytes, version, length of the header, a Python dict, the data of one array.

import { quote } from '../check/quote.ts';
import type { NumberArray } from '../check/tensorlike.ts';
import { A_SHAPE, allocate, countElements, formatError, isShape, readBytes } from './bytes.ts';
import { decode, encode, KINDS, type KnownDType, type StoredTensor, undecoded, type WritableTensor } from './dtypes.ts';
import { identify } from './identify.ts';

/** descr: the type in the notation of NumPy; dtype: undefined if the type is not decoded */
export type NpyHeader = {
  descr: string;
  dtype?: KnownDType;
  bigEndian: boolean;
  fortran: boolean;
  shape: number[];
  start: number;
};

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
/** Maximum length of a header of version 1. */
const MAX_HEADER_LENGTH = 65535;
const EXPECTED = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
/** Type letters of NumPy that are not decoded, and their meanings. */
const OTHERS: Record<string, string> = {
  O: 'Python objects, which are pickled',
  c: 'complex numbers',
  U: 'strings',
  S: 'strings of bytes',
  V: 'records',
  M: 'dates',
  m: 'durations',
  f: 'long floating-point numbers',
};

export function readNpy(source: ArrayBuffer | ArrayBufferView): StoredTensor {
  const caller = 'readNpy';
  const bytes = readBytes(caller, source);
  const header = readHeader(caller, bytes);
  if (!header.dtype) throw undecodedError(caller, header.descr);
  return readArray(caller, bytes, header);
}

/** Reads an array of an archive. If its type is not decoded, only access to its data throws. */
export function readNpyEntry(caller: string, bytes: Uint8Array): StoredTensor {
  const header = readHeader(caller, bytes);
  if (header.dtype) return readArray(caller, bytes, header);
  return undecoded(header.descr, header.shape, () => undecodedError(caller, header.descr));
}

function undecodedError(caller: string, descr: string) {
  const known = Object.values(KINDS).flatMap(({ npy }) => npy ?? []);
  const letter = /^[<>|=]?([a-zA-Z])/.exec(descr)?.[1] ?? (descr.startsWith('[') ? 'V' : '');
  const what = OTHERS[letter] ? ` (${OTHERS[letter]})` : '';
  return formatError(
    caller,
    `descr ${quote(descr)}${what} is not decoded, expected one of ${known.join(', ')} preceded by < or >`,
    { parameter: 'descr', expected: known, got: descr },
  );
}

function readArray(
  caller: string,
  bytes: Uint8Array,
  { dtype, bigEndian, fortran, shape, start }: NpyHeader,
): StoredTensor {
  const kind = dtype as KnownDType;
  const need = countElements(shape) * KINDS[kind].bytes;
  const got = bytes.length - start;
  if (need !== got)
    throw formatError(caller, `the file has ${got} bytes of data, expected ${need} for ${kind} ${quote(shape)}`, {
      expected: need,
      got,
    });
  const data = decode(caller, bytes.subarray(start), kind, bigEndian);
  return { dtype: kind, shape, data: fortran ? toRowMajor(caller, data, shape) : data };
}

export const readNpyHeader = (bytes: Uint8Array) => readHeader('readNpyHeader', bytes);

function readHeader(caller: string, bytes: Uint8Array): NpyHeader {
  if (!MAGIC.every((byte, i) => bytes[i] === byte)) {
    const kind = identify(bytes);
    throw formatError(
      caller,
      kind ? `this is ${kind}, expected an npy file` : 'the file does not begin with \\x93NUMPY: it is not an npy file',
      { parameter: 'bytes', expected: 'an npy file', got: kind },
    );
  }
  const version = bytes[6];
  const start = version === 1 ? 10 : 12;
  if (bytes.length < start) throw formatError(caller, `the file ends after ${bytes.length} bytes: it is truncated`);
  if (version < 1 || version > 3)
    throw formatError(caller, `the file has version ${version}, expected 1, 2 or 3`, { got: version });
  const view = new DataView(bytes.buffer, bytes.byteOffset, start);
  const length = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (length > bytes.length - start)
    throw formatError(
      caller,
      `the header claims ${length} bytes, expected at most the ${bytes.length - start} that follow: ` +
        'the file is truncated',
      { expected: bytes.length - start, got: length },
    );
  if (length > MAX_HEADER_LENGTH)
    throw formatError(caller, `the header claims ${length} bytes, expected at most ${MAX_HEADER_LENGTH}`, {
      expected: MAX_HEADER_LENGTH,
      got: length,
    });
  const text = new TextDecoder(version === 3 ? 'utf-8' : 'latin1').decode(bytes.slice(start, start + length));
  return { ...parseHeader(caller, text), start: start + length };
}

/** A Python token and the space before it. The alternatives do not overlap, so that matching takes linear time. */
const TOKEN = /\s*(?:'([^'\\]*)'|"([^"\\]*)"|(\d+)L?|(True|False)|([{}()[\]:,]))/y;
export type Token = { text?: string; number?: number; truth?: boolean; sign?: string; from: number; to: number };

function tokenize(text: string, fail: () => Error): Token[] {
  const end = text.trimEnd().length;
  const tokens: Token[] = [];
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < end; ) {
    const match = TOKEN.exec(text);
    if (!match) throw fail();
    const [, single, double, digits, truth, sign] = match;
    tokens.push({
      text: single ?? double,
      number: digits === undefined ? undefined : Number(digits),
      truth: truth === undefined ? undefined : truth === 'True',
      sign,
      from: match.index,
      to: TOKEN.lastIndex,
    });
  }
  return tokens;
}

/** Reads the three fields of the dict, which may be in any order. */
function parseHeader(caller: string, text: string): Omit<NpyHeader, 'start'> {
  const fail = () =>
    formatError(caller, `cannot read the header ${quote(text.slice(0, 1000).trim(), 120)}, expected ${EXPECTED}`);
  const tokens = tokenize(text, fail);
  let at = 0;
  const take = (sign: string) => tokens[at]?.sign === sign && at++ >= 0;

  function value() {
    const first = at;
    let depth = 0;
    do {
      const { sign = '' } = tokens[at++] ?? {};
      if (at > tokens.length) throw fail();
      depth += '([{'.includes(sign) && sign ? 1 : ')]}'.includes(sign) && sign ? -1 : 0;
    } while (depth > 0);
    return tokens.slice(first, at);
  }

  const fields: Map<string, Token[]> = new Map();
  if (!take('{')) throw fail();
  while (!take('}')) {
    const name = tokens[at++]?.text;
    if (name === undefined || fields.has(name) || !take(':')) throw fail();
    fields.set(name, value());
    if (!take(',') && tokens[at]?.sign !== '}') throw fail();
  }
  const [descr, order, shape] = ['descr', 'fortran_order', 'shape'].map((name) => fields.get(name));
  const fortran = order?.length === 1 ? order[0].truth : undefined;
  if (at !== tokens.length || fields.size !== 3 || !descr || !shape || fortran === undefined) throw fail();
  return { ...readDescr(descr, text, fail), fortran, shape: readTuple(caller, shape, fail) };
}

function readDescr(tokens: Token[], header: string, fail: () => Error) {
  const [{ text, sign, from }] = tokens;
  // The type of an array of records is a list of fields.
  if (sign === '[') return { descr: header.slice(from, tokens[tokens.length - 1].to).trim(), bigEndian: false };
  if (text === undefined) throw fail();
  const [, order, type] = /^([<>|=]?)([a-zA-Z]\d+)$/.exec(text) ?? [];
  const names = Object.keys(KINDS) as KnownDType[];
  const dtype = type === undefined ? undefined : names.find((name) => KINDS[name].npy === type);
  return { descr: text, dtype, bigEndian: order === '>' };
}

/** tokens: '(' number ',' number … ')' */
function readTuple(caller: string, tokens: Token[], fail: () => Error): number[] {
  if (tokens[0].sign !== '(' || tokens[tokens.length - 1].sign !== ')') throw fail();
  const inside = tokens.slice(1, -1);
  const shape = inside.filter((_, i) => i % 2 === 0).map(({ number }) => number);
  if (shape.includes(undefined) || inside.some(({ sign }, i) => i % 2 === 1 && sign !== ',')) throw fail();
  if (!isShape(shape))
    throw formatError(caller, `the shape is ${quote(shape)}, expected ${A_SHAPE}`, { parameter: 'shape', got: shape });
  return shape;
}

/** data: in Fortran order, in which the first index varies fastest; returns in row-major order */
function toRowMajor(caller: string, data: NumberArray, shape: number[]): NumberArray {
  // Axes of size 1 do not change the order.
  const axes = shape.flatMap((size, axis) =>
    size === 1 ? [] : [{ size, stride: countElements(shape.slice(0, axis)), index: 0 }],
  );
  const to = allocate(caller, data.byteLength, () => data.slice());
  let from = 0;
  for (let i = 0; i < to.length; i++) {
    to[i] = data[from];
    for (let axis = axes.length - 1; axis >= 0; axis--) {
      const at = axes[axis];
      from += at.stride;
      if (++at.index < at.size) break;
      from -= at.stride * at.size;
      at.index = 0;
    }
  }
  return to;
}

/** @param tensor may be a Headlight Tensor */
export function writeNpy(tensor: WritableTensor): Uint8Array {
  const caller = 'writeNpy';
  const { dtype, shape, bytes } = encode(caller, 'the tensor', tensor);
  const { npy, bytes: size } = KINDS[dtype];
  if (!npy)
    throw formatError(caller, `npy has no ${dtype}; write it as F32, which represents every ${dtype} number`, {
      parameter: 'dtype',
      got: dtype,
    });
  const tuple = `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`;
  const header = `{'descr': '${size === 1 ? '|' : '<'}${npy}', 'fortran_order': False, 'shape': ${tuple}, }`;
  // The format requires that the data begin at a multiple of 64 bytes.
  const length = Math.ceil((10 + header.length + 1) / 64) * 64 - 10;
  const file = allocate(caller, 10 + length + bytes.length, () => new Uint8Array(10 + length + bytes.length));
  file.set([...MAGIC, 1, 0]);
  new DataView(file.buffer).setUint16(8, length, true);
  file.set(new TextEncoder().encode(`${header.padEnd(length - 1)}\n`), 10);
  file.set(bytes, 10 + length);
  return file;
}
