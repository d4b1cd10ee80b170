// The logits of a model that is opened, run once and disposed of.

import { hl } from './headlight.js';

/** Tokens of every tokenizer in tests/golden. */
const IDS = [5, 17, 80, 3];

/** @param {any} source @param {any} [options] of openModel */
export async function logitsOf(source, options) {
  const model = await hl.openModel(source, options);
  const result = model.forward(IDS);
  const logits = result.logits.copy();
  result.dispose();
  model.dispose();
  return logits;
}
