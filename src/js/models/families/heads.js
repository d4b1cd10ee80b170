// Output heads of encoders.

/** @import { Config, HasTensor } from './common.js' */
/** @import { TransformerOptions } from '../options.js' */

/** @param {Config} config @param {string} task as in the names of architectures */
export const isFor = ({ architectures }, task) =>
  Array.isArray(architectures) && architectures.some((name) => String(name).endsWith(`For${task}`));

/** @param {Config} c @returns {number} */
export const countClasses = (c) =>
  isFor(c, 'MultipleChoice') ? 1 : c.id2label ? Object.keys(c.id2label).length : (c.num_labels ?? 2);

/**
 * Returns the options of the head of a masked language model.
 * @param {Config} c
 * @returns {Partial<TransformerOptions>}
 */
export const maskedHead = (c) => ({ head: 'logits', headTransform: 'norm', tied: c.tie_word_embeddings ?? true });

/**
 * Returns the options of an encoder's classification head, for every token or for the pooled input. A head for question
 * answering has two logits for every token: for the start and for the end of the answer.
 * @param {Config} c
 * @param {HasTensor} has
 * @param {boolean} pooled true if the model has a pooler
 * @returns {Partial<TransformerOptions>}
 */
export function classHead(c, has, pooled) {
  const classes = countClasses(c);
  if (has('/qa_outputs.weight')) return { head: 'logits', classes };
  if (!has('/classifier.weight') && !has('/classifier.out_proj.weight')) return { head: 'none' };
  return { head: pooled && !isFor(c, 'TokenClassification') ? 'pooled' : 'logits', classes };
}
