// Tests the fields of config.json of later decoders. Each field must change the result, or give an error that contains
// the name of the field.

import assert from 'node:assert/strict';
import test from 'node:test';
import { readSafetensors, writeSafetensors } from 'headlight-attention/formats';
import { families } from '../../support/families.js';
import { difference } from '../../support/golden.js';
import { hl } from '../../support/headlight.js';

const familyOf = (name) => families.find((family) => family.name === name);
/** Returns the files of a family with changed fields in config.json, or in the text_config of config.json. */
function withFields({ files }, fields) {
  const config = JSON.parse(new TextDecoder().decode(files['config.json']));
  const changed = config.text_config
    ? { ...config, text_config: { ...config.text_config, ...fields } }
    : { ...config, ...fields };
  return { ...files, 'config.json': new TextEncoder().encode(JSON.stringify(changed)) };
}
async function logitsWith(name, fields) {
  const family = familyOf(name);
  const model = await hl.openModel(withFields(family, fields));
  const logits = hl.scope(() => model.forward(family.input).logits.copy());
  model.dispose();
  return logits;
}

const BY_TYPE = 'Gemma 3 below text_config, with rope_parameters and types of layers';
const ROPES = (full_attention, sliding_attention) => ({ rope_parameters: { full_attention, sliding_attention } });
const PLAIN = { rope_type: 'default', rope_theta: 500 };
/** Changes of fields, each of which changes the logits. @type {Record<string, Record<string, unknown>[]>} */
const CHANGES = {
  'Gemma 3': [
    { rope_scaling: null },
    { rope_local_base_freq: 500 },
    { rope_theta: 100 },
    { query_pre_attn_scalar: 6 },
    { sliding_window: 4 },
    { sliding_window_pattern: 1 },
    { attn_logit_softcapping: 1 },
    { final_logit_softcapping: 1 },
  ],
  [BY_TYPE]: [
    { layer_types: ['sliding_attention', 'full_attention'] },
    ROPES(PLAIN, PLAIN),
    ROPES({ rope_type: 'linear', rope_theta: 500, factor: 4 }, { rope_type: 'default', rope_theta: 70 }),
  ],
  'OLMo 2': [{ rope_theta: 100 }, { rope_scaling: { rope_type: 'linear', factor: 4 } }],
  'OLMo 3': [
    { rope_scaling: null },
    { sliding_window: 4 },
    { layer_types: ['full_attention', 'full_attention'] },
    { layer_types: ['full_attention', 'sliding_attention'] },
  ],
  'GPT-Neo': [
    { window_size: 4 },
    { attention_types: [[['local', 'global'], 1]] },
    { attention_types: [[['global'], 2]] },
    { activation_function: 'relu' },
  ],
  'GPT-J': [{ rotary_dim: 8 }, { activation_function: 'relu' }],
  StarCoder2: [{ sliding_window: 4 }, { rope_theta: 10000 }, { hidden_act: 'relu' }],
  StableLM: [{ partial_rotary_factor: 0.25 }, { rope_theta: 10000 }],
  Granite: [
    { embedding_multiplier: 1 },
    { residual_multiplier: 1 },
    { attention_multiplier: 0.5 },
    { logits_scaling: 1 },
  ],
  'SmolLM 3': [{ no_rope_layer_interval: 4 }, { no_rope_layers: [0, 1] }, { rope_theta: 10000 }],
  'SmolLM 3 with a list of layers, windows and a head that is not tied': [
    { sliding_window: 4 },
    { use_sliding_window: false },
    { layer_types: ['full_attention', 'sliding_attention'] },
  ],
  Falcon: [{ rope_theta: 10000 }, { activation: 'relu' }],
  Cohere: [{ rope_theta: 10000 }, { logit_scale: 1 }, { hidden_act: 'relu' }],
  'Cohere 2': [
    { model_type: 'cohere' },
    { sliding_window: 4 },
    { sliding_window_pattern: 1 },
    { layer_types: ['full_attention', 'sliding_attention'] },
  ],
};
for (const [name, changes] of Object.entries(CHANGES))
  test(`${name}: each of its fields changes the logits`, async () => {
    const logits = await logitsWith(name, {});
    for (const fields of changes) {
      const off = difference(await logitsWith(name, fields), logits);
      assert.ok(off > 1e-3, `${JSON.stringify(fields)} changes the logits by ${off}`);
    }
  });

/**
 * Values of fields that are not supported, and the parameter of the error.
 * @type {[string, Record<string, unknown>, string][]}
 */
const REFUSED = [
  [BY_TYPE, ROPES(PLAIN, { ...PLAIN, rope_type: 'linear', factor: 2 }), 'rope_type'],
  ['GPT-Neo', { attention_types: [[['global', 'far'], 1]] }, 'attention_types'],
  ['GPT-Neo', { attention_types: [[['global', 'local'], 12]] }, 'attention_types'],
  ['GPT-J', { rotary_dim: null }, 'rotary_dim'],
  ['SmolLM 3', { no_rope_layers: [1] }, 'no_rope_layers'],
  ['SmolLM 3', { no_rope_layers: [1, 2] }, 'no_rope_layers'],
  ['SmolLM 3', { layer_types: ['full_attention', 'far_attention'] }, 'layer_types'],
  ['Falcon', { alibi: true }, 'alibi'],
  ['Cohere', { use_qk_norm: true }, 'use_qk_norm'],
];
test('fields that are not supported are refused by their names', async () => {
  for (const [name, fields, parameter] of REFUSED)
    await assert.rejects(
      hl.openModel(withFields(familyOf(name), fields)),
      { code: 'FORMAT', parameter },
      `${name}: ${JSON.stringify(fields)}`,
    );
});

