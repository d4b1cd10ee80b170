// Cases of families.js for M2M-100 and NLLB-200: tiny random checkpoints, and the architecture in float64.

import { ACTIVATIONS, add, attend, linear, times } from './float64.js';

/**
 * Returns the cases. `parts` are the shapes and steps that families.js has for all families.
 * @returns {import('./families.js').Case[]}
 */
export function m2mCases({ SIZES, HEADS, lin, layerNorm, table, blocks }) {
  const { C, L, H, MLP, V, PLACES } = SIZES;
  const PAD = 1;
  const attention = (name) =>
    Object.assign({}, ...['q_proj', 'k_proj', 'v_proj', 'out_proj'].map((end) => lin(`${name}.${end}`, C, C)));
  const stack = (name) => ({
    ...blocks((i) => {
      const b = `model.${name}.layers.${i}`;
      return {
        ...{ ...attention(`${b}.self_attn`), ...layerNorm(`${b}.self_attn_layer_norm`) },
        ...(name === 'decoder' && { ...attention(`${b}.encoder_attn`), ...layerNorm(`${b}.encoder_attn_layer_norm`) }),
        ...{ ...lin(`${b}.fc1`, MLP, C), ...lin(`${b}.fc2`, C, MLP), ...layerNorm(`${b}.final_layer_norm`) },
      };
    }),
    ...layerNorm(`model.${name}.layer_norm`),
  });
  const shapes = { ...table('model.shared', V), ...stack('encoder'), ...stack('decoder') };
  const CONFIG = {
    ...{ model_type: 'm2m_100', vocab_size: V, d_model: C, max_position_embeddings: PLACES, pad_token_id: PAD },
    ...{ encoder_layers: L, encoder_attention_heads: H, encoder_ffn_dim: MLP, decoder_start_token_id: 2 },
    ...{ decoder_layers: L, decoder_attention_heads: H, decoder_ffn_dim: MLP, scale_embedding: true },
  };

  /**
   * Returns the sinusoidal encodings of the positions of tokens, which are zeros for padding. The first token that is
   * not padding has the position PAD + 1. The frequencies are a geometric series.
   */
  const waves = (ids) => {
    let seen = PAD;
    return ids.flatMap((id) => {
      if (id === PAD) return new Array(C).fill(0);
      seen++;
      const half = C / 2;
      const angles = Array.from({ length: half }, (_, i) => seen * Math.exp((-i * Math.log(10000)) / (half - 1)));
      return [...angles.map(Math.sin), ...angles.map(Math.cos)];
    });
  };
  const embed = (p, ids, scale) =>
    add(times(p.rows('model.shared.weight', ids), scale), Float64Array.from(waves([...ids])));
  const attended = (p, name, x, from, see) => {
    const [q, k, v] = [x, from, from].map((rows, i) => p.linear(`${name}.${'qkv'[i]}_proj`, rows));
    const { heads, weights } = attend(q, k, v, { ...HEADS, see });
    return { weights, out: p.linear(`${name}.out_proj`, heads) };
  };
  const feed = (p, b, x) => {
    const inside = p.linear(`${b}.fc1`, p.layerNorm(`${b}.final_layer_norm`, x)).map(ACTIVATIONS.relu);
    return add(x, p.linear(`${b}.fc2`, inside));
  };
  const run = (p, scale = Math.sqrt(C)) => {
    const real = p.sees({ causal: false });
    const encoded = p.stack(
      embed(p, p.ids, scale),
      (x, i, record) => {
        const b = `model.encoder.layers.${i}`;
        const read = p.layerNorm(`${b}.self_attn_layer_norm`, x);
        const { out, weights } = attended(p, `${b}.self_attn`, read, read, real);
        record('weights', weights);
        return feed(p, b, add(x, out));
      },
      { prefix: 'encoder.' },
    );
    const memory = (p.values['encoder.final'] = p.layerNorm('model.encoder.layer_norm', encoded));
    const x = p.stack(embed(p, p.config.decoded, scale), (x, i, record) => {
      const b = `model.decoder.layers.${i}`;
      const read = p.layerNorm(`${b}.self_attn_layer_norm`, x);
      const own = attended(p, `${b}.self_attn`, read, read, (t, s) => s <= t);
      record('weights', own.weights);
      const mid = add(x, own.out);
      const { out, weights } = attended(
        p,
        `${b}.encoder_attn`,
        p.layerNorm(`${b}.encoder_attn_layer_norm`, mid),
        memory,
        real,
      );
      record('cross.weights', weights);
      return feed(p, b, add(mid, out));
    });
    p.values.final = p.layerNorm('model.decoder.layer_norm', x);
    p.values.logits = linear(p.values.final, p.get('model.shared.weight'));
  };
  // Padding is only the last token, because an ONNX file with a cache does not receive the ids of past tokens.
  const both = { shapes, pad: PAD, across: true, causal: true, decoded: [3, 8, 6, 4, PAD] };
  return [
    { name: 'M2M-100', config: CONFIG, ...both, padding: 'right', run: (p) => run(p) },
    {
      name: 'NLLB-200 with padding that is not masked',
      config: { ...CONFIG, scale_embedding: false },
      ...both,
      unmasked: 'left',
      run: (p) => run(p, 1),
    },
  ];
}
