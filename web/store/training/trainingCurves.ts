// The curves of the training that is shown, and those of the previous training of the same task.

import { signal } from '@preact/signals';
import { type Curves, extended, noCurves } from '../../model/training/curves.ts';
import { readOnly } from '../readOnly.ts';

/** Curves with fewer points are not kept for comparison with the next training. */
const MIN_COMPARED = 20;

export function createCurves() {
  const now = signal(noCurves());
  const previous = signal(null as Curves | null);
  /** The task and the text of the training. Curves of another task or text cannot be compared. */
  let learned = '';
  return {
    now: readOnly(now),
    previous: readOnly(previous),
    /** `isNew`: false if the same training is shown again. */
    begin(curves: Curves, isNew: boolean, { task, text }: { task: string; text: string }) {
      const before = learned;
      learned = `${task} ${text}`;
      if (learned !== before) previous.value = null;
      else if (isNew && now.peek().loss.length > MIN_COMPARED) previous.value = now.peek();
      now.value = curves;
    },
    add(more: Parameters<typeof extended>[1]) {
      now.value = extended(now.peek(), more);
    },
  };
}
