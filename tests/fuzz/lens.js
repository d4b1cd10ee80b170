// Files of Jacobian lenses, right, damaged and made up, through the reader. A right file gives its lens; any other
// gives a whole lens or a HeadlightError with a short message.
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
/** An element is a small number if its upper byte is this one. */
const ONE = 0x3c;

/** The fields of a lens, its storages, and what the reader gives. */
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

/** The pickle is damaged, and the archive around it is right. */
function damagedPickle(source) {
  const { fields, storages } = makeLens(source);
  return { bytes: torchZip(null, storages, { bytes: damage(pickle(fields), source) }) };
}

/** Some fields, keys of layers or matrices are replaced by any value. */
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

/** The lens, or undefined for a file that is refused as it should be. */
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
  // In float16, written and read again.
  const again = answer(writeJacobianLens({ ...lens, matrices: rounded(matrices) }));
  assert.deepEqual([again.layers, again.prompts, again.width], [layers, prompts, width]);
  return true;
}

/** Matrices whose numbers float16 holds. */
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
 * @returns {Record<string, { files: number, read: number, slowest: number }>} by kind; slowest in milliseconds
 */
export function fuzzLens(total, seed) {
  const names = readdirSync(GOLDEN).filter((name) => name.endsWith('.pt'));
  const golden = names.map((name) => new Uint8Array(readFileSync(new URL(name, GOLDEN))));
  /** Each returns the bytes of a file, and its lens if it is known. @type {Record<string, Function>} */
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
