// Opens the demo model with its tokenizer.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openDemoModel } from '../../../web/worker/sources/demoModel.ts';
import { openTokenizer } from '../../js/text/tokenizer.ts';

const fileOf = (name: string) => fileURLToPath(new URL(`../../../web/demo/${name}`, import.meta.url));

/** The files of the demo model. */
export const [WEIGHTS, TOKENIZER] = [fileOf('whale.safetensors'), fileOf('tokenizer.json')];

/**
 * Opens the demo model.
 * @param file a file with other weights
 */
export function openWhale(hl: any, file: string = WEIGHTS) {
  const model = openDemoModel(hl, readFileSync(file));
  model.tokenizer = openTokenizer(readFileSync(TOKENIZER, 'utf8'));
  return model;
}
