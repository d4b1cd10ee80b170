// Cases of families.js for BART and Marian: tiny random checkpoints, and the architectures in float64.

import { ACTIVATIONS, add, attend, linear, times } from './float64.js';

/**
 * Returns the cases. `parts` are the shapes and steps that families.js has for all families.
 * @returns {import('./families.js').Case[]}
 */
export function bartCases({ SIZES, HEADS, lin, layerNorm, table, blocks }) {
  const { C, L, H, MLP, V, PLACES } = SIZES;
  const attention = (name) =>
    Object.assign({}, ...['q_proj', 'k_proj', 'v_proj', 'out_proj'].map((end) => lin(`${name}.${end}`, C, C)));
  const stack = (name, learned) => ({
    ...(learned && {
      ...table(`model.${name}.embed_positions`, PLACES + 2),
      ...layerNorm(`model.${name}.layernorm_embedding`),
    }),
    ...blocks((i) => {
      const b = `model.${name}.layers.${i}`;
      return {
        ...{ ...attention(`${b}.self_attn`), ...layerNorm(`${b}.self_attn_layer_norm`) },
        ...(name === 'decoder' && { ...attention(`${b}.encoder_attn`), ...layerNorm(`${b}.encoder_attn_layer_norm`) }),
        ...{ ...lin(`${b}.fc1`, MLP, C), ...lin(`${b}.fc2`, C, MLP), ...layerNorm(`${b}.final_layer_norm`) },
      };
    }),
  });
  const stacks = (learned) => ({
    ...table('model.shared', V),
    ...stack('encoder', learned),
    ...stack('decoder', learned),
  });
  const shapes = (learned) => ({ ...stacks(learned), final_logits_bias: { shape: [1, V] } });
  const CONFIG = {
    ...{ vocab_size: V, d_model: C, max_position_embeddings: PLACES, pad_token_id: 1, decoder_start_token_id: 2 },
    ...{ encoder_layers: L, encoder_attention_heads: H, encoder_ffn_dim: MLP },
    ...{ decoder_layers: L, decoder_attention_heads: H, decoder_ffn_dim: MLP },
  };

  /** Returns the encoding of a position: all sines, then all cosines. */
  const wave = (place) =>
    Array.from({ length: C }, (_, i) => {
      const angle = place / 10000 ** ((2 * (i % (C / 2))) / C);
      return i < C / 2 ? Math.sin(angle) : Math.cos(angle);
    });
  const embed = (p, name, ids, { learned, scale }) => {
    const words = times(p.rows('model.shared.weight', ids), scale);
    if (!learned) return add(words, Float64Array.from(ids.flatMap((_, place) => wave(place))));
    const places = p.rows(
      `model.${name}.embed_positions.weight`,
      ids.map((_, place) => place + 2),
    );
    return p.layerNorm(`model.${name}.layernorm_embedding`, add(words, places));
  };
  const attended = (p, at, name, x, from, see) => {
    const [q, k, v] = [x, from, from].map((rows, i) => p.linear(`${name}.${'qkv'[i]}_proj`, rows));
    const { heads, weights } = attend(q, k, v, { ...HEADS, see, edit: p.editAt(at) });
    return { weights, out: p.linear(`${name}.out_proj`, heads) };
  };
  const feed = (p, b, x, activation) => {
    const inside = p.linear(`${b}.fc1`, x).map(activation);
    return p.layerNorm(`${b}.final_layer_norm`, add(x, p.linear(`${b}.fc2`, inside)));
  };
  const hidden = (p, how) => {
    const { activation } = how;
    const real = p.sees({ causal: false });
    const memory = p.stack(
      embed(p, 'encoder', p.ids, how),
      (x, i, record) => {
        const b = `model.encoder.layers.${i}`;
        const { out, weights } = attended(p, `encoder.blocks.${i}.`, `${b}.self_attn`, x, x, real);
        record('weights', weights);
        return feed(p, b, p.layerNorm(`${b}.self_attn_layer_norm`, add(x, out)), activation);
      },
      { prefix: 'encoder.' },
    );
    const x = embed(p, 'decoder', p.config.decoded, how);
    return p.stack(x, (x, i, record) => {
      const b = `model.decoder.layers.${i}`;
      const own = attended(p, `blocks.${i}.`, `${b}.self_attn`, x, x, (t, s) => s <= t);
      record('weights', own.weights);
      const mid = p.layerNorm(`${b}.self_attn_layer_norm`, add(x, own.out));
      const { out, weights } = attended(p, `blocks.${i}.cross.`, `${b}.encoder_attn`, mid, memory, real);
      record('cross.weights', weights);
      return feed(p, b, p.layerNorm(`${b}.encoder_attn_layer_norm`, add(mid, out)), activation);
    });
  };
  const run = (p, how) => {
    const bias = { data: p.get('final_logits_bias').data };
    p.values.logits = linear(hidden(p, how), p.get('model.shared.weight'), bias);
  };
  const both = { padding: 'right', pad: 1, across: true, causal: true };
  const bart = { learned: true, scale: 1, activation: ACTIVATIONS.gelu };
  return [
    {
      name: 'Marian',
      config: { ...CONFIG, model_type: 'marian', activation_function: 'swish', scale_embedding: true },
      shapes: shapes(false),
      ...both,
      run: (p) => run(p, { learned: false, scale: Math.sqrt(C), activation: ACTIVATIONS.silu }),
    },
    {
      name: 'BART',
      config: { ...CONFIG, model_type: 'bart', normalize_embedding: true },
      shapes: shapes(true),
      ...both,
      run: (p) => run(p, bart),
    },
    {
      name: 'BART with padding before the text',
      config: { ...CONFIG, model_type: 'bart', normalize_embedding: true },
      shapes: shapes(true),
      ...both,
      padding: 'left',
      late: true,
      run: (p) => run(p, bart),
    },
    {
      name: 'BART for classes',
      config: { ...CONFIG, model_type: 'bart', id2label: { 0: 'contradiction', 1: 'neutral', 2: 'entailment' } },
      shapes: {
        ...stacks(true),
        ...lin('classification_head.dense', C, C),
        ...lin('classification_head.out_proj', 3, C),
      },
      ...both,
      causal: false,
      late: true,
      run: (p) => {
        const last = hidden(p, bart).subarray(-C);
        p.values.pooled = p.linear('classification_head.dense', last).map(Math.tanh);
        p.values.logits = p.linear('classification_head.out_proj', p.values.pooled);
      },
    },
  ];
}
