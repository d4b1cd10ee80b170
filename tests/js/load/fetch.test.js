import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { load as inline } from 'headlight-attention/inline';
import { load } from '../../../dist/headlight.js';

test('without fetch, as in the jsdom environment of Jest, the error says what to do', async () => {
  const { fetch } = globalThis;
  globalThis.fetch = undefined;
  try {
    await assert.rejects(load(), {
      name: 'HeadlightError',
      code: 'LOAD',
      parameter: 'wasm',
      message: /cannot read .*\.wasm, because there is no global fetch\. Import .*\/inline.*node environment of Jest/,
    });
    const wasm = await readFile(new URL('../../../dist/headlight.simd128.wasm', import.meta.url));
    for (const hl of [await load({ wasm }), await inline()]) {
      assert.deepEqual(hl.add([1], [2]).toArray(), [3]);
      hl.dispose();
    }
  } finally {
    globalThis.fetch = fetch;
  }
});
