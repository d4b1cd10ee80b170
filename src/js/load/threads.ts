// Threads of an instance: allocates shared memory, and starts workers that run the core's thread pool.

import { BUILD, type CoreExports } from '../../../dist/abi/abi.js';
import { formatBytes } from '../memory/formatBytes.ts';

export { makeWatch } from './watch.ts';

/** the message that starts a worker */
export type Post = { module: WebAssembly.Module; memory: WebAssembly.Memory; stack: number; number: number };
export type Thread = {
  /** resolves just before the worker enters the pool, rejects if the worker cannot start */
  ready: Promise<unknown>;
  /** resolves when the worker has ended; may never resolve */
  ended: Promise<unknown>;
  terminate: () => void;
};
/** throws if workers are not available */
export type StartThread = (post: Post, failed: (reason: unknown) => void) => Thread;
export type Host = {
  loadStartThread?: (() => Promise<StartThread>) | undefined;
  cores?: number | undefined;
  addressRoom?: (() => number) | undefined;
};

/** The number of threads, the limit of memory in bytes, and the reason if there are fewer threads than requested. */
export type Plan = { threads: number; maxMemory: number; note?: string };

/** Bytes of a page of WebAssembly memory. */
const PAGE = 65536;
const STACK_FLOATS = BUILD.STACK / 4;
const MAX_THREADS = 8;

/** Node reserves about 600 MB of address space for a worker, and aborts the process if that fails. */
const WORKER_ADDRESSES = 640 * 2 ** 20;
/** Bytes of address space that must be left for memory. With less, threads are not used. */
const MIN_MEMORY = 2 ** 30;

/** Milliseconds in which all workers of an instance must be ready. A busy machine needs one or two seconds. */
const START_LIMIT = 20_000;
/** Milliseconds after which workers that were asked to end are terminated. */
const END_LIMIT = 2_000;

export function planThreads(
  requested: number | 'auto',
  maxMemory: number,
  { loadStartThread, cores = 1, addressRoom }: Host,
): Plan {
  if (requested === 1) return { threads: 1, maxMemory };
  const one = (note: string) => ({ threads: 1, maxMemory, note });
  if (!loadStartThread)
    return one('headlight-attention/inline runs on one thread; import headlight-attention for more');
  if (typeof SharedArrayBuffer === 'undefined' || globalThis.crossOriginIsolated === false)
    return one(
      'threads need shared memory: serve the page with Cross-Origin-Opener-Policy: same-origin and ' +
        'Cross-Origin-Embedder-Policy: require-corp',
    );
  const threads = requested === 'auto' ? Math.min(cores, MAX_THREADS) : requested;
  const room = (addressRoom?.() ?? Infinity) - (threads - 1) * WORKER_ADDRESSES;
  if (room < Math.min(maxMemory, MIN_MEMORY))
    return one(`the address space of this process (ulimit -v) is too small for ${threads} threads`);
  return { threads, maxMemory: Math.min(maxMemory, Math.floor(room / PAGE) * PAGE) };
}

/**
 * Reduces the limit, in bytes, if necessary: the engine reserves it as address space, and not every system has 4 GiB.
 */
export function sharedMemory(limit: number): { memory: WebAssembly.Memory; limit: number } | { failure: unknown } {
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
  /** Threads that run a call, including the caller's. */
  declare count: number;
  declare note: string | undefined;

  #core: CoreExports;
  #workers: { thread: Thread; stack: number }[] = [];
  #stopped = false;

  constructor(core: CoreExports) {
    this.#core = core;
    this.count = 1;
    this.note = undefined;
  }

  /** Starts count − 1 workers. If one of them fails, the instance continues with one thread. */
  async start(module: WebAssembly.Module, memory: WebAssembly.Memory, count: number, start: StartThread) {
    const stacks = this.#allocateStacks(count - 1);
    if (stacks.length < count - 1) {
      for (const stack of stacks) this.#core.hl_tensor_free(stack);
      const [limit, each] = [this.#core.hl_memory_limit(), BUILD.STACK].map(formatBytes);
      this.note = `the stacks of ${count} threads, ${each} each, do not fit in maxMemory, ${limit}`;
      return;
    }
    try {
      for (const [i, stack] of stacks.entries()) {
        const post = { module, memory, stack: stack + BUILD.STACK, number: i + 1 };
        const thread = start(post, (reason) => this.fail(`a worker ended: ${messageOf(reason)}`));
        // If another worker fails first, nothing awaits this promise.
        thread.ready.catch(() => {});
        this.#workers.push({ thread, stack });
      }
      const ready = Promise.all(this.#workers.map(({ thread }) => thread.ready));
      if (!(await within(START_LIMIT, ready))) throw new Error(`it was not ready after ${START_LIMIT / 1000} s`);
      // A worker that was ready may have ended meanwhile. In that case fail() has stopped the other workers.
      if (this.#stopped) return;
      this.#core.hl_pool_resize(count);
      this.count = count;
    } catch (reason) {
      this.note = `a worker did not start: ${messageOf(reason)}`;
      for (const stack of stacks.slice(this.#workers.length)) this.#core.hl_tensor_free(stack);
      await this.#cancel();
    }
  }

  /** Allocates as many stacks as fit in memory, at most `count`. */
  #allocateStacks(count: number) {
    const stacks: number[] = [];
    while (stacks.length < count) {
      const stack = this.#core.hl_tensor_alloc(STACK_FLOATS) >>> 0;
      if (stack === 0) break;
      stacks.push(stack);
    }
    return stacks;
  }

  /** Ends the workers that have started. The stack of a worker that may still run is not freed. */
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

  /** Stops the workers, so that the instance continues with one thread. note: the reason. */
  fail(note: string) {
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

/** Returns true if the promise is fulfilled in time. limit: milliseconds. */
function within(limit: number, promise: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, limit, false);
  });
  return Promise.race([promise.then(() => true), late]).finally(() => clearTimeout(timer));
}

const messageOf = (reason: unknown) => (reason instanceof Error ? reason.message : String(reason));
