// The first sound of a sound model: five rising tones with overtones.

/** Samples per second. */
export const RATE = 16000;
const [SECONDS, TONES, LOWEST, STEP] = [1, 5, 220, 1.5];
/** Amplitudes of the fundamental and its overtones. */
const OVERTONES = [0.3, 0.15, 0.08, 0.04];

export const risingTones = () =>
  Float32Array.from({ length: SECONDS * RATE }, (_, i) => {
    const place = (i * TONES) / (SECONDS * RATE);
    const frequency = LOWEST * STEP ** Math.floor(place);
    // Each tone begins and ends in silence.
    const loud = Math.sin(Math.PI * (place % 1));
    return OVERTONES.reduce(
      (sum, share, n) => sum + loud * share * Math.sin((2 * Math.PI * (n + 1) * frequency * i) / RATE),
      0,
    );
  });
