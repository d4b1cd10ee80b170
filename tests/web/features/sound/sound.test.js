// Tests models of sound in the page: the initial sound, and a file that is dropped.

import assert from 'node:assert/strict';
import test from 'node:test';
import { dropFile, faults, page } from '../../../support/page.js';
import { openListener, PROMPT, ready, strip, title } from '../../../support/soundPage.js';
import { tone, wavOf } from '../../../support/wave.js';

test('Whisper hears a first sound, and a file that is dropped takes its place', async () => {
  await openListener('whisper');
  assert.equal(await title(), 'A sound of 1.0 s');
  assert.match(await page.locator('.sound-title p').textContent(), /^0\.8 s of silence follow/);
  assert.equal(await page.locator('.second').inputValue(), PROMPT);
  const first = await strip();
  assert.deepEqual(first.strip, first.matrix, 'the spectrogram is as wide as the columns');
  assert.equal(first.gap, 4);
  // The file has 44100 samples per second, which the browser resamples.
  await dropFile('tone.wav', wavOf(tone(0.6, 44100, 3000), 44100));
  await page.waitForFunction(() => part('.sound-title h2').textContent === 'A sound of 0.6 s');
  await ready();
  const second = await strip();
  const loudest = (/** @type {number[]} */ levels) => levels.indexOf(Math.max(...levels));
  assert.ok(loudest(second.levels) > loudest(first.levels), 'the tone is higher');
  assert.deepEqual(second.strip, second.matrix);
  assert.deepEqual(faults, []);
});
