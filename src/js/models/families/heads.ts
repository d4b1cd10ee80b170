// Output heads of encoders.

import type { TransformerOptions } from '../options.ts';
import type { Config, HasTensor } from './common.ts';

/** @param task as in the names of architectures */
export const isFor = ({ architectures }: Config, task: string) =>
  Array.isArray(architectures) && architectures.some((name) => String(name).endsWith(`For${task}`));

export const countClasses = (c: Config): number =>
  isFor(c, 'MultipleChoice') ? 1 : c.id2label ? Object.keys(c.id2label).length : (c.num_labels ?? 2);

/** Returns the options of the head of a masked language model. */
export const maskedHead = (c: Config): Partial<TransformerOptions> => ({
  head: 'logits',
  headTransform: 'norm',
  tied: c.tie_word_embeddings ?? true,
});

/**
 * Returns the options of an encoder's classification head, for every token or for the pooled input. A head for question
 * answering has two logits for every token: for the start and for the end of the answer.
 * @param pooled true if the model has a pooler
 */
export function classHead(c: Config, has: HasTensor, pooled: boolean): Partial<TransformerOptions> {
  const classes = countClasses(c);
  if (has('/qa_outputs.weight')) return { head: 'logits', classes };
  if (!has('/classifier.weight') && !has('/classifier.out_proj.weight')) return { head: 'none' };
  return { head: pooled && !isFor(c, 'TokenClassification') ? 'pooled' : 'logits', classes };
}
