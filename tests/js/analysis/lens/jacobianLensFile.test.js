// Tests writing files of Jacobian lenses, and reading valid and malicious ones.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { HeadlightError } from 'headlight-attention';
import { readJacobianLens, writeJacobianLens } from 'headlight-attention/analysis';
import { readTorch } from 'headlight-attention/formats';
import { join as joinBytes } from '../../../support/files.js';
import { difference, GOLDEN, readPack } from '../../../support/golden.js';
import {
  global,
  pickle,
  Raw,
  reduce,
  STORAGES,
  tensor,
  torchLegacy,
  torchZip,
  tuple,
} from '../../../support/torch_files.js';

const FOLDER = `${GOLDEN}/lens`;
const C = 2;
const SIZES = { F64: 8, F32: 4, F16: 2, BF16: 2, I64: 8, U8: 1 };

/** Returns a storage with these bytes, by default zeros. */
const storageOf = (key, dtype = 'F16', count = C * C, bytes = new Uint8Array(count * SIZES[dtype])) => ({
  key,
  dtype,
  count,
  bytes,
});
const square = (storage, width = C) => tensor(storage, [width, width], [width, 1]);
const [FIRST, SECOND] = [storageOf(0), storageOf(1)];
/** Returns the fields of a lens of two layers, with some fields replaced. */
const fields = (changes = {}) => ({
  J: new Map([
    [0, square(FIRST)],
    [3, square(SECOND)],
  ]),
  n_prompts: 7,
  source_layers: [0, 3],
  d_model: C,
  ...changes,
});
const file = (changes, storages = [FIRST, SECOND]) => torchZip(fields(changes), storages);
const refuses = (bytes, pattern) =>
  assert.throws(
    () => readJacobianLens(bytes),
    (error) => {
      assert.ok(error instanceof HeadlightError && error.code === 'FORMAT', error?.stack);
      assert.match(error.message, pattern);
      return true;
    },
  );

for (const { model, outputs } of readPack('lens', FOLDER).filter(({ kind }) => kind === 'lens-file'))
  test(`${model}: a lens that PyTorch wrote is read and written bit for bit`, () => {
    const lens = readJacobianLens(readFileSync(`${FOLDER}/${model}.pt`));
    const { data, shape } = outputs.matrices;
    assert.deepEqual([lens.layers, lens.prompts, lens.changes], [[0], 18, []]);
    assert.deepEqual(lens.matrices[0].shape, shape.slice(1));
    assert.equal(lens.width, shape[1]);
    assert.equal(difference(lens.matrices[0].data, data), 0);
    assert.deepEqual(readJacobianLens(writeJacobianLens(lens)), lens);
  });

test('float16, float32 and bfloat16, OrderedDicts, other orders of layers and transposed matrices are read', () => {
  const floats = Float32Array.of(1, 2, 3, 4);
  const wide = storageOf(0, 'F32', 4, new Uint8Array(floats.buffer));
  const brain = storageOf(1, 'BF16', 4, new Uint8Array(Uint16Array.of(0x3f80, 0x4000, 0x4040, 0x4080).buffer));
  const items = new Raw([0x28, 0x4b, 3], square(brain), [0x4b, 0], tensor(wide, [C, C], [1, C]), [0x75]);
  const J = new Raw(reduce('collections OrderedDict'), items);
  const lens = readJacobianLens(file({ J, source_layers: [3, 0] }, [wide, brain]));
  assert.deepEqual(lens.layers, [0, 3]);
  assert.deepEqual([...lens.matrices[0].data], [1, 3, 2, 4]);
  assert.deepEqual([...lens.matrices[3].data], [1, 2, 3, 4]);
  assert.deepEqual([lens.prompts, lens.width], [7, C]);
});

