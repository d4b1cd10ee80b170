// Detects that a call of the core waits for a dead worker: host.watch of headlight.h.

import { HeadlightError } from '../check/errors.js';

/** Milliseconds without a finished part, beyond the time of a part, after which a worker is considered dead. */
const TIMEOUT = 15_000;

/** Multiply-adds per millisecond of the slowest device: 1% of a phone's. */
const SLOWEST = 1e5;

/** Milliseconds counted between two checks, at most: the clock continues while a computer sleeps. */
const MAX_STEP = 1_000;

/** Creates the import of one instance, with the time at which a part was last finished. */
export function makeWatch() {
  let last = 0;
  let before = 0;
  let idle = 0;
  /**
   * @param {number} first 1 for the first check of a wait
   * @param {number} done parts finished so far
   * @param {number} work multiply-adds of a part
   */
  return (first, done, work) => {
    const now = performance.now();
    idle = first || done !== before ? 0 : idle + Math.min(now - last, MAX_STEP);
    last = now;
    before = done;
    if (idle > TIMEOUT + work / SLOWEST) throw new HeadlightError('STATE', 'a worker ended during a call');
  };
}
