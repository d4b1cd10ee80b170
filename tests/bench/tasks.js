// ./build.sh tasks [NAME…]: trains a small transformer on every task of the page, from three seeds, with the settings
// of the task, until it reaches the goal of the task on unseen sequences. Exits with 1 if a training does not reach the
// goal.

import { load, warmupSchedule } from '../../dist/headlight.node.js';
import { uniformSource } from '../../src/js/ops/random.ts';
import { batchOf, TASKS } from '../../web/model/training/tasks.ts';

const SEEDS = [1, 2, 3];
const [WARM_UP, MAX_NORM] = [50, 1];
/** Steps between two evaluations, and the number of sequences of an evaluation. */
const [EVERY, SEQUENCES] = [25, 64];

function train(hl, task, seed) {
  const { rate: lr, batch, steps } = task.training;
  const model = hl.transformer({ ...task.model, vocab: task.tokens.length, context: task.context, seed });
  const layers = [model];
  const optimizer = hl.adamW(layers, { lr });
  const schedule = warmupSchedule({ lr, warmup: WARM_UP });
  const [lessons, exam] = [uniformSource(seed), uniformSource(-seed)];
  const start = performance.now();
  for (let step = 0; ; ) {
    const { labels, targets } = batchOf(task, lessons, batch);
    optimizer.lr = schedule(step++);
    model.zeroGrad().learn(labels, targets);
    hl.clipGradients(layers, MAX_NORM);
    optimizer.step();
    if (step % EVERY > 0) continue;
    const fresh = batchOf(task, exam, SEQUENCES);
    const { correct, counted } = model.judge(fresh.labels, fresh.targets);
    const accuracy = correct / counted;
    if (accuracy < task.goal && step < steps) continue;
    model.dispose();
    optimizer.dispose();
    return { step, accuracy, seconds: (performance.now() - start) / 1000 };
  }
}

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(TASKS);
const unknown = names.filter((name) => !Object.hasOwn(TASKS, name));
if (unknown.length > 0)
  throw new Error(`there is no task ${unknown.join(', ')}, only ${Object.keys(TASKS).join(', ')}`);

const hl = await load({ threads: 'auto' });
console.log(`Node ${process.version}, ${hl.info.simd}, ${hl.info.threads} threads`);
for (const name of names) {
  const {
    goal,
    training: { steps },
  } = TASKS[name];
  for (const seed of SEEDS) {
    const { step, accuracy, seconds } = train(hl, TASKS[name], seed);
    const missed = accuracy < goal;
    if (missed) process.exitCode = 1;
    console.log(
      [
        name.padEnd(9),
        `seed ${seed}`,
        `${step} of ${steps} steps`.padStart(17),
        `${(100 * accuracy).toFixed(1)}% of ${100 * goal}%`.padStart(13),
        `${seconds.toFixed(1)} s`.padStart(7),
        missed ? 'missed' : '',
      ]
        .join('  ')
        .trimEnd(),
    );
  }
}
hl.dispose();
