// Measures the memory bandwidth of this machine with several threads that read at the same time. Each thread reads its
// own block.

import { readFileSync } from 'node:fs';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/**
 * Bytes of each thread's block, far more than the caches hold, and the minimum number of times that the block is read.
 */
const [BLOCK, PASSES] = [2 ** 28, 4];
const PAGE = 65536;

function openReader(binary) {
  const { memory, sum, sum_of_halves } = new WebAssembly.Instance(new WebAssembly.Module(binary)).exports;
  const at = memory.grow(BLOCK / PAGE) * PAGE;
  new Uint8Array(memory.buffer, at, BLOCK).fill(1);
  const [best] = [sum, sum_of_halves]
    .map((read) => {
      for (let i = 0; i < 2000; i++) read(at, 1024);
      const start = performance.now();
      for (let i = 0; i < PASSES; i++) read(at, BLOCK / 4);
      return { read, time: performance.now() - start };
    })
    .sort((a, b) => a.time - b.time);
  return () => best.read(at, BLOCK / 4);
}

/**
 * Starts threads that wait. measure() resolves to the bytes per second that all threads read together; close() ends the
 * threads.
 */
export function openBandwidth(threads) {
  const name = ['relaxed', 'simd128'].find((simd) => WebAssembly.validate(read(simd)));
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const workers = Array.from(
    { length: threads },
    () => new Worker(new URL(import.meta.url), { workerData: { binary: read(name), shared, threads } }),
  );
  const answer = (worker) => new Promise((resolve) => worker.once('message', resolve));
  const ready = Promise.all(workers.map(answer));
  return {
    async measure() {
      await ready;
      shared[0] = 0;
      const answers = workers.map(answer);
      for (const worker of workers) worker.postMessage('read');
      return (await Promise.all(answers)).reduce((sum, rate) => sum + rate, 0);
    },
    close: () => Promise.all(workers.map((worker) => worker.terminate())),
  };
}

const read = (simd) => readFileSync(new URL(`../../dist/bench/peak.${simd}.wasm`, import.meta.url));

if (!isMainThread && workerData?.binary) {
  const { binary, shared, threads } = workerData;
  const pass = openReader(binary);
  // No thread stops before all have read enough, so that all threads read during the whole measurement.
  parentPort.on('message', () => {
    Atomics.add(shared, 0, 1);
    while (Atomics.load(shared, 0) < threads);
    const start = performance.now();
    let passes = 0;
    for (let done = false; !done || Atomics.load(shared, 0) < 2 * threads; passes++) {
      pass();
      if (passes + 1 === PASSES) {
        Atomics.add(shared, 0, 1);
        done = true;
      }
    }
    parentPort.postMessage((1000 * passes * BLOCK) / (performance.now() - start));
  });
  parentPort.postMessage('ready');
}
