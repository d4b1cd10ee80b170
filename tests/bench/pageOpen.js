// ./build.sh bench page-open: opens a Llama with 1.5 B parameters in Q4_0 in the page, through its file input, and
// generates some tokens. It prints the time, the largest JavaScript heap while the file opens, and the memory of the
// page's process. The file has random weights.
// Options: --layers N, --keep

import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { load } from '../../dist/headlight.node.js';
import { serve } from '../../src/build/server.ts';
import { newGguf } from '../../src/js/io/ggufWriter.ts';
import { KEYS, string } from '../../src/js/models/checkpoint/gguf/ggufKeys.ts';
import { textKeys } from '../../src/js/models/checkpoint/gguf/ggufText.ts';
import { uniformSource } from '../../src/js/ops/random.ts';
import { launch } from '../support/chromium.js';
import { peakMemory } from './chromium.js';
import { watchHeaps } from './heaps.js';
import { makeBytePairs } from './madeTokenizers.js';

const { values: given } = parseArgs({
  options: { layers: { type: 'string', default: '31' }, keep: { type: 'boolean', default: false } },
});
const FOLDER = fileURLToPath(new URL('../../dist/bench/page-open', import.meta.url));
const FILE = join(FOLDER, 'large.gguf');
const BLOCKS = 2 ** 16;
/** Bytes of a block of 32 numbers, and the bits of a float16 scale, for each type. */
const TYPES = { Q4_0: { bytes: 18, scale: 0x1c00 }, Q8_0: { bytes: 34, scale: 0x0c00 } };
/** Number of tokens that are generated. */
const TOKENS = 5;
/** Maximum milliseconds until the model is open, or until a token is generated. */
const LONG = 300_000;

const options = {
  ...{ layers: Number(given.layers), dModel: 2048, numHeads: 32, kvHeads: 8, mlp: 5632, vocab: 49152, context: 2048 },
  ...{ norm: 'rms', positions: 'rotary', rotary: { theta: 10000 }, activation: 'silu', gated: true, bias: false },
  tied: true,
};

function tensorsOf({ layers, dModel: C, numHeads: H, kvHeads: G, mlp, vocab }) {
  const norm = (name) => ({ name, type: 'F32', shape: [C] });
  const matrix = (name, ...shape) => ({ name, type: 'Q4_0', shape });
  const kv = (C / H) * G;
  const all = [{ name: 'token_embd.weight', type: 'Q8_0', shape: [vocab, C] }, norm('output_norm.weight')];
  for (let i = 0; i < layers; i++) {
    const at = (name) => `blk.${i}.${name}.weight`;
    all.push(norm(at('attn_norm')), matrix(at('attn_q'), C, C), matrix(at('attn_k'), kv, C));
    all.push(matrix(at('attn_v'), kv, C), matrix(at('attn_output'), C, C), norm(at('ffn_norm')));
    all.push(matrix(at('ffn_gate'), mlp, C), matrix(at('ffn_up'), mlp, C), matrix(at('ffn_down'), C, mlp));
  }
  return all;
}

/** Returns the metadata that saveGguf writes for the Llama of this benchmark. */
async function keysOf() {
  const hl = await load();
  // The metadata depends only on the options. A model with one narrow layer gives the values of options that have
  // defaults.
  const { layers, dModel, mlp, numHeads, kvHeads } = options;
  const narrow = hl.transformer({ ...options, layers: 1, dModel: 32, numHeads: 1, kvHeads: 1, mlp: 32 });
  const headDim = dModel / numHeads;
  const rotary = { ...narrow.options.rotary, width: headDim };
  const resolved = { ...narrow.options, layers, dModel, mlp, numHeads, kvHeads, headDim, rotary };
  const keys = new Map([['general.architecture', string('llama')]]);
  for (const [key, value] of Object.entries(KEYS.llama(resolved))) if (value) keys.set(`llama.${key}`, value);
  const tokenizer = new TextEncoder().encode(makeBytePairs(options.vocab));
  for (const [key, value] of Object.entries(textKeys(narrow, tokenizer))) keys.set(key, value);
  hl.dispose();
  return keys;
}

