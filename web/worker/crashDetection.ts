// Detects that the browser has ended the worker, for instance because memory ran out. The worker sends no message in
// that case, but a lock that it held becomes free.

import type { WorkerLike } from '../store/client.ts';

/** Called in the worker: holds the lock until the worker ends. */
export function hold(lock: string) {
  navigator.locks.request(lock, () => {
    self.postMessage({ verb: 'alive' });
    return new Promise(() => {});
  });
}

/**
 * Called on the page: asks the worker to hold a lock, and waits for the lock to become free.
 * @returns a function that must be called once the worker holds the lock
 */
export function watch(worker: WorkerLike, onEnd: () => void): () => void {
  const { locks } = navigator;
  if (!locks || typeof Worker === 'undefined' || !(worker instanceof Worker)) return () => {};
  const lock = `headlight ${Date.now()} ${Math.random()}`;
  worker.postMessage({ verb: 'alive', lock });
  return () => locks.request(lock, onEnd);
}
