// From the product of a query and a key to their score: the steps that a model takes, in the order of the core (scale,
// soft cap, distance, temperature). The worker lists those of a head; here they are carried out for one cell, and told.

import { plain } from '../../texts/numbers.js';

/**
 * @typedef {{ kind: 'scale', scale: number }} Scale a factor, 1 where a model does not divide
 * @typedef {{ kind: 'cap', cap: number }} Cap cap · tanh(x / cap)
 * @typedef {{ kind: 'distance', added: Float32Array }} Distance is added: added[s − t + T − 1]
 * @typedef {{ kind: 'temperature', by: number }} Temperature divides
 * @typedef {Scale | Cap | Distance | Temperature} Step
 */
/** A step at a cell. @typedef {Step & { amount: number, from: number, to: number }} Done */

/** Roots and whole factors are recognised this near, as float32 holds them. */
const NEAR = 1e-5;
const isWhole = (/** @type {number} */ x) => Math.round(x) >= 1 && Math.abs(x / Math.round(x) - 1) < NEAR;

/**
 * What a scale divides by: the root of a whole number, and where that is the width of a head, a whole number besides.
 * Null where it is neither.
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
 * @param {number} distance s − t + T − 1
 */
function amountOf(step, x, distance) {
  if (step.kind === 'scale') return x * step.scale;
  if (step.kind === 'cap') return step.cap * Math.tanh(x / step.cap);
  if (step.kind === 'temperature') return x / step.by;
  return x + step.added[distance];
}

/**
 * The steps at one cell.
 * @param {readonly Step[]} steps
 * @param {number} product summed
 * @param {{ t: number, s: number }} cell
 * @param {number} T
 * @returns {Done[]}
 */
export function stepsAt(steps, product, { t, s }, T) {
  let x = product;
  return steps.map((step) => {
    const from = x;
    x = amountOf(step, from, s - t + T - 1);
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

/** @param {Texts} texts @param {Done} step @param {number} width */
function textOf(texts, step, width) {
  if (step.kind === 'cap') return texts.capped(plain(step.cap, isWhole(step.cap) ? 0 : 2));
  if (step.kind === 'temperature') return texts.temperature(plain(step.by));
  if (step.kind === 'distance') return texts.distance(`${step.amount < 0 ? '−' : '+'} ${plain(Math.abs(step.amount))}`);
  if (step.scale === 1) return texts.notDivided;
  const divisor = divisorOf(step.scale, width);
  return divisor ? texts.divided(divisor.root, divisor.by) : texts.times(String(Number(step.scale.toPrecision(3))));
}

/**
 * What the reading says of a score, a line for each step: its text, and the number that it comes to, null where that is
 * the one before.
 * @param {Texts} texts
 * @param {{ sum: number, steps: readonly Done[], score: number }} reading
 * @param {number} width of a head
 * @returns {{ kind: string, text: string, figure: string | null, last: boolean }[]}
 */
export function linesOf(texts, { sum, steps, score }, width) {
  const lines = steps.map((step, i) => {
    const last = i === steps.length - 1;
    const silent = step.kind === 'scale' && step.scale === 1 && !last;
    const figure = silent ? null : plain(last ? score : step.to);
    return { kind: step.kind, text: textOf(texts, step, width), figure, last };
  });
  return [{ kind: 'sum', text: texts.sum, figure: plain(sum), last: false }, ...lines];
}
