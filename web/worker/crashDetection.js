// Whether the worker still lives. One that the browser has ended (out of memory, for instance) says nothing; but a lock
// that it holds becomes free.

/** In the worker: holds the lock as long as it lives. @param {string} lock */
export function hold(lock) {
  navigator.locks.request(lock, () => {
    self.postMessage({ verb: 'alive' });
    return new Promise(() => {});
  });
}

/**
 * On the page: has the worker hold a lock. What is returned is called when it does.
 * @param {any} worker
 * @param {() => void} ended
 * @returns {() => void}
 */
export function watch(worker, ended) {
  const { locks } = navigator;
  if (!locks || typeof Worker === 'undefined' || !(worker instanceof Worker)) return () => {};
  const lock = `headlight ${Date.now()} ${Math.random()}`;
  worker.postMessage({ verb: 'alive', lock });
  return () => locks.request(lock, ended);
}
