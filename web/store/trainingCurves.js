// The curves of the training that is shown, and those of the previous training of the same task.

import { signal } from '@preact/signals';
import { extended, noCurves } from '../features/train/curves.js';
import { readOnly } from './readOnly.js';

/** @import { Curves } from '../features/train/curves.js' */

/** Curves with fewer points are not kept for comparison with the next training. */
const MIN_COMPARED = 20;

export function createCurves() {
  const now = signal(noCurves());
  const previous = signal(/** @type {Curves | null} */ (null));
  /** The task and the text of the training. Curves of another task or text cannot be compared. */
  let learned = '';
  return {
    now: readOnly(now),
    previous: readOnly(previous),
    /**
     * @param {Curves} curves
     * @param {boolean} isNew false if the same training is shown again
     * @param {{ task: string, text: string }} settings
     */
    begin(curves, isNew, { task, text }) {
      const before = learned;
      learned = `${task} ${text}`;
      if (learned !== before) previous.value = null;
      else if (isNew && now.peek().loss.length > MIN_COMPARED) previous.value = now.peek();
      now.value = curves;
    },
    /** @param {Parameters<typeof extended>[1]} more */
    add(more) {
      now.value = extended(now.peek(), more);
    },
  };
}
