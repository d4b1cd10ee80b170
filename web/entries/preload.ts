// Runs before the script of the page is read. It starts the worker, which loads the core, and fetches the first answer.

import { startWorker } from './page.startWorker.ts';

let begun: Worker | null = startWorker();
// The page does not listen for errors yet. If this worker fails, `start` starts another one, which fails likewise.
begun.addEventListener('error', () => (begun = null), { once: true });

/** The answer to the first request, if the page starts in the default state or the first visit: see firstAnswer.ts. */
export const first = !/^#?(first=\d)?$/.test(location.hash)
  ? undefined
  : fetch(new URL('whale.first.json', import.meta.url)).then(
      (response) => (response.ok ? response.text() : ''),
      () => '',
    );

/** Returns the worker that was started by this script; later calls start another worker. */
export function start() {
  const worker = begun ?? startWorker();
  begun = null;
  return worker;
}
