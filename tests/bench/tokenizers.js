// ./build.sh bench tokenizers: opens tokenizer files of the sizes of GPT-2, Llama 3 and BERT, encodes a first short
// text, and compares the time with @huggingface/tokenizers. In each round each contender has a new process, which opens
// the file several times. The first time is that of a program that opens one tokenizer. It prints the CPU time of the
// first and of the fastest opening (elapsed time would depend on other programs), and the median ratio of the rounds;
// below 1 Headlight is faster. --rounds N; --against FOLDER: also compares opening and encoding with the sources of
// another version, in the folder of its repository.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { makeText, makeTokenizers } from './madeTokenizers.js';
import { median } from './measure.js';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '11' },
    against: { type: 'string' },
    contender: { type: 'string' },
    file: { type: 'string' },
  },
});
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = join(ROOT, 'dist/bench/tokenizers');
const PEER = '@huggingface/tokenizers';
const SHORT_TEXT = 'The lamp in the window is lit every evening.';
/** Number of times that a process opens the file, and number of texts that it encodes. */
const [OPENED, ENCODED] = [5, 7];

/** Returns the milliseconds of CPU time that a function takes in all threads. */
function cpuTime(run) {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * Resolves to a function that opens the bytes of a tokenizer.json, from the peer package or from the sources in a
 * folder.
 */
async function opener(contender) {
  if (contender === PEER) {
    const { Tokenizer } = await import(PEER);
    return (bytes) => new Tokenizer(JSON.parse(new TextDecoder().decode(bytes)), {});
  }
  const { openTokenizer } = await import(pathToFileURL(join(contender, 'src/js/text/tokenizer.ts')).href);
  return openTokenizer;
}

/** Measures one contender, and prints one line of JSON. It runs in a new process. */
async function measure(contender, file) {
  const open = await opener(contender);
  const bytes = readFileSync(file);
  let tokenizer;
  let ids;
  const times = Array.from({ length: OPENED }, () =>
    cpuTime(() => {
      tokenizer = open(bytes);
      ({ ids } = tokenizer.encode(SHORT_TEXT));
    }),
  );
  // The words of each text differ, because a tokenizer caches the words that it has encoded.
  const texts = Array.from({ length: ENCODED }, (_, i) => makeText(i + 2));
  const encoding = texts.map((text) => cpuTime(() => tokenizer.encode(text)));
  console.log(JSON.stringify({ ids, first: times[0], warm: Math.min(...times), encode: median(encoding) }));
}

/** Returns the results that one contender prints in a new process. */
function run(contender, file) {
  const program = fileURLToPath(import.meta.url);
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, '--contender', contender, '--file', file], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${contender}: ${stderr}`);
  return JSON.parse(stdout);
}

/** Runs rounds in which the contenders take turns. */
function compare(file, contenders) {
  const results = contenders.map(() => []);
  for (let round = 0; round < Number(options.rounds); round++) {
    const order = [...contenders.keys()];
    for (const i of round % 2 ? order.reverse() : order) results[i].push(run(contenders[i], file));
  }
  for (const all of results) for (const { ids } of all) assert.deepEqual(ids, results[0][0].ids);
  return results;
}

function print(name, [ours, theirs], labels) {
  const row = (label, key) => {
    const times = [ours, theirs].map((all) => `${median(all.map((each) => each[key])).toFixed(1)} ms`.padStart(10));
    const ratio = median(ours.map((each, i) => each[key] / theirs[i][key]));
    console.log(`  ${label.padEnd(28)} ${times.join(' ')}   ${ratio.toFixed(2)}`);
  };
  console.log(name);
  for (const [key, label] of Object.entries(labels)) row(label, key);
}

function compareAll() {
  mkdirSync(FOLDER, { recursive: true });
  const opening = { first: 'opening, the first time', warm: 'opening, the fastest time' };
  console.log(`Node ${process.versions.node}: CPU time, of the other, ratio`);
  for (const [i, { name, text }] of makeTokenizers().entries()) {
    const file = join(FOLDER, `${i}.json`);
    writeFileSync(file, text);
    const others = options.against ? [PEER, resolve(options.against)] : [PEER];
    const [ours, peer, before] = compare(file, [ROOT, ...others]);
    print(`${name}, compared with ${PEER}`, [ours, peer], opening);
    if (before)
      print(`${name}, compared with ${options.against}`, [ours, before], {
        ...opening,
        encode: 'encoding 12,000 characters',
      });
  }
}

if (options.contender) await measure(options.contender, options.file);
else compareAll();
