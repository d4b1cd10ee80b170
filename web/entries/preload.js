// Run before the page is read: the worker reads the core meanwhile, and what most pages show first is fetched.

import { startWorker } from './page.startWorker.js';

/** @type {Worker | null} */
let begun = startWorker();
// There is no listener yet. The worker that is started later reports the same failure.
begun.addEventListener('error', () => (begun = null), { once: true });

/**
 * The answer to the first request, if the page starts with the default state or in the first visit: see
 * store/firstAnswer.js.
 */
export const first = !/^#?(first=\d)?$/.test(location.hash)
  ? undefined
  : fetch(new URL('whale.first.json', import.meta.url)).then(
      (response) => (response.ok ? response.text() : ''),
      () => '',
    );

/** Returns the worker that was started here; later calls start another one. */
export function start() {
  const worker = begun ?? startWorker();
  begun = null;
  return worker;
}
