// ./build.sh bench training: trains the model of the page by Headlight and by TensorFlow.js, from the same parameters
// on the same batches, in turns within one process. Each Node and number of threads has its own process.
//   --rounds N     number of turns of ten steps each, default 12

import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { load } from '../../dist/headlight.node.js';
import { uniformSource } from '../../src/js/ops/random.ts';
import { batchOf, TASKS } from '../../web/model/training/tasks.ts';

const { layers, dModel: C, numHeads: H } = TASKS.repeat.model;
const {
  context: T,
  tokens: { length: V },
} = TASKS.repeat;
const [B, RATE, BETAS, EPS, STEPS] = [32, 0.001, [0.9, 0.999], 1e-8, 10];
/** Largest allowed difference of the losses in the first turn. It ensures that both programs run the same training. */
const TOLERANCE = 1e-3;

async function headlight(threads) {
  const hl = await load({ threads });
  const model = hl.transformer({ ...TASKS.repeat.model, vocab: V, context: T, seed: 1 });
  const trained = [model];
  const optimizer = hl.adam(trained, { lr: RATE, betas: BETAS, eps: EPS });
  const parameters = model.stateDict();
  const step = ({ labels, targets }) => {
    const { loss } = model.zeroGrad().learn(labels, targets);
    optimizer.step();
    return loss;
  };
  return { name: `Headlight (${hl.info.simd})`, parameters, step };
}

/**
 * Loads TensorFlow.js. Its WebAssembly backend lacks two kernels that training needs, which are replaced:
 * UnsortedSegmentSum, the gradient of a gather, by a product with one-hot rows; LogSoftmax, which is computed from the
 * logarithm of a sum of exponentials. One-hot rows are created as integers, because the backend writes the bits of
 * integers even if floats are requested.
 */
async function tensorflow(threads, parameters) {
  const require = createRequire(import.meta.url);
  const [tf, wasm] = ['@tensorflow/tfjs-core', '@tensorflow/tfjs-backend-wasm'].map((name) => require(name));
  await import('../../dist/bench/gradients.js');
  wasm.setWasmPaths(require.resolve('@tensorflow/tfjs-backend-wasm').replace(/[^/]*$/, ''));
  wasm.setThreadsCount(threads);
  await tf.setBackend('wasm');
  await tf.ready();

  const p = Object.fromEntries(
    Object.entries(parameters).map(([name, { data, shape }]) => [name, tf.variable(tf.tensor(data, shape))]),
  );
  const hidden = tf.tensor(
    Float32Array.from({ length: T * T }, (_, i) => (i % T > Math.floor(i / T) ? -1e9 : 0)),
    [T, T],
  );
  const linear = (x, weight, bias) =>
    bias ? tf.add(tf.matMul(x, weight, false, true), bias) : tf.matMul(x, weight, false, true);
  const norm = (x, name) => {
    const off = tf.sub(x, tf.mean(x, -1, true));
    const normal = tf.mul(off, tf.rsqrt(tf.add(tf.mean(tf.square(off), -1, true), 1e-5)));
    return tf.add(tf.mul(normal, p[`${name}.weight`]), p[`${name}.bias`]);
  };
  const split = (x) => tf.transpose(tf.reshape(x, [B, T, H, C / H]), [0, 2, 1, 3]);
  const attention = (x, name) => {
    const [q, k, v] = ['q', 'k', 'v'].map((letter) =>
      split(linear(x, p[`${name}.w${letter}`], p[`${name}.b${letter}`])),
    );
    const scores = tf.add(tf.mul(tf.matMul(q, k, false, true), 1 / Math.sqrt(C / H)), hidden);
    const heads = tf.reshape(tf.transpose(tf.matMul(tf.softmax(scores), v), [0, 2, 1, 3]), [B * T, C]);
    return linear(heads, p[`${name}.wo`], p[`${name}.bo`]);
  };
  const logits = (labels) => {
    const rows = tf.reshape(tf.matMul(labels, p['embedding.table']), [B, T, C]);
    let x = tf.reshape(tf.add(rows, p['embedding.position']), [B * T, C]);
    for (let i = 0; i < layers; i++) x = tf.add(x, attention(norm(x, `blocks.${i}.norm1`), `blocks.${i}.attention`));
    return linear(norm(x, 'norm'), p['head.weight']);
  };
  const optimizer = tf.train.adam(RATE, ...BETAS, EPS);
  const step = ({ labels, targets }) => {
    const loss = optimizer.minimize(() => {
      const counted = Float32Array.from(targets.data, (target) => Number(target >= 0));
      const [x, y] = [labels.data, targets.data].map((values) =>
        tf.cast(tf.oneHot(tf.tensor1d(values, 'int32'), V), 'float32'),
      );
      const z = logits(x);
      const losses = tf.sub(tf.log(tf.sum(tf.exp(z), -1)), tf.sum(tf.mul(z, y), -1));
      return tf.div(
        tf.sum(tf.mul(losses, counted)),
        counted.reduce((a, b) => a + b, 0),
      );
    }, true);
    const [value] = loss.dataSync();
    loss.dispose();
    return value;
  };
  return { name: 'tfjs-backend-wasm', step };
}

