// Writes files of torch.save byte by byte, valid and invalid ones.

import { readSafetensorsHeader } from 'headlight-attention/formats';
import { join, zip } from './files.js';

const encoder = new TextEncoder();
export const STORAGES = {
  ...{ F64: 'Double', F32: 'Float', F16: 'Half', BF16: 'BFloat16', I64: 'Long', I32: 'Int', I16: 'Short' },
  ...{ I8: 'Char', U8: 'Byte', BOOL: 'Bool', C64: 'ComplexFloat', C128: 'ComplexDouble' },
};
const SIZES = { F64: 8, F32: 4, F16: 2, BF16: 2, I64: 8, I32: 4, I16: 2, I8: 1, U8: 1, BOOL: 1, C64: 8, C128: 16 };

const uint32 = (value) => new Uint8Array(Uint32Array.of(value).buffer);
const uint64 = (value) => new Uint8Array(BigUint64Array.of(BigInt(value)).buffer);

/** A value that is pickled as the given opcodes. */
export class Raw {
  constructor(...parts) {
    this.bytes = join(...parts.map((part) => (part instanceof Raw ? part.bytes : part)));
  }
}
const text = (string) => encoder.encode(string);
export const global = (name) => new Raw(text(`c${name.replace(' ', '\n')}\n`));
export const reduce = (name, ...args) => new Raw(global(name), tuple(args), text('R'));
export const tuple = (items) => new Raw(text('('), ...items.map(pickled), text('t'));

/** Joins many parts in groups, because the number of arguments of a call is limited. @param {Raw[]} parts */
function joinAll(parts) {
  const groups = Array.from({ length: Math.ceil(parts.length / 1000) }, (_, i) =>
    parts.slice(1000 * i, 1000 * (i + 1)),
  );
  return new Raw(...groups.map((group) => new Raw(...group)));
}

/**
 * Returns the opcodes of a value. A plain object or a Map becomes a dict, an array a list, and a number an integer if
 * possible.
 */
export function pickled(value) {
  if (value instanceof Raw) return value;
  if (value === null) return new Raw(text('N'));
  if (typeof value === 'boolean') return new Raw([value ? 0x88 : 0x89]);
  if (typeof value === 'string') {
    const bytes = encoder.encode(value);
    return new Raw(text('X'), uint32(bytes.length), bytes);
  }
  if (typeof value === 'bigint') return new Raw([0x8a, 9], uint64(BigInt.asUintN(64, value)), [value < 0n ? 255 : 0]);
  if (typeof value === 'number') {
    if (!Number.isInteger(value)) {
      const float = new DataView(new ArrayBuffer(8));
      float.setFloat64(0, value);
      return new Raw(text('G'), new Uint8Array(float.buffer));
    }
    if (value !== (value | 0)) return pickled(BigInt(value));
    return value >= 0 && value < 256 ? new Raw([0x4b, value]) : new Raw(text('J'), uint32(value >>> 0));
  }
  if (Array.isArray(value)) return new Raw(text(']('), ...value.map(pickled), text('e'));
  const pairs = value instanceof Map ? [...value] : Object.entries(value);
  return new Raw(text('}('), joinAll(pairs.flat().map(pickled)), text('u'));
}

/** Returns a complete pickle of a value. */
export const pickle = (value) => join([0x80, 2], pickled(value).bytes, text('.'));

/**
 * Returns the opcodes of a tensor. storage is { key, dtype, count }; `view` is the view of the storage that files of
 * the old format contain.
 */
export function tensor(storage, shape, strides, { offset = 0, parameter = false, view } = {}) {
  const { key, dtype, count } = storage;
  const id = ['storage', global(`torch ${STORAGES[dtype]}Storage`), String(key), 'cpu', count];
  const stored = new Raw(tuple(view === undefined ? id : [...id, view]), text('Q'));
  const args = [stored, offset, tuple(shape), tuple(strides), false, reduce('collections OrderedDict')];
  const made = reduce('torch._utils _rebuild_tensor_v2', ...args);
  return parameter ? reduce('torch._utils _rebuild_parameter', made, true, reduce('collections OrderedDict')) : made;
}

