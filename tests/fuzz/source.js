// Makes random choices, which are the same for the same seed.

import { uniformSource } from '../../src/js/ops/random.ts';

export function makeSource(seed) {
  const next = uniformSource(seed);
  /** Returns an integer from 0 to n − 1. */
  const below = (n) => Math.floor(next() * n);
  const pick = (list) => list[below(list.length)];
  return {
    below,
    pick,
    chance: (share) => next() < share,
    between: (least, most) => least + below(most - least + 1),
    maybe: (share, value) => (next() < share ? value() : undefined),
    seed: () => below(2 ** 24),
  };
}
