// The curves of the training that is shown, and those of the previous training.

import { signal } from '@preact/signals';
import { extended, noCurves } from '../features/train/curves.js';
import { readOnly } from './readOnly.js';

/** @import { Curves } from '../features/train/curves.js' */

/** Curves with fewer points are not kept for comparison with the next training. */
const MIN_COMPARED = 20;

export function createCurves() {
  const now = signal(noCurves());
  const previous = signal(/** @type {Curves | null} */ (null));
  return {
    now: readOnly(now),
    previous: readOnly(previous),
    /** @param {Curves} curves @param {boolean} isNew false if the same training is shown again */
    begin(curves, isNew) {
      if (isNew && now.peek().loss.length > MIN_COMPARED) previous.value = now.peek();
      now.value = curves;
    },
    /** @param {Parameters<typeof extended>[1]} more */
    add(more) {
      now.value = extended(now.peek(), more);
    },
  };
}
