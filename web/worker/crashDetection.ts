// Detects that the browser has ended the worker, for instance because memory ran out. The worker sends no message in
// that case, but a lock that it held becomes free.

import type { WorkerLike } from './client.ts';

/** Called in the worker: holds the lock until the worker ends. */
export function hold(lock: string) {
  navigator.locks.request(lock, () => {
    self.postMessage({ verb: 'alive' });
    return new Promise(() => {});
  });
}

/** On the page: asks the worker for a lock and waits until it is free. Call the result once the worker holds it. */
export function watch(worker: WorkerLike, onEnd: () => void): () => void {
  const { locks } = navigator;
  if (!locks || typeof Worker === 'undefined' || !(worker instanceof Worker)) return () => {};
  const lock = `headlight ${Date.now()} ${Math.random()}`;
  worker.postMessage({ verb: 'alive', lock });
  return () => locks.request(lock, onEnd);
}
