// Writes archives that torch.load can read with weights_only=True: a pickle of dicts, lists of integers, integers and
// tensors, and a file for each tensor. Uses only opcodes that pickle.ts can read.

import { allocate } from './bytes.ts';
import { encode, type WritableTensor } from './dtypes.ts';
import { writeZip } from './zip.ts';

export type PickledDict = {
  dict: [key: string | number, value: Pickled][];
};
export type Pickled = number | number[] | PickledDict | { tensor: WritableTensor };

const STORAGES: Record<string, string> = { F32: 'FloatStorage', F16: 'HalfStorage', BF16: 'BFloat16Storage' };
const PROTOCOL = [0x80, 2];
const [MARK, TUPLE, EMPTY_TUPLE, EMPTY_LIST, APPENDS] = [0x28, 0x74, 0x29, 0x5d, 0x65];
const [EMPTY_DICT, SETITEMS, BININT, BINUNICODE, NEWFALSE] = [0x7d, 0x75, 0x4a, 0x58, 0x89];
const [GLOBAL, REDUCE, BINPERSID, STOP, LONG1] = [0x63, 0x52, 0x51, 0x2e, 0x8a];
/** Contents of the file that stores the version of the format. */
const VERSION = '3\n';

/** root: the folder in the archive */
export function writeTorchArchive(caller: string, root: string, value: Pickled): Uint8Array<ArrayBuffer> {
  const storages: Record<string, Uint8Array> = {};
  let count = 0;
  const store = (bytes: Uint8Array) => {
    storages[`${root}/data/${count}`] = bytes;
    return String(count++);
  };
  const pickle = Uint8Array.from([...PROTOCOL, ...pickled(caller, value, store), STOP]);
  const text = new TextEncoder();
  const files = { [`${root}/data.pkl`]: pickle, ...storages, [`${root}/version`]: text.encode(VERSION) };
  const size = Object.values(files).reduce((sum, { length }) => sum + length, 0);
  return allocate(caller, size, () => writeZip(files));
}

/** Returns the opcodes of a value. store: returns the key of a new storage. */
function pickled(caller: string, value: Pickled, store: (bytes: Uint8Array) => string): number[] {
  if (typeof value === 'number') return integer(value);
  if (Array.isArray(value)) return [EMPTY_LIST, MARK, ...value.flatMap(integer), APPENDS];
  if ('tensor' in value) return tensor(caller, value.tensor, store);
  const items = value.dict.flatMap(([key, item]) => [
    ...(typeof key === 'number' ? integer(key) : string(key)),
    ...pickled(caller, item, store),
  ]);
  return [EMPTY_DICT, MARK, ...items, SETITEMS];
}

/** Returns the opcodes of the call that makes a tensor of a whole storage. */
function tensor(caller: string, given: WritableTensor, store: (bytes: Uint8Array) => string) {
  const { dtype, shape, bytes } = encode(caller, 'tensor', given);
  const count = shape.reduce((a, b) => a * b, 1);
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  const id = [string('storage'), global('torch', STORAGES[dtype]), string(store(bytes)), string('cpu'), integer(count)];
  const hooks = [...global('collections', 'OrderedDict'), EMPTY_TUPLE, REDUCE];
  const args = [
    ...[...tuple(id), BINPERSID],
    ...integer(0),
    ...tuple(shape.map(integer)),
    ...tuple(strides.map(integer)),
    NEWFALSE,
    ...hooks,
  ];
  return [...global('torch._utils', '_rebuild_tensor_v2'), ...tuple([args]), REDUCE];
}

const tuple = (items: number[][]) => [MARK, ...items.flat(), TUPLE];

const integer = (value: number) =>
  value === (value | 0)
    ? [BININT, ...uint32(value)]
    : [LONG1, 8, ...new Uint8Array(BigInt64Array.of(BigInt(value)).buffer)];

function string(text: string) {
  const bytes = new TextEncoder().encode(text);
  return [BINUNICODE, ...uint32(bytes.length), ...bytes];
}

const global = (module: string, name: string) => [GLOBAL, ...new TextEncoder().encode(`${module}\n${name}\n`)];

const uint32 = (value: number) => new Uint8Array(Uint32Array.of(value).buffer);
