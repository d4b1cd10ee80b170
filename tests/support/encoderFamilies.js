// Cases of families.js for encoders: tiny random checkpoints, and each architecture in float64.

import { ACTIVATIONS, add, angles, attend, columns, concat, multiply, rotate } from './float64.js';

/** Returns the cases. `parts` are shapes and steps of families.js. @returns {import('./families.js').Case[]} */
export const encoderCases = (parts) => [
  ...mpnetCases(parts),
  ...electraCases(parts),
  ...dinov2Cases(parts),
  ...debertaCases(parts),
  ...albertCases(parts),
  ...esmCases(parts),
  ...nomicCases(parts),
];

// ---- MPNet

function mpnetCases(parts) {
  const { SIZES, BERT, lin, table, blocks, maskedShapes, masked, first, untied } = parts;
  const { bertNames, postNormShapes, postNorm, bertEmbeddings, embedBert } = parts;
  const { C, H, V, PLACES } = SIZES;
  const CONFIG = {
    ...BERT,
    ...{ model_type: 'mpnet', layer_norm_eps: 1e-5, pad_token_id: 1, max_position_embeddings: PLACES + 2 },
    ...{ type_vocab_size: undefined, position_embedding_type: undefined, relative_attention_num_buckets: 32 },
  };
  const namesOf = (b) => ({
    ...bertNames(b),
    ...{ query: `${b}.attention.attn.q`, key: `${b}.attention.attn.k`, value: `${b}.attention.attn.v` },
    ...{ out: `${b}.attention.attn.o`, attentionNorm: `${b}.attention.LayerNorm` },
  });
  const shapes = (at, pooler = false) => ({
    ...bertEmbeddings(at, { types: 0, places: PLACES + 2 }),
    ...blocks((i) => postNormShapes(namesOf(`${at}encoder.layer.${i}`))),
    ...table(`${at}encoder.relative_attention_bias`, 32, H),
    ...(pooler && lin(`${at}pooler.dense`, C, C)),
  });
  /**
   * Returns the bucket of a distance. Supports only distances below 8, because the tests have no others. The buckets of
   * later keys begin at 16.
   */
  const bucket = (distance) => (distance > 0 ? 16 + distance : -distance);
  const run = (p, at) => {
    const biases = p.get(`${at}encoder.relative_attention_bias.weight`).data;
    const x = embedBert(p, at, parts.robertaPositions(p.ids));
    return postNorm(p, x, (i) => namesOf(`${at}encoder.layer.${i}`), {
      bias: (h, t, s) => biases[bucket(s - t) * H + h],
    });
  };
  const head = { dense: 'lm_head.dense', norm: 'lm_head.layer_norm' };
  const padded = { padding: 'right', pad: 1 };
  return [
    {
      name: 'MPNet',
      config: CONFIG,
      shapes: { ...shapes('mpnet.'), ...maskedShapes(head.dense, head.norm, { 'lm_head.bias': { shape: [V] } }) },
      ...padded,
      run: (p) => {
        run(p, 'mpnet.');
        masked(p, { ...head, weight: 'mpnet.embeddings.word_embeddings.weight', bias: 'lm_head.bias' });
      },
    },
    {
      name: 'MPNet with a head that is not tied',
      config: { ...CONFIG, ...untied },
      shapes: { ...shapes('mpnet.'), ...maskedShapes(head.dense, head.norm, lin('lm_head.decoder', V, C)) },
      ...padded,
      run: (p) => {
        run(p, 'mpnet.');
        masked(p, { ...head, weight: 'lm_head.decoder.weight', bias: 'lm_head.decoder.bias' });
      },
    },
    {
      name: 'MPNet for sentences',
      config: CONFIG,
      shapes: shapes('', true),
      ...padded,
      run: (p) => {
        p.values.pooled = p.linear('pooler.dense', first(run(p, ''))).map(Math.tanh);
      },
    },
    {
      name: 'MPNet for classes',
      config: { ...CONFIG, id2label: { 0: 'a', 1: 'b', 2: 'c' } },
      shapes: { ...shapes('mpnet.'), ...lin('classifier.dense', C, C), ...lin('classifier.out_proj', 3, C) },
      unmasked: 'right',
      pad: 1,
      run: (p) => {
        const pooled = p.linear('classifier.dense', first(run(p, 'mpnet.'))).map(Math.tanh);
        p.values.logits = p.linear('classifier.out_proj', pooled);
      },
    },
    {
      name: 'MPNet for the class of each token',
      config: { ...CONFIG, id2label: { 0: 'a', 1: 'b', 2: 'c' } },
      shapes: { ...shapes('mpnet.'), ...lin('classifier', 3, C) },
      ...padded,
      run: (p) => {
        p.values.logits = p.linear('classifier', run(p, 'mpnet.'));
      },
    },
  ];
}

