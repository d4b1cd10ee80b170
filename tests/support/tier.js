// The tier of this run: see src/build/test.js.

import test from 'node:test';

/** True in the full tier. A file that is run by its name belongs to the default tier. */
export const isFullTier = process.env.HEADLIGHT_TIER === 'full';

/**
 * A number for this tier, for repetitions of a property or the size of a problem; it is smaller in the default tier.
 */
export const inTier = (full, some) => (isFullTier ? full : some);

/**
 * A test of the full tier only, whose subject has another test in the default tier.
 * @type {(...args: any[]) => void}
 */
export const fullTest = (...args) => {
  if (isFullTier) test(...args);
};
