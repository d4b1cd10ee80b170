// Compares Headlight with one other program on a file whose weights have few bits, in a page without a worker. The
// options are in globalThis.benchOptions. With the option `alone`, only one of the two programs runs, and the memory of
// this program is measured.

import * as ort from 'onnxruntime-web/wasm';
import { load } from '../../src/js/load/browser.ts';
import { differ, feedsOf, figuresOf, makeOurs, TOKENS, takeTurns, turnOf } from './decoderTurns.js';
import * as wllama from './peers/wllama.js';

/**
 * Largest allowed difference of the logits, relative to the largest logit. It is large because the inputs of products
 * are rounded to 8 bits.
 */
const TOLERANCE = 0.1;

const { options, type, file, words, ids, peer, threads, rounds, prefills, pasts, alone } = globalThis.benchOptions;
const most = Math.max(...pasts);
const blobOf = async (name) => (await fetch(name)).blob();

async function openOurs() {
  const hl = await load({ threads });
  const weights = type === 'int4' ? 'int4' : 'stored';
  const model = await hl.openModel({ 'model.gguf': await blobOf(file) }, { weights });
  return makeOurs(model, { options, ids, pasts });
}

/**
 * Opens the model with onnxruntime-web. Resolves to a function that prepares a case and returns a call, which resolves
 * to the logits.
 */
async function openOnnx({ form, graph, data }, pairs) {
  ort.env.wasm.wasmPaths = new URL('.', location.href).href;
  ort.env.wasm.numThreads = threads;
  ort.env.logLevel = 'error';
  const session = await ort.InferenceSession.create(graph, {
    executionProviders: ['wasm'],
    graphOptimizationLevel: 'all',
    externalData: [{ path: 'weights', data }],
  });
  return ({ past, rows }) => {
    const feeds = feedsOf(ort, session, form, { options, ids, past, rows, pairs, most });
    return async () => (await session.run(feeds)).logits.data;
  };
}

/** Returns keys and values of zeros, for runs that measure only the memory. */
function emptyPairs() {
  const { layers, numHeads, kvHeads = numHeads, dModel } = options;
  const size = kvHeads * most * (dModel / numHeads);
  return Array.from({ length: layers }, () => ({ key: new Float32Array(size), value: new Float32Array(size) }));
}

/**
 * Returns the largest difference of the log probabilities of the most probable tokens, relative to the largest logit.
 */
function differLikeliest(logits, likeliest) {
  const highest = logits.reduce((a, b) => Math.max(a, b));
  const sum = highest + Math.log(logits.reduce((total, x) => total + Math.exp(x - highest), 0));
  const off = likeliest.map(({ id, logprob }) => Math.abs(logits[id] - sum - logprob));
  return Math.max(...off) / logits.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
}

const cases = [
  ...(peer.form === 'rows' ? [] : prefills.map((rows) => ({ what: `prefill ${rows}`, past: 0, rows }))),
  ...pasts.map((past) => ({ what: `a token after ${past}`, past, rows: 1 })),
];
const runOurs = (ours, { past, rows }) => (past > 0 ? ours.token(past) : ours.prefill(rows));

/** Opens the other program. turn(case) returns a turn; off(case, logits) compares its logits with Headlight's. */
async function openTheirs(pairs) {
  if (peer.name === 'wllama') {
    const opened = await wllama.open(await blobOf(file), { threads, options, words });
    return {
      turn: ({ past, rows }) => (past > 0 ? opened.token(past) : opened.prefill(rows)),
      off: async ({ past, rows }, logits) => differLikeliest(logits, await opened.likeliest(past + rows, past > 0)),
    };
  }
  const callOf = await openOnnx(peer, pairs());
  return {
    turn: (one) => turnOf(callOf(one)),
    off: async (one, logits) => differ(logits, await callOf(one)()),
  };
}

async function compare() {
  const ours = await openOurs();
  const theirs = await openTheirs(ours.pairs);
  for (const one of cases) {
    const turn = theirs.turn(one);
    // A first call compiles functions and fills wllama's cache with the past.
    if (one.past > 0) await turn(1);
    ours.refill();
    const off = await theirs.off(one, runOurs(ours, one));
    if (!(off < TOLERANCE)) throw new Error(`${type}, ${one.what}: the logits differ by ${off} of the largest`);
    const own = turnOf(() => runOurs(ours, one));
    const { times } = await takeTurns([own, turn], { rounds, threads, count: one.past > 0 ? TOKENS : 1 });
    await globalThis.say({ what: one.what, off, ...figuresOf(times) });
  }
}

/** Reports the peak memory of the page's process after the longest prompt and past, minus that of an empty page. */
async function measureMemory() {
  const largest = [cases.findLast(({ past }) => past === 0), cases.at(-1)].filter(Boolean);
  const empty = await globalThis.peakMemory();
  if (alone === 'ours') {
    const ours = await openOurs();
    for (const one of largest) {
      ours.refill();
      runOurs(ours, one);
    }
  } else {
    const theirs = await openTheirs(emptyPairs);
    for (const one of largest) await theirs.turn(one)(1);
  }
  await globalThis.say({ memory: (await globalThis.peakMemory()) - empty });
}

try {
  await (alone ? measureMemory() : compare());
  await globalThis.say({ done: true });
} catch (error) {
  await globalThis.say({ broken: error.stack ?? String(error) });
}