// ---- ELECTRA

function electraCases(parts) {
  const { SIZES, BERT, lin, layerNorm, blocks, masked, first, untied } = parts;
  const { bertNames, postNormShapes, postNorm, bertEmbeddings, embedBert } = parts;
  const { C, V } = SIZES;
  const E = 6;
  const CONFIG = {
    ...{ ...BERT, model_type: 'electra', embedding_size: E },
    ...{ summary_type: 'first', summary_use_proj: true, summary_activation: 'gelu', summary_last_dropout: 0.1 },
  };
  const shapes = (at, width = E) => ({
    ...bertEmbeddings(at, { width }),
    ...(width !== C && lin(`${at}embeddings_project`, C, width)),
    ...blocks((i) => postNormShapes(bertNames(`${at}encoder.layer.${i}`))),
  });
  const run = (p, at, { width = E, activation = ACTIVATIONS.gelu } = {}) => {
    const normed = embedBert(p, at);
    const x = width === C ? normed : p.linear(`${at}embeddings_project`, normed);
    return postNorm(p, x, (i) => bertNames(`${at}encoder.layer.${i}`), { activation });
  };
  const found = { 'discriminator_predictions.dense': [C, C], 'discriminator_predictions.dense_prediction': [1, C] };
  const discriminator = Object.assign({}, ...Object.entries(found).map(([name, size]) => lin(name, ...size)));
  const replaced = (p, x, activation) => {
    const inside = p.linear('discriminator_predictions.dense', x).map(activation);
    p.values.logits = p.linear('discriminator_predictions.dense_prediction', inside);
  };
  const head = { dense: 'generator_predictions.dense', norm: 'generator_predictions.LayerNorm' };
  const generator = { ...lin(head.dense, E, C), ...layerNorm(head.norm, E) };
  const table3 = { id2label: { 0: 'a', 1: 'b', 2: 'c' } };
  return [
    {
      name: 'ELECTRA, the discriminator with a wide embedding and its own activation',
      config: { ...CONFIG, embedding_size: C, hidden_act: 'relu' },
      shapes: { ...shapes('electra.', C), ...discriminator },
      padding: 'right',
      run: (p) => {
        const activation = ACTIVATIONS.relu;
        replaced(p, run(p, 'electra.', { width: C, activation }), activation);
      },
    },
    {
      name: 'ELECTRA, the generator',
      config: CONFIG,
      shapes: { ...shapes('electra.'), ...generator, 'generator_lm_head.bias': { shape: [V] } },
      padding: 'right',
      run: (p) => {
        run(p, 'electra.');
        masked(p, { ...head, weight: 'electra.embeddings.word_embeddings.weight', bias: 'generator_lm_head.bias' });
      },
    },
    {
      name: 'ELECTRA, the generator with a head that is not tied, and its own activation',
      config: { ...CONFIG, ...untied, hidden_act: 'relu' },
      shapes: { ...shapes('electra.'), ...generator, ...lin('generator_lm_head', V, E) },
      run: (p) => {
        run(p, 'electra.', { activation: ACTIVATIONS.relu });
        masked(p, { ...head, weight: 'generator_lm_head.weight', bias: 'generator_lm_head.bias' });
      },
    },
    {
      name: 'ELECTRA',
      config: CONFIG,
      shapes: shapes(''),
      padding: 'right',
      run: (p) => run(p, ''),
    },
    {
      name: 'ELECTRA for classes',
      config: { ...CONFIG, ...table3, hidden_act: 'relu' },
      shapes: { ...shapes('electra.'), ...lin('classifier.dense', C, C), ...lin('classifier.out_proj', 3, C) },
      padding: 'right',
      run: (p) => {
        p.values.pooled = first(run(p, 'electra.', { activation: ACTIVATIONS.relu }));
        const inside = p.linear('classifier.dense', p.values.pooled).map(ACTIVATIONS.gelu);
        p.values.logits = p.linear('classifier.out_proj', inside);
      },
    },
    {
      name: 'ELECTRA for the class of each token',
      config: { ...CONFIG, ...table3 },
      shapes: { ...shapes('electra.'), ...lin('classifier', 3, C) },
      padding: 'right',
      run: (p) => {
        p.values.logits = p.linear('classifier', run(p, 'electra.'));
      },
    },
    {
      name: 'ELECTRA for choices',
      config: { ...CONFIG, architectures: ['ElectraForMultipleChoice'], summary_activation: 'silu' },
      shapes: { ...shapes('electra.'), ...lin('sequence_summary.summary', C, C), ...lin('classifier', 1, C) },
      run: (p) => {
        const inside = p.linear('sequence_summary.summary', first(run(p, 'electra.'))).map(ACTIVATIONS.silu);
        p.values.logits = p.linear('classifier', inside);
      },
    },
  ];
}

