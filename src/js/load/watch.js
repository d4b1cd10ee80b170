// Whether a call of the core waits for a worker that has died: host.watch of headlight.h.

import { HeadlightError } from '../check/errors.js';

/** A worker has died where no part of a job was finished for so many milliseconds, beyond what a part takes. */
const PATIENCE = 15_000;

/** Multiplications and additions in a millisecond on the slowest device: a hundredth of what a telephone does. */
const SLOWEST = 1e5;

/** Of the milliseconds between two looks at most so many count: the clock goes on while a computer sleeps. */
const LONGEST_STEP = 1_000;

/** One for each instance: it remembers when a part was last finished. */
export function makeWatch() {
  let last = 0;
  let before = 0;
  let idle = 0;
  /**
   * @param {number} first
   * @param {number} done
   * @param {number} work
   */
  return (first, done, work) => {
    const now = performance.now();
    idle = first || done !== before ? 0 : idle + Math.min(now - last, LONGEST_STEP);
    last = now;
    before = done;
    if (idle > PATIENCE + work / SLOWEST) throw new HeadlightError('STATE', 'a worker ended during a call');
  };
}
