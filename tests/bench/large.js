// Opens a checkpoint of 1 GB with int8 weights, with weights as stored, and with float32 weights. Prints the time, the
// time to read the file, the time to touch the memory for the first time, and the peak memory. The checkpoint has
// random weights in the shape of a Llama. --megabytes N, --type BF16 | F32, --keep

import { spawnSync } from 'node:child_process';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { load } from '../../dist/headlight.node.js';
import { writeCheckpoint } from './checkpoint.js';

const { values: given } = parseArgs({
  options: {
    megabytes: { type: 'string', default: '1000' },
    type: { type: 'string', default: 'BF16' },
    keep: { type: 'boolean', default: false },
  },
});
const FOLDER = join(import.meta.dirname, '../../dist/bench/large');
const FILE = join(FOLDER, 'model.safetensors');
const CHUNK = 2 ** 20;
const MB = 2 ** 20;

const seconds = (start) => (performance.now() - start) / 1000;

/** Measures the seconds that reading the file takes, in chunks of CHUNK bytes into one buffer. */
async function timeReading() {
  const file = await open(FILE);
  const room = new Uint8Array(CHUNK);
  const start = performance.now();
  for (let at = 0; (await file.read(room, 0, CHUNK, at)).bytesRead > 0; at += CHUNK);
  await file.close();
  return seconds(start);
}

/** Drops the file from the system's cache. */
const forget = () => spawnSync('dd', [`if=${FILE}`, 'iflag=nocache', 'count=0']);

/** Measures the seconds that the system takes to provide this much memory when it is first written to. */
function timeTouching(bytes) {
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / 65536) });
  const all = new Uint8Array(memory.buffer);
  const start = performance.now();
  for (let at = 0; at < bytes; at += 4096) all[at] = 1;
  return seconds(start);
}

/**
 * Measures the seconds that fn takes, the maximum size of the heap, and that of arrays outside the WebAssembly memory.
 */
async function watch(hl, fn) {
  const most = { heap: 0, arrays: 0, both: 0 };
  const look = () => {
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    // Node does not count the WebAssembly memory among the array buffers.
    most.heap = Math.max(most.heap, heapUsed);
    most.arrays = Math.max(most.arrays, arrayBuffers);
    most.both = Math.max(most.both, heapUsed + arrayBuffers);
  };
  const start = performance.now();
  const result = await fn(look);
  return { result, seconds: seconds(start), most, used: hl.info.memory.used };
}

const say = (name, value) => process.stdout.write(`${name.padEnd(44)}${value}\n`);
const megabytes = (bytes) => `${(bytes / MB).toFixed(0)} MB`;

const { size, layers } = await writeCheckpoint(FOLDER, {
  megabytes: Number(given.megabytes),
  type: given.type,
  ...{ width: 1536, mlp: 4096, vocab: 32000 },
});
say('checkpoint', `${megabytes(size)} of ${given.type}, ${layers} layers`);
forget();
say('reading the file, which is not in memory', `${(await timeReading()).toFixed(2)} s`);
const reading = await timeReading();
say('reading the file again', `${reading.toFixed(2)} s`);

for (const weights of ['int8', 'stored', 'float32']) {
  const hl = await load();
  const before = hl.info.memory.used;
  const opening = (look, more = {}) => hl.openModel(FOLDER, { weights, onProgress: look, ...more });
  forget();
  const cold = await watch(hl, opening);
  const touching = timeTouching(cold.used);
  say(`\nopening it as ${weights}, not in memory`, `${cold.seconds.toFixed(2)} s`);
  say('memory of wasm in use', megabytes(cold.used));
  say('first use of so much memory', `${touching.toFixed(2)} s`);
  cold.result.dispose();
  // The WebAssembly memory has grown before, so only reading, decoding and rounding are measured.
  const again = await watch(hl, opening);
  say('opening it again', `${again.seconds.toFixed(2)} s, ${(again.seconds / reading).toFixed(2)} × the reading`);
  again.result.dispose();
  const fresh = await load();
  const warm = await watch(fresh, (look) => fresh.openModel(FOLDER, { weights, onProgress: look }));
  const beyond = warm.seconds - touching;
  say(
    'opening it in new memory',
    `${warm.seconds.toFixed(2)} s, ${(beyond / reading).toFixed(2)} × the reading beyond the first use`,
  );
  const both = Math.max(...[cold, again, warm].map(({ most }) => most.both));
  say('largest heap and arrays outside wasm', `${megabytes(both)}, expected below 150 MB`);
  warm.result.dispose();
  fresh.dispose();

  const stop = new AbortController();
  const cancelled = await watch(hl, (look) =>
    opening(
      ({ read, total }) => {
        look();
        if (read > total / 2) stop.abort();
      },
      { signal: stop.signal },
    ).catch((error) => error),
  );
  say('aborted at half', `${cancelled.result?.name} after ${cancelled.seconds.toFixed(2)} s`);
  say('memory of wasm in use, beyond that before', `${cancelled.used - before} bytes`);
  hl.dispose();
}
if (!given.keep) await rm(FOLDER, { recursive: true });
