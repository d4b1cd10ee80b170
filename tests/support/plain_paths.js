// Computes path patching on a plain model by the definition: block by block, it adds the outputs of attention and
// feed-forward to the residual stream. Only the outputs on the path differ from the corrupted run. It supports one
// sequence.

import { norm } from './layers.js';

const add = (a, b) => a.map((x, i) => x + b[i]);

/** Returns the operations of a plain model that a path consists of. */
function operationsOf({ options, parameters }) {
  const vector = (name) => parameters[name]?.data;
  const normed = (name, x) =>
    vector(`${name}.weight`)
      ? Float64Array.from(
          norm(x, vector(`${name}.weight`), vector(`${name}.bias`), { eps: 1e-5, mean: options.norm === 'layer' }),
        )
      : x;
  const linear = (weight, bias, x) => {
    const { data, shape } = parameters[weight];
    const [out, inside] = shape;
    return Float64Array.from({ length: (x.length / inside) * out }, (_, i) => {
      let sum = vector(bias)?.[i % out] ?? 0;
      for (let c = 0; c < inside; c++) sum += x[Math.floor(i / out) * inside + c] * data[(i % out) * inside + c];
      return sum;
    });
  };
  return { normed, linear };
}

/** Transposes (H,T,D) to (T,H·D), or rows to (n,T,D). */
const swap = (x, outer, inner, width) =>
  Float64Array.from(x, (_, i) => {
    const [d, b, a] = [i % width, Math.floor(i / width) % outer, Math.floor(i / width / outer)];
    return x[(b * inner + a) * width + d];
  });

/**
 * Computes the run of a path from some heads. Returns the values that receivers read, and the logits.
 * @param model of plainModel
 * @param values of the corrupted run, by name
 * @param sent for each layer, the outputs of the heads (H,T,D); the outputs of the senders are from the clean run
 * @param through 'residual' or 'mlps'
 * @returns {{ of: (layer: number, input: string) => Float64Array, logits: Float64Array }}
 */
export function plainPath(model, values, sent, through) {
  const { layers, numHeads: H, kvHeads: G, headDim: D, mlp, normPlace, tied } = model.options;
  const { normed, linear } = operationsOf(model);
  const T = values['blocks.0.heads'].shape[2];
  const received = new Map();
  const place = (name) => (/both|outputs/.test(normPlace) ? (x) => normed(name, x) : (x) => x);
  let x = Float64Array.from(values['blocks.0.in'].data);
  for (let l = 0; l < layers; l++) {
    const at = `blocks.${l}`;
    const before = x;
    const read = normPlace === 'after' ? x : normed(`${at}.norm1`, x);
    for (const [input, heads] of [
      ['query', H],
      ['key', G],
      ['value', G],
    ]) {
      const [weight, bias] = ['w', 'b'].map((letter) => `${at}.attention.${letter}${input[0]}`);
      received.set(`${l} ${input}`, swap(linear(weight, bias, read), T, heads, D));
    }
    const heads = sent[l] ?? values[`${at}.heads`].data;
    const rows = swap(heads, H, T, D);
    const attended = place(`${at}.after1`)(linear(`${at}.attention.wo`, `${at}.attention.bo`, rows));
    x = add(normPlace === 'stream' ? read : x, attended);
    if (normPlace === 'after') x = normed(`${at}.norm1`, x);
    if (mlp === 0) continue;
    const inside = normPlace === 'after' ? x : normed(`${at}.norm2`, normPlace === 'parallel' ? before : x);
    received.set(`${l} mlp`, inside);
    const hidden = linear(`${at}.up.weight`, `${at}.up.bias`, inside).map((z) => Math.max(z, 0));
    const computed = place(`${at}.after2`)(linear(`${at}.down.weight`, `${at}.down.bias`, hidden));
    const added = through === 'residual' ? Float64Array.from(values[`${at}.mlp`].data) : computed;
    x = add(normPlace === 'stream' ? inside : x, added);
    if (normPlace === 'after') x = normed(`${at}.norm2`, x);
  }
  const logits = linear(tied ? 'embedding.table' : 'head.weight', 'head.bias', normed('norm', x));
  return { of: (layer, input) => received.get(`${layer} ${input}`), logits };
}
