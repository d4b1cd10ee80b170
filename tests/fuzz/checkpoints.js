// Opens valid, truncated and damaged checkpoints, from files in memory and from files that are read in chunks, and
// aborts some openings. Each must give a model or a HeadlightError with the reason, and all memory must be freed.
//
//   node tests/fuzz/checkpoints.js [openings] [seed]

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HeadlightError, load } from 'headlight-attention';
import { readSafetensors, writeSafetensors } from 'headlight-attention/formats';
import { GOLDEN } from '../support/golden.js';
import { makeSource } from './source.js';

const FAMILIES = ['bert-a', 'gemma2-a', 'gemma3-a', 'gpt2-a', 'llama-a', 'olmo2-a', 'qwen2-a', 't5-a', 'vit-a'];
const LIMITS = [2 ** 18, 2 ** 20, 2 ** 24, 2 ** 24, 2 ** 24];
const TYPES = ['F32', 'F16', 'BF16', 'F8_E4M3', 'F8_E5M2', 'F64'];
const CODES = ['FORMAT', 'ARGUMENT', 'SHAPE', 'OUT_OF_MEMORY', 'LOAD'];

const read = (name) =>
  Object.fromEntries(
    readdirSync(join(GOLDEN, 'models', name))
      .filter((file) => !file.startsWith('expected'))
      .map((file) => [file, new Uint8Array(readFileSync(join(GOLDEN, 'models', name, file)))]),
  );
const checkpoints = new Map(FAMILIES.map((name) => [name, read(name)]));

/** Converts each tensor to a random type, and rarely removes one. */
function rewrite(source, bytes) {
  const { tensors } = readSafetensors(bytes);
  const names = Object.keys(tensors).filter(() => !source.chance(0.002));
  return writeSafetensors(
    Object.fromEntries(names.map((name) => [name, { ...tensors[name], dtype: source.pick(TYPES) }])),
  );
}

/** Changes some random bytes, most of them in the header. */
function damage(source, bytes) {
  const copy = bytes.slice();
  for (let i = source.between(1, 4); i > 0; i--)
    copy[source.below(source.chance(0.7) ? Math.min(copy.length, 3000) : copy.length)] = source.below(256);
  return copy;
}

function damageConfig(source, bytes) {
  const config = JSON.parse(new TextDecoder().decode(bytes));
  const name = source.pick(Object.keys(config));
  config[name] = source.pick([undefined, null, 0, -1, 1, 3, 2 ** 31, 1e300, 'x', true, [], {}, [1, 2], 0.5]);
  return new TextEncoder().encode(JSON.stringify(config));
}

/** Makes a checkpoint with some changes. Returns the files and the kind of change. */
function makeFiles(source) {
  const files = { ...checkpoints.get(source.pick(FAMILIES)) };
  const name = source.pick(Object.keys(files));
  const shard = source.pick(Object.keys(files).filter((file) => file.endsWith('.safetensors')));
  const changes = {
    right: () => {},
    rewritten: () => void (files[shard] = rewrite(source, files[shard])),
    cut: () => void (files[name] = files[name].subarray(0, source.below(files[name].length))),
    damaged: () => void (files[name] = damage(source, files[name])),
    'another config': () => void (files['config.json'] = damageConfig(source, files['config.json'])),
    missing: () => void delete files[name],
  };
  const how = source.pick([
    'right',
    'rewritten',
    'rewritten',
    'cut',
    'damaged',
    'damaged',
    'another config',
    'missing',
  ]);
  changes[how]();
  const inPieces = source.chance(0.5);
  if (inPieces) for (const file of Object.keys(files)) files[file] = new Blob([files[file]]);
  return { files, how };
}

async function openOne(hl, source, report) {
  const { files, how } = makeFiles(source);
  const { used } = hl.info.memory;
  const stop = new AbortController();
  const reason = new Error('enough');
  const after = source.chance(0.2) ? source.below(40) : Infinity;
  let steps = 0;
  const options = {
    weights: source.pick(['float32', 'int8', 'stored']),
    signal: stop.signal,
    onProgress: ({ read, total }) => {
      assert.ok(read > 0 && read <= total, `${read} of ${total}`);
      if (++steps > after) stop.abort(reason);
    },
    ...(source.chance(0.2) && { layers: source.below(3) }),
  };
  try {
    const model = await hl.openModel(files, options);
    model.dispose();
    report.opened++;
  } catch (error) {
    const known = error instanceof HeadlightError && CODES.includes(error.code);
    if (error !== reason && !known) throw new Error(`${how}, ${options.weights}: ${error.stack}`, { cause: error });
    // A model whose size was changed may be too large for the memory.
    const may = how !== 'right' || error === reason || error.code === 'OUT_OF_MEMORY';
    if (!may) throw new Error(`refused: ${error.stack}`, { cause: error });
    report[error === reason ? 'stopped' : 'refused']++;
  }
  assert.equal(hl.info.memory.used, used, `${how}, ${options.weights}: memory was leaked`);
}

/**
 * @param {number} total number of checkpoints
 * @param {number} seed
 */
export async function fuzzCheckpoints(total, seed) {
  const report = { opened: 0, refused: 0, stopped: 0 };
  const all = await Promise.all(LIMITS.map((maxMemory) => load({ maxMemory })));
  for (let i = 0; i < total; i++) {
    const source = makeSource(seed + i);
    try {
      await openOne(source.pick(all), source, report);
    } catch (error) {
      throw new Error(`seed ${seed + i}: ${error.message}`, { cause: error });
    }
  }
  for (const hl of all) hl.dispose();
  return report;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [total = 10_000, seed = 1] = process.argv.slice(2).map(Number);
  console.log(`${total} openings, seed ${seed}`);
  console.log(await fuzzCheckpoints(total, seed));
}