// ---- DINOv2

function dinov2Cases(parts) {
  const { SIZES, HEADS, lin, layerNorm, blocks, first, meanOf } = parts;
  const { C, L, H, SIDE, PATCH } = SIZES;
  const CONFIG = {
    ...{ model_type: 'dinov2', hidden_size: C, num_hidden_layers: L, num_attention_heads: H, mlp_ratio: 2 },
    ...{ image_size: SIDE, patch_size: PATCH, num_channels: 3, qkv_bias: true, hidden_act: 'gelu' },
    ...{ layer_norm_eps: 1e-6, layerscale_value: 1, use_swiglu_ffn: false, apply_layernorm: true },
  };
  const grid = SIDE / PATCH;
  const scale = (name) => ({ [name]: { shape: [C], around: 0.5 } });
  const shapes = (at, extra = {}, bias = true) => ({
    [`${at}embeddings.cls_token`]: { shape: [1, 1, C] },
    [`${at}embeddings.mask_token`]: { shape: [1, C] },
    [`${at}embeddings.position_embeddings`]: { shape: [1, grid ** 2 + 1, C] },
    [`${at}embeddings.patch_embeddings.projection.weight`]: { shape: [C, 3, PATCH, PATCH], spread: 0.2 },
    [`${at}embeddings.patch_embeddings.projection.bias`]: { shape: [C] },
    ...blocks((i) => {
      const b = `${at}encoder.layer.${i}`;
      const attention = ['query', 'key', 'value'].map((name) => lin(`${b}.attention.attention.${name}`, C, C, bias));
      return {
        ...Object.assign({}, ...attention),
        ...lin(`${b}.attention.output.dense`, C, C),
        ...{ ...layerNorm(`${b}.norm1`), ...layerNorm(`${b}.norm2`) },
        ...{ ...scale(`${b}.layer_scale1.lambda1`), ...scale(`${b}.layer_scale2.lambda1`) },
        ...{ ...lin(`${b}.mlp.fc1`, 2 * C, C), ...lin(`${b}.mlp.fc2`, C, 2 * C) },
      };
    }),
    ...layerNorm(`${at}layernorm`),
    ...extra,
  });
  /** Applies the convolution to each patch of a picture (3,SIDE,SIDE), row by row. */
  const patchesOf = (p, at) => {
    const { data } = p.get(`${at}embeddings.patch_embeddings.projection.weight`);
    const bias = p.get(`${at}embeddings.patch_embeddings.projection.bias`).data;
    return Float64Array.from({ length: grid ** 2 * C }, (_, i) => {
      const [n, c] = [Math.floor(i / C), i % C];
      let sum = bias[c];
      for (let k = 0; k < 3 * PATCH * PATCH; k++) {
        const [channel, y, x] = [Math.floor(k / PATCH ** 2), Math.floor(k / PATCH) % PATCH, k % PATCH];
        const row = channel * SIDE + Math.floor(n / grid) * PATCH + y;
        sum += data[c * 3 * PATCH ** 2 + k] * p.numbers[row * SIDE + (n % grid) * PATCH + x];
      }
      return sum;
    });
  };
  const scaled = (p, name, x) => x.map((value, i) => value * p.get(name).data[i % C]);
  const run = (p, at) => {
    const sum = concat(p.get(`${at}embeddings.cls_token`).data, patchesOf(p, at));
    p.values.embed = add(sum, p.get(`${at}embeddings.position_embeddings`).data);
    const x = p.stack(p.values.embed, (x, i, record) => {
      const b = `${at}encoder.layer.${i}`;
      const read = p.layerNorm(`${b}.norm1`, x);
      const [q, k, v] = ['query', 'key', 'value'].map((name) => p.linear(`${b}.attention.attention.${name}`, read));
      const { heads, weights } = attend(q, k, v, { ...HEADS, see: () => true });
      record('weights', weights);
      const out = scaled(p, `${b}.layer_scale1.lambda1`, p.linear(`${b}.attention.output.dense`, heads));
      record('attention', out);
      const mid = add(x, out);
      const inside = p.linear(`${b}.mlp.fc1`, p.layerNorm(`${b}.norm2`, mid)).map(ACTIVATIONS.gelu);
      const second = scaled(p, `${b}.layer_scale2.lambda1`, p.linear(`${b}.mlp.fc2`, inside));
      record('mlp', second);
      return add(mid, second);
    });
    p.values.final = p.layerNorm(`${at}layernorm`, x);
    return p.values.final;
  };
  return [
    {
      name: 'DINOv2',
      config: CONFIG,
      shapes: shapes(''),
      input: 'pixels',
      run: (p) => {
        p.values.pooled = first(run(p, ''));
      },
    },
    {
      name: 'DINOv2 for classes, without biases of queries, keys and values',
      config: { ...CONFIG, qkv_bias: false, id2label: { 0: 'a', 1: 'b', 2: 'c' } },
      shapes: shapes('dinov2.', lin('classifier', 3, 2 * C), false),
      input: 'pixels',
      run: (p) => {
        const x = run(p, 'dinov2.');
        const others = x.subarray(C);
        p.values.pooled = concat(first(x), meanOf(others, new Array(others.length / C).fill(1)));
        p.values.logits = p.linear('classifier', p.values.pooled);
      },
    },
  ];
}