async function measure(threads, rounds) {
  const random = uniformSource(1);
  const batches = Array.from({ length: STEPS }, () => batchOf(TASKS.repeat, random, B));
  const ours = await headlight(threads);
  const contenders = [ours, await tensorflow(threads, ours.parameters)].map((contender) => ({
    ...contender,
    times: [],
  }));
  let apart;
  for (let round = 0; round <= rounds; round++) {
    const losses = contenders.map(({ step, times }) =>
      batches.map((batch) => {
        const start = performance.now();
        const loss = step(batch);
        // The first turn is a warm-up, in which the engine compiles.
        if (round > 0) times.push(performance.now() - start);
        return loss;
      }),
    );
    // In later turns the losses diverge because of rounding.
    if (round > 0) continue;
    apart = Math.max(...losses[0].map((loss, i) => Math.abs(loss - losses[1][i])));
    if (!(apart < TOLERANCE)) throw new Error(`the losses are ${apart} apart: ${losses.join(' | ')}`);
  }
  const medians = contenders.map(({ times }) => times.sort((a, b) => a - b)[times.length >> 1]);
  const engine = `Node ${process.versions.node.split('.')[0]}, ${threads} thread${threads > 1 ? 's' : ''}`;
  contenders.forEach(({ name, times }, i) => {
    console.log(
      [
        engine.padEnd(18),
        name.padEnd(22),
        `${(1000 / medians[i]).toFixed(1)} steps/s`.padStart(13),
        `${medians[i].toFixed(1)} ms`.padStart(9),
        `least ${times[0].toFixed(1)}`.padStart(12),
        i > 0 ? `${(medians[i] / medians[0]).toFixed(1)} times ours, losses ${apart.toExponential(0)} apart` : '',
      ]
        .join('  ')
        .trimEnd(),
    );
  });
}

const {
  values: { threads, rounds },
} = parseArgs({ options: { threads: { type: 'string' }, rounds: { type: 'string', default: '12' } } });
if (threads) {
  await measure(Number(threads), Number(rounds));
  process.exit();
}
console.log(
  `${cpus()[0].model.trim()}, ${cpus().length} cores;`,
  `{ layers: ${layers}, dModel: ${C}, numHeads: ${H}, mlp: 0 }, ${B} sequences of ${T}, Adam`,
);
for (const node of [process.execPath, fileURLToPath(new URL('../../node_modules/node/bin/node', import.meta.url))]) {
  for (const count of [1, 4]) {
    const { status } = spawnSync(
      node,
      [fileURLToPath(import.meta.url), '--threads', String(count), '--rounds', rounds],
      { stdio: 'inherit' },
    );
    if (status !== 0) process.exitCode = 1;
  }
}
