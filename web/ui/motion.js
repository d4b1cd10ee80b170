// Animations.

/** True if the visitor prefers reduced motion. */
export const reducedMotion = () => matchMedia('(prefers-reduced-motion: reduce)').matches;
