// Pauses of runs that take long, in which the worker reads the page's messages, and the error if a text does not fit.

import type { HeadlightError } from '../../../src/js/check/errors.ts';
import { Problem } from '../sources/problem.ts';
import type { Hl, TransformerSource } from '../sources/types.ts';
import type { Reply } from '../types.ts';

/** Milliseconds of a run after which the page is told how far it is, and between two pauses. */
const [SILENT, WORKING] = [250, 80];

/** Returns a function for the pauses of one run. It throws if the request was cancelled, which ends the run. */
export function createPause(reply: Reply, tokens: number) {
  const start = performance.now();
  let last = start;
  return async (done: number, total: number) => {
    const now = performance.now();
    if (now - last < WORKING) return;
    if (now - start >= SILENT) reply.send('computing', { done, total, tokens });
    if (await reply.checkCancelled()) throw new Error('cancelled');
    last = performance.now();
  };
}

/** Computes something about a text; out of memory, the error says how many tokens fit. changed: scores change. */
export async function fitting<T>(
  hl: Hl,
  source: TransformerSource,
  { tokens, changed }: { tokens: number; changed: boolean },
  compute: () => Promise<T>,
): Promise<T> {
  try {
    return await compute();
  } catch (error) {
    if (!isMemory(error)) throw error;
    throw new Problem('textMemory', tokens, tokensThatFit(hl, source, tokens, changed));
  }
}

/** `error`: of the core, or of the engine for an array. */
const isMemory = (error: unknown) =>
  error instanceof RangeError
    ? /alloc|array length/i.test(error.message)
    : (error as HeadlightError)?.code === 'OUT_OF_MEMORY';

/**
 * Returns the most tokens below `tokens` whose run fits into free memory: it needs one layer's scores, weights and, if
 * `changed`, masks, and for each token a few rows of the width of model and feed-forward.
 */
export function tokensThatFit(hl: Hl, { model: { options } }: TransformerSource, tokens: number, changed: boolean) {
  const { used, limit } = hl.info.memory;
  const squares = changed ? 4 * options.numHeads : 2;
  const rows = 8 * options.dModel + 3 * options.mlp;
  const needed = (n: number) => 4 * n * (squares * n + rows);
  let fits = tokens - 1;
  while (fits > 1 && needed(fits) > limit - used) fits = Math.floor(fits * 0.9);
  return fits;
}
