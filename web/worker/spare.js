// How many threads a worker of the page takes.

const MOST = 4;

/** One core is left to the page itself; without shared memory there is one thread. */
export function spareThreads() {
  if (!globalThis.crossOriginIsolated) return 1;
  return Math.max(Math.min((navigator.hardwareConcurrency ?? 2) - 1, MOST), 1);
}
