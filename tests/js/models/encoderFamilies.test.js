// Tests the fields of config.json of encoders, and features that only some encoders have.

import assert from 'node:assert/strict';
import test from 'node:test';
import { families } from '../../support/families.js';
import { hl } from '../../support/headlight.js';

const filesOf = (name) => families.find((family) => family.name === name).files;

/** Changes fields of config.json; undefined removes a field. */
function withFields(name, fields) {
  const files = filesOf(name);
  const config = JSON.parse(new TextDecoder().decode(files['config.json']));
  return { ...files, 'config.json': new TextEncoder().encode(JSON.stringify({ ...config, ...fields })) };
}

async function optionsWith(name, fields) {
  const model = await hl.openModel(withFields(name, fields));
  const { options } = model;
  model.dispose();
  return options;
}

const DEFAULTS = [
  [
    'MPNet',
    { layer_norm_eps: 1e-12, relative_attention_num_buckets: 32, hidden_act: 'gelu', tie_word_embeddings: true },
  ],
  ['ELECTRA', { layer_norm_eps: 1e-12, hidden_act: 'gelu', type_vocab_size: 2 }],
  ['ELECTRA for choices', { summary_activation: 'gelu', summary_type: 'first' }],
  ['ESM-2', { layer_norm_eps: 1e-12, emb_layer_norm_before: null, is_folding_model: false, pad_token_id: 1 }],
  ['ESM-1b for classes', { position_embedding_type: 'absolute', token_dropout: false, pad_token_id: 1 }],
  ['Nomic BERT', { rotary_emb_interleaved: false, type_vocab_size: 2, pad_vocab_size_multiple: 1, prenorm: false }],
  ['Nomic BERT with biases, gelu and half of a head rotated', { qkv_proj_bias: true, rotary_emb_base: 10000 }],
  ['ALBERT', { layer_norm_eps: 1e-12, hidden_act: 'gelu_new', num_hidden_groups: 1, tie_word_embeddings: true }],
  ['DeBERTa 3', { layer_norm_eps: 1e-7, type_vocab_size: 0, max_relative_positions: -1, hidden_act: 'gelu' }],
  ['DeBERTa 3 for classes', { pooler_hidden_act: 'gelu' }],
  ['DeBERTa 2, queries to positions, without buckets, with learned positions and types', { position_buckets: -1 }],
  ['DINOv2', { layer_norm_eps: 1e-6, hidden_act: 'gelu', qkv_bias: true, num_channels: 3, use_swiglu_ffn: false }],
  ['ELECTRA, the generator', { tie_word_embeddings: true }],
];

test('missing fields of encoders have the defaults of Hugging Face', async () => {
  for (const [name, fields] of DEFAULTS)
    for (const [field, value] of Object.entries(fields)) {
      const [left, said] = [
        await optionsWith(name, { [field]: undefined }),
        await optionsWith(name, { [field]: value }),
      ];
      assert.deepEqual(left, said, `${name}: ${field}`);
    }
});

const REFUSED = {
  MPNet: { relative_attention_num_buckets: 64 },
  ELECTRA: { position_embedding_type: 'relative_key', add_cross_attention: true },
  'ESM-2': { is_folding_model: true, position_embedding_type: 'relative_key', add_cross_attention: true },
  'Nomic BERT': {
    ...{ prenorm: true, parallel_block: true, use_rms_norm: true, causal: true, num_experts: 8, moe_every_n_layers: 2 },
    ...{ scale_attn_by_inverse_layer_idx: true, scale_attn_weights: false, rotary_emb_scale_base: 512 },
    ...{ mlp_fc2_bias: true, rotary_emb_fraction: 0, activation_function: 'gelu' },
  },
  ALBERT: { num_hidden_groups: 2, inner_group_num: 2, position_embedding_type: 'relative_key' },
  'DeBERTa 3': {
    ...{ conv_kernel_size: 4, relative_attention: false, share_att_key: false, norm_rel_ebd: 'batch_norm' },
    ...{ pos_att_type: 'c2p|p2p', embedding_size: 8, position_embedding_type: 'relative_key' },
  },
  'DeBERTa 2 with a convolution': { conv_groups: 2, conv_act: 'softplus' },
  'DeBERTa 3 for classes': { pooler_hidden_size: 8, pooler_hidden_act: 'tanh' },
  DINOv2: { use_swiglu_ffn: true },
  'ELECTRA for choices': { summary_type: 'mean', summary_activation: null },
};

test('fields of encoders that would change the numbers are refused by name', async () => {
  for (const [name, fields] of Object.entries(REFUSED))
    for (const [parameter, value] of Object.entries(fields))
      await assert.rejects(optionsWith(name, { [parameter]: value }), { code: 'FORMAT', parameter }, name);
});

/**
 * Returns the largest change of the last hidden states when a feature is removed. leaveOut(name, data) changes its
 * parameters.
 */
