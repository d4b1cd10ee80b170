// Trains the small transformer that the Explore view shows, and writes learned.safetensors: its sequences go on at
// random and now and then say again what they have said before. Run: node web/train/pretrain.js [seed]

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { load } from 'headlight';
import { readSafetensors, writeSafetensors } from 'headlight/formats';
import { uniformSource } from '../../src/js/ops/random.js';
import { LEARNED } from '../model/learned.js';
import { batchOf } from '../model/tasks.js';

/** @import { Random, Sequence } from '../model/types.js' */

const { vocab, context } = LEARNED;
const [STEPS, BATCH, RATE, WARM_UP] = [1500, 32, 0.003, 50];
const NONE = -100;

const task = {
  /**
   * Tokens that start over after so many, now and then with a new one among them.
   * @param {Random} random
   * @returns {Sequence}
   */
  sequence(random) {
    const below = (/** @type {number} */ n) => Math.floor(random() * n);
    const fresh = Array.from({ length: vocab }, (_, i) => [random(), i])
      .sort((a, b) => a[0] - b[0])
      .map(([, i]) => i);
    const period = 4 + below(20);
    const around = fresh.splice(0, period);
    const tokens = Array.from({ length: context + 1 }, (_, t) => {
      if (t >= period && fresh.length > 0 && random() < 0.08) around[t % period] = fresh.pop() ?? 0;
      return around[t % period];
    });
    const known = (/** @type {number} */ t) => tokens.slice(0, t).includes(tokens[t]);
    return {
      tokens: tokens.slice(0, context),
      targets: tokens.slice(1).map((token, t) => (known(t) && known(t + 1) ? token : NONE)),
    };
  },
};

const seed = Number(process.argv[2] ?? 1);
const hl = await load({ threads: 'auto' });
const model = hl.transformer({ ...LEARNED, seed });
const optimizer = hl.adamW([model], { lr: RATE });
const random = uniformSource(seed);
for (let step = 1; step <= STEPS; step++) {
  const { labels, targets } = batchOf(task, random, BATCH);
  optimizer.lr = RATE * Math.min(1, step / WARM_UP, (2 * (STEPS - step)) / STEPS + 0.01);
  model.zeroGrad();
  const { loss, correct, counted } = model.learn(labels, targets);
  hl.clipGradients([model], 1);
  optimizer.step();
  if (step % 250 === 0)
    console.log(`step ${step}: loss ${loss.toFixed(3)}, ${((100 * correct) / counted).toFixed(1)}% right`);
}
const file = fileURLToPath(new URL('learned.safetensors', import.meta.url));
const { tensors, metadata } = readSafetensors(model.save());
const bytes = writeSafetensors(
  Object.fromEntries(Object.entries(tensors).map(([name, { data, shape }]) => [name, { dtype: 'F16', data, shape }])),
  { ...metadata, seed: String(seed), steps: String(STEPS) },
);
writeFileSync(file, bytes);
console.log(`written: web/train/learned.safetensors, ${bytes.length} bytes`);
hl.dispose();
