// Random passages that occur twice, with which the roles of heads are measured. The second occurrence can be predicted
// only from the first.

import { uniformSource } from '../../src/js/ops/random.ts';

export const PASSAGES = 16;
export const LENGTH = 48;

/** Returns a batch of random passages, each followed by its repetition. `length`: tokens before the repetition. */
export function saidTwice(vocab: number, seed: number, passages: number = PASSAGES, length: number = LENGTH) {
  const random = uniformSource(seed);
  const data = new Int32Array(passages * 2 * length);
  for (let b = 0; b < passages; b++) {
    const passage = Int32Array.from({ length }, () => Math.floor(random() * vocab));
    for (const occurrence of [0, 1]) data.set(passage, (2 * b + occurrence) * length);
  }
  return { data, shape: [passages, 2 * length] };
}
