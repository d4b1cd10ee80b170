// Animations.

/** True if the visitor wants none. */
export const reducedMotion = () => matchMedia('(prefers-reduced-motion: reduce)').matches;