async function differenceWithout(name, leaveOut) {
  const { files, input } = families.find((family) => family.name === name);
  const model = await hl.openModel(files);
  const before = model.forward(input).hidden.copy();
  const state = model.stateDict();
  for (const [parameter, { data }] of Object.entries(state)) leaveOut(parameter, data);
  model.loadStateDict(state);
  const after = model.forward(input).hidden.copy();
  model.dispose();
  return before.reduce((most, x, i) => Math.max(most, Math.abs(x - after[i])), 0);
}

test('the special parts of encoders change the result', async () => {
  const zero = (part) => (name, data) => name.endsWith(part) && data.fill(0);
  for (const part of ['buckets.table', 'embedding.position'])
    assert.ok((await differenceWithout('MPNet', zero(part))) > 1e-2, part);
  for (const part of ['relative.table', 'relative.norm.weight', 'relative.norm.bias'])
    assert.ok((await differenceWithout('DeBERTa 3', zero(part))) > 1e-2, part);
  for (const part of ['convolution.weight', 'convolution.bias', 'convolution.norm.weight'])
    assert.ok((await differenceWithout('DeBERTa 2 with a convolution', zero(part))) > 1e-2, part);
  for (const part of ['scale1', 'scale2'])
    assert.ok((await differenceWithout('DINOv2', (name, data) => name.endsWith(part) && data.fill(1))) > 1e-2, part);
});

test('the required fields of DeBERTa are refused by name where they are missing', async () => {
  for (const field of ['relative_attention', 'share_att_key', 'pos_att_type'])
    await assert.rejects(optionsWith('DeBERTa 3', { [field]: undefined }), { code: 'FORMAT', parameter: field });
  const { disentangled: one } = await optionsWith('DeBERTa 3', { pos_att_type: ['c2p', 'p2c'] });
  const { disentangled: other } = await optionsWith('DeBERTa 3', { pos_att_type: 'C2P|P2C' });
  assert.deepEqual(one, other);
});

test('a Nomic BERT with scaled positions reads texts of its training', async () => {
  const fields = { n_positions: 40, max_trained_positions: 9 };
  assert.equal((await optionsWith('Nomic BERT', fields)).context, 40);
  assert.equal((await optionsWith('Nomic BERT', { ...fields, rotary_scaling_factor: 2 })).context, 9);
});

test('the first version of DeBERTa is refused by its model_type', async () => {
  await assert.rejects(hl.openModel(withFields('DeBERTa 3', { model_type: 'deberta' })), {
    ...{ code: 'FORMAT', parameter: 'model_type', message: /model_type "?'?deberta/ },
  });
});

test('the embeddings of ESM depend on the number of masked tokens', async () => {
  const model = await hl.openModel(filesOf('ESM-2'));
  const embedOf = (...ids) => {
    const result = model.forward(ids, { capture: ['embed'] });
    const embed = result.captured.embed.copy();
    result.dispose();
    return embed;
  };
  const [none, one] = [embedOf(5, 6, 7, 8), embedOf(5, 6, 7, 4)];
  for (let c = 0; c < 16; c++) {
    assert.ok(Math.abs(one[c] - none[c] / (1 - 1 / 4)) < 1e-5);
    assert.equal(Math.abs(one[3 * 16 + c]), 0);
  }
  model.dispose();
  const decoder = { layers: 1, dModel: 8, numHeads: 2, vocab: 7, context: 6 };
  const tokenDropout = { token: 3, share: 0.1 };
  assert.throws(() => hl.transformer({ ...decoder, tokenDropout }), { parameter: 'tokenDropout' });
  for (const [parameter, wrong] of [
    ['token', { token: undefined }],
    ['share', { share: 2 }],
  ])
    assert.throws(() => hl.transformer({ ...decoder, causal: false, tokenDropout: { ...tokenDropout, ...wrong } }), {
      parameter,
    });
});

test('disentangled attention does not go together with other forms of attention', () => {
  const SMALL = { layers: 1, dModel: 8, numHeads: 2, vocab: 7, context: 6, causal: false };
  const disentangled = { distance: 4 };
  for (const other of [
    ...[{ positions: 'rotary' }, { positions: 'buckets' }, { buckets: { count: 4 } }, { causal: undefined }],
    ...[{ kvHeads: 1 }, { queryKeyNorm: true }],
  ])
    assert.throws(() => hl.transformer({ ...SMALL, ...other, disentangled }), { parameter: 'disentangled' });
  for (const [parameter, wrong] of [
    ['terms', { terms: [] }],
    ['terms', { terms: ['value'] }],
    ['distance', { distance: 0 }],
    ['distance', { distance: 3, buckets: 4 }],
    ['buckets', { buckets: 1 }],
    ['norm', { norm: 1 }],
  ])
    assert.throws(() => hl.transformer({ ...SMALL, disentangled: { ...disentangled, ...wrong } }), { parameter });
});
