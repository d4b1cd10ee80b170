// The tier of this test run (see src/build/test.ts).

import test from 'node:test';

/** True in the full tier. A file that is run by its name belongs to the default tier. */
export const isFullTier = process.env.HEADLIGHT_TIER === 'full';

/**
 * Returns one of two values by tier, such as the number of repetitions or the size of a problem. The value of the
 * default tier is the smaller one.
 */
export const inTier = (full, some) => (isFullTier ? full : some);

/**
 * Defines a test that runs only in the full tier, because another test in the default tier has the same subject.
 * @type {(...args: any[]) => void}
 */
export const fullTest = (...args) => {
  if (isFullTier) test(...args);
};