/** Returns blocks of random codes, which are repeated to fill every matrix. */
function blocksOf({ bytes, scale }) {
  const next = uniformSource(bytes);
  const out = Buffer.from(Uint8Array.from({ length: bytes * BLOCKS }, () => Math.floor(256 * next())));
  for (let at = 0; at < out.length; at += bytes) out.writeUInt16LE(scale, at);
  return out;
}

/** Writes the file. @returns the size of the file */
async function writeLarge() {
  await mkdir(FOLDER, { recursive: true });
  const tensors = tensorsOf(options);
  // Nothing is written to the memory of the tensors, so the system allocates no pages for it.
  const { file, parts } = newGguf('bench', await keysOf(), tensors);
  const made = Object.fromEntries(Object.entries(TYPES).map(([name, type]) => [name, blocksOf(type)]));
  const handle = await open(FILE, 'w');
  await handle.write(file.subarray(0, parts[0].byteOffset), 0, parts[0].byteOffset, 0);
  for (const [i, { type }] of tensors.entries()) {
    const { byteOffset: begin, byteLength: size } = parts[i];
    const bytes = made[type] ?? Buffer.from(new Float32Array(size / 4).fill(1).buffer);
    for (let at = 0; at < size; at += bytes.length)
      await handle.write(bytes, 0, Math.min(bytes.length, size - at), begin + at);
  }
  await handle.close();
  return file.length;
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;
const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const say = (name, value) => console.log(`${name.padEnd(44)}${value}`);

say('file of Q4_0', megabytes(await writeLarge()));
const server = await serve({ root: fileURLToPath(new URL('../../dist/site', import.meta.url)) });
const browser = await launch();
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.on('pageerror', (error) => say('a fault in the page', error.message));
  await page.addInitScript(() => {
    localStorage.setItem('first', 'seen');
    globalThis.part = (selector) => document.querySelector('body > div')?.shadowRoot?.querySelector(selector);
  });
  const heaps = await watchHeaps(page);
  await page.goto(server.url);
  const settled = () => page.waitForFunction(() => part('.page')?.dataset.busy === 'false', null, { timeout: LONG });
  await settled();
  const before = heaps.most();
  const empty = await peakMemory(browser);
  await page.locator('.model-menu > button').click();
  await page.locator('.model-menu [data-key=open]').click();
  const start = performance.now();
  await page.locator('input[data-name=files]').setInputFiles(FILE);
  const isOpen = () => part('.problem') || part('.model-menu .under').textContent.trim() !== 'Moby';
  await page.waitForFunction(isOpen, null, { timeout: LONG });
  say('opened', seconds(start));
  const problem = await page.evaluate(() => part('.problem')?.textContent);
  if (problem) throw new Error(`the page refuses the file: ${problem}`);
  const most = heaps.most();
  say('heap of JavaScript before, at most', megabytes(before.heap));
  say('while it opens, at most', `${megabytes(most.heap)}, expected below 200 MB`);
  say('arrays outside the heap, at most', `${megabytes(most.arrays)}, in a page and ${heaps.workers()} workers`);
  await settled();
  say('the first picture is complete', seconds(start));
  say("memory of the page's process, at most", `${megabytes(await peakMemory(browser))}, ${megabytes(empty)} before`);
  await page.keyboard.press('Escape');
  const words = page.locator('.words textarea');
  let text = await words.inputValue();
  const writing = performance.now();
  await page.getByRole('button', { name: 'write on' }).click();
  for (let i = 0; i < TOKENS; i++) {
    await page.waitForFunction((old) => part('.words textarea').value !== old, text, { timeout: LONG });
    text = await words.inputValue();
  }
  say(`${TOKENS} tokens written`, seconds(writing));
  say("memory of the page's process, at most", megabytes(await peakMemory(browser)));
  say('heap of JavaScript, at most', megabytes(heaps.most().heap));
} finally {
  await browser.close();
  await server.close();
  if (!given.keep) await rm(FOLDER, { recursive: true });
}
