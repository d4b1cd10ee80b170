// Attention whose scores or weights are changed on the way: the scores come first, and the rest in calls of their own.

import { viewOf } from '../memory/tensor.js';
import { applyEdit, eachPlace, HEADS, operand } from './edits.js';

/** @import { Tensor } from '../memory/tensor.js' */
/** @import { AttentionCall } from './graph.js' */
/** @import { Run } from './run.js' */

/**
 * @param {Run} run
 * @param {string} at
 * @param {AttentionCall} call
 * @returns {Tensor} (B,T,H·D)
 */
export function changedAttention(run, at, call) {
  const { values } = run;
  const scores = changedScores(run, at, call);
  if (values.captures(`${at}scores`)) values.captured[`${run.prefix + at}scores`] = scores;
  const changed = values.edits(`${at}weights`).length > 0;
  const { output, weights } = attentionOf(run, { ...call, weights: call.weights || changed }, scores);
  if (!weights) return output;
  const passed = run.pass(`${at}weights`, weights, HEADS);
  return changed ? weigh(run, call, passed) : output;
}

/** @param {Run} run @param {string} at @param {AttentionCall} call */
function changedScores(run, at, call) {
  const { graph, values, past, caller } = run;
  const edits = values.edits(`${at}scores`);
  const scoresOf = (/** @type {AttentionCall} */ how) =>
    /** @type {Tensor} */ (graph.attention({ ...how, weights: false, scores: true }).scores);
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
function showing({ caller, past }, call, scores, scoresOf) {
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
    const visible = mask && mask !== 'none' ? operand(caller, `${parameter}.mask`, mask, scores.shape) : () => 1;
    const [left, right] = window ?? [-1, -1];
    eachPlace(edit, scores.shape, HEADS, past, (i, at) => {
      const distance = at[3] - (at[2] + offset);
      const inside = (left < 0 || -distance <= left) && (right < 0 || distance <= right);
      if (mask) shown[i] = Number(visible(at) !== 0);
      viewOf(scores)[i] = inside && shown[i] ? viewOf(all)[i] : -Infinity;
    });
  };
  return { all, place };
}

/**
 * softmax(scores) · v. Heads of no width have scores of 0, to which those that are given are added.
 * @param {Run} run
 * @param {AttentionCall} call
 * @param {Tensor} scores
 */
function attentionOf({ graph }, call, scores) {
  const { batch, heads, queries, keys, width } = call.sizes;
  const empty = graph.make([batch, queries, 0]);
  return graph.attention({
    ...call,
    query: empty,
    key: empty,
    sizes: { ...call.sizes, width: 0, valueWidth: width },
    scale: 1,
    softcap: 0,
    causal: false,
    window: [-1, -1],
    offset: 0,
    padding: undefined,
    slopes: undefined,
    bias: { tensor: scores, stride: [heads * queries * keys, queries * keys, keys, 1] },
    scores: false,
  });
}

/** weights · v, whatever the weights are. @param {Run} run @param {AttentionCall} call @param {Tensor} weights */
function weigh({ graph }, call, weights) {
  const { batch, heads, kvHeads, queries, keys, width } = call.sizes;
  const output = graph.make([batch, queries, heads * width]);
  const [w, v, y] = [viewOf(weights), viewOf(call.value), viewOf(output).fill(0)];
  const [perBatch, perHead, perRow] = call.keyStride;
  for (let b = 0; b < batch; b++)
    for (let h = 0; h < heads; h++)
      for (let t = 0; t < queries; t++) {
        const [row, to] = [((b * heads + h) * queries + t) * keys, (b * queries + t) * heads * width + h * width];
        const from = b * perBatch + Math.floor(h / (heads / kvHeads)) * perHead;
        for (let s = 0; s < keys; s++) {
          const share = w[row + s];
          if (share !== 0) for (let d = 0; d < width; d++) y[to + d] += share * v[from + s * perRow + d];
        }
      }
  return output;
}
