// The names of a classifier's labels.

/** @import { Transformer } from '../transformer.js' */

/**
 * Returns the labels in config.json, or LABEL_0, LABEL_1 … if it has none.
 * @param {Transformer} model
 * @param {number} count
 * @returns {string[]}
 */
export const wordsOf = ({ config }, count) =>
  Array.from({ length: count }, (_, i) => String(config?.id2label?.[i] ?? `LABEL_${i}`));