// ---- DeBERTa 2 and 3

function debertaCases(parts) {
  const { SIZES, BERT, lin, layerNorm, table, blocks, maskedShapes, masked, first } = parts;
  const { C, H, D, V, PLACES } = SIZES;
  const BUCKETS = 4;
  const CONFIG = {
    ...{
      ...BERT,
      model_type: 'deberta-v2',
      type_vocab_size: 0,
      layer_norm_eps: 1e-7,
      position_embedding_type: undefined,
    },
    ...{ relative_attention: true, max_relative_positions: -1, position_buckets: BUCKETS, share_att_key: true },
    ...{ norm_rel_ebd: 'layer_norm', pos_att_type: 'p2c|c2p', position_biased_input: false, pad_token_id: 0 },
    ...{ pooler_hidden_size: C, pooler_hidden_act: 'gelu', pooler_dropout: 0 },
  };
  const namesOf = (b) => ({
    ...parts.bertNames(b),
    ...Object.fromEntries(['query', 'key', 'value'].map((name) => [name, `${b}.attention.self.${name}_proj`])),
  });
  const convolution = (at) => ({ [`${at}.weight`]: { shape: [C, C, 3] }, [`${at}.bias`]: { shape: [C] } });
  const shapes = (at, { rows = 2 * BUCKETS, normed = true, placed = false, types = 0, convolved = false } = {}) => ({
    ...table(`${at}embeddings.word_embeddings`, V),
    ...(placed && table(`${at}embeddings.position_embeddings`, PLACES)),
    ...(types > 0 && table(`${at}embeddings.token_type_embeddings`, types)),
    ...layerNorm(`${at}embeddings.LayerNorm`),
    ...blocks((i) => parts.postNormShapes(namesOf(`${at}encoder.layer.${i}`))),
    ...table(`${at}encoder.rel_embeddings`, rows),
    ...(normed && layerNorm(`${at}encoder.LayerNorm`)),
    ...(convolved && { ...convolution(`${at}encoder.conv.conv`), ...layerNorm(`${at}encoder.conv.LayerNorm`) }),
  });
  /** Returns the bucket of query − key: the distance itself up to half of the buckets, then logarithmic. */
  const bucket = (n, most) => {
    const [mid, far] = [BUCKETS / 2, Math.abs(n)];
    if (far <= mid) return n;
    return Math.sign(n) * (mid + Math.ceil((Math.log(far / mid) / Math.log((most - 1) / mid)) * (mid - 1)));
  };
  /** The norm of y plus the activation of a convolution of x over three tokens. Padding counts as zeros. */
  const convolve = (p, at, x, y, act) => {
    const [weight, bias] = ['weight', 'bias'].map((part) => p.get(`${at}.conv.${part}`).data);
    const T = x.length / C;
    const moved = Float64Array.from(x, (_, i) => {
      const [t, out] = [Math.floor(i / C), i % C];
      let sum = bias[out];
      for (let tap = 0; tap < 3; tap++) {
        const s = t + tap - 1;
        if (s < 0 || s >= T || p.keep?.[s] === 0) continue;
        for (let c = 0; c < C; c++) sum += weight[(out * C + c) * 3 + tap] * x[s * C + c];
      }
      return act(sum);
    });
    return p.layerNorm(`${at}.LayerNorm`, add(y, moved));
  };
  const HOW = { rowOf: (n) => bucket(n, PLACES), span: BUCKETS, c2p: true, p2c: true, normed: true };
  const run = (p, at, how = {}) => {
    const { rowOf, span, c2p, p2c, normed, placed, types, act } = { ...HOW, ...how };
    let x = p.rows(`${at}embeddings.word_embeddings.weight`, p.ids);
    if (placed)
      x = add(
        x,
        p.rows(
          `${at}embeddings.position_embeddings.weight`,
          p.ids.map((_, i) => i),
        ),
      );
    if (types) x = add(x, p.rows(`${at}embeddings.token_type_embeddings.weight`, p.typeIds));
    p.values.embed = p.layerNorm(`${at}embeddings.LayerNorm`, x);
    const all = Float64Array.from(p.get(`${at}encoder.rel_embeddings.weight`).data);
    const relative = normed ? p.layerNorm(`${at}encoder.LayerNorm`, all) : all;
    const dot = (a, i, b, j, h) => {
      let sum = 0;
      for (let d = 0; d < D; d++) sum += a[i * C + h * D + d] * b[j * C + h * D + d];
      return sum;
    };
    const scale = (D * (1 + Number(c2p) + Number(p2c))) ** -0.5;
    p.values.final = p.stack(p.values.embed, (x, i, record) => {
      const b = `${at}encoder.layer.${i}`;
      const [q, k, v] = ['query', 'key', 'value'].map((name) => p.linear(`${b}.attention.self.${name}_proj`, x));
      const [rq, rk] = ['query', 'key'].map((name) => p.linear(`${b}.attention.self.${name}_proj`, relative));
      const bias = (h, t, s) => {
        const row = Math.min(Math.max(rowOf(t - s) + span, 0), 2 * span - 1);
        return scale * ((c2p ? dot(q, t, rk, row, h) : 0) + (p2c ? dot(k, s, rq, row, h) : 0));
      };
      const { heads, weights } = attend(q, k, v, { heads: H, width: D, scale, see: p.sees({ causal: false }), bias });
      record('weights', weights);
      const out = p.linear(`${b}.attention.output.dense`, heads);
      const mid = p.layerNorm(`${b}.attention.output.LayerNorm`, add(x, out));
      const inside = p.linear(`${b}.intermediate.dense`, mid).map(ACTIVATIONS.gelu);
      const y = p.layerNorm(`${b}.output.LayerNorm`, add(mid, p.linear(`${b}.output.dense`, inside)));
      return act && i === 0 ? convolve(p, `${at}encoder.conv`, x, y, act) : y;
    });
    return p.values.final;
  };
  const head = { dense: 'cls.predictions.transform.dense', norm: 'cls.predictions.transform.LayerNorm' };
  const newHead = { dense: 'lm_predictions.lm_head.dense', norm: 'lm_predictions.lm_head.LayerNorm' };
  const table3 = { id2label: { 0: 'a', 1: 'b', 2: 'c' } };
  const weight = 'deberta.embeddings.word_embeddings.weight';
  return [
    {
      name: 'DeBERTa 3',
      config: CONFIG,
      shapes: {
        ...shapes('deberta.'),
        ...maskedShapes(head.dense, head.norm, { 'cls.predictions.bias': { shape: [V] } }),
      },
      padding: 'right',
      run: (p) => {
        run(p, 'deberta.');
        masked(p, { ...head, weight, bias: 'cls.predictions.bias' });
      },
    },
    {
      name: 'DeBERTa 3 with its later head',
      config: { ...CONFIG, legacy: false },
      shapes: {
        ...shapes('deberta.'),
        ...maskedShapes(newHead.dense, newHead.norm, { 'lm_predictions.lm_head.bias': { shape: [V] } }),
      },
      run: (p) => {
        run(p, 'deberta.');
        masked(p, { ...newHead, weight, bias: 'lm_predictions.lm_head.bias' });
      },
    },
    {
      name: 'DeBERTa 2, queries to positions, without buckets, with learned positions and types',
      config: {
        ...{ ...CONFIG, pos_att_type: ['c2p'], norm_rel_ebd: 'none', position_biased_input: undefined },
        ...{ position_buckets: undefined, max_relative_positions: 3, type_vocab_size: 2 },
      },
      shapes: shapes('', { rows: 6, normed: false, placed: true, types: 2 }),
      padding: 'right',
      types: true,
      run: (p) => run(p, '', { rowOf: (n) => n, span: 3, p2c: false, normed: false, placed: true, types: true }),
    },
    {
      name: 'DeBERTa 2 with a convolution',
      config: { ...CONFIG, conv_kernel_size: 3, conv_act: 'gelu' },
      shapes: {
        ...shapes('deberta.', { convolved: true }),
        ...maskedShapes(head.dense, head.norm, { 'cls.predictions.bias': { shape: [V] } }),
      },
      padding: 'right',
      run: (p) => {
        run(p, 'deberta.', { act: ACTIVATIONS.gelu });
        masked(p, { ...head, weight, bias: 'cls.predictions.bias' });
      },
    },
    {
      name: 'DeBERTa 2 with a convolution and tanh',
      config: { ...CONFIG, conv_kernel_size: 3, conv_act: undefined, conv_groups: 1 },
      shapes: shapes('', { convolved: true }),
      padding: 'right',
      run: (p) => run(p, '', { act: Math.tanh }),
    },
    {
      name: 'DeBERTa 3, keys to positions',
      config: { ...CONFIG, pos_att_type: ['p2c'] },
      shapes: shapes(''),
      run: (p) => run(p, '', { c2p: false }),
    },
    {
      name: 'DeBERTa 3 for classes',
      config: { ...CONFIG, ...table3, pooler_hidden_act: 'silu' },
      // Files from pre-training contain a position table and a head that are not used.
      shapes: {
        ...{ ...shapes('deberta.', { placed: true }), ...lin(newHead.dense, C, C), ...layerNorm(newHead.norm) },
        ...{ ...lin('pooler.dense', C, C), ...lin('classifier', 3, C) },
      },
      padding: 'right',
      run: (p) => {
        p.values.pooled = first(run(p, 'deberta.'));
        p.values.logits = p.linear('classifier', p.linear('pooler.dense', p.values.pooled).map(ACTIVATIONS.silu));
      },
    },
    {
      name: 'DeBERTa 3 for the class of each token',
      config: { ...CONFIG, ...table3, architectures: ['DebertaV2ForTokenClassification'] },
      shapes: { ...shapes('deberta.'), ...lin('classifier', 3, C) },
      padding: 'right',
      run: (p) => {
        p.values.logits = p.linear('classifier', run(p, 'deberta.'));
      },
    },
  ];
}

