// Measures how much rounded weights change the attention and the loss of a model.

import { attentionChange } from '../../web/worker/run/rounding.ts';

/** Returns the mean of −log p of the next token. @param {Float32Array} logits (T,V) @param {readonly number[]} ids */
function lossOf(logits, ids) {
  const width = logits.length / ids.length;
  let sum = 0;
  for (let t = 0; t + 1 < ids.length; t++) {
    const row = logits.subarray(t * width, (t + 1) * width);
    const most = Math.max(...row);
    sum += most + Math.log(row.reduce((total, x) => total + Math.exp(x - most), 0)) - row[ids[t + 1]];
  }
  return sum / (ids.length - 1);
}

/** Runs the model. Returns the attention weights of all heads, and the loss. */
function run(model, ids) {
  const { captured, logits } = model.forward({ ids: [ids] }, { capture: ['blocks.*.weights'] });
  return { weights: Object.values(captured).map((tensor) => tensor.copy()), loss: lossOf(logits.copy(), ids) };
}

/**
 * Returns the largest and the mean change of an attention weight, the share of rows with the same strongest key, and
 * the change of the loss, over some texts.
 * @param {any} exact
 * @param {any} rounded
 * @param {readonly number[][]} texts lists of ids of the same length
 */
export function roundingErrors(exact, rounded, texts) {
  const all = { largest: 0, sum: 0, count: 0, same: 0, rows: 0 };
  let loss = 0;
  for (const ids of texts) {
    const [a, b] = [run(exact, ids), run(rounded, ids)];
    loss += (b.loss - a.loss) / texts.length;
    const { largest, sum, count, same, rows } = attentionChange(a.weights, b.weights, ids.length);
    all.largest = Math.max(all.largest, largest);
    all.sum += sum;
    all.count += count;
    all.same += same;
    all.rows += rows;
  }
  return { largest: all.largest, mean: all.sum / all.count, same: all.same / all.rows, loss };
}
