// Tests the core as a library of programs in C and C++. The full tier tests other compilers and WebAssembly.

import assert from 'node:assert/strict';
import test from 'node:test';
import { buildLibrary, expectedExample, has, runWith, writeExample } from '../support/native.js';

const compiler = process.env.CC ?? 'cc';
/** Compiles the core once; a file that has not changed is not compiled again. */
const library = has(compiler) && buildLibrary('cc', compiler, '-O1');
const skip = !library && 'no C compiler is installed';

test('the example program in the README of the core gives the right result', { skip }, () => {
  assert.equal(runWith(library, compiler, writeExample(library)), expectedExample());
});

test('the example program is valid C++', { skip: skip || (!has('c++') && 'no C++ compiler is installed') }, () => {
  assert.equal(runWith(library, 'c++', writeExample(library), 'c++'), expectedExample());
});

test('the core does not write into blocks of the program, and refuses a struct of zeros', { skip }, () => {
  assert.equal(runWith(library, compiler, 'tests/core/linked.c'), 'ok\n');
});
