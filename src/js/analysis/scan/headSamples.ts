// Chooses the sequences that scanHeads returns for each head: those with the largest weights, and random others.

import { edgesOf, intervalOf } from './intervals.ts';
import { type Entry, Largest, type Rows } from './keptRows.ts';

export type Choice = { sequence: number; interval: number; rows: Rows };
/**
 * samples: drawn from each interval of the largest weight except the highest; top: sequences kept from the highest;
 * warmup: first sequences, which only define the intervals; seed: of the draws.
 */
export type SampleSizes = {
  count: number;
  layers: number;
  heads: number;
  intervals: number;
  samples: number;
  top: number;
  warmup: number;
  seed: number;
};

const NO_ROWS: Rows = { indices: new Uint32Array(0), values: new Float32Array(0) };

function scramble(x: number) {
  let y = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  y = Math.imul(y ^ (y >>> 15), 0x846ca68b);
  return (y ^ (y >>> 16)) >>> 0;
}

const randomOf = (...integers: number[]) =>
  integers.reduce((state, n) => scramble((state + Math.imul(n, 0x9e3779b1)) | 0), 1);

/**
 * Draws without replacement from intervals that are known only after all sequences have been run: each sequence has a
 * random priority, and those with the highest in an interval are its samples. The weights of more sequences than needed
 * are kept. If that did not suffice, missing() returns the sequences to run again.
 */
export class HeadSamples {
  #sizes: SampleSizes;
  /** Largest weights (N,L,H), NaN where a sequence is skipped or not yet run. */
  maxima: Float32Array<ArrayBuffer>;
  /** The lower bounds of the intervals of each head, after the sequences that define the bounds have been run. */
  #edges: Float32Array[] = [];
  /** Weights of sequences that were run again, by head. */
  #again: Map<number, Entry[]> = new Map();
  /** A pool for each interval except the highest; without warmup one for all intervals. */
  #heads: { top: Largest; pools: Largest[] }[];

  /** spare: number of sequences of a head whose weights are kept to draw from */
  constructor(sizes: SampleSizes, spare: number) {
    const { count, layers, heads, intervals, samples, top, warmup } = sizes;
    this.#sizes = sizes;
    this.maxima = new Float32Array(count * layers * heads).fill(Number.NaN);
    const poolsOf = () => {
      if (intervals === 1) return [];
      if (warmup === 0) return [new Largest(spare)];
      return Array.from({ length: intervals - 1 }, () => new Largest(samples));
    };
    this.#heads = Array.from({ length: layers * heads }, () => ({
      top: new Largest(intervals === 1 ? Math.max(samples, top) : top),
      pools: poolsOf(),
    }));
  }

  /**
   * Adds a sequence of head l·H + h, in any order, except that warmup sequences must come first. max: its largest
   * weight; select: returns the weights to keep.
   */
  add(sequence: number, head: number, max: number, select: () => Rows) {
    const { warmup, intervals } = this.#sizes;
    this.maxima[sequence * this.#heads.length + head] = max;
    if (sequence < warmup) return;
    const { top, pools } = this.#heads[head];
    if (warmup > 0) this.#edges[head] ??= this.edges(head);
    const interval = warmup > 0 ? intervalOf(max, this.#edges[head]) : 0;
    const pool = warmup > 0 ? pools[interval - 1] : pools[0];
    const priority = this.#priority(head, sequence);
    const isLarge = (warmup === 0 || interval === intervals) && top.admits(max, sequence);
    const isDrawn = pool?.admits(priority, sequence);
    if (!isLarge && !isDrawn) return;
    const rows = select();
    if (isLarge) top.add({ sequence, key: max, rows });
    if (isDrawn) pool.add({ sequence, key: priority, rows });
  }

  #priority(head: number, sequence: number) {
    const { seed, heads } = this.#sizes;
    return randomOf(seed, Math.floor(head / heads), head % heads, sequence);
  }

  /** Returns lower bounds, which may change until all sequences that define them have been run. head: l·H + h. */
  edges(head: number) {
    const { warmup, intervals, count } = this.#sizes;
    return this.#edges[head] ?? edgesOf(this.maximaOf(head, warmup > 0 ? Math.min(warmup, count) : count), intervals);
  }

  /** Returns the known maxima of a head. count: of the first sequences. */
  maximaOf(head: number, count: number = this.#sizes.count) {
    const column = new Float32Array(count);
    let known = 0;
    for (let n = 0; n < count; n++) {
      const max = this.maxima[n * this.#heads.length + head];
      if (!Number.isNaN(max)) column[known++] = max;
    }
    return column.subarray(0, known);
  }

  /** Returns the interval of each sequence of a head, or 0 for a sequence that cannot be sampled. returns (N). */
  intervalsOf(head: number): Uint32Array {
    const { count, warmup } = this.#sizes;
    const edges = this.edges(head);
    return Uint32Array.from({ length: count }, (_, n) => {
      const max = this.maxima[n * this.#heads.length + head];
      return Number.isNaN(max) || n < warmup ? 0 : intervalOf(max, edges);
    });
  }

  /** Returns the chosen sequences of a head, by interval. Sequences whose weights are not kept are left out. */
  choices(head: number): Choice[] {
    const { intervals, samples } = this.#sizes;
    const intervalsOf = this.intervalsOf(head);
    const { top, pools } = this.#heads[head];
    const kept = [...pools.flatMap(({ entries }) => entries), ...(this.#again.get(head) ?? [])];
    kept.sort((a, b) => b.key - a.key);
    const drawn = Array.from({ length: intervals - 1 }, (_, i) =>
      kept.filter(({ sequence }) => intervalsOf[sequence] === i + 1).slice(0, samples),
    );
    const largest = top.entries.filter(({ sequence }) => intervalsOf[sequence] === intervals);
    return [...drawn.map((entries) => entries.sort((a, b) => a.sequence - b.sequence)), largest].flatMap((entries, i) =>
      entries.map(({ sequence, rows }) => ({ sequence, interval: i + 1, rows })),
    );
  }

  /** Returns the drawn sequences whose weights are not kept, with their heads. */
  missing(): Map<number, number[]> {
    const missing: Map<number, number[]> = new Map();
    const { warmup, intervals, samples } = this.#sizes;
    if (warmup > 0 || intervals === 1) return missing;
    this.#heads.forEach(({ pools: [pool] }, head) => {
      const kept = new Set(pool.entries.map(({ sequence }) => sequence));
      const drawn = Array.from({ length: intervals }, () => new Largest(samples));
      this.intervalsOf(head).forEach((interval, sequence) => {
        const key = this.#priority(head, sequence);
        if (interval > 0 && drawn[interval - 1].admits(key, sequence))
          drawn[interval - 1].add({ sequence, key, rows: NO_ROWS });
      });
      for (const { sequence } of drawn.slice(0, -1).flatMap(({ entries }) => entries))
        if (!kept.has(sequence)) missing.set(sequence, [...(missing.get(sequence) ?? []), head]);
    });
    return missing;
  }

  addMissing(sequence: number, head: number, rows: Rows) {
    const entries = this.#again.get(head) ?? [];
    entries.push({ sequence, key: this.#priority(head, sequence), rows });
    this.#again.set(head, entries);
  }

  finish() {
    this.#heads.forEach(({ pools }, head) => {
      const chosen = new Set(this.choices(head).map(({ rows }) => rows));
      for (const pool of pools) pool.entries = pool.entries.filter(({ rows }) => chosen.has(rows));
    });
  }
}
