// Reads and writes files of Jacobian lenses as the authors' Python package jlens does: a dict { J: { layer: matrix },
// n_prompts, source_layers, d_model } saved by torch.save. Nothing in the file is executed.

import { argumentError } from '../../check/errors.ts';
import { quote } from '../../check/quote.ts';
import { formatError, readBytes } from '../../io/bytes.ts';
import { readTorchArchive } from '../../io/torch.ts';
import { locateTensors, readTensor, type TorchRange, TorchTensor } from '../../io/torchTensors.ts';
import { writeTorchArchive } from '../../io/torchWriter.ts';
import { type JacobianLens, makeLens, readLens } from './jacobianLens.ts';

const VOCABULARY = {
  globals: [
    'collections OrderedDict',
    'torch._utils _rebuild_tensor_v2',
    'torch HalfStorage',
    'torch FloatStorage',
    'torch BFloat16Storage',
  ],
  format: 'a Jacobian lens',
};
const FIELDS = ['J', 'n_prompts', 'source_layers', 'd_model'];
/** The largest number of float16. */
const MAX_HALF = 65504;

/**
 * Reads a file of writeJacobianLens or of the Python package jlens. `changes` is empty, because the file does not
 * contain it.
 */
export function readJacobianLens(source: ArrayBuffer | ArrayBufferView): JacobianLens {
  const caller = 'readJacobianLens';
  const bytes = readBytes(caller, source);
  const { value, begins } = readTorchArchive(caller, bytes, VOCABULARY);
  const fields = readFields(caller, value);
  const width = readInteger(caller, 'd_model', fields.get('d_model'), 1);
  const prompts = readInteger(caller, 'n_prompts', fields.get('n_prompts'), 1);
  const tensors = readTensors(caller, fields.get('J'));
  const layers = [...tensors.keys()].sort((a, b) => a - b);
  checkLayers(caller, fields.get('source_layers'), layers);
  const named = new Map(layers.map((layer) => [nameOf(layer), tensors.get(layer) as TorchTensor]));
  const ranges = locateTensors(caller, named, begins, bytes.length);
  for (const [name, { shape }] of ranges)
    if (shape.length !== 2 || shape[0] !== width || shape[1] !== width)
      throw wrong(caller, name, shape, `the shape [${width},${width}], because d_model is ${width}`);
  const matrices = layers.map((layer) => {
    const name = nameOf(layer);
    const range = ranges.get(name) as TorchRange;
    // All storage types of the vocabulary are decoded to float32.
    const data = readTensor(caller, name, range, bytes).data as Float32Array;
    checkFinite(caller, name, data);
    return [layer, data] as [number, Float32Array];
  });
  return makeLens({ layers, matrices: new Map(matrices), prompts, width }, []);
}

const nameOf = (layer: number) => `J[${layer}]`;

const wrong = (caller: string, name: string, got: unknown, expected: string) =>
  formatError(caller, `${name} is ${describe(got)}, expected ${expected}`, { parameter: name, expected, got });

const describe = (value: unknown) =>
  value instanceof Map
    ? 'a dict'
    : value instanceof TorchTensor
      ? 'a tensor'
      : value === undefined
        ? 'missing'
        : quote(value);

function readFields(caller: string, value: unknown): Map<unknown, unknown> {
  const expected = `a dict of ${FIELDS.join(', ')}`;
  if (!(value instanceof Map)) throw wrong(caller, 'the content of the file', value, expected);
  for (const name of FIELDS) if (!value.has(name)) throw wrong(caller, name, undefined, expected);
  for (const name of value.keys())
    if (!FIELDS.includes(name as string))
      throw formatError(caller, `the dict has the key ${describe(name)}, expected ${expected}`, {
        parameter: 'bytes',
        expected: FIELDS,
        got: name,
      });
  return value;
}

function readInteger(caller: string, name: string, value: unknown, least: number) {
  if (!Number.isSafeInteger(value) || (value as number) < least)
    throw wrong(caller, name, value, `an integer of at least ${least}`);
  return value as number;
}

function readTensors(caller: string, value: unknown): Map<number, TorchTensor> {
  const expected = 'a dict from layers to matrices, one at least';
  if (!(value instanceof Map) || value.size === 0) throw wrong(caller, 'J', value, expected);
  const tensors: Map<number, TorchTensor> = new Map();
  for (const [key, item] of value) {
    const layer = readInteger(caller, 'a key of J', key, 0);
    if (!(item instanceof TorchTensor)) throw wrong(caller, nameOf(layer), item, 'a tensor');
    tensors.set(layer, item);
  }
  return tensors;
}

function checkLayers(caller: string, value: unknown, layers: readonly number[]) {
  const same = Array.isArray(value) && value.length === layers.length && value.every(Number.isSafeInteger);
  const sorted = same ? [...value].sort((a, b) => a - b) : [];
  if (layers.some((layer, i) => layer !== sorted[i]))
    throw wrong(caller, 'source_layers', value, `the keys of J, ${quote(layers)}`);
}

function checkFinite(caller: string, name: string, data: Float32Array) {
  const at = data.findIndex((x) => !Number.isFinite(x));
  if (at >= 0)
    throw formatError(caller, `${name} contains ${data[at]} at index ${at}, expected finite numbers`, {
      parameter: name,
      expected: 'finite numbers',
      got: data[at],
    });
}

/** Returns a file that readJacobianLens and the Python package jlens can read. The matrices are in float16. */
export function writeJacobianLens(lens: JacobianLens): Uint8Array<ArrayBuffer> {
  const caller = 'writeJacobianLens';
  const { layers, matrices, prompts, width } = readLens(caller, 'lens', lens);
  for (const [layer, data] of matrices) {
    const large = data.find((x) => !(Math.abs(x) <= MAX_HALF));
    if (large !== undefined)
      throw argumentError(caller, `lens.matrices[${layer}]`, large, `numbers of float16, at most ${MAX_HALF}`);
  }
  const dict = layers.map((layer) => {
    const data = matrices.get(layer) as Float32Array;
    const tensor = { data, shape: [width, width], dtype: 'F16' };
    return [layer, { tensor }] as [number, { tensor: typeof tensor }];
  });
  return writeTorchArchive(caller, 'lens', {
    dict: [
      ['J', { dict }],
      ['n_prompts', prompts],
      ['source_layers', layers],
      ['d_model', width],
    ],
  });
}
