// Tests that the page prepares pictures by the settings that the module has read, wherever the files have them.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { load } from 'headlight-attention';
import { openCheckpoint } from '../../../../web/worker/sources/checkpointFiles.ts';
import { makeCheckpoint } from '../../../support/checkpoint.js';

const hl = await load();
const folder = mkdtempSync(join(tmpdir(), 'headlight-checkpoint-'));
makeCheckpoint(folder, 'vit');
/** A canvas on which everything is black. */
globalThis.OffscreenCanvas = class {
  getContext() {
    const data = (_x, _y, width, height) => ({ data: new Uint8ClampedArray(4 * width * height) });
    const gradient = { addColorStop() {} };
    const known = { getImageData: data, createLinearGradient: () => gradient };
    return new Proxy(known, { get: (own, name) => own[name] ?? (() => {}), set: () => true });
  }
  transferToImageBitmap() {
    return { width: 1, height: 1 };
  }
};
after(() => {
  hl.dispose();
  rmSync(folder, { recursive: true });
});

/** Opens the checkpoint with other settings of pictures, and returns what is missing and the first pixel. */
async function openWith(settings) {
  const names = readdirSync(folder).filter((name) => name !== 'preprocessor_config.json');
  const given = {
    ...Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name))])),
    ...Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, JSON.stringify(value)])),
  };
  const files = Object.entries(given).map(([path, text]) => ({ path, file: new File([text], path) }));
  const { signal } = new AbortController();
  const { source, summary } = await openCheckpoint(hl, 'm', files, { title: 'm', signal, onProgress() {} });
  const [first] = source.pixels.data;
  source.dispose?.();
  return { missing: summary.missing, first };
}

test('pictures are normalized by preprocessor_config.json, or by processor_config.json, or by defaults', async () => {
  const fields = { image_mean: [0.25, 0.25, 0.25], image_std: [0.125, 0.125, 0.125] };
  assert.deepEqual(await openWith({ 'preprocessor_config.json': fields }), { missing: [], first: -2 });
  assert.deepEqual(await openWith({ 'processor_config.json': { image_processor: fields } }), {
    missing: [],
    first: -2,
  });
  assert.deepEqual(await openWith({}), { missing: ['preprocessor'], first: -1 });
});
