// The page's own language model, as the module reads it.

import { readFile } from 'node:fs/promises';
import { load } from 'headlight-attention';
import { openTokenizer } from '../../src/js/text/tokenizer.js';
import { openDemoModel } from '../../web/worker/sources/demoModel.js';

/** @param {'whale.safetensors' | 'tokenizer.json'} name */
export const whaleFile = (name) => readFile(new URL(`../../web/demo/${name}`, import.meta.url));

/** A core with the model in it, and its tokenizer. */
export async function loadWhale() {
  const hl = await load();
  const [weights, words] = await Promise.all([whaleFile('whale.safetensors'), whaleFile('tokenizer.json')]);
  return { hl, whale: openDemoModel(hl, weights), tokenizer: openTokenizer(words) };
}
