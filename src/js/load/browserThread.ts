// Starts the threads of a browser: workers that run worker.ts.

import type { StartThread } from './threads.ts';

export type WorkerScript = {
  /** creates a worker that runs the script; throws if the browser does not allow it */
  create: () => Worker;
  /** URL of the script */
  url: () => URL;
};

export function makeStartThread(script: WorkerScript): StartThread {
  return (post, failed) => {
    const { worker, release } = createWorker(script);
    const blocked = watchPolicy();
    let started = false;
    let hasEnded: () => void;
    const ended: Promise<void> = new Promise((resolve) => {
      hasEnded = resolve;
    });
    const ready: Promise<void> = new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => {
        if (data === 'ended') return hasEnded();
        started = true;
        blocked.stop();
        release();
        resolve();
      };
      worker.onerror = async (event) => {
        if (started) return failed(event.message);
        hasEnded();
        release();
        reject(new Error(event.message || (await blocked.reason()) || (await whyNoScript(script.url()))));
      };
      worker.postMessage(post);
    });
    return { ready, ended, terminate: () => worker.terminate() };
  };
}

/**
 * A browser refuses a script of another origin, such as a CDN; then a worker of the page's origin imports it. Call
 * release when the script is loaded.
 */
function createWorker({ create, url }: WorkerScript): { worker: Worker; release: () => void } {
  const { href, origin, protocol } = url();
  // A bundler may have put the script into a data: URL, which has an opaque origin but is not of another server.
  if (!/^https?:$/.test(protocol) || origin === globalThis.origin) return { worker: create(), release() {} };
  const blob = new Blob([`import ${JSON.stringify(href)};`], { type: 'text/javascript' });
  const address = URL.createObjectURL(blob);
  const release = () => URL.revokeObjectURL(address);
  try {
    return { worker: new Worker(address, { type: 'module' }), release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Watches for violations of the page's Content-Security-Policy, which a worker's error event does not mention. */
function watchPolicy() {
  let found = '';
  const listen = (event: any) => {
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

async function whyNoScript(url: URL) {
  const response = await fetch(url).catch((error: Error) => error.message);
  const status = typeof response === 'string' ? response : `status ${response.status}`;
  const served = typeof response === 'object' && response.ok;
  return served ? `the browser rejects ${url.href}` : `headlight.worker.js is not next to the module (${status})`;
}
