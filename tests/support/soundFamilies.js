// Cases of families.js for wav2vec 2.0 and HuBERT: tiny random checkpoints, and the architecture in float64.

import { ACTIVATIONS, add, attend } from './float64.js';

const [WIDTHS, KERNELS, STRIDES] = [
  [6, 8, 8],
  [5, 3, 2],
  [3, 2, 1],
];
const [SAMPLES, LETTERS, PROJECTED] = [90, 7, 5];
/** Number of samples before the padding, for each sequence of a batch. */
const LENGTHS = [SAMPLES, 61];

/** Returns the number of frames after all convolutions. */
const framesOf = (samples) =>
  KERNELS.reduce((count, kernel, i) => Math.floor((count - kernel) / STRIDES[i] + 1), samples);
const ones = (count, of) => Array.from({ length: of }, (_, i) => Number(i < count));

/** Computes y[t][o] = Σ weight[o][c][k] · x[t·stride + k − pad][group of o + c]; x (N,C), weight (O,C/groups,K). */
function convolve(x, width, weight, bias, { stride = 1, pad = 0, groups = 1 } = {}) {
  const [out, inside, taps] = weight.shape;
  const rows = x.length / width;
  const count = Math.floor((rows + 2 * pad - taps) / stride) + 1;
  return Float64Array.from({ length: count * out }, (_, at) => {
    const [t, o] = [Math.floor(at / out), at % out];
    const first = Math.floor(o / (out / groups)) * inside;
    let sum = bias ? bias.data[o] : 0;
    for (let k = 0; k < taps; k++) {
      const row = t * stride + k - pad;
      if (row < 0 || row >= rows) continue;
      for (let c = 0; c < inside; c++) sum += weight.data[(o * inside + c) * taps + k] * x[row * width + first + c];
    }
    return sum;
  });
}

/** Normalizes each column over time. */
function overTime(x, weight, bias) {
  const width = weight.data.length;
  const y = new Float64Array(x.length);
  for (let c = 0; c < width; c++) {
    const column = Array.from({ length: x.length / width }, (_, t) => x[t * width + c]);
    const mean = column.reduce((a, b) => a + b, 0) / column.length;
    const square = column.reduce((a, b) => a + (b - mean) ** 2, 0) / column.length;
    column.forEach((value, t) => {
      y[t * width + c] = ((value - mean) / Math.sqrt(square + 1e-5)) * weight.data[c] + bias.data[c];
    });
  }
  return y;
}

/**
 * Returns the cases. `parts` are the shapes and steps that families.js has for all families.
 * @returns {import('./families.js').Case[]}
 */
