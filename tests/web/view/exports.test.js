// What is saved and copied.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { readNpy, readSafetensors } from 'headlight/formats';
import { open, page, shownWeight, walk } from '../../support/page.js';
import { assertSame, expectedWeights } from '../../support/weights.js';

test('files hold what is shown: CSV, npy, safetensors, SVG, PNG', async () => {
  await open();
  await page.click('#share summary');
  const weight = expectedWeights({});
  const saved = async (id) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(id)]);
    return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
  };
  const npy = await saved('#npy');
  assert.match(npy.name, /^headlight-A-sentence-.*\.npy$/);
  const { shape, data } = readNpy(npy.bytes);
  assert.deepEqual(shape, [1, 8, 18, 18]);
  data.forEach((w, i) => assertSame(w, weight(0, Math.floor(i / 324), Math.floor(i / 18) % 18, i % 18), `weight ${i}`));
  const csv = (await saved('#csv')).bytes.toString().split('\r\n');
  assert.equal(csv.length, 20);
  await walk(7, 5);
  assert.equal(Math.fround(Number(csv[8].split(',').at(-13))), await shownWeight());
  assert.deepEqual(Object.keys(readSafetensors((await saved('#safetensors')).bytes).tensors).sort(), [
    'scores',
    'weights',
  ]);
  assert.match((await saved('#svg')).bytes.toString(), /^<svg .*pronoun/s);
  assert.equal((await saved('#png')).bytes.subarray(1, 4).toString(), 'PNG');
});

test('a link and a program are copied; where that is not allowed the text stands ready', async () => {
  await open({ permissions: ['clipboard-read', 'clipboard-write'] });
  await page.click('#share summary');
  await page.click('#code');
  await page.locator('#shared', { hasText: 'Program copied' }).waitFor();
  assert.match(
    await page.evaluate(() => navigator.clipboard.readText()),
    /hl\.attention\(\[query\], \[key\], \[value\]/,
  );
  await page.evaluate(() =>
    Object.defineProperty(navigator, 'clipboard', { value: { writeText: () => Promise.reject(new Error()) } }),
  );
  await page.click('#link');
  await page.locator('#copy:not([hidden])').waitFor();
  assert.match(await page.inputValue('#copy'), /#/);
});
