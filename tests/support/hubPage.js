// Makes models for an imitated Hugging Face Hub, and redirects the requests of a page from the Hub to the imitation.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeSafetensors } from 'headlight-attention/formats';
import { makeCheckpoint } from './checkpoint.js';

/** Returns the files of a tiny model, by name. */
export function smallModel(kind) {
  const folder = mkdtempSync(join(tmpdir(), 'headlight-'));
  makeCheckpoint(folder, kind);
  const files = Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
  rmSync(folder, { recursive: true });
  return files;
}

/** Returns a GPT-2 with 2 × 4 heads whose file is larger than 50 MB, because the embedding table is large. */
export function largeModel() {
  const small = smallModel('gpt2');
  const config = { model_type: 'gpt2', n_layer: 2, n_embd: 128, n_head: 4, n_positions: 64, vocab_size: 105_000 };
  const C = config.n_embd;
  const zeros = (...shape) => ({ shape, data: new Float32Array(shape.reduce((a, b) => a * b, 1)) });
  const tensors = {
    'wte.weight': zeros(config.vocab_size, C),
    'wpe.weight': zeros(config.n_positions, C),
    'ln_f.weight': zeros(C),
    'ln_f.bias': zeros(C),
  };
  for (let i = 0; i < config.n_layer; i++)
    Object.assign(tensors, {
      [`h.${i}.ln_1.weight`]: zeros(C),
      [`h.${i}.ln_1.bias`]: zeros(C),
      [`h.${i}.attn.c_attn.weight`]: zeros(C, 3 * C),
      [`h.${i}.attn.c_attn.bias`]: zeros(3 * C),
      [`h.${i}.attn.c_proj.weight`]: zeros(C, C),
      [`h.${i}.attn.c_proj.bias`]: zeros(C),
      [`h.${i}.ln_2.weight`]: zeros(C),
      [`h.${i}.ln_2.bias`]: zeros(C),
      [`h.${i}.mlp.c_fc.weight`]: zeros(C, 4 * C),
      [`h.${i}.mlp.c_fc.bias`]: zeros(4 * C),
      [`h.${i}.mlp.c_proj.weight`]: zeros(4 * C, C),
      [`h.${i}.mlp.c_proj.bias`]: zeros(C),
    });
  return {
    'config.json': Buffer.from(JSON.stringify(config)),
    'tokenizer.json': small['tokenizer.json'],
    'model.safetensors': Buffer.from(writeSafetensors(tensors)),
  };
}

const HUB = 'https://huggingface.co';

/** Resolves to the response to a request. Redirects within the hub (status 307) are followed. */
async function responseTo(address, headers, follows) {
  const response = await fetch(address, { headers, redirect: follows ? 'follow' : 'manual' });
  const location = response.headers.get('location');
  return response.status === 307 ? responseTo(new URL(location, address), headers, follows) : response;
}

/**
 * Sends the requests of a page for the Hub to an imitated Hub.
 * @param {import('playwright-core').Page} page
 * @param {{ endpoint: string }} hub of imitateHub
 * @param {{ before?: (path: string) => unknown, redirects?: boolean }} [options] before: awaited before each request;
 *   if it resolves to false, the connection is broken. redirects: if true, the page is redirected to the server of
 *   large files, which its policy must allow; otherwise the page does not see redirects, and receives each response at
 *   once
 */
export async function connect(page, hub, { before = () => {}, redirects = false } = {}) {
  await page.route(`${HUB}/**`, async (route) => {
    const request = route.request();
    const path = request.url().slice(HUB.length);
    if ((await before(decodeURIComponent(path))) === false) return route.abort('connectionfailed').catch(() => {});
    const { range, authorization } = request.headers();
    const headers = { ...(range && { range }), ...(authorization && { authorization }) };
    try {
      const response = await responseTo(hub.endpoint + path, headers, !redirects);
      const { 'content-encoding': _, 'content-length': __, ...rest } = Object.fromEntries(response.headers);
      const body = Buffer.from(await response.arrayBuffer());
      const open = { ...rest, 'access-control-allow-origin': '*' };
      await route.fulfill({ status: response.status, headers: open, body });
    } catch {
      // The page or the test has ended.
      await route.abort().catch(() => {});
    }
  });
}