export function soundCases({ SIZES, HEADS, lin, layerNorm, blocks }) {
  const { C, L, H, MLP } = SIZES;
  const attention = (name) =>
    Object.assign({}, ...['q_proj', 'k_proj', 'v_proj', 'out_proj'].map((end) => lin(`${name}.${end}`, C, C)));
  const shapes = (
    at,
    { groups, taps, layerwise, bias, projectNorm = true, names = ['weight_g', 'weight_v'], head },
  ) => ({
    ...Object.assign(
      {},
      ...WIDTHS.map((width, i) => {
        const b = `${at}feature_extractor.conv_layers.${i}`;
        return {
          [`${b}.conv.weight`]: { shape: [width, WIDTHS[i - 1] ?? 1, KERNELS[i]], spread: 1 },
          ...(bias && { [`${b}.conv.bias`]: { shape: [width] } }),
          ...((layerwise || i === 0) && layerNorm(`${b}.layer_norm`, width)),
        };
      }),
    ),
    ...(projectNorm && layerNorm(`${at}feature_projection.layer_norm`, WIDTHS.at(-1))),
    ...lin(`${at}feature_projection.projection`, C, WIDTHS.at(-1)),
    [`${at}encoder.pos_conv_embed.conv.${names[0]}`]: { shape: [1, 1, taps], around: 1 },
    [`${at}encoder.pos_conv_embed.conv.${names[1]}`]: { shape: [C, C / groups, taps] },
    [`${at}encoder.pos_conv_embed.conv.bias`]: { shape: [C] },
    ...layerNorm(`${at}encoder.layer_norm`),
    ...blocks((i) => {
      const b = `${at}encoder.layers.${i}`;
      return {
        ...{ ...attention(`${b}.attention`), ...layerNorm(`${b}.layer_norm`) },
        ...lin(`${b}.feed_forward.intermediate_dense`, MLP, C),
        ...{ ...lin(`${b}.feed_forward.output_dense`, C, MLP), ...layerNorm(`${b}.final_layer_norm`) },
      };
    }),
    ...(head === true && lin('lm_head', LETTERS, C)),
    ...(head === 'sound' && lin('projector', PROJECTED, C)),
    ...(head === 'sound' && lin('classifier', 3, PROJECTED)),
    ...(head === 'frames' && lin('classifier', 3, C)),
    [`${at}masked_spec_embed`]: { shape: [C] },
  });

  /** Returns the kernel g · v / |v|, where the length |v| is computed for each tap. */
  const kernelOf = (gain, { data, shape }) => {
    const taps = shape[2];
    const lengths = Array.from({ length: taps }, (_, k) =>
      Math.sqrt(data.reduce((sum, x, i) => (i % taps === k ? sum + x * x : sum), 0)),
    );
    return { shape, data: Float64Array.from(data, (x, i) => (gain.data[i % taps] * x) / lengths[i % taps]) };
  };
  const embed = (p, at, { groups, taps, layerwise, projectNorm = true, names = ['weight_g', 'weight_v'] }) => {
    let x = Float64Array.from(p.numbers);
    for (const i of WIDTHS.keys()) {
      const b = `${at}feature_extractor.conv_layers.${i}`;
      const bias = p.tensors[`${b}.conv.bias`];
      x = convolve(x, WIDTHS[i - 1] ?? 1, p.get(`${b}.conv.weight`), bias, { stride: STRIDES[i] });
      if (layerwise) x = p.layerNorm(`${b}.layer_norm`, x, 1e-5);
      else if (i === 0) x = overTime(x, p.get(`${b}.layer_norm.weight`), p.get(`${b}.layer_norm.bias`));
      x = x.map(ACTIVATIONS.gelu);
    }
    if (projectNorm) x = p.layerNorm(`${at}feature_projection.layer_norm`, x);
    x = p.linear(`${at}feature_projection.projection`, x).map((value, i) => value * p.keep[Math.floor(i / C)]);
    const [gain, direction] = names.map((name) => p.get(`${at}encoder.pos_conv_embed.conv.${name}`));
    const bias = p.get(`${at}encoder.pos_conv_embed.conv.bias`);
    const pad = Math.floor(taps / 2);
    const moved = convolve(x, C, kernelOf(gain, direction), bias, { pad, groups });
    return add(x, moved.subarray(0, x.length).map(ACTIVATIONS.gelu));
  };
  const run = (p, at, how) => {
    const see = p.sees({ causal: false });
    const attended = (b, x) => {
      const [q, k, v] = ['q', 'k', 'v'].map((name) => p.linear(`${b}.attention.${name}_proj`, x));
      const { heads, weights } = attend(q, k, v, { ...HEADS, see });
      return { weights, out: p.linear(`${b}.attention.out_proj`, heads) };
    };
    const feed = (b, x) =>
      p.linear(
        `${b}.feed_forward.output_dense`,
        p.linear(`${b}.feed_forward.intermediate_dense`, x).map(ACTIVATIONS.gelu),
      );
    const embedded = embed(p, at, how);
    const { stable } = how;
    const first = stable ? embedded : p.layerNorm(`${at}encoder.layer_norm`, embedded);
    p.values.embed = first;
    const last = p.stack(first, (x, i, record) => {
      const b = `${at}encoder.layers.${i}`;
      const norms = [`${b}.layer_norm`, `${b}.final_layer_norm`];
      const { out, weights } = attended(b, stable ? p.layerNorm(norms[0], x) : x);
      record('weights', weights);
      const mid = stable ? add(x, out) : p.layerNorm(norms[0], add(x, out));
      return stable ? add(mid, feed(b, p.layerNorm(norms[1], mid))) : p.layerNorm(norms[1], add(mid, feed(b, mid)));
    });
    p.values.final = stable ? p.layerNorm(`${at}encoder.layer_norm`, last) : last;
    if (how.head === true) p.values.logits = p.linear('lm_head', p.values.final);
    if (how.head === 'frames') p.values.logits = p.linear('classifier', p.values.final);
    if (how.head !== 'sound') return;
    // The pooled value is the mean of the projected frames that are not padding.
    const rows = p.linear('projector', p.values.final);
    const real = p.keep.reduce((a, b) => a + b, 0);
    p.values.pooled = Float64Array.from({ length: PROJECTED }, (_, c) =>
      p.keep.reduce((sum, keep, t) => sum + (keep * rows[t * PROJECTED + c]) / real, 0),
    );
    p.values.logits = p.linear('classifier', p.values.pooled);
  };

  const CONFIG = {
    ...{ model_type: 'wav2vec2', hidden_size: C, num_hidden_layers: L, num_attention_heads: H },
    ...{ intermediate_size: MLP, vocab_size: LETTERS, pad_token_id: 0, hidden_act: 'gelu' },
    ...{ conv_dim: WIDTHS, conv_kernel: KERNELS, conv_stride: STRIDES, feat_extract_norm: 'group' },
  };
  const make = (name, at, how, config, { padded = false } = {}) => ({
    name,
    config: {
      ...{ ...CONFIG, num_conv_pos_embeddings: how.taps, num_conv_pos_embedding_groups: how.groups },
      ...config,
    },
    shapes: shapes(at, how),
    run: (p) => run(p, at, how),
    input: 'samples',
    samples: {
      shape: [SAMPLES],
      keep: padded ? LENGTHS.map((length) => ones(length, SAMPLES)) : undefined,
      frames: LENGTHS.map((length) => ones(padded ? framesOf(length) : Infinity, framesOf(SAMPLES))),
    },
  });
  const large = { stable: true, layerwise: true, bias: true, head: true };
  const stable = { do_stable_layer_norm: true, feat_extract_norm: 'layer', conv_bias: true };
  const newer = ['parametrizations.weight.original0', 'parametrizations.weight.original1'];
  return [
    make('wav2vec 2.0', 'wav2vec2.', { groups: 2, taps: 4, head: true }, {}),
    make('wav2vec 2.0, large, with a mask', 'wav2vec2.', { ...large, groups: 4, taps: 5 }, stable, { padded: true }),
    make(
      'HuBERT without a norm before its projection',
      'hubert.',
      { groups: 1, taps: 6, projectNorm: false, head: true, names: newer },
      { model_type: 'hubert', feat_proj_layer_norm: false },
      { padded: true },
    ),
    make(
      'HuBERT for classes of sound',
      'hubert.',
      { ...large, groups: 2, taps: 4, head: 'sound' },
      { ...stable, model_type: 'hubert', classifier_proj_size: PROJECTED, id2label: { 0: 'a', 1: 'b', 2: 'c' } },
      { padded: true },
    ),
    make(
      'wav2vec 2.0 for classes of frames',
      'wav2vec2.',
      { groups: 2, taps: 4, head: 'frames' },
      { num_labels: 3, use_weighted_layer_sum: false },
    ),
    make('HuBERT without a head', '', { groups: 2, taps: 3, names: newer }, { model_type: 'hubert' }),
  ];
}
