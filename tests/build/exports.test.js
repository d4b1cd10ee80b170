// Checks that each binary exports the functions that headlight.h declares.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

const file = (path) => readFileSync(new URL(`../../${path}`, import.meta.url));
const header = file('src/core/headlight.h').toString();

/**
 * Returns the names of functions and memories in the export section. They are read from the bytes because this Node may
 * not support relaxed SIMD.
 */
function exportsOf(bytes) {
  let at = 8;
  const number = () => {
    for (let value = 0, shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  for (;;) {
    const [id, size] = [bytes[at++], number()];
    if (id !== 7) {
      at += size;
      continue;
    }
    return Array.from({ length: number() }, () => {
      const length = number();
      const name = bytes.toString('latin1', at, at + length);
      at += length + 1;
      number();
      return name;
    });
  }
}

const prototypes = [...header.matchAll(/^HL_EXPORT [^;]*?\b(hl_\w+)\(/gm)].map(([, name]) => name);
/** Exports that Emscripten adds to every binary. */
const RUNTIME = ['memory', '__indirect_function_table', '_initialize', '__errno_location'];
const STACK = ['stackSave', 'stackRestore', 'stackAlloc'];

for (const flavour of ['simd128', 'relaxed', 'simd128-threads', 'relaxed-threads']) {
  test(`headlight.${flavour}.wasm exports every function of the header and nothing else`, () => {
    const threads = flavour.endsWith('-threads');
    const expected = prototypes.filter((name) => threads || !name.startsWith('hl_pool_'));
    const runtime = [...RUNTIME.filter((name) => name !== 'memory' || !threads), ...STACK, '__stack_pointer'];
    const found = exportsOf(file(`dist/headlight.${flavour}.wasm`));
    assert.deepEqual(found.sort(), [...expected, ...runtime].sort());
  });
}