test('a file that says something else than a lens is refused, and the error names what', () => {
  const { J, ...rest } = fields();
  const storages = [FIRST, SECOND];
  refuses(torchZip(rest, storages), /J is missing, expected a dict of J, n_prompts, source_layers, d_model/);
  refuses(torchZip([fields()], storages), /the content of the file is \[an object .Map.\], expected a dict/);
  refuses(torchZip(square(FIRST), storages), /the content of the file is a tensor, expected a dict/);
  refuses(file({ name: 'x' }), /the dict has the key 'name', expected a dict of J/);
  for (const [name, values] of Object.entries({
    n_prompts: [0, -3, 1.5, '7', null, true, 2n ** 60n, [7], undefined],
    d_model: [0, 2.5, -2, null, 2n ** 70n],
    source_layers: [[0], [0, 2], [0, 3, 3], 3, null, ['0', '3'], [0, 2n ** 60n], {}],
  }))
    for (const value of values)
      if (value !== undefined) refuses(file({ [name]: value }), new RegExp(`${name} is .*, expected`));
  for (const [J, pattern] of [
    [new Map(), /J is a dict, expected a dict from layers to matrices, one at least/],
    [[square(FIRST)], /J is \[.*\], expected a dict from layers/],
    [{ 0: square(FIRST), 3: square(SECOND) }, /a key of J is '0', expected an integer of at least 0/],
    [new Map([[-1, square(FIRST)]]), /a key of J is -1/],
    [new Map([[0.5, square(FIRST)]]), /a key of J is 0.5/],
    [new Map([[null, square(FIRST)]]), /a key of J is null/],
    [new Map([[0, 5]]), /J\[0\] is 5, expected a tensor/],
    [new Map([[0, new Map()]]), /J\[0\] is a dict, expected a tensor/],
  ])
    refuses(file({ J }), pattern);
});

test('a matrix that is not (d_model, d_model) or not finite is refused', () => {
  const one = (made, storage) => file({ J: new Map([[4, made]]), source_layers: [4] }, [storage]);
  for (const [shape, strides] of [
    [[4], [1]],
    [
      [1, 4],
      [4, 1],
    ],
    [
      [1, 2, 2],
      [4, 2, 1],
    ],
    [[], []],
    [
      [0, 2],
      [2, 1],
    ],
  ])
    refuses(one(tensor(FIRST, shape, strides), FIRST), /J\[4\] is .*, expected the shape \[2,2\], because d_model/);
  for (const half of [0x7c00, 0xfc00, 0x7e01]) {
    const storage = storageOf(0, 'F16', 4, new Uint8Array(Uint16Array.of(0, 0, half, 0).buffer));
    refuses(one(square(storage), storage), /J\[4\] contains (-?Infinity|NaN) at index 2, expected finite numbers/);
  }
  refuses(one(tensor(FIRST, [C, C], [C, 2]), FIRST), /elements beyond the 4 of its storage/);
  refuses(one(tensor(FIRST, [C, C], [C, 1], { offset: 1 }), FIRST), /elements beyond the 4 of its storage/);
  const claims = { ...FIRST, count: 2 ** 31 };
  refuses(one(square(claims), FIRST), /'archive\/data\/0' has 8 bytes, expected 4294967296/);
});

test('nothing is executed: everything but dicts, lists, integers and tensors of three types is refused by name', () => {
  for (const name of ['os system', 'builtins eval', 'builtins exec', 'posix system', 'torch load', 'numpy ndarray'])
    refuses(file({ n_prompts: reduce(name, 'rm -rf /') }), new RegExp(`needs the global '${name.replace(' ', '.')}'`));
  for (const dtype of ['F64', 'I64', 'U8']) {
    const storage = storageOf(0, dtype);
    const J = new Map([[0, square(storage)]]);
    refuses(
      file({ J, source_layers: [0] }, [storage]),
      new RegExp(`needs the global 'torch.${STORAGES[dtype]}Storage', which is not part of a Jacobian lens`),
    );
  }
  const made = tensor(FIRST, [C, C], [C, 1], { parameter: true });
  refuses(file({ J: new Map([[0, made]]), source_layers: [0] }), /needs the global 'torch._utils._rebuild_parameter'/);
  for (const name of ['torch._utils _rebuild_tensor', 'torch Size', 'torch float16', 'torch.storage UntypedStorage'])
    refuses(file({ n_prompts: reduce(name) }), /which is not part of a Jacobian lens/);
  const call = new Raw(global('torch HalfStorage'), [0x29, 0x52]);
  refuses(file({ n_prompts: call }), /calls a value that is not a function/);
  const bare = reduce('torch._utils _rebuild_tensor_v2');
  refuses(file({ J: new Map([[0, bare]]), source_layers: [0] }), /tensor 'J\[0\]' has no storage/);
  refuses(file({ n_prompts: new Raw(tuple(['module', 5]), [0x51]) }), /has a persistent id \['module',5\]/);
});

test('a file of another kind, or one that is damaged, is refused', () => {
  refuses(torchLegacy(fields(), [FIRST, SECOND]), /a PyTorch checkpoint in the old format.*expected a zip archive/);
  refuses(new Uint8Array(0), /this is an empty file, expected a zip archive of torch.save/);
  refuses(new TextEncoder().encode('{"J": {}}'), /this is JSON text/);
  refuses(pickle(fields()), /this is a Python pickle/);
  const right = file();
  refuses(right.subarray(0, right.length - 30), /the zip archive is damaged/);
  refuses(torchZip(fields(), [FIRST]), /the storage 'archive\/data\/1' is missing/);
  refuses(torchZip(fields(), [FIRST, SECOND], { deflate: true }), /is compressed/);
  refuses(torchZip(fields(), [FIRST, SECOND], { order: 'big' }), /the byte order is 'big'/);
  const cut = pickle(fields()).subarray(0, 200);
  refuses(torchZip(null, [FIRST, SECOND], { bytes: cut }), /the pickle is truncated/);
  assert.throws(() => readJacobianLens('lens.pt'), { code: 'FORMAT', parameter: 'bytes' });
});

