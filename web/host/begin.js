// Run before the page is read: the worker reads the core meanwhile.

import { startWorker } from '../worker/start.js';

/** @type {Worker | null} */
let begun = startWorker();
// Nobody listens yet: the one that is started in its place fails where it is heard.
begun.addEventListener('error', () => (begun = null), { once: true });

/** The worker that has begun; when it has been taken, another. */
export function start() {
  const worker = begun ?? startWorker();
  begun = null;
  return worker;
}
