// The visitor's preference about animations.

/** Returns true if the visitor prefers reduced motion. */
export const reducedMotion = () => matchMedia('(prefers-reduced-motion: reduce)').matches;
