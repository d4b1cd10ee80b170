// Models of sound in the page: the first sound, a file that is dropped, and a microphone that is refused.

import assert from 'node:assert/strict';
import test from 'node:test';
import { assertAccessible, faults, page } from '../../../support/page.js';
import { drop, openListener, PROMPT, ready, strip, title } from '../../../support/soundPage.js';
import { tone, wavOf } from '../../../support/wave.js';

test('Whisper hears a first sound, and a file that is dropped takes its place', async () => {
  await openListener('whisper');
  assert.equal(await title(), 'A sound of 1.0 s');
  assert.match(await page.locator('.sound-title p').textContent(), /^0\.8 s of silence follow/);
  assert.equal(await page.locator('.second').inputValue(), PROMPT);
  const first = await strip();
  assert.deepEqual(first.strip, first.matrix, 'the spectrogram is as wide as the columns');
  assert.equal(first.gap, 4);
  // 44100 samples a second, which the browser converts.
  await drop('tone.wav', wavOf(tone(0.6, 44100, 3000), 44100));
  await page.waitForFunction(() => part('.sound-title h2').textContent === 'A sound of 0.6 s');
  await ready();
  const second = await strip();
  const loudest = (/** @type {number[]} */ levels) => levels.indexOf(Math.max(...levels));
  assert.ok(loudest(second.levels) > loudest(first.levels), 'the tone is higher');
  assert.deepEqual(second.strip, second.matrix);
  await assertAccessible();
  await page.locator('.parts button').nth(2).click();
  await page.waitForFunction(() => part('.cell-title, .reading')?.textContent.includes('notimestamps'));
  const cross = await strip();
  assert.deepEqual(cross.strip, cross.matrix, 'the same in the attention of the decoder to the encoder');
  await page.locator('.parts button').nth(1).click();
  await page.waitForFunction(() => !part('.spectrogram'));
  assert.deepEqual(faults, []);
});

test('a microphone that is refused leaves the sound, and says so', async () => {
  await openListener('wav2vec2');
  assert.equal(await page.locator('.sound-note').textContent(), 'Nothing is uploaded.');
  await page.evaluate(() => {
    navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', 'NotAllowedError'));
  });
  await page.locator('[data-name=record]').click();
  await page.waitForFunction(() => part('.sound-note').textContent.startsWith('The page may not use the microphone'));
  assert.equal(await page.locator('[data-name=record]').textContent(), 'record');
  await page.evaluate(() => {
    navigator.mediaDevices.getUserMedia = () => new Promise(() => {});
  });
  await page.locator('[data-name=record]').click();
  assert.match(await page.locator('.sound-note').textContent(), /^The browser asks/);
  await page.locator('[data-name=record]').click();
  assert.equal(await page.locator('.sound-note').textContent(), 'Nothing is uploaded.');
  assert.equal(await title(), 'A sound of 1.0 s');
});
