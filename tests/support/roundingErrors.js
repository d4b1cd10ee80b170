// Measures how much rounded weights change the attention of a model.

/** Returns the key with the largest weight of each row. @param {Float32Array} weights @param {number} keys */
function strongestKeys(weights, keys) {
  const strongest = [];
  for (let row = 0; row < weights.length; row += keys) {
    const part = weights.subarray(row, row + keys);
    strongest.push(part.indexOf(Math.max(...part)));
  }
  return strongest;
}

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
  let [largest, sum, count, same, rows, loss] = [0, 0, 0, 0, 0, 0];
  for (const ids of texts) {
    const [a, b] = [run(exact, ids), run(rounded, ids)];
    loss += (b.loss - a.loss) / texts.length;
    a.weights.forEach((weights, i) => {
      weights.forEach((x, at) => {
        const change = Math.abs(x - b.weights[i][at]);
        largest = Math.max(largest, change);
        sum += change;
      });
      count += weights.length;
      const [keys, others] = [strongestKeys(weights, ids.length), strongestKeys(b.weights[i], ids.length)];
      rows += keys.length;
      same += keys.filter((key, row) => key === others[row]).length;
    });
  }
  return { largest, mean: sum / count, same: same / rows, loss };
}
