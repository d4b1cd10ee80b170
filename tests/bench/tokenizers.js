// ./build.sh bench tokenizers: opens tokenizer files of the sizes of GPT-2, Llama 3 and BERT, and encodes a first short
// text, compared with @huggingface/tokenizers. In each round each contender has a new process, which opens the file
// several times: the first time is that of a program that opens one tokenizer. It prints the CPU time of the first and
// of the fastest, because other programs change the elapsed time, and the medians of the rounds' ratios: below 1
// Headlight is faster. --rounds N; --against FOLDER: also compares opening and encoding a text with the sources of
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
/** Times that a process opens the file, and times that it encodes the text. */
const [OPENED, ENCODED] = [5, 7];

/** Milliseconds of CPU time, in all threads. */
function cpuTime(run) {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** A function that opens the bytes of a tokenizer.json: of the peer, or of the sources in a folder. */
async function opener(contender) {
  if (contender === PEER) {
    const { Tokenizer } = await import(PEER);
    return (bytes) => new Tokenizer(JSON.parse(new TextDecoder().decode(bytes)), {});
  }
  const { openTokenizer } = await import(pathToFileURL(join(contender, 'src/js/text/tokenizer.js')).href);
  return openTokenizer;
}

/** In a new process: one line of JSON. */
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
  // Each time other words: those that are known are cached.
  const texts = Array.from({ length: ENCODED }, (_, i) => makeText(i + 2));
  const encoding = texts.map((text) => cpuTime(() => tokenizer.encode(text)));
  console.log(JSON.stringify({ ids, first: times[0], warm: Math.min(...times), encode: median(encoding) }));
}

/** The results of one contender in a new process. */
function run(contender, file) {
  const program = fileURLToPath(import.meta.url);
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, '--contender', contender, '--file', file], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${contender}: ${stderr}`);
  return JSON.parse(stdout);
}

/** Rounds in which the contenders take turns. */
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
