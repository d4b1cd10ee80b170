// Tests models of sound in the page: the text of speech, letters of frames, files that are refused, and a recording.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { launch } from '../../../support/chromium.js';
import { assertAccessible, dropFile, faults, openPage, page, server, settle, spoil } from '../../../support/page.js';
import { filesOf, openListener, PROMPT, ready, strip, title } from '../../../support/soundPage.js';
import { tone, wavOf, writeWav } from '../../../support/wave.js';

test('Whisper writes what it hears, and a new sound removes it', async () => {
  await openListener('whisper');
  await page.locator('[data-name=transcribe]').click();
  await page.waitForFunction((prompt) => part('.second').value.length > prompt.length, PROMPT);
  await page.waitForFunction(() => part('[data-name=transcribe]').textContent === 'transcribe');
  assert.match(await page.locator('.second').inputValue(), /^<\|de\|><\|transcribe\|><\|notimestamps\|>./);
  await settle();
  await dropFile('tone.wav', wavOf(tone(0.3, 16000, 500), 16000));
  await page.waitForFunction((prompt) => part('.second').value === prompt, PROMPT);
  await ready();
  assert.equal(await title(), 'A sound of 0.3 s');
});

test('wav2vec 2.0 names the letters of the chosen frame, and spells the sound', async () => {
  await openListener('wav2vec2');
  const shown = () => page.locator('.frame-letters h2').textContent();
  assert.equal(await shown(), 'Letters of the frame 0.50 s');
  assert.match(await page.locator('.spelled').textContent(), /^Text “?./);
  const letters = () => page.locator('.frame-letters .option').allTextContents();
  const before = await letters();
  await page.locator('.matrix').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  assert.equal(await shown(), 'Letters of the frame 0.54 s');
  assert.notDeepEqual(await letters(), before);
  const { strip: a, matrix: b } = await strip();
  assert.deepEqual(a, b);
  await assertAccessible();
  assert.deepEqual(faults, []);
});

test('a sound without a model that hears, and a file that is no sound, are refused', async () => {
  await openPage();
  spoil();
  await dropFile('tone.wav', wavOf(tone(0.3, 16000, 500), 16000));
  assert.match(await page.locator('.problem').textContent(), /First open a model for sound/);
  await openListener('wav2vec2');
  await dropFile('broken.wav', Buffer.from('no sound'));
  assert.match(await page.locator('.problem').textContent(), /cannot read the sound broken\.wav/);
  assert.equal(await title(), 'A sound of 1.0 s');
});

test('frames are the keys of the encoder and of the decoder that attends to it', async () => {
  await openListener('whisper');
  await page.locator('.parts button').nth(2).click();
  await page.waitForFunction(() => part('.cell-title, .reading')?.textContent.includes('notimestamps'));
  const cross = await strip();
  assert.deepEqual(cross.strip, cross.matrix, 'the same in the attention of the decoder to the encoder');
  await page.evaluate(() => part('.sort button').click());
  await page.evaluate(() => part('.sort [data-key=table]').click());
  await page.waitForFunction(() => part('.heads-table .how')?.textContent.endsWith('not the silence after them.'));
  await page.locator('.parts button').nth(1).click();
  await page.waitForFunction(() => !part('.spectrogram'));
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

test('a recording of the microphone takes the place of the sound', async () => {
  const wav = join(mkdtempSync(join(tmpdir(), 'headlight-')), 'tone.wav');
  writeWav(wav, tone(5, 48000, 3000), 48000);
  const microphone = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];
  const browser = await launch([...microphone, `--use-file-for-fake-audio-capture=${wav}`]);
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.addInitScript(() => {
      localStorage.setItem('first', 'seen');
      globalThis.part = (selector) => document.querySelector('body > div')?.shadowRoot.querySelector(selector);
    });
    await page.goto(server.url);
    await page.waitForFunction(() => part('.page')?.dataset.busy === 'false' && part('.thumbnail'));
    await page.locator('.model-menu > button').click();
    await page.locator('.model-menu [data-key=open]').click();
    await page.locator('.list.panel input[type=file]').first().setInputFiles(filesOf('wav2vec2'));
    await page.waitForFunction(() => part('.page').dataset.busy === 'false' && part('.sound-title'));
    await page.locator('[data-name=record]').click();
    await page.waitForFunction(() => part('.record').textContent === 'stop after 2 s');
    await page.locator('[data-name=record]').click();
    await page.waitForFunction(() => {
      const [, seconds] = /^A sound of (.*) s$/.exec(part('.sound-title h2').textContent) ?? [];
      return Number(seconds) > 1.2 && part('.record').textContent === 'record';
    });
    await page.waitForFunction(() => part('.page').dataset.busy === 'false');
    // The spectrogram contains the tone of 3000 Hz, which the initial sound does not have.
    const levels = await page.evaluate(() => {
      const canvas = part('.spectrogram canvas');
      const { width, height } = canvas;
      const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
      const sums = new Array(10).fill(0);
      for (let y = 0; y < height; y++)
        for (let x = 0; x < width; x++)
          sums[Math.floor(((height - 1 - y) * 10) / height)] += data[4 * (y * width + x) + 3];
      return sums;
    });
    assert.equal(levels.indexOf(Math.max(...levels)), 6, levels.join());
  } finally {
    await browser.close();
  }
});
