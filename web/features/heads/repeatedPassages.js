// Passages of tokens at random, each said twice: heads that look back show by them what they do.

import { uniformSource } from '../../../src/js/ops/random.js';

export const PASSAGES = 16;
export const LENGTH = 48;

/**
 * Tokens at random, said twice: nothing but the first time tells what comes the second time.
 * @param {number} vocab
 * @param {number} seed
 * @param {number} [passages]
 */
export function saidTwice(vocab, seed, passages = PASSAGES) {
  const random = uniformSource(seed);
  const data = new Int32Array(passages * 2 * LENGTH);
  for (let b = 0; b < passages; b++) {
    const passage = Int32Array.from({ length: LENGTH }, () => Math.floor(random() * vocab));
    for (const time of [0, 1]) data.set(passage, (2 * b + time) * LENGTH);
  }
  return { data, shape: [passages, 2 * LENGTH] };
}
