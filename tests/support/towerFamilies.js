// Cases of families.js for the picture tower of CLIP, and for the towers of SigLIP for texts and pictures. families.js
// passes the functions that the cases of several families share.

import { ACTIVATIONS, add, attend, columns, concat, linear } from './float64.js';

export function towerCases(parts) {
  const { SIZES, HEADS, lin, layerNorm, table, blocks, meanOf } = parts;
  const { C, H, L, MLP, V, PLACES, SIDE, PATCH } = SIZES;
  const PROJECTED = 5;
  const grid = SIDE / PATCH;
  const shared = { hidden_size: C, intermediate_size: MLP, num_hidden_layers: L, num_attention_heads: H };
  const picture = { image_size: SIDE, patch_size: PATCH };

  const blockShapes = (at) =>
    blocks((i) => {
      const b = `${at}encoder.layers.${i}`;
      return {
        ...Object.assign({}, ...['q', 'k', 'v', 'out'].map((name) => lin(`${b}.self_attn.${name}_proj`, C, C))),
        ...{ ...layerNorm(`${b}.layer_norm1`), ...layerNorm(`${b}.layer_norm2`) },
        ...{ ...lin(`${b}.mlp.fc1`, MLP, C), ...lin(`${b}.mlp.fc2`, C, MLP) },
      };
    });
  const patchShapes = (rows, bias) => ({
    'vision_model.embeddings.patch_embedding.weight': { shape: [C, 3, PATCH, PATCH], spread: 0.2 },
    ...(bias && { 'vision_model.embeddings.patch_embedding.bias': { shape: [C] } }),
    ...table('vision_model.embeddings.position_embedding', rows),
  });

  const runBlocks = (p, at, x, { see, activation, eps }) =>
    p.stack(x, (x, i, record) => {
      const b = `${at}encoder.layers.${i}`;
      const read = p.layerNorm(`${b}.layer_norm1`, x, eps);
      const [q, k, v] = ['q', 'k', 'v'].map((name) => p.linear(`${b}.self_attn.${name}_proj`, read));
      const { heads, weights } = attend(q, k, v, { ...HEADS, see });
      record('weights', weights);
      x = add(x, p.linear(`${b}.self_attn.out_proj`, heads));
      const inside = p.linear(`${b}.mlp.fc1`, p.layerNorm(`${b}.layer_norm2`, x, eps)).map(activation);
      return add(x, p.linear(`${b}.mlp.fc2`, inside));
    });

  /**
   * Applies the patch convolution, whose stride equals the kernel size, at each position of a picture (3,SIDE,SIDE).
   */
  const patchesOf = (p) => {
    const { data } = p.get('vision_model.embeddings.patch_embedding.weight');
    const bias = p.tensors['vision_model.embeddings.patch_embedding.bias']?.data;
    return Float64Array.from({ length: grid ** 2 * C }, (_, i) => {
      const [n, out] = [Math.floor(i / C), i % C];
      let sum = bias?.[out] ?? 0;
      for (let c = 0; c < 3; c++)
        for (let y = 0; y < PATCH; y++)
          for (let x = 0; x < PATCH; x++) {
            const pixel = (c * SIDE + Math.floor(n / grid) * PATCH + y) * SIDE + (n % grid) * PATCH + x;
            sum += data[((out * 3 + c) * PATCH + y) * PATCH + x] * p.numbers[pixel];
          }
      return sum;
    });
  };

  const clipVision = (p) => {
    const how = { see: () => true, activation: ACTIVATIONS.quickGelu, eps: 1e-5 };
    const rows = concat(p.get('vision_model.embeddings.class_embedding').data, patchesOf(p));
    const x = add(rows, p.get('vision_model.embeddings.position_embedding.weight').data);
    p.values.embed = p.layerNorm('vision_model.pre_layrnorm', x, how.eps);
    const last = runBlocks(p, 'vision_model.', p.values.embed, how);
    p.values.final = p.layerNorm('vision_model.post_layernorm', last, how.eps);
    const pooled = p.values.final.subarray(0, C);
    p.values.pooled = p.tensors['visual_projection.weight'] ? p.linear('visual_projection', pooled) : pooled;
  };
  const clipVisionShapes = {
    'vision_model.embeddings.class_embedding': { shape: [C] },
    ...patchShapes(grid ** 2 + 1, false),
    ...layerNorm('vision_model.pre_layrnorm'),
    ...blockShapes('vision_model.'),
    ...layerNorm('vision_model.post_layernorm'),
  };

  const SIGLIP = { activation: ACTIVATIONS.tanhGelu, eps: 1e-6 };
  const siglipText = (p) => {
    const x = add(
      p.rows('text_model.embeddings.token_embedding.weight', p.ids),
      p.get('text_model.embeddings.position_embedding.weight').data.subarray(0, p.ids.length * C),
    );
    p.values.embed = Float64Array.from(x);
    const last = runBlocks(p, 'text_model.', p.values.embed, { ...SIGLIP, see: (_, s) => p.keep[s] === 1 });
    p.values.final = p.layerNorm('text_model.final_layer_norm', last, SIGLIP.eps);
    p.values.pooled = p.linear('text_model.head', p.values.final.subarray(-C));
  };
  const siglipTextShapes = (out) => ({
    ...table('text_model.embeddings.token_embedding', V),
    ...table('text_model.embeddings.position_embedding', PLACES),
    ...blockShapes('text_model.'),
    ...layerNorm('text_model.final_layer_norm'),
    ...lin('text_model.head', out, C),
  });

  const siglipVision = (p) => {
    const at = 'vision_model.';
    p.values.embed = add(patchesOf(p), p.get(`${at}embeddings.position_embedding.weight`).data);
    const last = runBlocks(p, at, p.values.embed, { ...SIGLIP, see: () => true });
    const x = (p.values.final = p.layerNorm(`${at}post_layernorm`, last, SIGLIP.eps));
    if (!p.tensors[`${at}head.probe`]) return;
    const of = { data: p.get(`${at}head.attention.in_proj_weight`).data, shape: [3 * C, C] };
    const bias = p.get(`${at}head.attention.in_proj_bias`);
    const query = columns(linear(p.get(`${at}head.probe`).data, of, bias), 3 * C, 0, C);
    const [key, value] = [1, 2].map((n) => columns(linear(x, of, bias), 3 * C, n * C, (n + 1) * C));
    const { heads, weights } = attend(query, key, value, { ...HEADS, see: () => true });
    p.values['pool.weights'] = weights;
    const attended = p.linear(`${at}head.attention.out_proj`, heads);
    const normed = p.layerNorm(`${at}head.layernorm`, attended, SIGLIP.eps);
    const inside = p.linear(`${at}head.mlp.fc1`, normed).map(SIGLIP.activation);
    p.values.pooled = add(attended, p.linear(`${at}head.mlp.fc2`, inside));
  };
  const siglipVisionShapes = {
    ...patchShapes(grid ** 2, true),
    ...blockShapes('vision_model.'),
    ...layerNorm('vision_model.post_layernorm'),
  };
  const siglipHeadShapes = {
    'vision_model.head.probe': { shape: [1, 1, C], spread: 1 },
    'vision_model.head.attention.in_proj_weight': { shape: [3 * C, C] },
    'vision_model.head.attention.in_proj_bias': { shape: [3 * C] },
    ...lin('vision_model.head.attention.out_proj', C, C),
    ...layerNorm('vision_model.head.layernorm'),
    ...{ ...lin('vision_model.head.mlp.fc1', MLP, C), ...lin('vision_model.head.mlp.fc2', C, MLP) },
  };

  return [
    {
      name: 'CLIP vision',
      config: { model_type: 'clip_vision_model', ...shared, ...picture },
      shapes: clipVisionShapes,
      input: 'pixels',
      run: clipVision,
    },
    {
      name: 'CLIP vision with a projection',
      config: { model_type: 'clip_vision_model', ...shared, ...picture, projection_dim: PROJECTED },
      shapes: { ...clipVisionShapes, ...lin('visual_projection', PROJECTED, C, false) },
      input: 'pixels',
      run: clipVision,
    },
    {
      name: 'SigLIP text',
      config: { model_type: 'siglip_text_model', ...shared, vocab_size: V, max_position_embeddings: PLACES },
      shapes: siglipTextShapes(C),
      run: siglipText,
    },
    {
      name: 'SigLIP text, with padding that is hidden, and a narrow head',
      config: {
        ...{ model_type: 'siglip_text_model', ...shared, vocab_size: V, max_position_embeddings: PLACES },
        ...{ projection_size: PROJECTED, hidden_act: 'gelu_pytorch_tanh', layer_norm_eps: 1e-6 },
      },
      shapes: siglipTextShapes(PROJECTED),
      padding: 'right',
      run: siglipText,
    },
    {
      name: 'SigLIP vision',
      config: { model_type: 'siglip_vision_model', ...shared, ...picture },
      shapes: { ...siglipVisionShapes, ...siglipHeadShapes },
      input: 'pixels',
      run: siglipVision,
    },
    {
      name: 'SigLIP for classes of a picture',
      config: {
        ...{
          model_type: 'siglip',
          architectures: ['SiglipForImageClassification'],
          id2label: { 0: 'a', 1: 'b', 2: 'c' },
        },
        vision_config: { ...shared, ...picture },
      },
      shapes: { ...siglipVisionShapes, ...siglipHeadShapes, ...lin('classifier', 3, C) },
      input: 'pixels',
      run: (p) => {
        siglipVision(p);
        delete p.values['pool.weights'];
        p.values.pooled = meanOf(p.values.final, new Array(grid ** 2).fill(1));
        p.values.logits = p.linear('classifier', p.values.pooled);
      },
    },
    {
      name: 'SigLIP vision without its head',
      config: { model_type: 'siglip_vision_model', ...shared, ...picture, vision_use_head: false },
      shapes: siglipVisionShapes,
      input: 'pixels',
      run: siglipVision,
    },
  ];
}
