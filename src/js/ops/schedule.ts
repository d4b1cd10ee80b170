// Learning rates as pure functions of the step, counted from 0: optimizer.lr = schedule(step).

import { readNumber, readOptions } from '../check/options.ts';

export type WarmupOptions = { lr: number; warmup: number };
export type CosineOptions = { lr: number; steps: number; warmup?: number; floor?: number };

/** Returns a schedule that rises linearly up to step warmup − 1 and is then constant. */
export function warmupSchedule(options: WarmupOptions): (step: number) => number {
  const given = readOptions('warmupSchedule', options, ['lr', 'warmup']);
  const lr = readNumber('warmupSchedule', 'lr', given.lr, { least: 0 });
  const warmup = readNumber('warmupSchedule', 'warmup', given.warmup, { least: 0, integer: true });
  return (step) => lr * Math.min(1, (step + 1) / Math.max(1, warmup));
}

/** Rises linearly up to step warmup − 1, then falls by half a cosine wave to the floor at step `steps`. */
export function cosineSchedule(options: CosineOptions): (step: number) => number {
  const caller = 'cosineSchedule';
  const given = readOptions(caller, options, ['lr', 'steps', 'warmup', 'floor']);
  const lr = readNumber(caller, 'lr', given.lr, { least: 0 });
  const warmup = readNumber(caller, 'warmup', given.warmup ?? 0, { least: 0, integer: true });
  const steps = readNumber(caller, 'steps', given.steps, { least: warmup + 1, integer: true });
  const floor = readNumber(caller, 'floor', given.floor ?? 0, { least: 0, most: lr });
  const warmupRate = warmupSchedule({ lr, warmup });
  return (step) => {
    if (step < warmup) return warmupRate(step);
    const share = Math.min(1, (step - warmup) / (steps - warmup));
    return floor + ((lr - floor) * (1 + Math.cos(Math.PI * share))) / 2;
  };
}
