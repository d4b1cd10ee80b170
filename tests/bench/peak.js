/** Measures the peak speed of one core in this engine, in GFLOP/s, as the best of a few runs of peak.c. */
export async function peakOf(binary) {
  const { instance } = await WebAssembly.instantiate(binary);
  const { peak } = instance.exports;
  const [steps, perStep] = [1e6, 12 * 4 * 2];
  for (let i = 0; i < 2000; i++) peak(1000, 0.999, 0.001);
  await new Promise((resolve) => setTimeout(resolve, 50));
  let best = 0;
  for (let i = 0; i < 15; i++) {
    const start = performance.now();
    peak(steps, 0.999, 0.001);
    best = Math.max(best, (steps * perStep) / (performance.now() - start) / 1e6);
  }
  return best;
}
