// Seeded random numbers: the same seed gives the same numbers on every platform.

/** Makes the generator mulberry32, of period 2³²: uniform numbers in [0, 1), multiples of 2⁻²⁴. */
export function uniformSource(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 8) / 16777216;
  };
}

export function fillUniform(data: Float32Array, next: () => number, low: number, high: number) {
  for (let i = 0; i < data.length; i++) data[i] = low + (high - low) * next();
}

/** Fills an array with normally distributed numbers, which the Box–Muller transform computes in pairs. */
export function fillNormal(data: Float32Array, next: () => number, mean: number, std: number) {
  for (let i = 0; i < data.length; i += 2) {
    const radius = Math.sqrt(-2 * Math.log(1 - next()));
    const angle = 2 * Math.PI * next();
    data[i] = mean + std * radius * Math.cos(angle);
    if (i + 1 < data.length) data[i + 1] = mean + std * radius * Math.sin(angle);
  }
}
