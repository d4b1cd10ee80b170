// Times every contender on every shape, in one process, round by round: whatever disturbs the machine
// disturbs them all.

import { errorOf, makeProblem, sampleAnswer } from './problem.js';
import { operations, SHAPES } from './shapes.js';

/** Largest error of a contender: one that computes something else is not measured. */
const TOLERANCE = 1e-3;
/** Whose calls are shorter than this runs so long before it is timed: engines compile what runs often. Milliseconds. */
const [SHORT, WARM_UP] = [2, 400];
/** Idle threads of a contender may spin on, onnxruntime-web's for 60 ms: the next one waits until they sleep. */
const UNTIL_ASLEEP = 100;
/** A call that takes longer than this many milliseconds brings its data into the caches by itself. */
const LONG = 10;
/**
 * A contender whose call takes longer than this, or long and this many times as long as the fastest, is timed once: the
 * rounds are for contenders that are close.
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
 * @param contenders opened peers: { name, tolerance?, make(problem, withWeights) → { run, close? } or null }
 * @param options { threads, rounds, slice: milliseconds a contender and round, budget: milliseconds within which there
 * are up to
 *   five times as many rounds, only: parts of shapes' names,
 *   report: gets { shape, weights, contender, times, median, least, error, rate }, in milliseconds, a time a round, or
 *   { shape, weights, contender, failure } where a contender cannot do it }
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
          if (threads > 1 || entry.once < LONG) await entry.run(); // its threads awake, its weights in the caches
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
