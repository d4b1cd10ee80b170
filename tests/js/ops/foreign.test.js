import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { readSafetensors, readSafetensorsHeader } from 'headlight-attention/formats';
import { hl } from '../../support/headlight.js';
import { checkpoints } from '../../support/models.js';

const random = (shape, seed) => ({ data: hl.scope(() => hl.randn(shape, { seed }).copy()), shape });
const turned = ({ data, shape: [rows, columns] }) => {
  const to = new Float32Array(data.length);
  for (let r = 0; r < rows; r++) for (let c = 0; c < columns; c++) to[c * rows + r] = data[r * columns + c];
  return { data: to, shape: [columns, rows] };
};
const stacked = (parts) => ({
  data: Float32Array.from(parts.flatMap(({ data }) => [...data])),
  shape: [parts.reduce((rows, { shape }) => rows + shape[0], 0), ...parts[0].shape.slice(1)],
});

const [C, H, D] = [8, 2, 4];
/** The parameters of a layer with biases. */
const OWN = Object.fromEntries(
  ['q', 'k', 'v', 'o'].flatMap((letter, i) => [
    [`w${letter}`, random([C, C], i + 1)],
    [`b${letter}`, random([C], i + 11)],
  ]),
);
/** Stacks the query, key and value parameters so that those of each head are adjacent. */
const byHeads = (letters) => {
  const rows = [];
  for (let h = 0; h < H; h++)
    for (const { data, shape } of letters.map((name) => OWN[name])) {
      const width = shape[1] ?? 1;
      rows.push({ data: data.slice(h * D * width, (h + 1) * D * width), shape: [D, ...shape.slice(1)] });
    }
  return stacked(rows);
};
const fused = (name, way = (x) => x) => ({
  [`${name}.weight`]: way(stacked([OWN.wq, OWN.wk, OWN.wv])),
  [`${name}.bias`]: stacked([OWN.bq, OWN.bk, OWN.bv]),
});
const apart = (names) =>
  Object.fromEntries(
    names.flatMap((name, i) => [
      [`${name}.weight`, OWN[`w${'qkvo'[i]}`]],
      [`${name}.bias`, OWN[`b${'qkvo'[i]}`]],
    ]),
  );
const last = (name, way = (x) => x) => ({ [`${name}.weight`]: way(OWN.wo), [`${name}.bias`]: OWN.bo });

/** The parameters of one layer (number 2) under the names of each model family: [prefix, tensors]. */
const NAMES = {
  bert: ['bert.encoder.layer.2.attention.', apart(['self.query', 'self.key', 'self.value', 'output.dense'])],
  vit: [
    'vit.encoder.layer.2.attention.',
    apart(['attention.query', 'attention.key', 'attention.value', 'output.dense']),
  ],
  distilbert: ['distilbert.transformer.layer.2.attention.', apart(['q_lin', 'k_lin', 'v_lin', 'out_lin'])],
  llama: ['model.layers.2.self_attn.', apart(['q_proj', 'k_proj', 'v_proj', 'o_proj'])],
  opt: ['model.decoder.layers.2.self_attn.', apart(['q_proj', 'k_proj', 'v_proj', 'out_proj'])],
  phi: ['model.layers.2.self_attn.', apart(['q_proj', 'k_proj', 'v_proj', 'dense'])],
  t5: ['encoder.block.2.layer.0.SelfAttention.', apart(['q', 'k', 'v', 'o'])],
  mpnet: ['mpnet.encoder.layer.2.attention.attn.', apart(['q', 'k', 'v', 'o'])],
  'deberta-v2': [
    'deberta.encoder.layer.2.attention.',
    apart(['self.query_proj', 'self.key_proj', 'self.value_proj', 'output.dense']),
  ],
  albert: [
    'albert.encoder.albert_layer_groups.0.albert_layers.2.attention.',
    apart(['query', 'key', 'value', 'dense']),
  ],
  nomic_bert: ['encoder.layers.2.attn.', { ...fused('Wqkv'), ...last('out_proj') }],
  gpt2: ['transformer.h.2.attn.', { ...fused('c_attn', turned), ...last('c_proj', turned) }],
  phi3: ['model.layers.2.self_attn.', { ...fused('qkv_proj'), ...last('o_proj') }],
  modernbert: ['model.layers.2.attn.', { ...fused('Wqkv'), ...last('Wo') }],
  timm: ['blocks.2.attn.', { ...fused('qkv'), ...last('proj') }],
  gpt_neox: [
    'gpt_neox.layers.2.attention.',
    {
      'query_key_value.weight': byHeads(['wq', 'wk', 'wv']),
      'query_key_value.bias': byHeads(['bq', 'bk', 'bv']),
      ...last('dense'),
    },
  ],
  torch: [
    'encoder.layers.2.self_attn.',
    {
      in_proj_weight: stacked([OWN.wq, OWN.wk, OWN.wv]),
      in_proj_bias: stacked([OWN.bq, OWN.bk, OWN.bv]),
      ...last('out_proj'),
    },
  ],
};

