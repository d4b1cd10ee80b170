// Times every contender on every shape, in one process and in rounds, so that disturbances of the machine affect all
// contenders.

import { errorOf, makeProblem, sampleAnswer } from './problem.js';
import { operations, SHAPES } from './shapes.js';

/** Largest allowed error of a contender. It ensures that only correct results are timed. */
const TOLERANCE = 1e-3;
/**
 * A contender whose call takes less than SHORT milliseconds runs for WARM_UP milliseconds first, because engines
 * optimize functions that are called often.
 */
const [SHORT, WARM_UP] = [2, 400];
/** Milliseconds between contenders, because idle threads may continue to spin, those of onnxruntime-web for 60 ms. */
const UNTIL_ASLEEP = 100;
/** A call that takes at least this many milliseconds needs no preceding call that fills the caches. */
const LONG = 10;
/**
 * A contender is timed only once if a call takes longer than SLOW milliseconds, or longer than LONG milliseconds and
 * BEHIND times as long as the fastest contender. Rounds are for contenders with similar times.
 */
const [SLOW, BEHIND] = [400, 6];

export const median = (times) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];

async function warmUp(run, slice) {
  const start = performance.now();
  while (performance.now() - start < Math.min(WARM_UP, 10 * slice)) await run();
}

async function repeat(run, times) {
  const start = performance.now();
  for (let i = 0; i < times; i++) await run();
  return (performance.now() - start) / times;
}

/**
 * @param contenders opened contenders: { name, tolerance?, make(problem, withWeights) → { run, close? } or null }
 * @param options { threads, rounds, slice: milliseconds per contender and round, budget: milliseconds within which
 * there are up to five times as many rounds, only: parts of shapes' names, report: receives { shape, weights,
 * contender, times, median, least, error, rate }, in milliseconds, one time per round, or { shape, weights, contender,
 * failure } if a contender does not support it }
 */
export async function measure(contenders, { threads, rounds, slice, budget, only, report }) {
  for (const shape of SHAPES.filter(({ name }) => !only || only.some((part) => name.includes(part)))) {
    const problem = makeProblem(shape);
    const samples = sampleAnswer(problem);
    for (const withWeights of [false, true]) {
      if (withWeights && shape.long) continue;
      const entries = [];
      for (const { name, make, tolerance = TOLERANCE } of contenders) {
        const made = await make(problem, withWeights);
        if (!made) continue;
        const start = performance.now();
        let output;
        try {
          ({ output } = await made.run());
        } catch (error) {
          report({
            shape: shape.name,
            weights: withWeights,
            contender: name,
            failure: String(error.message ?? error).slice(0, 200),
          });
          continue;
        }
        const first = performance.now() - start;
        const error = errorOf(problem, samples, output);
        if (!(error < tolerance))
          throw new Error(`${name} is wrong on ${shape.name}: off by ${error} of the largest value`);
        if (first < SHORT) await warmUp(made.run, slice);
        const once = first > SLOW ? first : await repeat(made.run, 2);
        entries.push({ name, ...made, error, once, times: [], count: Math.max(1, Math.round(slice / once)) });
      }
      const close = Math.min(SLOW, Math.max(LONG, BEHIND * Math.min(...entries.map(({ once }) => once))));
      const slow = entries.filter(({ once }) => once > close);
      for (const entry of slow) entry.times.push(entry.once);
      const start = performance.now();
      for (let round = 0; round < rounds || (round < 5 * rounds && performance.now() - start < budget); round++) {
        for (const entry of entries.filter((entry) => !slow.includes(entry))) {
          if (threads > 1) await new Promise((resolve) => setTimeout(resolve, UNTIL_ASLEEP));
          // This call wakes the threads of the contender and loads its weights into the caches.
          if (threads > 1 || entry.once < LONG) await entry.run();
          entry.times.push(await repeat(entry.run, entry.count));
        }
      }
      for (const { name, close, error, times } of entries) {
        const middle = median(times);
        report({
          shape: shape.name,
          weights: withWeights,
          contender: name,
          times,
          median: middle,
          least: Math.min(...times),
          error,
          rate: operations(shape) / middle / 1e6,
        });
        await close?.();
      }
    }
  }
}
