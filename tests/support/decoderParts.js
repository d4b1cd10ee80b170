// Parts of several decoders, in float64.

import { multiply } from './float64.js';

/**
 * Returns the masks that older files of GPT-Neo and GPT-J contain.
 * @param {string} at prefix of the attention of block 0
 */
export const masks = (at, places) => ({
  [`${at}.bias`]: { shape: [1, 1, places, places], data: new Float32Array(places ** 2) },
  [`${at}.masked_bias`]: { shape: [], data: Float32Array.of(-1e9) },
});

/** Returns the fields of a config.json with the sizes of a decoder. */
export const sizeFields = ({ C, H, KV, MLP, V, L, PLACES }) => ({
  vocab_size: V,
  hidden_size: C,
  intermediate_size: MLP,
  num_hidden_layers: L,
  num_attention_heads: H,
  num_key_value_heads: KV,
  max_position_embeddings: PLACES,
});

const NAMES = ['q', 'k', 'v'];

/** Computes queries, keys and values. @param p a pass @param {string} at prefix of the attention @param x its input */
export const project = (p, at, x) => NAMES.map((name) => p.linear(`${at}.${name}_proj`, x));

/** Computes the gated feed-forward of Llama. */
export const gatedFeed = (p, at, x, activation) =>
  p.linear(`${at}.down_proj`, multiply(p.linear(`${at}.gate_proj`, x).map(activation), p.linear(`${at}.up_proj`, x)));

/** Returns the shapes of the projections of attention. `bias` has the letters of the projections with biases. */
export const attentionShapes = (lin, at, { C, H, KV, width, bias = '' }) => ({
  ...lin(`${at}.q_proj`, H * width, C, bias.includes('q')),
  ...lin(`${at}.k_proj`, KV * width, C, bias.includes('k')),
  ...lin(`${at}.v_proj`, KV * width, C, bias.includes('v')),
  ...lin(`${at}.o_proj`, C, H * width, bias.includes('o')),
});

/** Returns the shapes of the gated feed-forward of Llama. */
export const feedShapes = (lin, at, { C, MLP }, bias = false) => ({
  ...lin(`${at}.gate_proj`, MLP, C, bias),
  ...lin(`${at}.up_proj`, MLP, C, bias),
  ...lin(`${at}.down_proj`, C, MLP, bias),
});

/** Rotates elements 2n and 2n + 1 of each head, for as many n as there are angles. */
export function rotateNeighbours(x, { heads, width, turns }) {
  const y = Float64Array.from(x);
  for (let row = 0; row < x.length; row += width)
    turns.forEach((turn, n) => {
      const angle = Math.floor(row / (heads * width)) * turn;
      const [a, b] = [x[row + 2 * n], x[row + 2 * n + 1]];
      y[row + 2 * n] = a * Math.cos(angle) - b * Math.sin(angle);
      y[row + 2 * n + 1] = b * Math.cos(angle) + a * Math.sin(angle);
    });
  return y;
}
