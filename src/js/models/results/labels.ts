// The names of a classifier's labels.

import type { Transformer } from '../transformer.ts';

/** Returns the labels in config.json, or LABEL_0, LABEL_1 … if it has none. */
export const wordsOf = ({ config }: Transformer, count: number): string[] =>
  Array.from({ length: count }, (_, i) => String(config?.id2label?.[i] ?? `LABEL_${i}`));