// ---- ALBERT

function albertCases(parts) {
  const { SIZES, BERT, lin, layerNorm, masked, first, untied } = parts;
  const { postNormShapes, postNorm, bertEmbeddings, embedBert } = parts;
  const { C, V } = SIZES;
  const E = 6;
  const CONFIG = {
    ...{ ...BERT, model_type: 'albert', embedding_size: E, hidden_act: 'gelu_new' },
    ...{ num_hidden_groups: 1, inner_group_num: 1 },
  };
  /** All blocks share the same parameters. */
  const namesOf = (at, b = `${at}encoder.albert_layer_groups.0.albert_layers.0`) => ({
    ...{ query: `${b}.attention.query`, key: `${b}.attention.key`, value: `${b}.attention.value` },
    ...{ out: `${b}.attention.dense`, attentionNorm: `${b}.attention.LayerNorm` },
    ...{ up: `${b}.ffn`, down: `${b}.ffn_output`, norm: `${b}.full_layer_layer_norm` },
  });
  const shapes = (at, { pooler = false, width = E } = {}) => ({
    ...bertEmbeddings(at, { width }),
    ...lin(`${at}encoder.embedding_hidden_mapping_in`, C, width),
    ...postNormShapes(namesOf(at)),
    ...(pooler && lin(`${at}pooler`, C, C)),
  });
  const run = (p, at, activation = ACTIVATIONS.tanhGelu) => {
    const x = p.linear(`${at}encoder.embedding_hidden_mapping_in`, embedBert(p, at));
    return postNorm(p, x, () => namesOf(at), { activation });
  };
  const pooled = (p, at) => p.linear(`${at}pooler`, first(p.values.final)).map(Math.tanh);
  const head = { dense: 'predictions.dense', norm: 'predictions.LayerNorm' };
  const headShapes = { ...lin(head.dense, E, C), ...layerNorm(head.norm, E) };
  return [
    {
      name: 'ALBERT',
      config: CONFIG,
      shapes: {
        ...{ ...shapes('albert.', { pooler: true }), ...headShapes, 'predictions.bias': { shape: [V] } },
        ...lin('sop_classifier.classifier', 2, C),
      },
      padding: 'right',
      types: true,
      run: (p) => {
        run(p, 'albert.');
        p.values.pooled = pooled(p, 'albert.');
        p.values.relationship = p.linear('sop_classifier.classifier', p.values.pooled);
        const activation = ACTIVATIONS.tanhGelu;
        const weight = 'albert.embeddings.word_embeddings.weight';
        masked(p, { ...head, activation, weight, bias: 'predictions.bias' });
      },
    },
    {
      name: 'ALBERT with a head that is not tied, and its own activation',
      config: { ...CONFIG, ...untied, hidden_act: 'relu' },
      shapes: { ...shapes('albert.'), ...headShapes, ...lin('predictions.decoder', V, E) },
      run: (p) => {
        run(p, 'albert.', ACTIVATIONS.relu);
        const [weight, bias] = ['weight', 'bias'].map((part) => `predictions.decoder.${part}`);
        masked(p, { ...head, activation: ACTIVATIONS.relu, weight, bias });
      },
    },
    {
      name: 'ALBERT for sentences, with a wide embedding',
      config: { ...CONFIG, embedding_size: C },
      shapes: shapes('', { pooler: true, width: C }),
      padding: 'right',
      run: (p) => {
        run(p, '');
        p.values.pooled = pooled(p, '');
      },
    },
    {
      name: 'ALBERT for classes',
      config: { ...CONFIG, id2label: { 0: 'a', 1: 'b', 2: 'c' } },
      shapes: { ...shapes('albert.', { pooler: true }), ...lin('classifier', 3, C) },
      padding: 'right',
      run: (p) => {
        run(p, 'albert.');
        p.values.pooled = pooled(p, 'albert.');
        p.values.logits = p.linear('classifier', p.values.pooled);
      },
    },
    {
      name: 'ALBERT for answers',
      config: { ...CONFIG, architectures: ['AlbertForQuestionAnswering'] },
      shapes: { ...shapes('albert.'), ...lin('qa_outputs', 2, C) },
      padding: 'right',
      run: (p) => {
        p.values.logits = p.linear('qa_outputs', run(p, 'albert.'));
      },
    },
  ];
}

