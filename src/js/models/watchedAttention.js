// Attention whose scores or weights are handed out or changed on the way. What is changed goes back into the same call
// of the core: put in its own place, it changes no bit.

import { broadcastStrides } from '../check/shape.js';
import { viewOf } from '../memory/tensor.js';
import { applyEdit, eachPlace, HEADS, operand } from './edits.js';

/** @import { Tensor } from '../memory/tensor.js' */
/** @import { Numbers } from './edits.js' */
/** @import { AttentionCall } from './graph.js' */
/** @import { Run } from './run.js' */

/**
 * @param {Run} run
 * @param {string} at
 * @param {AttentionCall} call
 * @returns {Tensor} (B,T,H·D)
 */
export function watchedAttention(run, at, call) {
  const { graph, values } = run;
  const changed = values.edits(`${at}weights`).length > 0;
  const givenScores = values.edits(`${at}scores`).length > 0 ? changedScores(run, at, call) : undefined;
  const asked = { ...call, weights: changed || values.captures(`${at}weights`) };
  const { output, weights, scores } = graph.attention(
    givenScores ? { ...asked, givenScores } : { ...asked, scores: values.captures(`${at}scores`) },
  );
  if (scores && values.captures(`${at}scores`)) values.captured[`${run.prefix + at}scores`] = scores;
  if (!weights) return output;
  const givenWeights = run.pass(`${at}weights`, weights, HEADS);
  return changed ? graph.attention({ ...call, givenWeights }).output : output;
}

/** @param {Run} run @param {string} at @param {AttentionCall} call */
function changedScores(run, at, call) {
  const { graph, values, past, caller } = run;
  const edits = values.edits(`${at}scores`);
  const scoresOf = (/** @type {AttentionCall} */ how) =>
    /** @type {Tensor} */ (graph.attention({ ...how, scores: true }).scores);
  const scores = scoresOf(call);
  const { shape } = scores;
  const show = edits.some(({ mask, window }) => mask || window) ? showing(run, call, scores, scoresOf) : undefined;
  for (const edit of edits) {
    show?.place(edit);
    // What is hidden now may be shown by a later edit: it is changed as well.
    for (const tensor of show ? [scores, show.all] : [scores]) {
      const [data, { temperature }] = [viewOf(tensor), edit];
      if (temperature !== undefined) eachPlace(edit, shape, HEADS, past, (i) => void (data[i] /= temperature));
      applyEdit(caller, edit, data, shape, HEADS, past);
    }
  }
  return scores;
}

/**
 * What a mask or a window needs that takes the place of what hides keys: the scores of all keys.
 * @param {Run} run
 * @param {AttentionCall} call
 * @param {Tensor} scores
 * @param {(call: AttentionCall) => Tensor} scoresOf
 */
function showing({ caller, past, cache }, call, scores, scoresOf) {
  const { causal, padding, offset } = call;
  const { keys } = call.sizes;
  const all = scoresOf({ ...call, causal: false, window: [-1, -1], padding: undefined });
  /** What is shown but for a window: it does not show what is to come, nor padding. */
  const shown = new Uint8Array(viewOf(scores).length);
  eachPlace({}, scores.shape, {}, 0, (i, [batch, , t, s]) => {
    shown[i] = Number(!(causal && s > t + offset) && padding?.[batch * keys + s] !== 0);
  });
  const place = (/** @type {import('./edits.js').ReadEdit} */ edit) => {
    const { mask, window, parameter } = edit;
    if (!mask && !window) return;
    const painted = mask && mask !== 'none' ? mask : undefined;
    const visible = painted ? visibleIn(caller, `${parameter}.mask`, painted, scores.shape, cache && past) : () => 1;
    const [left, right] = window ?? [-1, -1];
    eachPlace(edit, scores.shape, HEADS, past, (i, at) => {
      const distance = at[3] - (at[2] + offset);
      const inside = (left < 0 || -distance <= left) && (right < 0 || distance <= right);
      const seen = mask ? visible(at) : undefined;
      if (seen === undefined && !window) return;
      if (seen !== undefined) shown[i] = Number(seen !== 0);
      viewOf(scores)[i] = inside && shown[i] ? viewOf(all)[i] : -Infinity;
    });
  };
  return { all, place };
}

/**
 * What a mask says of a place, undefined where it says nothing: with a cache it may be of the whole sequence, whose
 * rows and columns end somewhere.
 * @param {string} caller
 * @param {string} parameter
 * @param {Numbers} mask
 * @param {readonly number[]} shape of the scores
 * @param {number | undefined} past with a cache
 * @returns {(place: readonly number[]) => number | undefined}
 */
function visibleIn(caller, parameter, mask, shape, past) {
  if (past === undefined || broadcastStrides([...mask.shape], [...shape]))
    return operand(caller, parameter, mask, shape);
  // Of its last two axes those of length 1 are repeated, and others are places in the sequence.
  const [rows, columns] = [mask.shape.at(-2) ?? 1, mask.shape.at(-1) ?? 1];
  const at = operand(caller, parameter, mask, [shape[0], shape[1], rows, columns]);
  return ([batch, head, query, key]) => {
    const [row, column] = [rows === 1 ? 0 : past + query, columns === 1 ? 0 : key];
    return row < rows && column < columns ? at([batch, head, row, column]) : undefined;
  };
}
