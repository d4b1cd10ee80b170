// Classifies a text, a pair of texts or a picture. Returns labels with their probabilities.

import type { ModelInput } from '../input.ts';
import type { Transformer } from '../transformer.ts';
import { wordsOf } from './labels.ts';
import { onlyRow, runOnce, wrongModel } from './oneSequence.ts';
import { readPair } from './pairs.ts';
import { logSoftmax, sigmoid } from './probabilities.ts';

/** A model with one label, or for regression, has a score instead, which is no probability. */
export type Classified = { label: string; probability: number } | { label: string; score: number };
export type Classifiable = ModelInput | { text: string; pair: string };

export function classify(model: Transformer, input: Classifiable): Classified[] {
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

export function checkClassifier({ options }: Transformer, caller: string) {
  if (options.head === 'pooled') return;
  const reason =
    options.head === 'logits' && options.classes > 0
      ? 'this model classifies each token; forward() returns the logits'
      : 'this model has no head that classifies its input';
  throw wrongModel(caller, reason);
}

const isRegression = ({ config }: Transformer, labels: number) => config?.problem_type === 'regression' || labels === 1;
