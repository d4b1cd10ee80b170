// Tests inputs and events that could stop the page: files of gigabytes, texts that are too long, two pages at once, and
// a worker that is killed. The page must report each of them and continue to work.

import assert from 'node:assert/strict';
import { mkdtempSync, openSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { writeNpy } from 'headlight-attention/formats';
import { faults, headSwitch, openChooser, openEmpty, page, server } from '../support/page.js';
import { attentions } from '../support/weights_file.js';

// This test file uses a separate browser, which reads opened files from the disk. All their bytes would have to be sent
// to the shared browser.
delete process.env.HEADLIGHT_CHROMIUM;

const GIGABYTES = 2 * 2 ** 30;
const folder = mkdtempSync(join(tmpdir(), 'headlight-'));
after(() => rm(folder, { recursive: true }));

const settled = () => page.waitForFunction(() => part('.page')?.dataset.busy === 'false');
async function open(hash = '') {
  await openEmpty({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
  await page.goto(`${server.url}${hash}`);
  await settled();
}
const shows = (selector, text) =>
  page.waitForFunction(([selector, text]) => part(selector)?.textContent.includes(text), [selector, text]);
const word = (name) => page.getByRole('button', { name, exact: true });
async function choose(...files) {
  await openChooser();
  await page.locator('input[data-name=files]').setInputFiles(files);
}

/** Makes a sparse file of a size, in which only the beginning has data. */
function sparse(name, start, size) {
  const path = join(folder, name);
  const file = openSync(path, 'w');
  writeSync(file, start);
  truncateSync(path, size);
  return path;
}
function safetensors(name, tensors) {
  let at = 0;
  const header = {};
  for (const [tensor, shape] of Object.entries(tensors)) {
    const bytes = 4 * shape.reduce((a, b) => a * b, 1);
    header[tensor] = { dtype: 'F32', shape, data_offsets: [at, at + bytes] };
    at += bytes;
  }
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return sparse(name, Buffer.concat([length, json]), 8 + json.length + at);
}

test('attention weights of 2 GB are looked at in parts: zeros are no attention, and that is said', async () => {
  await open();
  await choose(safetensors('attentions.safetensors', { attentions: [2, 16, 4096, 4096] }));
  await page.waitForFunction(
    () => part('.problem')?.textContent || part('.model-menu .under').textContent.includes('attentions'),
  );
  const said = await page.evaluate(() => part('.problem')?.textContent ?? '');
  // The error must come after only a few rows have been read.
  assert.match(said, /attentions \(2 × 16 × 4096 × 4096\).*no attention weights/);
  await shows('.model-menu .under', 'Moby');
});

test('files of 2 GB without a config, or with a wrong version, are refused with help', async () => {
  await open();
  await choose(sparse('pytorch_model.bin', 'PK', GIGABYTES));
  await shows('.problem', 'pytorch_model.bin holds the weights of a model, but config.json is missing');
  await page.keyboard.press('Escape');
  await choose(sparse('model.gguf', 'GGUF', GIGABYTES));
  await shows('.problem', 'the file has version 0 of GGUF, expected 2 or 3');
  await page.keyboard.press('Escape');
  const layer = (l) => ({
    [`h.${l}.attn.c_attn.weight`]: [4096, 12_288],
    [`h.${l}.attn.c_attn.bias`]: [12_288],
    [`h.${l}.attn.c_proj.weight`]: [4096, 4096],
    [`h.${l}.attn.c_proj.bias`]: [4096],
  });
  await choose(safetensors('model.safetensors', Object.assign({}, ...Array.from({ length: 8 }, (_, l) => layer(l)))));
  await shows('.problem', 'config.json is missing');
  assert.deepEqual(faults, []);
});

test('a model of 2 GB is read with progress while one goes on; cancelled, the next one opens', async () => {
  const C = 2048;
  const config = { model_type: 'gpt2', n_layer: 10, n_embd: C, n_head: 16, n_positions: 64, vocab_size: 1000 };
  const norm = (name) => ({ [`${name}.weight`]: [C], [`${name}.bias`]: [C] });
  const matrix = (name, from, to) => ({ [`${name}.weight`]: [from, to], [`${name}.bias`]: [to] });
  const block = (l) => ({
    ...norm(`h.${l}.ln_1`),
    ...matrix(`h.${l}.attn.c_attn`, C, 3 * C),
    ...matrix(`h.${l}.attn.c_proj`, C, C),
    ...norm(`h.${l}.ln_2`),
    ...matrix(`h.${l}.mlp.c_fc`, C, 4 * C),
    ...matrix(`h.${l}.mlp.c_proj`, 4 * C, C),
  });
  const blocks = Array.from({ length: config.n_layer }, (_, l) => block(l));
  const tensors = { 'wte.weight': [1000, C], 'wpe.weight': [64, C], ...Object.assign({}, ...blocks), ...norm('ln_f') };
  const weights = safetensors('model.safetensors', tensors);
  const about = join(folder, 'config.json');
  writeFileSync(about, JSON.stringify(config));
  await open();
  for (let round = 0; round < 2; round++) {
    await choose(about, weights);
    await page.waitForFunction(() => Number(part('.gauge')?.getAttribute('aria-valuenow')) >= 2);
    assert.match(await page.locator('.open .progress-text').textContent(), /of 2\.0\d GB/);
    // Meanwhile, the worker answers other requests.
    await page.evaluate((head) => part(`[data-head='${head}']`).click(), `0.${round}`);
    await settled();
    await shows('.corner h2', `Layer 0, head ${round}`);
    const share = await page.evaluate(() => Number(part('.gauge')?.getAttribute('aria-valuenow')));
    assert.ok(share < 100, 'it is still being read');
    await word('Cancel').click();
    await page.waitForFunction(() => part('.gauge') === null);
    await page.keyboard.press('Escape');
  }
  const path = join(folder, 'attentions.npy');
  writeFileSync(path, writeNpy(attentions([3, 2, 5, 5], true)));
  await choose(path);
  await shows('.model-menu .under', 'attentions.npy');
  assert.deepEqual(faults, []);
});

test('ten thousand tokens are pasted: as many as the model reads are, and that is said', async () => {
  await open();
  await page.locator('textarea').fill('Call me Ishmael. '.repeat(2500));
  await settled();
  await shows('.cut', 'Only the first 256 tokens are read.');
  assert.equal((await page.locator('textarea').inputValue()).length, 42_500);
  await page.waitForFunction(() => part('.prediction .option b') !== null);
  await page.locator("[data-head='0.1']").click();
  await settled();
  await shows('.corner h2', 'Layer 0, head 1');
  await page.keyboard.press('Control+z');
  await page.keyboard.press('Control+z');
  await page.waitForFunction(() => part('.cut') === null);
  assert.deepEqual(faults, []);
});

test('two pages train at once: both models are kept, each where it was', async () => {
  await open();
  // Two pages of one visitor share the storage of the browser.
  const visitor = await page.context().browser().newContext({ locale: 'en-GB' });
  await visitor.addInitScript(() => {
    globalThis.part = (selector) => document.querySelector('body > div')?.shadowRoot.querySelector(selector);
  });
  const [first, second] = [await visitor.newPage(), await visitor.newPage()];
  await first.goto(`${server.url}#panel=train`);
  await second.goto(`${server.url}#panel=train&training=previous.1.2.16.4.1`);
  const both = [first, second];
  for (const one of both) {
    await one.locator('.play').click();
    await one.waitForFunction(() => part('.play path:not(.full)') !== null);
  }
  for (const one of both) {
    await one.getByRole('button', { name: 'One step' }).click();
    await one.waitForFunction(() => part('.play path.full') !== null);
  }
  for (const one of both) {
    await one.reload();
    await one.locator('.model-menu .word').click();
    await one.waitForFunction(() => {
      const kept = part('.model-menu [role=menu]')?.textContent ?? '';
      return /Repeat, [1-9]\d* steps/.test(kept) && /Previous, [1-9]\d* steps/.test(kept);
    });
  }
  await visitor.close();
});

/** Ends the worker of the page, not one of the threads that the worker has started. */
const endWorker = () =>
  page
    .workers()
    .findLast((worker) => worker.url().includes('page.worker'))
    .evaluate(() => self.close());

test('a worker that dies is replaced: what was set stays, what was open is said to be lost', async () => {
  await open('#scale=4.2%3A0&text=Call+me+Ishmael.+Call+me');
  const path = join(folder, 'attentions.npy');
  writeFileSync(path, writeNpy(attentions([3, 2, 5, 5], true)));
  await choose(path);
  await shows('.model-menu .under', 'attentions.npy');
  await page.locator('.model-menu .word').click();
  await page.getByRole('menuitemradio', { name: /^Moby/ }).click();
  await settled();
  await page.locator('textarea').fill('Call me Ishmael. Call me');
  await headSwitch().click();
  await settled();
  const guess = await page.textContent('.prediction .option b');
  await endWorker();
  await shows('.failure', 'These models were lost: attentions.npy');
  await settled();
  assert.equal(await page.locator('textarea').inputValue(), 'Call me Ishmael. Call me');
  await page.locator('.changes > button').click();
  await word('half').click();
  await page.keyboard.press('Escape');
  await settled();
  await shows('.corner h2', '0.5');
  await headSwitch().click();
  await settled();
  await page.waitForFunction((guess) => part('.prediction .option b').textContent === guess, guess);
  await word('Close').first().click();
  await page.waitForFunction(() => part('.failure') === null);
  // Ends the worker while it shows an opened model.
  await choose(path);
  await shows('.model-menu .under', 'attentions.npy');
  await endWorker();
  await shows('.failure', 'attentions.npy');
  await shows('.model-menu .under', 'Moby');
  assert.deepEqual(faults, []);
});

test('a worker that dies again before it has answered is not begun once more by itself', async () => {
  await open();
  await page.evaluate(() => {
    const post = Worker.prototype.postMessage;
    // Makes the next workers end at their first request.
    Worker.prototype.postMessage = function (message, ...rest) {
      if (message.verb !== 'show') return post.call(this, message, ...rest);
      this.addEventListener('message', () => setTimeout(() => this.terminate()));
    };
  });
  await endWorker();
  await shows('.failure', 'again and again');
  await word('Try again').waitFor();
});
