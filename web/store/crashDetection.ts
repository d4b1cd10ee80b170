// Detects that the browser has ended the worker, for instance because memory ran out. The worker sends no message in
// that case, but a lock that it held becomes free.

import type { WorkerLike } from '../model/protocol/workerLike.ts';

/**
 * Asks the worker to hold a lock, and waits for the lock to become free.
 * @returns a function that must be called once the worker holds the lock
 */
export function watch(worker: WorkerLike, onEnd: () => void): () => void {
  const { locks } = navigator;
  if (!locks || typeof Worker === 'undefined' || !(worker instanceof Worker)) return () => {};
  const lock = `headlight ${Date.now()} ${Math.random()}`;
  worker.postMessage({ verb: 'alive', lock });
  return () => locks.request(lock, onEnd);
}