// ---- ESM

function esmCases(parts) {
  const { SIZES, HEADS, BERT, lin, layerNorm, table, blocks, maskedShapes, masked, first } = parts;
  const { C, D, V, PLACES } = SIZES;
  const MASK = 4;
  const CONFIG = {
    ...{ ...BERT, model_type: 'esm', position_embedding_type: 'rotary', max_position_embeddings: PLACES + 2 },
    ...{ emb_layer_norm_before: false, token_dropout: true, mask_token_id: MASK, pad_token_id: 1 },
    ...{ layer_norm_eps: 1e-5, is_folding_model: false, type_vocab_size: undefined },
  };
  const shapes = (at, { normed = false } = {}) => ({
    ...table(`${at}embeddings.word_embeddings`, V),
    ...table(`${at}embeddings.position_embeddings`, PLACES + 2),
    ...(normed && layerNorm(`${at}embeddings.layer_norm`)),
    ...blocks((i) => {
      const b = `${at}encoder.layer.${i}`;
      const norms = { attentionNorm: `${b}.attention.LayerNorm`, norm: `${b}.LayerNorm` };
      return parts.postNormShapes({ ...parts.bertNames(b), ...norms });
    }),
    ...layerNorm(`${at}encoder.emb_layer_norm_after`),
  });
  const run = (p, at, { rotary = true, normed = false, dropout = true } = {}) => {
    let x = p.rows(`${at}embeddings.word_embeddings.weight`, p.ids);
    if (dropout) {
      const real = p.keep.reduce((sum, keep) => sum + keep, 0);
      const share = p.ids.filter((id) => id === MASK).length / real;
      x = x.map((value, i) => (p.ids[Math.floor(i / C)] === MASK ? 0 : (value * (1 - 0.12)) / (1 - share)));
    }
    const places = parts.robertaPositions(p.ids);
    if (!rotary) x = add(x, p.rows(`${at}embeddings.position_embeddings.weight`, places));
    p.values.embed = normed ? p.layerNorm(`${at}embeddings.layer_norm`, x) : x;
    const turned = (x) => (rotary ? rotate(x, { ...HEADS, turns: angles(10000, D) }) : x);
    const last = p.stack(p.values.embed, (x, i, record) => {
      const b = `${at}encoder.layer.${i}`;
      const read = p.layerNorm(`${b}.attention.LayerNorm`, x);
      const [q, k, v] = ['query', 'key', 'value'].map((name) => p.linear(`${b}.attention.self.${name}`, read));
      const { heads, weights } = attend(turned(q), turned(k), v, { ...HEADS, see: p.sees({ causal: false }) });
      record('weights', weights);
      const mid = add(x, p.linear(`${b}.attention.output.dense`, heads));
      const inside = p.linear(`${b}.intermediate.dense`, p.layerNorm(`${b}.LayerNorm`, mid)).map(ACTIVATIONS.gelu);
      return add(mid, p.linear(`${b}.output.dense`, inside));
    });
    p.values.final = p.layerNorm(`${at}encoder.emb_layer_norm_after`, last);
    return p.values.final;
  };
  const head = { dense: 'lm_head.dense', norm: 'lm_head.layer_norm' };
  return [
    {
      name: 'ESM-2',
      config: CONFIG,
      shapes: {
        ...{ ...shapes('esm.'), ...lin('esm.contact_head.regression', 1, 8) },
        ...maskedShapes(head.dense, head.norm, { 'lm_head.bias': { shape: [V] } }),
      },
      padding: 'right',
      pad: 1,
      end: MASK,
      run: (p) => {
        run(p, 'esm.');
        masked(p, { ...head, weight: 'esm.embeddings.word_embeddings.weight', bias: 'lm_head.bias' });
      },
    },
    {
      name: 'ESM-2 without padding, and without its table of positions',
      config: CONFIG,
      shapes: Object.fromEntries(Object.entries(shapes('')).filter(([name]) => !/position/.test(name))),
      end: MASK,
      run: (p) => run(p, ''),
    },
    {
      name: 'ESM-1b for classes',
      config: {
        ...{ ...CONFIG, position_embedding_type: 'absolute', emb_layer_norm_before: true, token_dropout: false },
        id2label: { 0: 'a', 1: 'b', 2: 'c' },
      },
      shapes: {
        ...{ ...shapes('esm.', { normed: true }), ...lin('classifier.dense', C, C) },
        ...lin('classifier.out_proj', 3, C),
      },
      padding: 'right',
      pad: 1,
      run: (p) => {
        const x = run(p, 'esm.', { rotary: false, normed: true, dropout: false });
        p.values.pooled = p.linear('classifier.dense', first(x)).map(Math.tanh);
        p.values.logits = p.linear('classifier.out_proj', p.values.pooled);
      },
    },
  ];
}

