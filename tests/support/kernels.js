// Loads the core with exported internal functions, in each flavour that this Node supports. Arguments are in memory
// between guard values.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const GUARD = 12345.678;
const MARGIN = 16;

class Kernels {
  constructor(module) {
    this.core = new WebAssembly.Instance(module, {}).exports;
    this.flavour = this.core.hl_simd() === 1 ? 'relaxed' : 'simd128';
    this.tileRows = this.flavour === 'relaxed' ? 6 : 5;
    this.blocks = [];
  }

  /** Allocates a block of floats (a number, or values) between guard values. */
  block(content) {
    const values = typeof content === 'number' ? new Float32Array(content).fill(GUARD) : Float32Array.from(content);
    const pointer = this.core.hl_tensor_alloc(values.length + 2 * MARGIN) >>> 0;
    const block = { at: pointer + 4 * MARGIN, start: pointer, length: values.length };
    this.blocks.push(block);
    this.view(block, true).fill(GUARD);
    this.view(block).set(values);
    return block;
  }

  view({ at, start, length }, whole = false) {
    const buffer = this.core.memory.buffer;
    return whole ? new Float32Array(buffer, start, length + 2 * MARGIN) : new Float32Array(buffer, at, length);
  }

  /** Frees every block, and checks its guard values. */
  close() {
    for (const block of this.blocks) {
      const whole = this.view(block, true);
      const guards = [...whole.subarray(0, MARGIN), ...whole.subarray(MARGIN + block.length)];
      assert.ok(
        guards.every((x) => x === Math.fround(GUARD)),
        'a guard value was overwritten',
      );
      assert.equal(this.core.hl_tensor_free(block.start), 0);
    }
    this.blocks = [];
  }
}

/**
 * Writes an argument struct into linear memory. Missing fields are 0.
 * @param {Kernels} k
 * @param {Record<string, number>} places offsets of the fields in words
 * @param {number} size in words
 * @param {Record<string, number | number[]>} words values of pointers and integers
 * @param {Record<string, number>} floats
 */
export function struct(k, places, size, words, floats) {
  const block = k.block(new Float32Array(size));
  const ints = new Uint32Array(k.core.memory.buffer, block.at, size);
  for (const [name, value] of Object.entries(words)) ints.set([].concat(value), places[name]);
  for (const [name, value] of Object.entries(floats)) k.view(block)[places[name]] = value;
  return block;
}

/** Name of the flavour, if only one flavour has been built. */
const only = process.env.HEADLIGHT_FLAVOUR;
const flavours = (only ? [only] : ['simd128', 'relaxed'])
  .map((flavour) => readFileSync(new URL(`../../dist/test/core.${flavour}.wasm`, import.meta.url)))
  .filter((bytes) => WebAssembly.validate(bytes))
  .map((bytes) => new WebAssembly.Module(bytes));

/** Opens a new core of each flavour. */
export const openKernels = () => flavours.map((module) => new Kernels(module));

/** Runs a test once for each flavour, on a new core. */
export function kernels(fn) {
  return () => {
    for (const k of openKernels()) {
      fn(k);
      k.close();
    }
  };
}

/** Returns pseudo-random numbers in [−1, 1), the same in each run. */
export function numbers(count, seed = 1) {
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) / 8388608 - 1;
  });
}

/** Checks that |actual − expected| ≤ limit · the largest |expected|. */
export function assertClose(actual, expected, limit, what = '') {
  assert.equal(actual.length, expected.length);
  const scale = expected.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  for (let i = 0; i < expected.length; i++) {
    assert.ok(
      Math.abs(actual[i] - expected[i]) <= limit * scale,
      `${what} element ${i} is ${actual[i]}, expected ${expected[i]}`,
    );
  }
}
