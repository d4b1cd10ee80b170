// The threads of an instance: a shared memory, and workers that run the core's pool.

import { BUILD } from '../../../dist/abi/abi.js';
import { HeadlightError } from '../check/errors.js';

/** @import { CoreExports } from '../../../dist/abi/abi.js' */

/**
 * @typedef {{ module: WebAssembly.Module, memory: WebAssembly.Memory, stack: number, number: number }} Post what a
 *   worker is sent
 */
/** @typedef {{ stop: () => void }} Thread */
/** @typedef {(post: Post) => Promise<Thread>} StartThread resolves when the worker is about to look for work */

/** Bytes in which WebAssembly counts memory. */
export const PAGE = 65536;
const STACK_FLOATS = BUILD.STACK / 4;
const MOST_THREADS = 8;

/**
 * How many threads there will be, and why not more.
 * @param {number | 'auto'} asked
 * @param {StartThread | undefined} start
 * @param {number} cores those of the machine
 * @returns {{ threads: number, note?: string }}
 */
export function planThreads(asked, start, cores) {
  if (asked === 1) return { threads: 1 };
  if (!start) return { threads: 1, note: 'headlight/inline runs on one thread; import headlight for more' };
  if (typeof SharedArrayBuffer === 'undefined' || globalThis.crossOriginIsolated === false) {
    return {
      threads: 1,
      note:
        'threads need shared memory: serve the page with Cross-Origin-Opener-Policy: same-origin and ' +
        'Cross-Origin-Embedder-Policy: require-corp',
    };
  }
  return { threads: asked === 'auto' ? Math.min(cores, MOST_THREADS) : asked };
}

/**
 * Shared memory reserves addresses for its whole limit, and not every system has 4 GiB of them: halved until it fits.
 * @param {number} limit bytes
 */
export function sharedMemory(limit) {
  for (let bytes = limit; ; bytes /= 2) {
    try {
      return new WebAssembly.Memory({ initial: BUILD.MEMORY / PAGE, maximum: Math.floor(bytes / PAGE), shared: true });
    } catch (cause) {
      if (bytes / 2 < 64 * PAGE)
        throw new HeadlightError('OUT_OF_MEMORY', `load: no shared memory of ${limit} bytes to be had`, {
          parameter: 'maxMemory',
          cause,
        });
    }
  }
}

/**
 * @param {CoreExports} core
 * @param {WebAssembly.Module} module
 * @param {WebAssembly.Memory} memory
 * @param {number} threads
 * @param {StartThread} start
 * @returns {Promise<{ threads: number, note?: string, stop: () => void }>}
 */
export async function startThreads(core, module, memory, threads, start) {
  const posts = Array.from({ length: threads - 1 }, (_, i) => {
    const bottom = core.hl_tensor_alloc(STACK_FLOATS) >>> 0;
    return { module, memory, stack: bottom + 4 * STACK_FLOATS, number: i + 1 };
  });
  const started = await Promise.allSettled(posts.map(start));
  const workers = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failure = started.find((result) => result.status === 'rejected');
  const stop = () => {
    core.hl_pool_quit();
    for (const worker of workers) worker.stop();
  };
  if (failure) {
    stop();
    return { threads: 1, note: `a worker did not start: ${failure.reason?.message ?? failure.reason}`, stop: () => {} };
  }
  core.hl_pool_resize(threads);
  return { threads, stop };
}
