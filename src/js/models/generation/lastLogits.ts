// Computes the logits of the last token of each row.

import { shapeOf, type Tensor, viewOf } from '../../memory/tensor.ts';
import type { Cache } from '../cache.ts';
import type { Edit } from '../edits.ts';
import type { ModelInput } from '../input.ts';
import type { Transformer } from '../transformer.ts';
import { CALLER } from './generateOptions.ts';

/** cache: to which the tokens are added; returns (V) for each row */
export function lastLogits(
  model: Transformer,
  cache: Cache,
  input: ModelInput,
  edit?: readonly Edit[],
): Float32Array[] {
  const result = model.forwardFor(CALLER, input, { cache, last: true, edit });
  const logits = result.logits as Tensor;
  const width = shapeOf(logits).at(-1) as number;
  const all = viewOf(logits).slice();
  result.dispose();
  return Array.from({ length: all.length / width }, (_, i) => all.subarray(i * width, (i + 1) * width));
}
