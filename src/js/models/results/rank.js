// Orders candidates by how well they fit a text.

import { argumentError } from '../../check/errors.js';
import { checkClassifier } from './classify.js';
import { onlyRow, runOnce, wrongModel } from './oneSequence.js';
import { readPair } from './pairs.js';

/** @import { Transformer } from '../transformer.js' */

/**
 * index: index of the candidate in the caller's list.
 * @typedef {{ text: string, score: number, index: number }} Ranked
 */

/**
 * Ranks candidates with a cross-encoder, which reads the text and a candidate together and has one label.
 * @param {Transformer} model
 * @param {string} text
 * @param {readonly string[]} candidates
 * @returns {Ranked[]}
 */
export function rank(model, text, candidates) {
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
