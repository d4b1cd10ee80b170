// Reads valid, damaged and random files of Jacobian lenses. A valid file must give its lens; any other file must give a
// complete lens or a HeadlightError with a short message.
//
//   node tests/fuzz/lens.js [count] [seed]

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { HeadlightError } from 'headlight-attention';
import { readJacobianLens, writeJacobianLens } from 'headlight-attention/analysis';
import { pickle, tensor, torchZip } from '../support/torch_files.js';
import { makeSource } from './source.js';
import { anyValue, damage } from './torch.js';

const GOLDEN = new URL('../golden/lens/', import.meta.url);
const DTYPES = ['F16', 'F32', 'BF16'];
const SIZES = { F16: 2, F32: 4, BF16: 2 };
/** Upper byte that makes an element of each of these types a small positive number. */
const ONE = 0x3c;

/** Makes a lens. Returns its fields, its storages, and the result that the reader must give. */
function makeLens(source) {
  const width = source.between(1, 5);
  const layers = Array.from({ length: source.between(1, 4) }, (_, i) => 3 * i + source.below(3));
  const storages = layers.map((_, key) => {
    const dtype = source.pick(DTYPES);
    const bytes = Uint8Array.from({ length: width * width * SIZES[dtype] }, (_, i) =>
      i % SIZES[dtype] === SIZES[dtype] - 1 ? ONE : source.below(256),
    );
    return { key, dtype, count: width * width, bytes };
  });
  const order = source.chance(0.5) ? layers : [...layers].reverse();
  const matrices = order.map((layer) => [layer, tensor(storages[layers.indexOf(layer)], [width, width], [width, 1])]);
  const prompts = source.between(1, 70000);
  const fields = new Map([
    ['J', new Map(matrices)],
    ['n_prompts', prompts],
    ['source_layers', order],
    ['d_model', width],
  ]);
  return { fields, storages, expected: { layers, prompts, width } };
}

function right(source) {
  const { fields, storages, expected } = makeLens(source);
  return { bytes: torchZip(fields, storages), expected };
}

/** Makes a file with a damaged pickle in a valid archive. */
function damagedPickle(source) {
  const { fields, storages } = makeLens(source);
  return { bytes: torchZip(null, storages, { bytes: damage(pickle(fields), source) }) };
}

/** Makes a file in which some fields, or some entries of the dict from layers to matrices, are random or missing. */
function madeUp(source) {
  const { fields, storages } = makeLens(source);
  const J = fields.get('J');
  for (let i = source.below(3); i >= 0; i--) {
    const map = source.chance(0.5) ? fields : J;
    const key = source.chance(0.8) && map.size > 0 ? source.pick([...map.keys()]) : anyValue(source);
    if (source.chance(0.2)) map.delete(key);
    else map.set(key, anyValue(source));
  }
  return { bytes: torchZip(source.chance(0.95) ? fields : anyValue(source), storages) };
}

/** Returns the lens, or undefined if the file is refused with a valid error. */
function answer(bytes) {
  try {
    return readJacobianLens(bytes);
  } catch (error) {
    assert.ok(error instanceof HeadlightError && error.code === 'FORMAT', error?.stack);
    assert.ok(error.message.length < 900, `a message of ${error.message.length} characters`);
    return undefined;
  }
}

function check(bytes, expected) {
  const lens = answer(bytes);
  if (!lens) {
    assert.ok(!expected, 'a right file was refused');
    return false;
  }
  const { layers, matrices, prompts, width } = lens;
  if (expected) assert.deepEqual({ layers, prompts, width }, expected);
  assert.deepEqual(Object.keys(matrices), layers.map(String));
  for (const { data, shape } of Object.values(matrices)) {
    assert.deepEqual([shape, data.length], [[width, width], width * width]);
    assert.ok(data.every(Number.isFinite));
  }
  // Writes the matrices in float16, and reads them again.
  const again = answer(writeJacobianLens({ ...lens, matrices: rounded(matrices) }));
  assert.deepEqual([again.layers, again.prompts, again.width], [layers, prompts, width]);
  return true;
}

/** Rounds matrices to numbers that float16 represents. */
const rounded = (matrices) =>
  Object.fromEntries(
    Object.entries(matrices).map(([layer, { data, shape }]) => [
      layer,
      { data: data.map((x) => Math.max(-65504, Math.min(65504, x))), shape },
    ]),
  );

/**
 * @param {number} total files
 * @param {number} seed
 * @returns {Record<string, { files: number, read: number, slowest: number }>} counts by kind of file; slowest in
 * milliseconds
 */
export function fuzzLens(total, seed) {
  const names = readdirSync(GOLDEN).filter((name) => name.endsWith('.pt'));
  const golden = names.map((name) => new Uint8Array(readFileSync(new URL(name, GOLDEN))));
  /**
   * Functions by kind of file, which return the bytes of a file, and its lens if the lens is known.
   * @type {Record<string, Function>}
   */
  const kinds = {
    lens: right,
    'damaged lens': (source) => ({ bytes: damage(right(source).bytes, source) }),
    'damaged file of PyTorch': (source) => ({ bytes: damage(source.pick(golden), source) }),
    'damaged pickle': damagedPickle,
    'made up': madeUp,
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
  console.table(fuzzLens(total, seed));
}
