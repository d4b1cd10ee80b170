// The tier of this run: see src/build/test.js.

/** True in the full tier. A file that is run by its name belongs to the default tier. */
export const isFullTier = process.env.HEADLIGHT_TIER === 'full';

/** How often a property is tried, or how large a problem is: less by default. */
export const inTier = (full, some) => (isFullTier ? full : some);
