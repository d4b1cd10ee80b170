// Makes all texts the same length: longer texts are truncated, shorter texts are padded.

import type { Encoding } from './processors.ts';
import { shorten } from './shorten.ts';

/**
 * Texts of a model, such as SigLIP, that was trained on lower-cased texts of this length. padId: without a token `pad`.
 */
export type FixedLength = { length: number; pad?: string; padId: number };

export function toLength(encoding: Encoding, length: number, { id, token }: { id: number; token: string }): Encoding {
  const { ids, tokens, offsets, typeIds } = shorten(encoding, length);
  const fill = <T>(list: T[], filling: T) => [...list, ...new Array(length - list.length).fill(filling)];
  return {
    ids: fill(ids, id),
    tokens: fill(tokens, token),
    offsets: fill(offsets, [0, 0]),
    typeIds: fill(typeIds, 0),
  };
}
