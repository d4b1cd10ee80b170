// The entry for browsers and workers: fetches the binary.

import { fetchBytes } from './fetch.js';
import { loadOn } from './load.js';

/** @import { Headlight } from '../index.js' */
/** @import { LoadOptions, Platform } from './load.js' */

/** @type {import('./threads.js').StartThread} */
function startThread(post, failed) {
  const worker = new Worker(new URL('./headlight.worker.js', import.meta.url), { type: 'module' });
  const blocked = watchPolicy();
  let started = false;
  /** @type {() => void} */
  let hasEnded;
  /** @type {Promise<void>} */
  const ended = new Promise((resolve) => {
    hasEnded = resolve;
  });
  /** @type {Promise<void>} */
  const ready = new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => {
      if (data === 'ended') return hasEnded();
      started = true;
      blocked.stop();
      resolve();
    };
    worker.onerror = async (event) => {
      if (started) return failed(event.message);
      hasEnded();
      reject(new Error(event.message || (await blocked.reason()) || (await whyNoScript())));
    };
    worker.postMessage(post);
  });
  return { ready, ended, terminate: () => worker.terminate() };
}

/** Watches for violations of the page's Content-Security-Policy: the error event of a worker does not mention them. */
function watchPolicy() {
  let found = '';
  const listen = (/** @type {any} */ event) => {
    found = `the Content-Security-Policy of the page blocks it (${event.effectiveDirective})`;
  };
  const stop = () => globalThis.removeEventListener('securitypolicyviolation', listen);
  globalThis.addEventListener('securitypolicyviolation', listen);
  const reason = async () => {
    // The event may be dispatched shortly after the error of the worker.
    await new Promise((resolve) => setTimeout(resolve, 100));
    stop();
    return found;
  };
  return { stop, reason };
}

async function whyNoScript() {
  const url = new URL('./headlight.worker.js', import.meta.url);
  const response = await fetch(url).catch((/** @type {Error} */ error) => error.message);
  const status = typeof response === 'string' ? response : `status ${response.status}`;
  const served = typeof response === 'object' && response.ok;
  return served ? `the browser rejects ${url.href}` : `headlight.worker.js is not next to the module (${status})`;
}

/** @returns {Platform} */
const platform = () => ({
  binaries: {
    simd128: new URL('./headlight.simd128.wasm', import.meta.url),
    relaxed: new URL('./headlight.relaxed.wasm', import.meta.url),
    'simd128-threads': new URL('./headlight.simd128-threads.wasm', import.meta.url),
    'relaxed-threads': new URL('./headlight.relaxed-threads.wasm', import.meta.url),
  },
  read: fetchBytes,
  module: import.meta.url,
  resolve: (path) => new URL(path, globalThis.location?.href ?? import.meta.url),
  startThread,
  cores: globalThis.navigator?.hardwareConcurrency ?? 4,
});

/**
 * Starts an instance of the core with its own memory. Each call starts another instance.
 * @param {LoadOptions} [options]
 * @returns {Promise<Headlight>}
 */
export function load(options) {
  return loadOn(platform(), options);
}

export * from '../index.js';
