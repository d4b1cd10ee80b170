// Links the core into other programs with every available compiler, and into another .wasm.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { WASI } from 'node:wasi';
import { buildLibrary, expectedExample, has, hasRuntime, run, runWith, writeExample } from '../support/native.js';

const SANITIZE = '-fsanitize=address,undefined';

for (const compiler of ['gcc', 'clang-19']) {
  for (const [name, flags] of [
    ['plain', '-O3'],
    ['sanitized', `-O1 -g ${SANITIZE} -fno-sanitize-recover=all`],
  ]) {
    const can = name === 'plain' ? has(compiler) : hasRuntime(compiler, SANITIZE);
    test(`${compiler}, ${name}: the library compiles without warnings and its programs give the right results`, {
      skip: !can && `${compiler} or its sanitizers are not installed`,
    }, () => {
      const library = buildLibrary(`${compiler}-${name}`, compiler, flags);
      const linker = name === 'plain' ? compiler : [compiler, SANITIZE];
      assert.equal(runWith(library, linker, writeExample(library)), expectedExample());
      assert.equal(runWith(library, linker, 'tests/core/linked.c'), 'ok\n');
    });
  }
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const sources = readdirSync(join(root, 'src/core'), { recursive: true })
  .filter((name) => name.endsWith('.c'))
  .map((name) => join('src/core', name));

test('a .wasm that contains a program and the core has one allocator for both', { skip: !has('emcc') }, async () => {
  const file = join(tmpdir(), `headlight-linked-${process.pid}.wasm`);
  const flags = ['-O1', '-msimd128', '-sSTANDALONE_WASM', '-sALLOW_MEMORY_GROWTH'];
  run('emcc', 'tests/core/linked.c', ...sources, '-Isrc/core', ...flags, '-o', file);
  const wasi = new WASI({ version: 'preview1', returnOnExit: true });
  const notify = { emscripten_notify_memory_growth() {} };
  const { instance } = await WebAssembly.instantiate(readFileSync(file), { ...wasi.getImportObject(), env: notify });
  assert.equal(wasi.start(instance), 0);
});
