// Orders candidates by how well they fit a text.

import { argumentError } from '../../check/errors.ts';
import type { Transformer } from '../transformer.ts';
import { checkClassifier } from './classify.ts';
import { onlyRow, runOnce, wrongModel } from './oneSequence.ts';
import { readPair } from './pairs.ts';

/** index: index of the candidate in the caller's list. */
export type Ranked = { text: string; score: number; index: number };

/** Ranks candidates with a cross-encoder, which reads the text and a candidate together and has one label. */
export function rank(model: Transformer, text: string, candidates: readonly string[]): Ranked[] {
  const caller = 'rank';
  checkClassifier(model, caller);
  if (model.options.classes !== 1)
    throw wrongModel(caller, `this model has ${model.options.classes} labels, and a cross-encoder has one`);
  if (!Array.isArray(candidates)) throw argumentError(caller, 'candidates', candidates, 'a list of texts');
  return candidates
    .map((pair, index) => {
      const input = readPair(model, caller, { text, pair });
      const [score] = runOnce(model, caller, input, {}, ({ logits }) => onlyRow(caller, logits));
      return { text: pair, score, index };
    })
    .sort((a, b) => b.score - a.score);
}
