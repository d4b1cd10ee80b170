// Run before the page is read: the worker reads the core meanwhile, and what most pages show first is fetched.

import { startWorker } from './page.startWorker.js';

/** @type {Worker | null} */
let begun = startWorker();
// Nobody listens yet: the one that is started in its place fails where it is heard.
begun.addEventListener('error', () => (begun = null), { once: true });

/** The answer that the page begins with, if it begins as most do: see store/firstAnswer.js. */
export const first =
  location.hash.length > 1
    ? undefined
    : fetch(new URL('whale.first.json', import.meta.url)).then(
        (response) => (response.ok ? response.text() : ''),
        () => '',
      );

/** The worker that has begun; when it has been taken, another. */
export function start() {
  const worker = begun ?? startWorker();
  begun = null;
  return worker;
}