// ---- Nomic BERT

function nomicCases(parts) {
  const { SIZES, HEADS, lin, layerNorm, table, blocks } = parts;
  const { C, D, L, H, MLP, V, PLACES } = SIZES;
  const CONFIG = {
    ...{ model_type: 'nomic_bert', vocab_size: V, n_embd: C, n_layer: L, n_head: H, n_inner: MLP, n_positions: PLACES },
    ...{ activation_function: 'swiglu', layer_norm_epsilon: 1e-12, type_vocab_size: 2, prenorm: false, causal: false },
    ...{ qkv_proj_bias: false, mlp_fc1_bias: false, mlp_fc2_bias: false, use_rms_norm: false, parallel_block: false },
    ...{ rotary_emb_base: 1000, rotary_emb_fraction: 1, rotary_emb_interleaved: false, rotary_emb_scale_base: null },
    ...{ rotary_scaling_factor: null, max_trained_positions: PLACES, pad_vocab_size_multiple: 1 },
  };
  const shapes = (at, bias, vocab = V) => ({
    ...table(`${at}embeddings.word_embeddings`, vocab),
    ...table(`${at}embeddings.token_type_embeddings`, 2),
    ...layerNorm(`${at}emb_ln`),
    ...blocks((i) => {
      const b = `${at}encoder.layers.${i}`;
      return {
        ...{ ...lin(`${b}.attn.Wqkv`, 3 * C, C, bias), ...lin(`${b}.attn.out_proj`, C, C, bias) },
        ...{ ...layerNorm(`${b}.norm1`), ...layerNorm(`${b}.norm2`) },
        ...{ ...lin(`${b}.mlp.fc11`, MLP, C, bias), ...lin(`${b}.mlp.fc12`, MLP, C, bias) },
        ...lin(`${b}.mlp.fc2`, C, MLP, bias),
      };
    }),
  });
  const run = (p, at, { turns = angles(1000, D), activation = ACTIVATIONS.silu } = {}) => {
    const eps = 1e-12;
    const words = p.rows(`${at}embeddings.word_embeddings.weight`, p.ids);
    const types = p.rows(`${at}embeddings.token_type_embeddings.weight`, p.typeIds ?? p.ids.map(() => 0));
    p.values.embed = p.layerNorm(`${at}emb_ln`, add(words, types), eps);
    p.values.final = p.stack(p.values.embed, (x, i, record) => {
      const b = `${at}encoder.layers.${i}`;
      const qkv = p.linear(`${b}.attn.Wqkv`, x);
      const [q, k, v] = [0, 1, 2].map((n) => columns(qkv, 3 * C, n * C, (n + 1) * C));
      const turned = (x) => rotate(x, { ...HEADS, turns });
      const { heads, weights } = attend(turned(q), turned(k), v, { ...HEADS, see: p.sees({ causal: false }) });
      record('weights', weights);
      const mid = p.layerNorm(`${b}.norm1`, add(x, p.linear(`${b}.attn.out_proj`, heads)), eps);
      const inside = multiply(p.linear(`${b}.mlp.fc11`, mid), p.linear(`${b}.mlp.fc12`, mid).map(activation));
      return p.layerNorm(`${b}.norm2`, add(mid, p.linear(`${b}.mlp.fc2`, inside)), eps);
    });
  };
  return [
    {
      name: 'Nomic BERT',
      config: CONFIG,
      shapes: shapes('', false),
      padding: 'right',
      types: true,
      run: (p) => run(p, ''),
    },
    {
      name: 'Nomic BERT with biases, gelu and half of a head rotated',
      config: {
        ...{ ...CONFIG, activation_function: 'geglu', rotary_emb_fraction: 0.5, pad_vocab_size_multiple: 8 },
        ...{ qkv_proj_bias: undefined, mlp_fc1_bias: undefined, mlp_fc2_bias: undefined, rotary_emb_base: undefined },
      },
      shapes: shapes('bert.', true, 24),
      run: (p) => run(p, 'bert.', { turns: angles(10000, D / 2), activation: ACTIVATIONS.gelu }),
    },
  ];
}
