// Attention with captured or edited scores or weights. Edited values are passed to the same function of the core, so
// that an edit that sets a value to itself changes no bit.

import { broadcastStrides } from '../check/shape.js';
import { viewOf } from '../memory/tensor.js';
import { applyEdit, forEachElement, HEADS, readOperand } from './edits.js';

/** @import { Tensor } from '../memory/tensor.js' */
/** @import { Numbers, ReadEdit } from './edits.js' */
/** @import { AttentionCall } from './graph.js' */
/** @import { Run } from './run.js' */

/**
 * @param {Run} run
 * @param {string} at prefix of the names of values
 * @param {AttentionCall} call
 * @returns {Tensor} (B,T,H·D)
 */
export function attendWithEdits(run, at, call) {
  const { graph, values } = run;
  const edited = values.edits(`${at}weights`).length > 0;
  const givenScores = values.edits(`${at}scores`).length > 0 ? editScores(run, at, call) : undefined;
  const requested = { ...call, weights: edited || values.captures(`${at}weights`) };
  const { output, weights, scores } = graph.attention(
    givenScores ? { ...requested, givenScores } : { ...requested, scores: values.captures(`${at}scores`) },
  );
  if (scores && values.captures(`${at}scores`)) values.captured[`${run.prefix + at}scores`] = scores;
  if (!weights) return output;
  const givenWeights = run.pass(`${at}weights`, weights, HEADS);
  return edited ? graph.attention({ ...call, givenWeights }).output : output;
}

/** @param {Run} run @param {string} at @param {AttentionCall} call @returns {Tensor} (B,H,T,S) */
function editScores(run, at, call) {
  const { graph, values, past, caller } = run;
  const edits = values.edits(`${at}scores`);
  const scoresOf = (/** @type {AttentionCall} */ variant) =>
    /** @type {Tensor} */ (graph.attention({ ...variant, scores: true }).scores);
  const scores = scoresOf(call);
  const { shape } = scores;
  const visibility = edits.some(({ mask, window }) => mask || window)
    ? new Visibility(run, call, scores, scoresOf)
    : undefined;
  for (const edit of edits) {
    visibility?.apply(edit);
    // A later edit may show keys that are hidden now: their scores are edited as well.
    for (const tensor of visibility ? [scores, visibility.allScores] : [scores]) {
      const [data, { temperature }] = [viewOf(tensor), edit];
      if (temperature !== undefined) forEachElement(edit, shape, HEADS, past, (i) => void (data[i] /= temperature));
      applyEdit(caller, edit, data, shape, HEADS, past);
    }
  }
  return scores;
}

/** Applies edits that change which keys are visible. It has the scores of all keys, also of those that are hidden. */
class Visibility {
  #run;
  #call;
  #scores;
  /** (B,H,T,S): 1 = visible, without regard to windows. Later keys of causal models and padding are hidden at first. */
  #visible;

  /**
   * @param {Run} run
   * @param {AttentionCall} call
   * @param {Tensor} scores (B,H,T,S), which are edited
   * @param {(call: AttentionCall) => Tensor} scoresOf
   */
  constructor(run, call, scores, scoresOf) {
    const { causal, padding, offset } = call;
    const { keys } = call.sizes;
    this.#run = run;
    this.#call = call;
    this.#scores = scores;
    /** (B,H,T,S), without masks */
    this.allScores = scoresOf({ ...call, causal: false, window: [-1, -1], padding: undefined });
    const visible = new Uint8Array(viewOf(scores).length);
    forEachElement({}, scores.shape, {}, 0, (i, [batch, , t, s]) => {
      visible[i] = Number(!(causal && s > t + offset) && padding?.[batch * keys + s] !== 0);
    });
    this.#visible = visible;
  }

  /** @param {ReadEdit} edit */
  apply(edit) {
    const { mask, window, parameter } = edit;
    if (!mask && !window) return;
    const { caller, past, cache } = this.#run;
    const { shape } = this.#scores;
    const numbers = mask && mask !== 'none' ? mask : undefined;
    const maskAt = numbers ? readMask(caller, `${parameter}.mask`, numbers, shape, cache && past) : () => 1;
    const [left, right] = window ?? [-1, -1];
    forEachElement(edit, shape, HEADS, past, (i, at) => {
      const distance = at[3] - (at[2] + this.#call.offset);
      const inWindow = (left < 0 || -distance <= left) && (right < 0 || distance <= right);
      const masked = mask ? maskAt(at) : undefined;
      if (masked === undefined && !window) return;
      if (masked !== undefined) this.#visible[i] = Number(masked !== 0);
      viewOf(this.#scores)[i] = inWindow && this.#visible[i] ? viewOf(this.allScores)[i] : -Infinity;
    });
  }
}

/**
 * Returns a function from an index (b,h,t,s) to the value of a mask, undefined outside the mask. With a cache the mask
 * may be for the first tokens of the whole sequence.
 * @param {string} caller
 * @param {string} parameter
 * @param {Numbers} mask
 * @param {readonly number[]} shape of the scores
 * @param {number | undefined} past with a cache
 * @returns {(index: readonly number[]) => number | undefined}
 */
function readMask(caller, parameter, mask, shape, past) {
  if (past === undefined || broadcastStrides([...mask.shape], [...shape]))
    return readOperand(caller, parameter, mask, shape);
  // An axis of length 1 among the last two is repeated; any other has positions in the sequence.
  const [rows, columns] = [mask.shape.at(-2) ?? 1, mask.shape.at(-1) ?? 1];
  const at = readOperand(caller, parameter, mask, [shape[0], shape[1], rows, columns]);
  return ([batch, head, query, key]) => {
    const [row, column] = [rows === 1 ? 0 : past + query, columns === 1 ? 0 : key];
    return row < rows && column < columns ? at([batch, head, row, column]) : undefined;
  };
}
