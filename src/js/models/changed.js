// Attention whose scores or weights are changed on the way. It takes three calls of the core instead of one.

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
  const { graph, values, past } = run;
  const edits = values.edits(`${at}scores`);
  const masked = /** @type {Tensor} */ (graph.attention({ ...call, weights: false, scores: true }).scores);
  const scores = graph.from(masked.shape, viewOf(masked));
  if (edits.some(({ mask, window }) => mask || window)) lift(run, at, call, scores);
  for (const edit of edits) {
    const { temperature } = edit;
    if (temperature !== undefined)
      eachPlace(run.caller, edit, scores.shape, HEADS, past, (i) => void (viewOf(scores)[i] /= temperature));
    applyEdit(run.caller, edit, viewOf(scores), scores.shape, HEADS, past);
  }
  if (values.captures(`${at}scores`)) values.captured[`${run.prefix + at}scores`] = scores;
  const weights = run.pass(`${at}weights`, softmaxOf(run, call, scores), HEADS);
  return weigh(run, call, weights);
}

/**
 * Scores where a mask or a window takes the place of what hides keys.
 * @param {Run} run
 * @param {string} at
 * @param {AttentionCall} call
 * @param {Tensor} scores
 */
function lift(run, at, call, scores) {
  const { graph, values, past } = run;
  const open = { ...call, causal: false, window: /** @type {const} */ ([-1, -1]), padding: undefined };
  const seen = viewOf(/** @type {Tensor} */ (graph.attention({ ...open, weights: false, scores: true }).scores));
  for (const edit of values.edits(`${at}scores`)) {
    const { mask, window } = edit;
    if (!mask && !window) continue;
    const visible = !mask || mask === 'none' ? () => 1 : operand(run.caller, 'edit.mask', mask, scores.shape);
    const [left, right] = window ?? [-1, -1];
    eachPlace(run.caller, edit, scores.shape, HEADS, past, (i, place) => {
      const [batch, , t, s] = place;
      const distance = s - (t + call.offset);
      const inside = (left < 0 || -distance <= left) && (right < 0 || distance <= right);
      // A window alone does not show what is to come, nor padding.
      const hidden = !mask && ((call.causal && distance > 0) || call.padding?.[batch * call.sizes.keys + s] === 0);
      viewOf(scores)[i] = inside && !hidden && visible(place) !== 0 ? seen[i] : -Infinity;
    });
  }
}

/**
 * Heads of no width have scores of 0, to which those that are given are added.
 * @param {Run} run
 * @param {AttentionCall} call
 * @param {Tensor} scores
 */
function softmaxOf({ graph }, call, scores) {
  const { batch, heads, queries, keys } = call.sizes;
  const empty = graph.make([batch, queries, 0]);
  const bias = { tensor: scores, stride: [heads * queries * keys, queries * keys, keys, 1] };
  return /** @type {Tensor} */ (
    graph.attention({
      ...call,
      query: empty,
      key: empty,
      value: empty,
      sizes: { batch, heads, kvHeads: heads, queries, keys, width: 0 },
      keyStride: [0, 0, 0],
      scale: 1,
      softcap: 0,
      causal: false,
      window: [-1, -1],
      offset: 0,
      padding: undefined,
      slopes: undefined,
      bias,
      weights: true,
      scores: false,
    }).weights
  );
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
