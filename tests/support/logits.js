// Opens a model, computes its logits once and disposes of it.

import { hl } from './headlight.js';

/** Ids that every tokenizer in tests/golden has. */
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
