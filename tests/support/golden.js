// Reads packs of golden vectors, NAME.json and NAME.bin, and compares results with them.
//
// A tensor is stored at an offset of the .bin, or made by a seeded generator. `outputs` are the results of the source
// in float32; `outputs64`, computed in float64 from the same inputs, is the reference of the tests.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { uniformSource } from '../../src/js/ops/random.ts';

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  float16: Uint16Array,
  bool: Uint8Array,
  int32: Int32Array,
  int64: BigInt64Array,
};

function half(h) {
  const sign = h & 0x8000 ? -1 : 1;
  const exponent = (h >> 10) & 31;
  const fraction = h & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function generate({ seed, lo, hi }, count) {
  const next = uniformSource(seed);
  return Float32Array.from({ length: count }, () => lo + (hi - lo) * next());
}

function readTensor(tensor, bin) {
  const count = tensor.shape.reduce((a, b) => a * b, 1);
  if (tensor.gen) return { ...tensor, data: generate(tensor.gen, count) };
  const bytes = bin.buffer.slice(bin.byteOffset + tensor.offset, bin.byteOffset + tensor.offset + tensor.bytes);
  const raw = new ARRAYS[tensor.dtype](bytes);
  if (raw.length !== count) throw new Error(`${tensor.name}: ${raw.length} elements for ${tensor.shape}`);
  if (tensor.dtype === 'float16') return { ...tensor, data: Float32Array.from(raw, half) };
  if (tensor.dtype === 'int64') return { ...tensor, data: Int32Array.from(raw, Number) };
  return { ...tensor, data: raw };
}

/** Returns the tensors of a list by name. The list may have empty entries. */
const byName = (list, bin) => Object.fromEntries((list ?? []).filter(Boolean).map((t) => [t.name, readTensor(t, bin)]));

export const GOLDEN = join(dirname(fileURLToPath(import.meta.url)), '../golden');

/**
 * Reads the cases of a pack. Each has its fields, with inputs, outputs and outputs64 as objects from name to
 * { shape, dtype, data }.
 */
export function readPack(name, folder = GOLDEN) {
  const manifest = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
  const bin = readFileSync(join(folder, manifest.bin));
  return manifest.cases.map((c) => ({
    ...c,
    inputs: byName(c.inputs, bin),
    outputs: byName(c.outputs, bin),
    outputs64: byName(c.outputs64, bin),
  }));
}

/** Returns the elements of a result whose expected values the case stores. */
export function sampled(actual, testCase, name) {
  const index = testCase.inputs[`index.${name}`];
  return index ? Float64Array.from(index.data, (i) => actual[i]) : actual;
}

/**
 * Returns the largest difference of any gradient. It is relative to the largest value of all gradients, because the
 * gradient of a key bias is only rounding errors.
 */
export function gradientDifference(actual, expected) {
  const largest = (data) => data.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  const scale = Math.max(...Object.values(expected).map(({ data }) => largest(data)));
  return Math.max(
    ...Object.entries(expected).map(
      ([name, { data }]) => (difference(actual[name], data) * (largest(data) || 1)) / scale,
    ),
  );
}

/** Returns the gradients that a case expects, by the names of its inputs. */
export const expectedGradients = (c) =>
  Object.fromEntries(
    Object.entries(c.outputs64)
      .filter(([name]) => name.startsWith('grad.'))
      .map(([name, x]) => [name.slice(5), x]),
  );

/** Returns the gradients of the parameters of a layer, under the names of a layout. */
export function gradientState(hl, layer, layout) {
  const state = hl.multiHeadAttention(layer.options).loadStateDict(layer.gradients, 'headlight').stateDict(layout);
  return Object.fromEntries(Object.entries(state).map(([name, { data }]) => [name, data]));
}

/** Returns the largest difference, relative to the largest finite expected value. NaN and infinities must be equal. */
export function difference(actual, expected) {
  if (actual.length !== expected.length) throw new Error(`${actual.length} elements, expected ${expected.length}`);
  let scale = 0;
  for (const e of expected) if (Number.isFinite(Number(e))) scale = Math.max(scale, Math.abs(Number(e)));
  let worst = 0;
  for (let i = 0; i < expected.length; i++) {
    const [a, e] = [Number(actual[i]), Number(expected[i])];
    if (Number.isFinite(a) && Number.isFinite(e)) worst = Math.max(worst, Math.abs(a - e));
    else if (!Object.is(a, e)) return Infinity;
  }
  return scale > 0 ? worst / scale : worst;
}

/**
 * Returns the files of a golden model by name, without the expected values.
 * @param {string} folder a name, or a path
 */
export function modelFiles(folder) {
  const path = resolve(GOLDEN, 'models', folder);
  return Object.fromEntries(
    readdirSync(path)
      .filter((name) => !name.startsWith('expected'))
      .map((name) => [name, new Uint8Array(readFileSync(join(path, name)))]),
  );
}
