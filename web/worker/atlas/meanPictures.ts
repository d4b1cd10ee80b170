// The mean picture of each head: the mean of its attention weights between the first tokens of passages.

import { PICTURE } from '../../model/meanPicture.ts';

import type { TransformerSource } from '../sources/types.ts';

/** Maximum passages in the mean. */
const PASSAGES = 96;

/** Returns pictures (L,H,P,P); undefined if all passages have fewer than P tokens. */
export function meanPictures(
  { model, about: { layers, heads } }: TransformerSource,
  ids: readonly Int32Array[],
): Float32Array | undefined {
  const starts = ids.filter(({ length }) => length >= PICTURE).slice(0, PASSAGES);
  if (starts.length === 0) return undefined;
  const input = starts.map((passage) => Array.from(passage.subarray(0, PICTURE)));
  const result = model.forward(input, { capture: ['blocks.*.weights'], last: true });
  const size = heads * PICTURE * PICTURE;
  const sums = new Float32Array(layers * size);
  try {
    for (let l = 0; l < layers; l++) {
      const data = result.captured[`blocks.${l}.weights`]?.data;
      if (data) for (let i = 0; i < data.length; i++) sums[l * size + (i % size)] += data[i] / starts.length;
    }
  } finally {
    result.dispose();
  }
  return sums;
}
