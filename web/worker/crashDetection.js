// Detects that the browser has ended the worker, for instance because memory ran out: the worker sends no message then,
// but a lock that it holds becomes free.

/** @import { WorkerLike } from './client.js' */

/** In the worker: holds the lock until the worker ends. @param {string} lock */
export function hold(lock) {
  navigator.locks.request(lock, () => {
    self.postMessage({ verb: 'alive' });
    return new Promise(() => {});
  });
}

/**
 * On the page: asks the worker to hold a lock.
 * @param {WorkerLike} worker
 * @param {() => void} onEnd
 * @returns {() => void} to be called when the worker holds it
 */
export function watch(worker, onEnd) {
  const { locks } = navigator;
  if (!locks || typeof Worker === 'undefined' || !(worker instanceof Worker)) return () => {};
  const lock = `headlight ${Date.now()} ${Math.random()}`;
  worker.postMessage({ verb: 'alive', lock });
  return () => locks.request(lock, onEnd);
}
