// Classifies a text, a pair of texts or a picture. Returns labels with their probabilities.

import { wordsOf } from './labels.js';
import { onlyRow, runOnce, wrongModel } from './oneSequence.js';
import { readPair } from './pairs.js';
import { logSoftmax, sigmoid } from './probabilities.js';

/** @import { ModelInput } from '../input.js' */
/** @import { Transformer } from '../transformer.js' */

/**
 * A label with its probability. A model with one label, or for regression, has a score instead, which is no
 * probability.
 * @typedef {{ label: string, probability: number } | { label: string, score: number }} Classified
 */
/** @typedef {ModelInput | { text: string, pair: string }} Classifiable */

/** @param {Transformer} model @param {Classifiable} input @returns {Classified[]} */
export function classify(model, input) {
  const caller = 'classify';
  checkClassifier(model, caller);
  const logits = runOnce(model, caller, readPair(model, caller, input), {}, (result) => onlyRow(caller, result.logits));
  const labels = wordsOf(model, logits.length);
  if (isRegression(model, logits.length)) return Array.from(logits, (score, i) => ({ label: labels[i], score }));
  const several = model.config?.problem_type === 'multi_label_classification';
  const probabilities = several ? logits.map(sigmoid) : logSoftmax(logits).map(Math.exp);
  return Array.from(probabilities, (probability, i) => ({ label: labels[i], probability })).sort(
    (a, b) => b.probability - a.probability,
  );
}

/** @param {Transformer} model @param {string} caller */
export function checkClassifier({ options }, caller) {
  if (options.head === 'pooled') return;
  const reason =
    options.head === 'logits' && options.classes > 0
      ? 'this model classifies each token; forward() returns the logits'
      : 'this model has no head that classifies its input';
  throw wrongModel(caller, reason);
}

/** @param {Transformer} model @param {number} labels */
const isRegression = ({ config }, labels) => config?.problem_type === 'regression' || labels === 1;