for (const [family, [prefix, tensors]] of Object.entries(NAMES)) {
  test(`a layer under the names of ${family} is found and loaded`, () => {
    const dict = Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [prefix + name, tensor]));
    // Adds a tensor that does not belong to a layer.
    dict[`${prefix.replace(/[^.]+\.$/, '')}norm.weight`] = random([C], 5);
    const [found, ...others] = hl.layersIn(dict, { num_attention_heads: H });
    assert.deepEqual(others, []);
    const expected = { prefix, family, layer: 2, embedDim: C, numHeads: H, kvHeads: H, headDim: D, certain: true };
    assert.deepEqual(found, { ...expected, layer: family === 't5' ? 0 : 2 });
    for (const layout of [undefined, { prefix }]) {
      const layer = hl.multiHeadAttention({ embedDim: C, numHeads: H }).loadStateDict(dict, layout);
      for (const [name, { data }] of Object.entries(OWN))
        assert.deepEqual([...layer.parameters[name].data], [...data], name);
      layer.dispose();
    }
  });
}

test("PyTorch's layout has separate weights if the keys or the values have another width", () => {
  for (const widths of [{ keyDim: C + 1 }, { valueDim: C + 1 }, { keyDim: C + 1, valueDim: C + 2 }]) {
    const layer = hl.multiHeadAttention({ embedDim: C, numHeads: H, ...widths });
    const shapes = Object.entries(layer.stateDict('torch')).map(([name, { shape }]) => [name, [...shape]]);
    const { keyDim = C, valueDim = C } = widths;
    assert.deepEqual(shapes.slice(0, 3), [
      ['q_proj_weight', [C, C]],
      ['k_proj_weight', [C, keyDim]],
      ['v_proj_weight', [C, valueDim]],
    ]);
    layer.dispose();
  }
});

test('all layers of whole checkpoints are found, and one of them computes the weights of the whole model', async () => {
  for (const { folder, name, cases } of checkpoints.filter(({ name }) => !name.startsWith('qwen'))) {
    const file = readFileSync(join(folder, 'model.safetensors'));
    const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
    const found = hl.layersIn(readSafetensorsHeader(file).tensors, config);
    assert.equal(found.length, { 't5-a': 6, 'marian-a': 6, 'gemma3-a': 4, 'olmo2-a': 3 }[name] ?? 2, name);
    assert.ok(found.every(({ certain }) => certain));
    // Without config.json, the number of heads is certain only if norms have the width of a head.
    const [alone] = hl.layersIn(readSafetensorsHeader(file).tensors);
    assert.equal(alone.certain, name === 'gemma3-a', name);
    if (!/^(bert|gpt2)/.test(name)) continue;
    const { prefix, embedDim, numHeads } = found[1];
    const { tensors } = readSafetensors(file);
    const layer = hl.multiHeadAttention({ embedDim, numHeads }).loadStateDict(tensors, { prefix });
    const model = await hl.openModel(folder);
    const { input } = cases.find((c) => c.name === 'long');
    const read = model.options.normPlace === 'after' ? 'in' : 'norm1';
    const { captured } = model.forward(input, { capture: ['blocks.1.*'.replace('*', read), 'blocks.1.weights'] });
    const { weights } = layer.forward(captured[`blocks.1.${read}`], { weights: true, causal: model.options.causal });
    const expected = captured['blocks.1.weights'].data;
    weights.data.forEach((w, i) => assert.ok(Math.abs(w - expected[i]) < 1e-5));
    layer.dispose();
    model.dispose();
  }
});

test('one of several layers must be chosen by prefix, and unknown names are refused', () => {
  const [, tensors] = NAMES.llama;
  const two = Object.fromEntries(
    [0, 1].flatMap((l) => Object.entries(tensors).map(([name, tensor]) => [`layers.${l}.self_attn.${name}`, tensor])),
  );
  const layer = hl.multiHeadAttention({ embedDim: C, numHeads: H });
  assert.throws(() => layer.loadStateDict(two), {
    code: 'ARGUMENT',
    message: /there are 2 attention layers, choose one with \{ prefix: .*layers\.0\.self_attn\./,
  });
  layer.loadStateDict(two, { prefix: 'layers.1.self_attn.' });
  assert.throws(() => layer.loadStateDict(two, { prefix: 'layers.9.' }), {
    code: 'ARGUMENT',
    parameter: 'layout.prefix',
  });
  assert.throws(() => layer.loadStateDict({ a: [1] }), { code: 'ARGUMENT', message: /missing .*unexpected a/ });
  const three = { 'h.0.attn.c_attn.weight': random([C, 2 * C], 1), 'h.0.attn.c_proj.weight': random([C, C], 2) };
  assert.throws(() => layer.loadStateDict(three), { code: 'SHAPE', parameter: 'h.0.attn.c_attn.weight' });
  assert.equal(
    hl.layersIn({
      'x.q_proj.weight': { shape: [256, 256] },
      'x.o_proj.weight': { shape: [256, 256] },
      'x.k_proj.weight': { shape: [64, 256] },
    })[0].certain,
    false,
  );
  assert.throws(() => hl.layersIn(null), { code: 'ARGUMENT', parameter: 'dict' });
  layer.dispose();
});
