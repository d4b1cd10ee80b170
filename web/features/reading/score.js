// Computes the score of a query and a key from their dot product, by the steps of the model, in the order of the core
// (scale, soft cap, distance, temperature). The worker lists the steps of a head; this file computes them for one cell,
// and describes them.

import { plain } from '../../texts/numbers.js';

/**
 * @typedef {{ kind: 'scale', scale: number }} Scale factor on the dot product, 1 for a model that does not divide
 * @typedef {{ kind: 'cap', cap: number }} Cap replaces x by cap · tanh(x / cap)
 * @typedef {{ kind: 'distance', added: Float32Array, byCell?: boolean }} Distance adds added[s − t + T − 1], or if
 *   byCell is true added[t · S + s], for a term that also depends on query and key
 * @typedef {{ kind: 'temperature', by: number }} Temperature divides by this temperature
 * @typedef {Scale | Cap | Distance | Temperature} Step
 */
/**
 * @typedef {Step & { amount: number, from: number, to: number }} CellStep step at one cell, where to = from + amount
 */

/** Maximum relative rounding error of a float32 number that counts as a whole number. */
const TOLERANCE = 1e-5;
const isWhole = (/** @type {number} */ x) => Math.round(x) >= 1 && Math.abs(x / Math.round(x) - 1) < TOLERANCE;

/**
 * Returns the divisor whose reciprocal is the scale, as √root · by. If by is not 1, root is the width of a head.
 * Returns null if there is no such divisor.
 * @param {number} scale
 * @param {number} width of a head
 * @returns {{ root: number, by: number } | null}
 */
export function divisorOf(scale, width) {
  const by = 1 / (scale * Math.sqrt(width));
  if (isWhole(by)) return { root: width, by: Math.round(by) };
  const square = 1 / scale ** 2;
  return isWhole(square) ? { root: Math.round(square), by: 1 } : null;
}

/**
 * @param {Step} step
 * @param {number} x
 * @param {{ t: number, s: number }} cell
 * @param {number} T
 */
function amountOf(step, x, { t, s }, T) {
  if (step.kind === 'scale') return x * step.scale;
  if (step.kind === 'cap') return step.cap * Math.tanh(x / step.cap);
  if (step.kind === 'temperature') return x / step.by;
  return x + step.added[step.byCell ? t * (step.added.length / T) + s : s - t + T - 1];
}

/**
 * Returns the steps of a head at one cell.
 * @param {readonly Step[]} steps
 * @param {number} product dot product of query and key
 * @param {{ t: number, s: number }} cell
 * @param {number} T
 * @returns {CellStep[]}
 */
export function stepsAt(steps, product, cell, T) {
  let x = product;
  return steps.map((step) => {
    const from = x;
    x = amountOf(step, from, cell, T);
    return { ...step, amount: x - from, from, to: x };
  });
}

/**
 * @typedef {object} Texts
 * @property {string} sum
 * @property {(root: number, by: number) => string} divided
 * @property {string} notDivided
 * @property {(factor: string) => string} times
 * @property {(cap: string) => string} capped
 * @property {(amount: string) => string} distance
 * @property {(by: string) => string} temperature
 * @property {string} score
 * @property {string} colon
 */

/** @param {Texts} texts @param {CellStep} step @param {number} width */
function textOf(texts, step, width) {
  if (step.kind === 'cap') return texts.capped(plain(step.cap, isWhole(step.cap) ? 0 : 2));
  if (step.kind === 'temperature') return texts.temperature(plain(step.by));
  if (step.kind === 'distance') return texts.distance(`${step.amount < 0 ? '−' : '+'} ${plain(Math.abs(step.amount))}`);
  if (step.scale === 1) return texts.notDivided;
  const divisor = divisorOf(step.scale, width);
  return divisor ? texts.divided(divisor.root, divisor.by) : texts.times(String(Number(step.scale.toPrecision(3))));
}

/**
 * Returns the lines that explain a score, one for each step. A line has a text and a result, which is null if the step
 * has no effect.
 * @param {Texts} texts
 * @param {{ sum: number, steps: readonly CellStep[], score: number }} reading
 * @param {number} width of a head
 * @returns {{ kind: string, text: string, figure: string | null, last: boolean }[]}
 */
export function linesOf(texts, { sum, steps, score }, width) {
  const lines = steps.map((step, i) => {
    const last = i === steps.length - 1;
    const isNoChange = step.kind === 'scale' && step.scale === 1 && !last;
    const figure = isNoChange ? null : plain(last ? score : step.to);
    return { kind: step.kind, text: textOf(texts, step, width), figure, last };
  });
  return [{ kind: 'sum', text: texts.sum, figure: plain(sum), last: false }, ...lines];
}
