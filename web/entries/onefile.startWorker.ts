// Starts the worker of the one-file page, whose script, binaries and files are in the document instead of on a server.

import type { WorkerLike } from '../model/protocol/workerLike.ts';
import { isFolded, unfold } from './embeddedFiles.ts';

const BINARIES = ['simd128', 'relaxed'];
const FILES = ['whale.safetensors', 'whale.tokenizer.json', 'whale.passages.txt'];

/** Models of the menu whose files are in the document. */
export const models = [...(isFolded('whale.safetensors') ? ['whale'] : []), 'constructed', 'patches'];

/** Returns an object that keeps messages until the worker has been unpacked and started. */
export function startWorker(): WorkerLike {
  let worker: Worker | null = null;
  let ended = false;
  const waiting: [unknown, Transferable[]][] = [];
  const all: WorkerLike = {
    onmessage: null,
    onerror: null,
    postMessage(question: unknown, transfer: Transferable[]) {
      if (worker) worker.postMessage(question, transfer);
      else waiting.push([question, transfer]);
    },
    terminate() {
      ended = true;
      worker?.terminate();
    },
  };
  const unfolded = async (names: string[]) => {
    const there = names.filter(isFolded);
    return Object.fromEntries(await Promise.all(there.map(async (name) => [name, await unfold(name)] as const)));
  };
  async function begin() {
    const [{ worker: script }, binaries, files] = await Promise.all([['worker'], BINARIES, FILES].map(unfolded));
    if (ended) return;
    const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
    worker = new Worker(url);
    URL.revokeObjectURL(url);
    worker.onmessage = (event) => all.onmessage?.call(worker as Worker, event);
    worker.onerror = (event) => all.onerror?.call(worker as Worker, event);
    const buffers = [...Object.values(binaries), ...Object.values(files)].map(({ buffer }) => buffer);
    worker.postMessage({ binaries, files }, buffers);
    for (const [question, transfer] of waiting) worker.postMessage(question, transfer);
  }
  begin().catch((error) => all.onerror?.call(null as unknown as Worker, error as ErrorEvent));
  return all;
}

/** Replaces `start` and `first` of preload.ts. Nothing is preloaded, because all files are in the document. */
export const start = startWorker;
export const first = undefined;
