// The visitor's preference about animations.

export const reducedMotion = () => matchMedia('(prefers-reduced-motion: reduce)').matches;
