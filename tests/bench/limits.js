// ./build.sh bench limits: compares Headlight with the peak speed of a core, in the Node that runs npm and in the newer
// Node that the tests use, with and without relaxed SIMD; and measures the effect of causal masks, of returned weights
// and of threads. Contenders take turns. The first number of a line is the median ratio of the turns, without turns in
// which the clock rate of the processor changed. The second is the ratio of the minimum times, which approximates an
// idle machine.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { load } from '../../dist/headlight.node.js';
import { numbers, openKernels } from '../support/kernels.js';
import { median } from './measure.js';

/**
 * Milliseconds of the warm-up, milliseconds of all turns of a measurement together, and minimum milliseconds of one
 * contender in a turn.
 */
const [WARM_UP, BUDGET, TURN] = [500, 6000, 2];
/** Largest relative difference of the peak speeds measured before and after a turn. */
const STEADY = 0.03;

const time = (run, times) => {
  const start = performance.now();
  for (let i = 0; i < times; i++) run();
  return (performance.now() - start) / times;
};

function peakProgram(simd) {
  const binary = readFileSync(new URL(`../../dist/bench/peak.${simd}.wasm`, import.meta.url));
  return new WebAssembly.Instance(new WebAssembly.Module(binary)).exports;
}

function openPeak(simd) {
  const { peak } = peakProgram(simd);
  const [steps, perStep] = [3e4, 12 * 4 * 2];
  for (let i = 0; i < 2000; i++) peak(1000, 0.999, 0.001);
  return () => (steps * perStep) / time(() => peak(steps, 0.999, 0.001), 1) / 1e6;
}

/** Runs the contenders in turns. Returns their times in milliseconds and the peak speed in each turn. */
function takeTurns(peak, runs) {
  const counts = runs.map((run) => {
    time(run, 2);
    return Math.max(1, Math.ceil(TURN / time(run, 2)));
  });
  const turns = { peaks: [], times: runs.map(() => []), all: 0 };
  const warm = performance.now();
  while (performance.now() - warm < WARM_UP) for (const run of runs) run();
  const start = performance.now();
  for (let before = peak(); performance.now() - start < BUDGET; turns.all++) {
    const times = runs.map((run, i) => time(run, counts[i]));
    const after = peak();
    if (Math.abs(after / before - 1) < STEADY) {
      turns.peaks.push((before + after) / 2);
      times.forEach((t, i) => turns.times[i].push(t));
    }
    before = after;
  }
  return turns;
}

const report = (what, ratios, ofLeast, all, more = '') =>
  console.log(
    `  ${what.padEnd(42)} ${median(ratios).toFixed(3)}, of the minimum times ${ofLeast.toFixed(3)}${more}`,
    `(${ratios.length} of ${all} turns)`,
  );

function reportShare(peak, what, flops, run) {
  const {
    peaks,
    times: [times],
    all,
  } = takeTurns(peak, [run]);
  const rate = (ms) => flops / ms / 1e6;
  const least = rate(Math.min(...times));
  report(
    `${what}: share of the peak`,
    times.map((t, i) => rate(t) / peaks[i]),
    least / Math.max(...peaks),
    all,
    `, ${least.toFixed(1)} GFLOP/s`,
  );
}

function reportRatio(peak, what, run, than) {
  const {
    times: [a, b],
    all,
  } = takeTurns(peak, [run, than]);
  report(
    what,
    a.map((t, i) => t / b[i]),
    Math.min(...a) / Math.min(...b),
    all,
  );
}

/**
 * Prepares y(M,N) = x(M,K) · weightᵀ with an already packed weight, in a separate instance of the core. Returns the
 * call.
 */
function product(k, [M, N, K]) {
  const packed = k.block(N * K);
  k.core.gemm_pack_rows(packed.at, 8, k.block(numbers(N * K)).at, K, N, K, 1);
  const args = k.block(6);
  const words = [k.block(M * N).at, packed.at, k.block(N).at, N, 0, 0];
  new Uint32Array(k.core.memory.buffer, args.at, 6).set(words);
  const [x, workspace] = [k.block(numbers(M * K)).at, k.block(k.core.linear_workspace(M, K)).at];
  return () => k.core.linear(args.at, 1, 0, x, M, K, workspace);
}

/**
 * Bytes of the memory that is read, more than any cache holds, and bytes of one weight, few enough to be read before
 * the system switches to another process.
 */
const [COLD, PIECE] = [2 ** 28, 6e6];

/**
 * Reports the rate at which the product of one row and a weight reads the weight, compared with a loop that only reads
 * memory.
 */
