// Computes rotary position embeddings (RoPE), and the slopes of ALiBi.

import { checkOptions, readBoolean, readNumber, readWord } from '../check/arguments.ts';
import { argumentError } from '../check/errors.ts';

import type { Frame } from '../memory/frame.ts';
import type { Memory } from '../memory/memory.ts';
import type { Staged, Tensor } from '../memory/tensor.ts';

export type RotaryOptions = {
  /** base of the angles: pair n of the W/2 pairs is rotated by theta^(−2n/W) per position; default 10000 */
  theta?: number | undefined;
  /** W, the number of components at the beginning of a head that are rotated; it must be even; default: all */
  width?: number | undefined;
  /** components of pair n: n and n + W/2, or 2n and 2n + 1; default 'halves' */
  pairing?: 'halves' | 'neighbours' | undefined;
  /** change of the angles for more positions than in training */
  scaling?: RotaryScaling | undefined;
};
/**
 * Scaling of the angles, as in config.json of Hugging Face. linear: divides by factor. llama3: divides small angles,
 * with a smooth transition. yarn: the same with another transition, and multiplies cosines and sines by
 * attentionFactor, default 0.1 · ln(factor) + 1. factors: divides each pair by its own number.
 */
export type RotaryScaling =
  | { type: 'linear'; factor: number }
  | { type: 'llama3'; factor: number; lowFreqFactor: number; highFreqFactor: number; originalContext: number }
  | {
      type: 'yarn';
      factor: number;
      originalContext: number;
      betaFast?: number;
      betaSlow?: number;
      attentionFactor?: number;
      truncate?: boolean;
    }
  | { type: 'factors'; factors: readonly number[]; attentionFactor?: number };
export type Rotary = { theta: number; width?: number; neighbours: boolean; scaling?: RotaryScaling };
/** table (count,2,rotated/2): cosines and sines; query (B,T), key (B,S): rows of the table. */
export type Rotation = {
  table: Tensor | Staged;
  query: Tensor | Staged;
  key: Tensor | Staged;
  rotated: number;
  count: number;
  neighbours: number;
};

const SCALINGS = ['linear', 'llama3', 'yarn', 'factors'] as const;
const FIELDS: Record<RotaryScaling['type'], { needed: string[]; may: string[] }> = {
  linear: { needed: ['factor'], may: [] },
  llama3: { needed: ['factor', 'lowFreqFactor', 'highFreqFactor', 'originalContext'], may: [] },
  factors: { needed: ['factors'], may: ['attentionFactor'] },
  yarn: { needed: ['factor', 'originalContext'], may: ['betaFast', 'betaSlow', 'attentionFactor', 'truncate'] },
};
const POSITIVE = { least: 1e-30 };
const EVEN = { integer: true, least: 0, most: 2 ** 31 - 2 };

export function readRotary(caller: string, options: unknown): Rotary {
  checkOptions(caller, options, ['theta', 'width', 'pairing', 'scaling'], 'rotary');
  const { theta = 10000, width, pairing = 'halves', scaling } = options as RotaryOptions;
  const words = ['halves', 'neighbours'] as const;
  if (width !== undefined && readNumber(caller, 'rotary.width', width, EVEN) % 2)
    throw argumentError(caller, 'rotary.width', width, 'an even number');
  return {
    theta: readNumber(caller, 'rotary.theta', theta, POSITIVE),
    width,
    neighbours: readWord(caller, 'rotary.pairing', pairing, words) === 'neighbours',
    scaling: scaling === undefined ? undefined : readScaling(caller, scaling),
  };
}

