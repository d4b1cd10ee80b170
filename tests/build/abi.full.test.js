// Checks that everything that C and JavaScript must agree on is generated from headlight.h: the exports of each binary,
// the offsets of arguments, and the fingerprint, which lets the module reject a binary of another build.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import * as abi from '../../dist/abi/abi.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const header = readFileSync(join(root, 'src/core/headlight.h'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'headlight-abi-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the generator on a header in a new folder. Returns the exports of the generated module. */
async function generate(name, text) {
  const place = join(folder, name);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'headlight.h'), text);
  const flags = ['-fsyntax-only', '-Xclang', '-fdump-record-layouts-complete', '-Xclang', '-ast-dump=json'];
  const input = execFileSync('emcc', [...flags, '-x', 'c', join(place, 'headlight.h')], { maxBuffer: 2 ** 26 });
  const decided = Object.entries(abi.BUILD).map(([name, value]) => `${name}=${value}`);
  const args = [join(root, 'src/build/abi.ts'), place, ...decided];
  execFileSync(process.execPath, args, { input, stdio: ['pipe', 'pipe', 'pipe'] });
  return { place, ...(await import(pathToFileURL(join(place, 'abi.js')).href)) };
}

/** Returns the header with `from` replaced by `to`. The header must contain `from`. */
function changed(from, to) {
  assert.ok(header.includes(from), from);
  return header.replace(from, to);
}

test('the fingerprint depends neither on the run nor on the comments of the header', async () => {
  const same = await generate('same', changed('/* bytes in live blocks', '/* Bytes in all the live blocks'));
  assert.equal(same.FINGERPRINT, abi.FINGERPRINT);
  assert.deepEqual(same.ATTENTION, abi.ATTENTION);
});

const CHANGES = {
  'an additional field': ['float scale;', 'float temperature;\n  float scale;'],
  'a missing field': ['uint32_t causal;', ''],
  'a field of a different type': ['int32_t window_left;', 'uint32_t window_left;'],
  'a different order': ['*bq, *bk,', '*bk, *bq,'],
  'a different value of an enumeration': ['HL_WEIGHTS_MEAN = 2', 'HL_WEIGHTS_MEAN = 3'],
  'an additional parameter': ['hl_add(float *sum,', 'hl_add(float *sum, float *carry,'],
  'a parameter of a different type': ['hl_memory_set_limit(double bytes)', 'hl_memory_set_limit(float bytes)'],
  'an additional function': ['HL_EXPORT void hl_recover', 'HL_EXPORT void hl_more(void);\nHL_EXPORT void hl_recover'],
};
for (const [i, [what, [from, to]]] of Object.entries(CHANGES).entries()) {
  test(`${what} in the header changes the fingerprint`, async () => {
    const { FINGERPRINT } = await generate(`change-${i}`, changed(from, to));
    assert.notEqual(FINGERPRINT, abi.FINGERPRINT);
  });
}

test('a module whose header has an additional field refuses a binary that was built without it', async () => {
  const { place, ATTENTION } = await generate('more', changed('float scale;', 'float temperature;\n  float scale;'));
  assert.equal(ATTENTION.scale, abi.ATTENTION.scale + 1);
  const other = {
    name: 'other header',
    setup: ({ onResolve }) => onResolve({ filter: /abi\/abi\.js$/ }, () => ({ path: join(place, 'abi.js') })),
  };
  const outfile = join(place, 'module.js');
  const entry = join(root, 'src/js/load/node.ts');
  await build({ entryPoints: [entry], bundle: true, format: 'esm', platform: 'node', outfile, plugins: [other] });
  const { load } = await import(pathToFileURL(outfile).href);
  const wasm = join(root, 'dist/headlight.simd128.wasm');
  await assert.rejects(load({ wasm }), { name: 'HeadlightError', code: 'LOAD', message: /headlight\.simd128\.wasm/ });
});

const REFUSED = {
  'a field that does not have four bytes': ['float scale;', 'double scale;', /hl_attention_args\.scale/],
  'a parameter that JavaScript cannot pass as a number': ['hl_add(float *sum,', 'hl_add(uint64_t sum,', /hl_add/],
  'a prototype without HL_EXPORT': ['HL_EXPORT uint32_t hl_simd', 'uint32_t hl_simd', /hl_simd .*without HL_EXPORT/],
};
for (const [i, [what, [from, to, message]]] of Object.entries(REFUSED).entries()) {
  test(`${what} stops the build`, async () => {
    await assert.rejects(generate(`refused-${i}`, changed(from, to)), ({ stderr }) => message.test(stderr));
  });
}

test('the offsets equal those of the compiler', () => {
  const source = join(folder, 'offsets.c');
  const lines = Object.entries({
    'hl_attention_args, dropout': abi.ATTENTION.dropout,
    'hl_multihead_args, query_dim': abi.MULTIHEAD.queryDim,
    'hl_multihead_backward_args, d_bias_value': abi.MULTIHEAD_BACKWARD.dBiasValue,
    'hl_loss, correct': abi.LOSS.correct,
  }).map(([field, word]) => `_Static_assert(offsetof(${field}) == 4 * ${word}, "${field}");`);
  const size = `_Static_assert(sizeof(hl_multihead_backward_args) == 4 * ${abi.WORDS.MULTIHEAD_BACKWARD}, "size");`;
  writeFileSync(source, ['#include <stddef.h>', '#include "headlight.h"', ...lines, size].join('\n'));
  execFileSync('emcc', ['-fsyntax-only', `-I${join(root, 'src/core')}`, source], { stdio: 'pipe' });
});
