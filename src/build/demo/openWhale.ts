// Opens the demo model with its tokenizer.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openDemoModel } from '../../../web/worker/sources/demoModel.ts';
import type { Headlight } from '../../js/index.ts';
import type { Transformer } from '../../js/models/transformer.ts';
import { openTokenizer, type Tokenizer } from '../../js/text/tokenizer.ts';

const fileOf = (name: string) => fileURLToPath(new URL(`../../../web/demo/${name}`, import.meta.url));

/** The files of the demo model. */
export const [WEIGHTS, TOKENIZER] = [fileOf('whale.safetensors'), fileOf('tokenizer.json')];

/** The demo model with its tokenizer. */
export type Whale = Transformer & { tokenizer: Tokenizer };

/**
 * Opens the demo model.
 * @param file a file with other weights
 */
export function openWhale(hl: Headlight, file: string = WEIGHTS): Whale {
  const model = openDemoModel(hl, readFileSync(file));
  return Object.assign(model, { tokenizer: openTokenizer(readFileSync(TOKENIZER, 'utf8')) });
}
