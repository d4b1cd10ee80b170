// Holds a lock as long as the worker runs: see store/crashDetection.ts.

/** Called in the worker: holds the lock until the worker ends. */
export function hold(lock: string) {
  navigator.locks.request(lock, () => {
    self.postMessage({ verb: 'alive' });
    return new Promise(() => {});
  });
}
