// Implements host.watch of headlight.h, which detects a call of the core that waits for a worker that has ended.

import { HeadlightError } from '../check/errors.ts';

/** Milliseconds without a finished part, beyond its expected time, after which a worker is considered dead. */
const TIMEOUT = 15_000;

/** Multiply-adds per millisecond of the slowest device, assumed to be 1% of those of a phone. */
const SLOWEST = 1e5;

/** Maximum milliseconds that are counted between two checks, because the clock continues while a computer sleeps. */
const MAX_STEP = 1_000;

/** Creates the imported function of one instance, which keeps the time since a part was last finished. */
export function makeWatch() {
  let last = 0;
  let before = 0;
  let idle = 0;
  /** first: 1 for the first check of a wait; done: parts finished so far; work: multiply-adds of a part */
  return (first: number, done: number, work: number) => {
    const now = performance.now();
    idle = first || done !== before ? 0 : idle + Math.min(now - last, MAX_STEP);
    last = now;
    before = done;
    if (idle > TIMEOUT + work / SLOWEST) throw new HeadlightError('STATE', 'a worker ended during a call');
  };
}