test('a small file cannot claim much memory, and values that contain themselves end', () => {
  // With strides of 0, a small storage has the shape of a huge matrix.
  const wide = 2 ** 20;
  const made = tensor(FIRST, [wide, wide], [0, 0]);
  refuses(file({ J: new Map([[0, made]]), source_layers: [0], d_model: wide }), /have .* bytes, in a file of/);
  const many = new Map(Array.from({ length: 3000 }, (_, layer) => [layer, tensor(FIRST, [64, 64], [0, 0])]));
  refuses(file({ J: many, source_layers: [...many.keys()], d_model: 64 }), /have .* bytes, in a file of/);
  // These opcodes create a dict that contains itself: memo[9] = dict; dict[0] = memo[9].
  const inside = new Raw([0x7d, 0x71, 9, 0x4b, 0, 0x68, 9, 0x73]);
  refuses(file({ J: inside }), /J\[0\] is a dict, expected a tensor/);
  const list = new Raw([0x5d, 0x71, 9, 0x68, 9, 0x61]);
  refuses(file({ source_layers: list }), /source_layers is \[.*, expected the keys of J/);
  const deep = new Raw(joinBytes(new Uint8Array(100000).fill(0x5d), new Uint8Array(99999).fill(0x61)));
  refuses(file({ source_layers: deep }), /source_layers is/);
});

test('a lens is written as the archive that PyTorch reads', () => {
  const data = Float32Array.of(1, -0.5, 65504, 1 / 3);
  const matrices = { 2: { data, shape: [C, C] }, 5: { data: data.map((x) => -x), shape: [C, C] } };
  const bytes = writeJacobianLens({ layers: [2, 5], matrices, prompts: 300, width: C, changes: [] });
  const tensors = readTorch(bytes);
  assert.deepEqual(Object.keys(tensors), ['J.2', 'J.5']);
  assert.deepEqual([tensors['J.2'].dtype, tensors['J.2'].shape], ['F16', [C, C]]);
  const { matrices: read, ...rest } = readJacobianLens(bytes);
  assert.deepEqual(rest, { layers: [2, 5], prompts: 300, width: C, changes: [] });
  assert.deepEqual([...read[2].data], [1, -0.5, 65504, 0.333251953125]);
  assert.deepEqual([...read[5].data], [-1, 0.5, -65504, -0.333251953125]);
  const large = { layers: [2 ** 40], prompts: 2 ** 31, width: C, changes: [] };
  const again = { ...large, matrices: { [2 ** 40]: { data: Float32Array.of(1, 2, 3, 4), shape: [C, C] } } };
  assert.deepEqual(readJacobianLens(writeJacobianLens(again)), again);
});

test('a lens that is none, or that float16 cannot hold, is not written', () => {
  const matrices = { 0: { data: new Float32Array(4), shape: [C, C] } };
  const lens = { layers: [0], matrices, prompts: 1, width: C, changes: [] };
  writeJacobianLens(lens);
  const wrong = (changes, code, parameter) =>
    assert.throws(() => writeJacobianLens({ ...lens, ...changes }), { code, parameter });
  wrong({ layers: [] }, 'ARGUMENT', 'lens.layers');
  wrong({ layers: [1, 0] }, 'ARGUMENT', 'lens.layers');
  wrong({ layers: 'all' }, 'ARGUMENT', 'lens.layers');
  wrong({ prompts: 0 }, 'ARGUMENT', 'lens.prompts');
  wrong({ width: 1.5 }, 'ARGUMENT', 'lens.width');
  wrong({ width: 3 }, 'SHAPE', 'lens.matrices[0]');
  wrong({ matrices: undefined }, 'ARGUMENT', 'lens.matrices');
  for (const x of [65505, -Infinity, Number.NaN])
    wrong({ matrices: { 0: { data: Float32Array.of(0, x, 0, 0), shape: [C, C] } } }, 'ARGUMENT', 'lens.matrices[0]');
  for (const value of [null, undefined, 5]) assert.throws(() => writeJacobianLens(value), { parameter: 'lens' });
});
