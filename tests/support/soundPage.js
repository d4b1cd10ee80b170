// Opens the page with a model of sound.

import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCheckpoint } from './checkpoint.js';
import { openChooser, openPage, page, spoil } from './page.js';

/** The tokens with which the decoder of the tiny Whisper begins. */
export const PROMPT = '<|en|><|transcribe|><|notimestamps|>';
export const ready = () => page.waitForFunction(() => part('.page').dataset.busy === 'false' && part('.sound-title'));
export const title = () => page.locator('.sound-title h2').textContent();

/** Writes the files of a tiny model to a new folder. @param {'whisper' | 'wav2vec2'} name */
export function filesOf(name) {
  const folder = mkdtempSync(join(tmpdir(), 'headlight-'));
  makeCheckpoint(folder, name);
  return readdirSync(folder).map((file) => join(folder, file));
}

/** Opens a tiny model. @param {'whisper' | 'wav2vec2'} name */
export async function openListener(name) {
  await openPage();
  spoil();
  await openChooser();
  await page.locator('.list.panel input[type=file]').first().setInputFiles(filesOf(name));
  await ready();
}

/**
 * Returns the left edge and width of the spectrogram, and the sum of the opacities of the pixels in each tenth of the
 * height, beginning with the lowest frequencies.
 */
export const strip = () =>
  page.evaluate(() => {
    const [matrix, canvas] = ['.matrix', '.spectrogram canvas'].map((name) => part(name));
    const { width, height } = canvas;
    const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
    const levels = new Array(10).fill(0);
    for (let y = 0; y < height; y++)
      for (let x = 0; x < width; x++)
        levels[Math.floor(((height - 1 - y) * 10) / height)] += data[4 * (y * width + x) + 3];
    const [a, b] = [matrix, canvas].map((element) => element.getBoundingClientRect());
    return { levels, matrix: [a.left, a.width], strip: [b.left, b.width], gap: b.top - a.bottom };
  });
