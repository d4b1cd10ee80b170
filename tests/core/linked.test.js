// The core as a library for programs in C and C++. The full tier has the other compilers, and WebAssembly.

import assert from 'node:assert/strict';
import test from 'node:test';
import { buildLibrary, expectedExample, has, runWith, writeExample } from '../support/native.js';

const compiler = process.env.CC ?? 'cc';
/** All of the core is compiled once; a file that has not changed is not compiled again. */
const library = has(compiler) && buildLibrary('cc', compiler, '-O1');
const skip = !library && 'no compiler here';

test('the program of the document of the core is right', { skip }, () => {
  assert.equal(runWith(library, compiler, writeExample(library)), expectedExample());
});

test('the same program is C++', { skip: skip || (!has('c++') && 'no compiler for C++ here') }, () => {
  assert.equal(runWith(library, 'c++', writeExample(library), 'c++'), expectedExample());
});

test('a program that allocates keeps its blocks; a struct of zeros is refused', { skip }, () => {
  assert.equal(runWith(library, compiler, 'tests/core/linked.c'), 'ok\n');
});
