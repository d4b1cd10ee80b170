// Tests files of llama.cpp and of PyTorch that are dropped on the page.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { strings } from '../../../../web/texts/en.ts';
import { hl } from '../../../support/headlight.js';
import { dropFile, faults, openPage, page, spoil } from '../../../support/page.js';

const golden = (name) => fileURLToPath(new URL(`../../../golden/${name}`, import.meta.url));

/** Drops a file on the page, and waits until the heads of the model are shown. */
async function drop(name, bytes, heads) {
  await dropFile(name, bytes);
  await page.waitForFunction(
    (heads) =>
      part('.page').dataset.busy === 'false' &&
      document.querySelector('body > div').shadowRoot.querySelectorAll('[data-head]').length === heads,
    heads,
  );
}

for (const [what, name, file, size] of [
  ['a GGUF file', 'model.gguf', 'gguf/llama-q4_k_m.gguf', [2, 4]],
  ['a checkpoint of nanoGPT', 'ckpt.pt', 'torch/nanogpt.pt', [2, 2]],
])
  test(`${what} that is dropped shows its heads`, async () => {
    await openPage();
    spoil();
    const bytes = readFileSync(golden(file));
    const model = await hl.openModel({ [name]: bytes });
    const { layers, numHeads } = model.options;
    assert.deepEqual([layers, numHeads], size);
    await drop(name, bytes, layers * numHeads);
    const told = await page.locator('.told').textContent();
    assert.match(told, new RegExp(`: ${layers} layers × ${numHeads} heads`));
    // The size of the file is not the size in memory.
    const parameters = [...model.weights.values()].reduce(
      (sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1),
      0,
    );
    assert.ok(told.includes(`File: ${strings.bytes(bytes.length)}. In memory: ${strings.bytes(4 * parameters)}`), told);
    assert.deepEqual(faults, []);
    model.dispose();
  });
