// Opens the demo model with its tokenizer.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openDemoModel } from '../../../web/worker/sources/demoModel.js';
import { openTokenizer } from '../../js/text/tokenizer.js';

const fileOf = (/** @type {string} */ name) => fileURLToPath(new URL(`../../../web/demo/${name}`, import.meta.url));

/** The files of the demo model. */
export const [WEIGHTS, TOKENIZER] = [fileOf('whale.safetensors'), fileOf('tokenizer.json')];

/** Opens the demo model. @param {any} hl @param {string} [file] a file with other weights */
export function openWhale(hl, file = WEIGHTS) {
  const model = openDemoModel(hl, readFileSync(file));
  model.tokenizer = openTokenizer(readFileSync(TOKENIZER, 'utf8'));
  return model;
}