function reportRow(k, K) {
  const N = Math.floor(PIECE / (4 * K) / 64) * 64;
  const { memory, sum, sum_of_halves } = peakProgram(k.flavour);
  const start = memory.buffer.byteLength;
  memory.grow(COLD / 65536);
  new Float32Array(memory.buffer, start).fill(1);
  const alloc = (count) => k.core.hl_tensor_alloc(count) >>> 0;
  const [x, y] = [alloc(K), alloc(N)];
  new Float32Array(k.core.memory.buffer, x, K).set(numbers(K));
  const weights = Array.from({ length: Math.floor(COLD / (4 * N * K)) }, () => alloc(N * K));
  for (const at of weights) new Float32Array(k.core.memory.buffer, at, N * K).fill(0.5);
  const words = k.core.hl_weight_quantized_size(N, K);
  const rounded = Array.from({ length: Math.min(100, Math.floor(COLD / (4 * words))) }, () => alloc(words));
  for (const at of rounded) k.core.hl_weight_quantize(at, weights[0], N, K);
  let turn = 0;
  const read = (sum) => () => sum(start + (turn % weights.length) * 4 * N * K, Math.floor((N * K) / 64) * 64);
  const runs = [
    read(sum),
    read(sum_of_halves),
    () => k.core.hl_linear_forward(y, x, weights[turn % weights.length], 0, 1, N, K),
    () => k.core.hl_linear_quantized(y, x, rounded[turn % rounded.length], 0, 1, N, K),
  ];
  const times = runs.map(() => []);
  for (turn = 0; turn < 800; turn++) runs.forEach((run, i) => times[i].push(time(run, 1)));
  const [whole, halves, plain, int8] = times.map((list) => list.slice(200).sort((a, b) => a - b)[60]);
  const least = Math.min(whole, halves);
  const rate = (words, ms) => (4 * words) / ms / 1e6;
  console.log(
    `  product 1×${N}×${K}, from memory: reading ${rate(N * K, least).toFixed(1)} GB/s, float32`,
    `${rate(N * K, plain).toFixed(1)} (${(least / plain).toFixed(2)} of it), int8 ${rate(words, int8).toFixed(1)},`,
    `${(plain / int8).toFixed(2)} times as fast as float32`,
  );
  for (const at of [x, y, ...weights, ...rounded]) k.core.hl_tensor_free(at);
}

const heads = (hl, H, T, options = {}) => {
  const [q, k, v] = [1, 2, 3].map((seed) => hl.randn([1, H, T, 64], { seed }));
  return () => hl.attention(q, k, v, options).dispose();
};

const layer = (hl, B, T, C, H) => {
  const mha = hl.multiHeadAttention({ embedDim: C, numHeads: H });
  const x = hl.randn([B, T, C], { seed: 1 });
  return () => mha.forward(x).dispose();
};

async function measure() {
  for (const k of openKernels()) {
    const simd = k.flavour;
    const [peak, hl, four] = [openPeak(simd), await load({ simd }), await load({ simd, threads: 4 })];
    console.log(`Node ${process.versions.node.split('.')[0]}, ${simd}`);
    for (const width of [768, 3072]) reportRow(k, width);
    const [M, N, K] = [512, 768, 768];
    reportShare(peak, `product ${M}×${N}×${K}`, 2 * M * N * K, product(k, [M, N, K]));
    reportShare(peak, 'layer BERT-base 512', 8 * M * N * K + 4 * M * M * K, layer(hl, 1, M, K, 12));
    for (const T of [1024, 4096]) reportShare(peak, `attention ${T}`, 4 * T * T * 64, heads(hl, 1, T));
    reportRatio(peak, 'attention 1024: causal / full', heads(hl, 1, 1024, { causal: true }), heads(hl, 1, 1024));
    reportRatio(
      peak,
      'attention 512, 8 heads: weights on / off',
      heads(hl, 8, 512, { weights: true }),
      heads(hl, 8, 512),
    );
    reportRatio(
      peak,
      'layer BERT-base 512: one thread / four',
      layer(hl, 1, 512, 768, 12),
      layer(four, 1, 512, 768, 12),
    );
    for (const [B, T, C, H] of [
      [3, 5, 4, 2],
      [2, 5, 128, 4],
    ])
      reportRatio(peak, `layer ${B}×${T}×${C}/${H}: one thread / four`, layer(hl, B, T, C, H), layer(four, B, T, C, H));
    for (const instance of [hl, four]) instance.dispose();
  }
}

if (process.argv.includes('--here')) await measure();
else {
  const program = fileURLToPath(import.meta.url);
  for (const node of [process.execPath, fileURLToPath(new URL('../../node_modules/node/bin/node', import.meta.url))])
    spawnSync(node, [program, '--here'], { stdio: 'inherit' });
}
