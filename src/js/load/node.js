// Entry for Node: the binary is read from disk, or fetched where its URL says so.

import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { HeadlightError } from '../check/errors.js';
import { fetchBytes } from './fetch.js';
import { createLoad } from './load.js';

/** @import { Headlight } from '../index.js' */
/** @import { LoadOptions } from './load.js' */

/** @param {URL} url */
async function read(url) {
  if (url.protocol !== 'file:') return fetchBytes(url);
  try {
    return await readFile(url);
  } catch (cause) {
    throw new HeadlightError(
      'LOAD',
      `load: cannot read ${url.href}: ${/** @type {Error} */ (cause).message}. ` +
        'Pass { wasm: url } if the file lies elsewhere',
      {
        parameter: 'wasm',
        cause,
      },
    );
  }
}

/**
 * What a thread runs: the same module on the same memory, with a stack of its own. As text, so that bundlers need not
 * find it.
 */
const THREAD = `
const { parentPort, workerData: { module, memory, stack, number } } = require('node:worker_threads');
WebAssembly.instantiate(module, { env: { memory } }).then(({ exports }) => {
  exports.__stack_pointer.value = stack;
  parentPort.postMessage('ready');
  exports.hl_pool_work(number);
});`;

/** A worker that does not keep the process alive. @type {import('./threads.js').StartThread} */
function startThread(post) {
  const worker = new Worker(THREAD, { eval: true, workerData: post, name: `headlight ${post.number}`, execArgv: [] });
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', () => {
      worker.unref();
      resolve({ stop: () => void worker.terminate() });
    });
  });
}

/** @type {(options?: LoadOptions) => Promise<Headlight>} */
export const load = createLoad({
  binaries: {
    simd128: new URL('./headlight.simd128.wasm', import.meta.url),
    relaxed: new URL('./headlight.relaxed.wasm', import.meta.url),
    'simd128-threads': new URL('./headlight.simd128-threads.wasm', import.meta.url),
    'relaxed-threads': new URL('./headlight.relaxed-threads.wasm', import.meta.url),
  },
  read,
  resolve: (path) => (URL.canParse(path) ? new URL(path) : pathToFileURL(path)),
  startThread,
  // Node 20 has no navigator to ask.
  cores: availableParallelism(),
});

export * from '../index.js';