export function readScaling(caller: string, given: unknown): RotaryScaling {
  const parameter = 'rotary.scaling';
  const all = ['type', ...FIELDS.llama3.needed, ...FIELDS.yarn.may, ...FIELDS.factors.needed];
  checkOptions(caller, given, all, parameter);
  const { type } = given as { type: unknown };
  const word = readWord(caller, `${parameter}.type`, type, SCALINGS);
  const { needed, may } = FIELDS[word];
  checkOptions(caller, given, ['type', ...needed, ...may], parameter);
  const read: Record<string, unknown> = { type: word };
  for (const name of [...needed, ...may]) {
    const value = (given as Record<string, unknown>)[name];
    if (value === undefined && may.includes(name)) continue;
    const what = `${parameter}.${name}`;
    if (name === 'factors') read[name] = readFactors(caller, what, value);
    else
      read[name] = name === 'truncate' ? readBoolean(caller, what, value) : readNumber(caller, what, value, POSITIVE);
  }
  return read as RotaryScaling;
}

function readFactors(caller: string, parameter: string, value: unknown) {
  if (!Array.isArray(value)) throw argumentError(caller, parameter, value, 'a number for each pair');
  return value.map((x, i) => readNumber(caller, `${parameter}[${i}]`, x, POSITIVE));
}

/** Throws unless the number of factors is the number of pairs. */
export function checkFactors(caller: string, scaling: RotaryScaling | undefined, width: number) {
  if (scaling?.type !== 'factors' || scaling.factors.length === width / 2) return;
  const expected = `${width / 2} numbers, one for each pair`;
  throw argumentError(caller, 'rotary.scaling.factors', scaling.factors, expected);
}

