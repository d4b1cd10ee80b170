// Learning rates as pure functions of the step, counted from 0: optimizer.lr = schedule(step).

import { readNumber, readOptions } from '../check/arguments.js';

/** @typedef {{ lr: number, warmup: number }} WarmupOptions */
/** @typedef {{ lr: number, steps: number, warmup?: number, floor?: number }} CosineOptions */

/**
 * Rises evenly until step warmup − 1, then stays.
 * @param {WarmupOptions} options
 * @returns {(step: number) => number}
 */
export function warmupSchedule(options) {
  const given = readOptions('warmupSchedule', options, ['lr', 'warmup']);
  const lr = readNumber('warmupSchedule', 'lr', given.lr, { least: 0 });
  const warmup = readNumber('warmupSchedule', 'warmup', given.warmup, { least: 0, integer: true });
  return (step) => lr * Math.min(1, (step + 1) / Math.max(1, warmup));
}

/**
 * Rises evenly until step warmup − 1, then falls by half a cosine wave to the floor, which it reaches at `steps`.
 * @param {CosineOptions} options
 * @returns {(step: number) => number}
 */
export function cosineSchedule(options) {
  const caller = 'cosineSchedule';
  const given = readOptions(caller, options, ['lr', 'steps', 'warmup', 'floor']);
  const lr = readNumber(caller, 'lr', given.lr, { least: 0 });
  const warmup = readNumber(caller, 'warmup', given.warmup ?? 0, { least: 0, integer: true });
  const steps = readNumber(caller, 'steps', given.steps, { least: warmup + 1, integer: true });
  const floor = readNumber(caller, 'floor', given.floor ?? 0, { least: 0, most: lr });
  const rise = warmupSchedule({ lr, warmup });
  return (step) => {
    if (step < warmup) return rise(step);
    const share = Math.min(1, (step - warmup) / (steps - warmup));
    return floor + ((lr - floor) * (1 + Math.cos(Math.PI * share))) / 2;
  };
}
