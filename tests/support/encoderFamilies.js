// Encoders of families.js: tiny random checkpoints, and each architecture in float64.

import { ACTIVATIONS, add, attend } from './float64.js';

/** parts: the shapes and steps that families.js has for all families. @returns {import('./families.js').Case[]} */
export const encoderCases = (parts) => [...mpnetCases(parts)];

// ---- MPNet

function mpnetCases(parts) {
  const { SIZES, HEADS, BERT, lin, layerNorm, table, blocks, maskedShapes, masked, first, untied } = parts;
  const { C, H, MLP, V, PLACES } = SIZES;
  const CONFIG = {
    ...BERT,
    ...{ model_type: 'mpnet', layer_norm_eps: 1e-5, pad_token_id: 1, max_position_embeddings: PLACES + 2 },
    ...{ type_vocab_size: undefined, position_embedding_type: undefined, relative_attention_num_buckets: 32 },
  };
  const shapes = (at, pooler = false) => ({
    ...table(`${at}embeddings.word_embeddings`, V),
    ...table(`${at}embeddings.position_embeddings`, PLACES + 2),
    ...layerNorm(`${at}embeddings.LayerNorm`),
    ...blocks((i) => {
      const b = `${at}encoder.layer.${i}`;
      return {
        ...Object.assign({}, ...['q', 'k', 'v', 'o'].map((name) => lin(`${b}.attention.attn.${name}`, C, C))),
        ...layerNorm(`${b}.attention.LayerNorm`),
        ...lin(`${b}.intermediate.dense`, MLP, C),
        ...lin(`${b}.output.dense`, C, MLP),
        ...layerNorm(`${b}.output.LayerNorm`),
      };
    }),
    ...table(`${at}encoder.relative_attention_bias`, 32, H),
    ...(pooler && lin(`${at}pooler.dense`, C, C)),
  });
  /** Distances below 8 have a bucket each; the sequences of these tests are shorter. Keys after the query: 16 on. */
  const bucket = (distance) => (distance > 0 ? 16 + distance : -distance);
  const run = (p, at) => {
    const biases = p.get(`${at}encoder.relative_attention_bias.weight`).data;
    const bias = (h, t, s) => biases[bucket(s - t) * H + h];
    const x = add(
      p.rows(`${at}embeddings.word_embeddings.weight`, p.ids),
      p.rows(`${at}embeddings.position_embeddings.weight`, parts.robertaPositions(p.ids)),
    );
    p.values.embed = p.layerNorm(`${at}embeddings.LayerNorm`, x);
    p.values.final = p.stack(p.values.embed, (x, i, record) => {
      const b = `${at}encoder.layer.${i}`;
      const [q, k, v] = ['q', 'k', 'v'].map((name) => p.linear(`${b}.attention.attn.${name}`, x));
      const { heads, weights } = attend(q, k, v, { ...HEADS, see: p.sees({ causal: false }), bias });
      record('weights', weights);
      const mid = p.layerNorm(`${b}.attention.LayerNorm`, add(x, p.linear(`${b}.attention.attn.o`, heads)));
      const inside = p.linear(`${b}.intermediate.dense`, mid).map(ACTIVATIONS.gelu);
      return p.layerNorm(`${b}.output.LayerNorm`, add(mid, p.linear(`${b}.output.dense`, inside)));
    });
    return p.values.final;
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