/**
 * Default values of fields. A file without the field gives the same model as a file with the value.
 * @type {Record<string, Record<string, unknown>>}
 */
const DEFAULTS = {
  'Gemma 3': {
    rms_norm_eps: 1e-6,
    max_position_embeddings: 2 ** 17,
    query_pre_attn_scalar: 256,
    sliding_window: 4096,
    sliding_window_pattern: 6,
    rope_theta: 1e6,
    rope_local_base_freq: 10000,
    tie_word_embeddings: true,
  },
  'OLMo 2': { rms_norm_eps: 1e-5, max_position_embeddings: 2048, rope_theta: 10000, tie_word_embeddings: false },
  'OLMo 3': { rms_norm_eps: 1e-5, sliding_window: 4096 },
  'GPT-Neo': {
    window_size: 256,
    activation_function: 'gelu_new',
    layer_norm_epsilon: 1e-5,
    tie_word_embeddings: true,
  },
  'GPT-J': { layer_norm_epsilon: 1e-5, n_positions: 2048, activation_function: 'gelu_new', tie_word_embeddings: false },
  StarCoder2: {
    norm_epsilon: 1e-5,
    num_key_value_heads: 2,
    max_position_embeddings: 4096,
    rope_theta: 10000,
    sliding_window: null,
    hidden_act: 'gelu_pytorch_tanh',
    use_bias: true,
    tie_word_embeddings: true,
  },
  StableLM: {
    layer_norm_eps: 1e-5,
    max_position_embeddings: 4096,
    rope_theta: 10000,
    partial_rotary_factor: 0.25,
    use_qkv_bias: false,
    use_parallel_residual: false,
    tie_word_embeddings: false,
  },
  Granite: {
    rms_norm_eps: 1e-6,
    max_position_embeddings: 2048,
    embedding_multiplier: 1,
    residual_multiplier: 1,
    attention_multiplier: 1,
    logits_scaling: 1,
  },
  'SmolLM 3': {
    rms_norm_eps: 1e-6,
    max_position_embeddings: 2 ** 15,
    rope_theta: 2e6,
    no_rope_layer_interval: 4,
    use_sliding_window: false,
    tie_word_embeddings: true,
  },
  Falcon: {
    layer_norm_epsilon: 1e-5,
    max_position_embeddings: 2048,
    rope_theta: 10000,
    multi_query: true,
    parallel_attn: true,
    new_decoder_architecture: false,
    activation: 'gelu',
    bias: false,
    alibi: false,
    tie_word_embeddings: true,
  },
  'Falcon, the new architecture': { num_ln_in_parallel_attn: 2 },
  Cohere: {
    layer_norm_eps: 1e-5,
    max_position_embeddings: 8192,
    rope_theta: 10000,
    logit_scale: 0.0625,
    tie_word_embeddings: true,
  },
  'Cohere 2': { layer_norm_eps: 1e-5, sliding_window: 4096, sliding_window_pattern: 4 },
};
test('missing fields of later decoders have the defaults of Hugging Face', async () => {
  for (const [name, fields] of Object.entries(DEFAULTS))
    for (const [field, value] of Object.entries(fields)) {
      const [left, said] = [undefined, value].map((given) => withFields(familyOf(name), { [field]: given }));
      const options = [];
      for (const files of [left, said]) {
        const model = await hl.openModel(files);
        options.push(model.options);
        model.dispose();
      }
      assert.deepEqual(options[0], options[1], `${name}: ${field}`);
    }
});

/** Returns the most probable next token. @param {number[]} ids */
const nextOf = (model, ids) =>
  hl.scope(() => {
    const row = model.forward(ids, { last: true }).logits.copy();
    return row.indexOf(Math.max(...row));
  });

test('generated tokens are the likeliest ones of the whole text, for every later decoder', async () => {
  for (const name of Object.keys(CHANGES)) {
    const model = await hl.openModel(familyOf(name).files);
    const ids = [3, 9, 4];
    while (ids.length < 9) ids.push(nextOf(model, ids));
    const { ids: generated } = await model.generate(ids.slice(0, 3), { max: 6, stop: [] });
    assert.deepEqual(generated, ids.slice(3), name);
    model.dispose();
  }
});

test('with fewer layers, the list of rotated layers is cut to those that are opened', async () => {
  const model = await hl.openModel(familyOf('SmolLM 3').files, { layers: 1 });
  assert.deepEqual(model.options.rotary.layers, [true]);
  model.dispose();
});

test('a Gemma 3 with tensors for pictures is refused', async () => {
  const { files } = familyOf(BY_TYPE);
  for (const name of ['multi_modal_projector', 'model.multi_modal_projector'])
    await assert.rejects(
      hl.openModel({
        ...files,
        'model.safetensors': writeSafetensors({
          ...readSafetensors(files['model.safetensors']).tensors,
          [`${name}.mm_input_projection_weight`]: { data: new Float32Array(16), shape: [4, 4] },
        }),
      }),
      { code: 'FORMAT', parameter: 'vision_config' },
    );
});
