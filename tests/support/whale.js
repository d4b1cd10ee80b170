// Opens the demo model of the page with the module.

import { readFile } from 'node:fs/promises';
import { load } from 'headlight-attention';
import { openTokenizer } from '../../src/js/text/tokenizer.ts';
import { openDemoModel } from '../../web/worker/sources/demoModel.ts';

/** @param {'whale.safetensors' | 'tokenizer.json'} name */
export const whaleFile = (name) => readFile(new URL(`../../web/demo/${name}`, import.meta.url));

/** Loads the module, and opens the model and the tokenizer. */
export async function loadWhale() {
  const hl = await load();
  const [weights, words] = await Promise.all([whaleFile('whale.safetensors'), whaleFile('tokenizer.json')]);
  return { hl, whale: openDemoModel(hl, weights), tokenizer: openTokenizer(words) };
}