/** Returns the angle of each pair per position, and the factor of cosines and sines. */
export function frequencies(theta: number, width: number, scaling?: RotaryScaling) {
  const half = width / 2;
  const plain = Array.from({ length: half }, (_, n) => theta ** ((-2 * n) / width));
  if (!scaling) return { angles: plain, factor: 1 };
  if (scaling.type === 'factors')
    return { angles: plain.map((angle, n) => angle / scaling.factors[n]), factor: scaling.attentionFactor ?? 1 };
  const { factor } = scaling;
  if (scaling.type === 'linear') return { angles: plain.map((angle) => angle / factor), factor: 1 };
  if (scaling.type === 'llama3') {
    const { lowFreqFactor: low, highFreqFactor: high, originalContext } = scaling;
    // From rotations in the original context: 1 if the angle is not scaled, 0 if it is fully scaled.
    const unscaledShare = (turns: number) => Math.min(1, Math.max(0, (turns - low) / (high - low)));
    const angles = plain.map((angle) => {
      const share = unscaledShare((originalContext * angle) / (2 * Math.PI));
      return ((1 - share) * angle) / factor + share * angle;
    });
    return { angles, factor: 1 };
  }
  const { originalContext, betaFast = 32, betaSlow = 1, truncate = true } = scaling;
  const { attentionFactor = factor > 1 ? 0.1 * Math.log(factor) + 1 : 1 } = scaling;
  // The (fractional) pair with `turns` rotations in the original context.
  const pairOf = (turns: number) => (width * Math.log(originalContext / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const [first, last] = [pairOf(betaFast), pairOf(betaSlow)];
  const from = Math.max(truncate ? Math.floor(first) : first, 0);
  const to = Math.min(truncate ? Math.ceil(last) : last, width - 1);
  const angles = plain.map((angle, n) => {
    const scaled = Math.min(1, Math.max(0, (n - from) / (to === from ? 0.001 : to - from)));
    return (scaled * angle) / factor + (1 - scaled) * angle;
  });
  return { angles, factor: attentionFactor };
}

/** (context,2,width/2), cosines and sines of positions from `first` on, computed in float64. */
export function rotaryTable({
  theta = 10000,
  width,
  scaling,
  context,
  first = 0,
}: {
  theta?: number;
  width: number;
  scaling?: RotaryScaling;
  context: number;
  first?: number;
}) {
  const { angles, factor } = frequencies(theta, width, scaling);
  const half = width / 2;
  const table = new Float32Array(context * width);
  for (let row = 0; row < context; row++) {
    for (let n = 0; n < half; n++) {
      const angle = (first + row) * angles[n];
      table[row * width + n] = factor * Math.cos(angle);
      table[row * width + half + n] = factor * Math.sin(angle);
    }
  }
  return table;
}

/** The most recently used tables, the latest first. table (context,2,W/2) */
const cache: { key: string; table: Float32Array }[] = [];
const MAX_CACHED = 4;

function cachedTable(options: Parameters<typeof rotaryTable>[0]) {
  const key = JSON.stringify(options);
  const at = cache.findIndex((entry) => entry.key === key);
  const [entry] = at < 0 ? [{ key, table: rotaryTable(options) }] : cache.splice(at, 1);
  cache.unshift(entry);
  cache.length = Math.min(cache.length, MAX_CACHED);
  return entry.table;
}

/**
 * Copies the table to linear memory, and the row of each query and key: query t is at position offset (default past) +
 * t, fresh key s at past + s.
 */
export function makeRotation(
  frame: Frame,
  caller: string,
  rotary: Rotary,
  {
    batch,
    queries,
    fresh,
    past,
    width,
  }: { batch: number; queries: number; fresh: number; past: number; width: number },
  offset: number | Int32Array = past,
): Rotation {
  const { theta, scaling, neighbours } = rotary;
  const rotated = rotary.width ?? width;
  if (rotated > width || rotated % 2)
    throw argumentError(caller, 'rotary.width', rotated, `an even number of at most ${width}, the width of a head`);
  checkFactors(caller, scaling, rotated);
  const offsets = typeof offset === 'number' ? new Int32Array(batch).fill(offset) : offset;
  // Rows for ranges of positions. Usually the range of the keys includes the queries.
  const runs = [{ first: past, count: fresh, row: 0 }];
  let rows = fresh;
  const rowOf = (position: number) => {
    const last = position + queries;
    let run = runs.find(({ first, count }) => first <= position && last <= first + count);
    if (!run) {
      runs.push((run = { first: position, count: queries, row: rows }));
      rows += queries;
    }
    return run.row + position - run.first;
  };
  const query = new Int32Array(batch * queries);
  offsets.forEach((position, b) => {
    if (position < 0) throw argumentError(caller, 'offset', position, 'at least 0 with rotary positions');
    const row = rowOf(position);
    for (let t = 0; t < queries; t++) query[b * queries + t] = row + t;
  });
  const key = Int32Array.from({ length: batch * fresh }, (_, i) => i % fresh);
  const table = new Float32Array(rows * rotated);
  for (const { first, count, row } of runs)
    table.set(cachedTable({ theta, width: rotated, scaling, context: count, first }), row * rotated);
  const [at, queryAt, keyAt] = [table, query, key].map((values) => frame.copyIn(values));
  return { table: at, query: queryAt, key: keyAt, rotated, count: rows, neighbours: Number(neighbours) };
}

/** to, from: (B,H,rows,W) with the same strides; they may be the same block */
export function rotateHeads(
  memory: Memory,
  caller: string,
  to: Tensor | Staged,
  from: Tensor | Staged,
  form: { batch: number; heads: number; rows: number; width: number; stride: [number, number, number] },
  rotation: Rotation,
  which: 'query' | 'key',
  reverse = false,
) {
  const { batch, heads, rows, width, stride } = form;
  const { table, rotated, count, neighbours } = rotation;
  const sizes = [batch, heads, rows, width, rotated, count, neighbours, Number(reverse)] as const;
  memory.call('hl_rotary', caller, to, from, table, rotation[which], ...sizes, ...stride);
}

/**
 * The slopes (H) of the ALiBi paper, powers of 2^(−8/H). If H is no power of two: those for the next smaller one, then
 * every other slope for the next larger one.
 */
export function alibiSlopes(heads: number) {
  const whole = 2 ** Math.floor(Math.log2(heads));
  return Float32Array.from({ length: heads }, (_, h) =>
    h < whole ? 2 ** ((-8 * (h + 1)) / whole) : 2 ** ((-4 * (2 * (h - whole) + 1)) / whole),
  );
}
