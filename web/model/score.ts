// Computes the score of a query and a key from their dot product, by the steps of the model, in the order of the core
// (scale, soft cap, distance, temperature). The worker lists the steps of a head; this file computes them for one cell,
// and describes them.

import { plain } from './numbers.ts';

/** factor on the dot product, 1 for a model that does not divide */
export type Scale = { kind: 'scale'; scale: number };
/** replaces x by cap · tanh(x / cap) */
export type Cap = { kind: 'cap'; cap: number };
/** adds added[s − t + T − 1], or, if byCell, added[t · S + s], for a term that also depends on query and key */
export type Distance = { kind: 'distance'; added: Float32Array; byCell?: boolean };
/** divides by this temperature */
export type Temperature = { kind: 'temperature'; by: number };
export type Step = Scale | Cap | Distance | Temperature;
/** step at one cell, where to = from + amount */
export type CellStep = Step & { amount: number; from: number; to: number };

/** Maximum relative rounding error of a float32 number that counts as a whole number. */
const TOLERANCE = 1e-5;
const isWhole = (x: number) => Math.round(x) >= 1 && Math.abs(x / Math.round(x) - 1) < TOLERANCE;

/** Returns the divisor 1 / scale as √root · by; null if there is none. If by is not 1, root is `width`, of a head. */
export function divisorOf(scale: number, width: number): { root: number; by: number } | null {
  const by = 1 / (scale * Math.sqrt(width));
  if (isWhole(by)) return { root: width, by: Math.round(by) };
  const square = 1 / scale ** 2;
  return isWhole(square) ? { root: Math.round(square), by: 1 } : null;
}

function amountOf(step: Step, x: number, { t, s }: { t: number; s: number }, T: number) {
  if (step.kind === 'scale') return x * step.scale;
  if (step.kind === 'cap') return step.cap * Math.tanh(x / step.cap);
  if (step.kind === 'temperature') return x / step.by;
  return x + step.added[step.byCell ? t * (step.added.length / T) + s : s - t + T - 1];
}

/** Returns the steps of a head at one cell. `product`: of query and key. */
export function stepsAt(
  steps: readonly Step[],
  product: number,
  cell: { t: number; s: number },
  T: number,
): CellStep[] {
  let x = product;
  return steps.map((step) => {
    const from = x;
    x = amountOf(step, from, cell, T);
    return { ...step, amount: x - from, from, to: x };
  });
}

export type Texts = {
  sum: string;
  divided: (root: number, by: number) => string;
  notDivided: string;
  times: (factor: string) => string;
  capped: (cap: string) => string;
  distance: (amount: string) => string;
  temperature: (by: string) => string;
  score: string;
  colon: string;
};

function textOf(texts: Texts, step: CellStep, width: number) {
  if (step.kind === 'cap') return texts.capped(plain(step.cap, isWhole(step.cap) ? 0 : 2));
  if (step.kind === 'temperature') return texts.temperature(plain(step.by));
  if (step.kind === 'distance') return texts.distance(`${step.amount < 0 ? '−' : '+'} ${plain(Math.abs(step.amount))}`);
  if (step.scale === 1) return texts.notDivided;
  const divisor = divisorOf(step.scale, width);
  return divisor ? texts.divided(divisor.root, divisor.by) : texts.times(String(Number(step.scale.toPrecision(3))));
}

/** Returns a line per step of a score, with a text and a result, null without effect. `width`: of a head. */
export function linesOf(
  texts: Texts,
  { sum, steps, score }: { sum: number; steps: readonly CellStep[]; score: number },
  width: number,
): { kind: string; text: string; figure: string | null; last: boolean }[] {
  const lines = steps.map((step, i) => {
    const last = i === steps.length - 1;
    const isNoChange = step.kind === 'scale' && step.scale === 1 && !last;
    const figure = isNoChange ? null : plain(last ? score : step.to);
    return { kind: step.kind, text: textOf(texts, step, width), figure, last };
  });
  return [{ kind: 'sum', text: texts.sum, figure: plain(sum), last: false }, ...lines];
}
