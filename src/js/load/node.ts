// The entry for Node, which reads the binary from disk, or fetches it if its URL is not a file: URL.

/** @module headlight-attention */

import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { HeadlightError } from '../check/errors.ts';
import type { Headlight } from '../index.ts';
import * as attentionPool from '../models/mixers/attentionPool.ts';
import * as disentangled from '../models/mixers/disentangled.ts';
import * as headNorms from '../models/mixers/headNorms.ts';
import * as resizedPositions from '../models/positions/resizedPositions.ts';
import { setRareParts } from '../models/rareParts.ts';
import * as shiftedInput from '../models/results/shiftedInput.ts';
import * as sound from '../models/sound/index.ts';
import { fetchBytes } from './fetch.ts';
import { type LoadOptions, loadOn, type Platform } from './load.ts';
import type { Post } from './threads.ts';

setRareParts({ attentionPool, disentangled, headNorms, resizedPositions, shiftedInput, sound });

/** Makes the error for an address that a bundler has replaced by one for browsers. */
const replaced = (address: string) =>
  new HeadlightError(
    'LOAD',
    `load: a bundler has replaced the address of the binary by ${address}. Leave headlight-attention out of the ` +
      'bundle for the server (in Next: serverExternalPackages), or pass { wasm: url }',
    { parameter: 'wasm', expected: 'a file: or http: URL', got: address },
  );

async function read(url: URL) {
  if (!URL.canParse(url.href)) throw replaced(url.href);
  if (url.protocol !== 'file:') return fetchBytes(url);
  try {
    return await readFile(url);
  } catch (cause) {
    throw new HeadlightError(
      'LOAD',
      `load: cannot read ${url.href}: ${(cause as Error).message}. Pass { wasm: url } if the file is elsewhere`,
      {
        parameter: 'wasm',
        cause,
      },
    );
  }
}

/**
 * Runs the same module on the same memory, with a stack of its own. A string, because a bundler may not include a file.
 */
const THREAD = `
const { parentPort, workerData: post } = require('node:worker_threads');
const imports = { env: { memory: post.memory }, host: { watch() {} } };
WebAssembly.instantiate(post.module, imports).then(({ exports: core }) => {
  core.__stack_pointer.value = post.stack;
  parentPort.postMessage('ready');
  core.hl_pool_work(post.number);
});`;

/** Starts a worker that does not keep the process alive. */
function startThread(post: Post, failed: (reason: unknown) => void) {
  const worker = new Worker(THREAD, { eval: true, workerData: post, name: `headlight ${post.number}`, execArgv: [] });
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  const ready: Promise<void> = new Promise((resolve, reject) => {
    worker.once('message', () => {
      worker.unref();
      resolve();
    });
    worker.on('error', reject);
    worker.once('exit', (code) => reject(new Error(`it ended with code ${code}`)));
  });
  ready.then(
    () => {
      worker.on('error', failed);
      worker.once('exit', (code) => failed(`code ${code}`));
    },
    () => {},
  );
  return { ready, ended, terminate: () => void worker.terminate() };
}

/** Bytes of address space that are left (ulimit -v), Infinity if the system reports no limit. */
function addressRoom() {
  try {
    const limit = Number(/^Max address space +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
    const used = Number(/^VmSize:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
    return Number.isNaN(limit - used) ? Infinity : limit - used;
  } catch {
    return Infinity;
  }
}

const platform = (): Platform => ({
  binaries: {
    simd128: new URL('./headlight.simd128.wasm', import.meta.url),
    relaxed: new URL('./headlight.relaxed.wasm', import.meta.url),
    'simd128-threads': new URL('./headlight.simd128-threads.wasm', import.meta.url),
    'relaxed-threads': new URL('./headlight.relaxed-threads.wasm', import.meta.url),
  },
  read,
  module: import.meta.url,
  resolve: (path) => (URL.canParse(path) ? new URL(path) : pathToFileURL(path)),
  loadStartThread: async () => startThread,
  // Node 20 has no navigator.hardwareConcurrency.
  cores: availableParallelism(),
  addressRoom,
  openPath: async (caller, path) => (await import('../models/checkpoint/disk.ts')).openPath(caller, path),
  hub: async () => (await import('../hub/nodePlatform.ts')).node,
});

/** Starts an instance of the core with its own memory. Each call starts another instance. */
export function load(options?: LoadOptions): Promise<Headlight> {
  return loadOn(platform(), options);
}

export * from '../index.ts';