/**
 * Returns an archive of torch.save.
 * @param {unknown} value
 * @param {{ key: string | number, bytes: Uint8Array }[]} storages
 * @param {{ root?: string, more?: object[], described?: boolean, order?: string, bytes?: Uint8Array }} [options] bytes:
 *   the pickle, if it is not the pickle of `value`
 */
export function torchZip(value, storages = [], { root = 'archive', more = [], order, bytes, ...rest } = {}) {
  const file = (name, bytes) => ({ name: `${root}/${name}`, bytes, ...rest });
  return zip([
    file('data.pkl', bytes ?? pickle(value)),
    ...(order === undefined ? [] : [file('byteorder', text(order))]),
    // The checksum is wrong on purpose. The reader must not compare it, because PyTorch need not write checksums.
    ...storages.map(({ key, bytes }) => ({ ...file(`data/${key}`, bytes), crc: 0 })),
    ...more,
  ]);
}

/**
 * Returns a file of torch.save before PyTorch 1.6. `storages` has the bytes of the storages to which the pickle refers.
 */
export function torchLegacy(value, storages = [], { order = true, protocol = 1001, keys, bytes } = {}) {
  const magic = join([0x80, 2, 0x8a, 10], [0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19], text('.'));
  const system = { protocol_version: protocol, little_endian: order, type_sizes: { short: 2, int: 4, long: 4 } };
  return join(
    magic,
    ...[protocol, system].map(pickle),
    bytes ?? pickle(value),
    pickle(keys ?? storages.map(({ key }) => String(key))),
    ...storages.flatMap(({ dtype, bytes, count = bytes.length / SIZES[dtype] }) => [uint64(count), bytes]),
  );
}

/**
 * Converts safetensors files to files of torch.save with the same tensors. Each tensor is a view of a separate storage.
 * @param {Record<string, Uint8Array>} files of a model
 * @param {{ legacy?: boolean, rename?: (name: string) => string, wrap?: (dict: Map<string, Raw>) => unknown,
 *   transposed?: boolean }} [options] transposed: matrices are views of transposed storages
 * @returns {Record<string, Uint8Array>}
 */
export function asTorch(files, { legacy = false, rename = (name) => name, wrap = (dict) => dict, transposed } = {}) {
  const converted = {};
  for (const [file, bytes] of Object.entries(files)) {
    if (file === 'model.safetensors.index.json') {
      const names = new TextDecoder()
        .decode(bytes)
        .replaceAll('.safetensors', '.bin')
        .replaceAll('"model-', '"pytorch_model-');
      converted['pytorch_model.bin.index.json'] = text(names);
    } else if (!file.endsWith('.safetensors')) converted[file] = bytes;
    else
      converted[`pytorch_${file.replace('.safetensors', '.bin')}`] = torchFile(bytes, {
        legacy,
        rename,
        wrap,
        transposed,
      });
  }
  return converted;
}

function torchFile(bytes, { legacy, rename, wrap, transposed }) {
  const storages = [];
  const dict = new Map();
  const { tensors } = readSafetensorsHeader(bytes);
  for (const [name, { dtype, shape, begin, end }] of Object.entries(tensors)) {
    const turned = transposed && shape.length === 2;
    const raw = bytes.slice(begin, end);
    const storage = {
      key: storages.length,
      dtype,
      count: raw.length / SIZES[dtype],
      bytes: turned ? transpose(raw, shape, SIZES[dtype]) : raw,
    };
    storages.push(storage);
    const strides = turned ? [1, shape[0]] : shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
    dict.set(rename(name), tensor(storage, shape, strides));
  }
  return (legacy ? torchLegacy : torchZip)(wrap(dict), storages);
}

/** Transposes (rows, columns) to (columns, rows). */
function transpose(bytes, [rows, columns], size) {
  const out = new Uint8Array(bytes.length);
  for (let r = 0; r < rows; r++)
    for (let c = 0; c < columns; c++)
      out.set(bytes.subarray((r * columns + c) * size, (r * columns + c + 1) * size), (c * rows + r) * size);
  return out;
}
