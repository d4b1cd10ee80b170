// Trains a small model on a task of the page.

import { warmupSchedule } from 'headlight-attention';
import { uniformSource } from '../../src/js/ops/random.ts';
import { batchOf } from '../../web/model/training/tasks.ts';

/** Trains a model like the page, and returns the last result of `examine`. */
export function teach(hl, model, { rate, batch, steps }, task, examine = () => null) {
  const layers = [model];
  const optimizer = hl.adamW(layers, { lr: rate });
  const schedule = warmupSchedule({ lr: rate, warmup: 50 });
  const random = uniformSource(1);
  let result;
  for (let step = 0; step < steps; step++) {
    const { labels, targets } = batchOf(task, random, batch);
    optimizer.lr = schedule(step);
    result = model.zeroGrad().learn(labels, targets);
    hl.clipGradients(layers, 1);
    optimizer.step();
    examine(result);
  }
  optimizer.dispose();
  return result;
}
