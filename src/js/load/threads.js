// The threads of an instance: a shared memory, and workers that run the core's pool.

import { BUILD } from '../../../dist/abi/abi.js';
import { formatBytes } from '../memory/memory.js';

/** @import { CoreExports } from '../../../dist/abi/abi.js' */

/**
 * @typedef {{ module: WebAssembly.Module, memory: WebAssembly.Memory, stack: number, number: number }} Post what a
 *   worker is sent
 */
/**
 * @typedef {object} Thread a worker that is to start
 * @property {Promise<unknown>} ready resolves when it is about to look for work, rejects when it never will
 * @property {Promise<unknown>} ended resolves when it runs no more; may never resolve
 * @property {() => void} terminate
 */
/**
 * @callback StartThread throws where there can be no worker
 * @param {Post} post
 * @param {(reason: unknown) => void} failed called when a worker that was ready ends
 * @returns {Thread}
 */
/**
 * @typedef {object} Host what the threads are to run on
 * @property {StartThread} [startThread]
 * @property {number} [cores] of the machine, for threads: 'auto'
 * @property {() => number} [addressRoom] bytes of addresses that the process may still take
 */

/** Bytes in which WebAssembly counts memory. */
export const PAGE = 65536;
const STACK_FLOATS = BUILD.STACK / 4;
const MOST_THREADS = 8;

/** Bytes of addresses that Node reserves for a worker: some 600 MB, and it ends the process where it has none. */
const WORKER_ADDRESSES = 640 * 2 ** 20;
/** With less memory than this threads are not worth their addresses. */
const LEAST_MEMORY = 2 ** 30;

/** Milliseconds in which all workers of an instance must be ready: a loaded machine needs one or two seconds. */
const START_LIMIT = 20_000;
/** Milliseconds in which workers that are not needed end by themselves; then they are terminated. */
const END_LIMIT = 2_000;

/**
 * How many threads there will be, on how much memory, and why not more.
 * @param {number | 'auto'} asked
 * @param {number} maxMemory
 * @param {Host} host
 * @returns {{ threads: number, maxMemory: number, note?: string }}
 */
export function planThreads(asked, maxMemory, { startThread, cores = 1, addressRoom }) {
  if (asked === 1) return { threads: 1, maxMemory };
  /** @param {string} note */
  const one = (note) => ({ threads: 1, maxMemory, note });
  if (!startThread) return one('headlight-attention/inline runs on one thread; import headlight-attention for more');
  if (typeof SharedArrayBuffer === 'undefined' || globalThis.crossOriginIsolated === false)
    return one(
      'threads need shared memory: serve the page with Cross-Origin-Opener-Policy: same-origin and ' +
        'Cross-Origin-Embedder-Policy: require-corp',
    );
  const threads = asked === 'auto' ? Math.min(cores, MOST_THREADS) : asked;
  const room = (addressRoom?.() ?? Infinity) - (threads - 1) * WORKER_ADDRESSES;
  if (room < Math.min(maxMemory, LEAST_MEMORY))
    return one(`the address space of this process (ulimit -v) is too small for ${threads} threads`);
  return { threads, maxMemory: Math.min(maxMemory, Math.floor(room / PAGE) * PAGE) };
}

/**
 * The limit is reserved as addresses only, but not every system has 4 GiB of them to give.
 * @param {number} limit bytes
 * @returns {{ memory: WebAssembly.Memory, limit: number } | { failure: unknown }}
 */
export function sharedMemory(limit) {
  for (let bytes = limit; ; bytes /= 2) {
    const maximum = Math.floor(bytes / PAGE);
    try {
      const memory = new WebAssembly.Memory({ initial: BUILD.MEMORY / PAGE, maximum, shared: true });
      return { memory, limit: maximum * PAGE };
    } catch (failure) {
      if (bytes / 2 < 64 * PAGE) return { failure };
    }
  }
}

/** The workers of one instance, or none. */
export class Threads {
  #core;
  /** @type {{ thread: Thread, stack: number }[]} */
  #workers = [];
  #stopped = false;

  /**
   * @param {CoreExports} core
   * @param {string} [note]
   */
  constructor(core, note) {
    this.#core = core;
    /** Those that take part in a call, the caller's included. */
    this.count = 1;
    /** Why there are not as many as were asked for. */
    this.note = note;
  }

  /**
   * All of them, or none.
   * @param {WebAssembly.Module} module
   * @param {WebAssembly.Memory} memory
   * @param {number} count
   * @param {StartThread} start
   */
  async start(module, memory, count, start) {
    const stacks = this.#allocateStacks(count - 1);
    if (stacks.length < count - 1) {
      for (const stack of stacks) this.#core.hl_tensor_free(stack);
      const [most, each] = [this.#core.hl_memory_limit(), BUILD.STACK].map(formatBytes);
      this.note = `maxMemory, ${most}, has no room for the stacks of ${count} threads, ${each} each`;
      return;
    }
    try {
      for (const [i, stack] of stacks.entries()) {
        const post = { module, memory, stack: stack + BUILD.STACK, number: i + 1 };
        const thread = start(post, (reason) => this.fail(`a worker ended: ${messageOf(reason)}`));
        // When another fails first nobody waits for this one.
        thread.ready.catch(() => {});
        this.#workers.push({ thread, stack });
      }
      const ready = Promise.all(this.#workers.map(({ thread }) => thread.ready));
      if (!(await within(START_LIMIT, ready))) throw new Error(`it did not answer in ${START_LIMIT / 1000} s`);
      // One that was ready may have ended.
      if (this.#stopped) return;
      this.#core.hl_pool_resize(count);
      this.count = count;
    } catch (reason) {
      this.note = `a worker did not start: ${messageOf(reason)}`;
      for (const stack of stacks.slice(this.#workers.length)) this.#core.hl_tensor_free(stack);
      await this.#cancel();
    }
  }

  /** As many as there is room for. @param {number} count */
  #allocateStacks(count) {
    /** @type {number[]} */
    const stacks = [];
    while (stacks.length < count) {
      const stack = this.#core.hl_tensor_alloc(STACK_FLOATS) >>> 0;
      if (stack === 0) break;
      stacks.push(stack);
    }
    return stacks;
  }

  /** Ends those that have started. The stack of one that may still run is not freed. */
  async #cancel() {
    this.#stopped = true;
    this.#core.hl_pool_quit();
    await Promise.all(
      this.#workers.map(async ({ thread, stack }) => {
        if (await within(END_LIMIT, thread.ended)) this.#core.hl_tensor_free(stack);
        thread.terminate();
      }),
    );
  }

  /** Goes on with one thread. @param {string} note why */
  fail(note) {
    if (this.#stopped) return;
    this.note = note;
    this.stop();
  }

  stop() {
    if (this.#stopped) return;
    this.#stopped = true;
    this.count = 1;
    if (this.#workers.length > 0) this.#core.hl_pool_quit();
    for (const { thread } of this.#workers) thread.terminate();
  }
}

/**
 * Whether it is fulfilled in time.
 * @param {number} limit milliseconds
 * @param {Promise<unknown>} promise
 * @returns {Promise<boolean>}
 */
function within(limit, promise) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, limit, false);
  });
  return Promise.race([promise.then(() => true), late]).finally(() => clearTimeout(timer));
}

/** @param {unknown} reason */
const messageOf = (reason) => (reason instanceof Error ? reason.message : String(reason));
