// Tests wav2vec 2.0 and HuBERT: gradients of the convolutions, padding, defaults, unsupported values, and features that
// change results.

import assert from 'node:assert/strict';
import test from 'node:test';
import { uniformSource } from '../../../src/js/ops/random.ts';
import { families } from '../../support/families.js';
import { assertSlopes } from '../../support/gradientSlopes.js';
import { flavours, hl } from '../../support/headlight.js';

const [BASE, LARGE] = ['wav2vec 2.0', 'wav2vec 2.0, large, with a mask'];
const HUBERT = 'HuBERT without a norm before its projection';
const familyOf = (name) => families.find((family) => family.name === name);

/** Returns the files of a family with changed fields of config.json. undefined removes a field. */
function withFields(name, fields) {
  const { files } = familyOf(name);
  const config = JSON.parse(new TextDecoder().decode(files['config.json']));
  return { ...files, 'config.json': new TextEncoder().encode(JSON.stringify({ ...config, ...fields })) };
}
const SAMPLES = familyOf(BASE).input.samples.data.slice(0, 90);
async function resultsWith(name, fields, input = { samples: SAMPLES }) {
  const model = await hl.openModel(withFields(name, fields));
  const result = model.forward(input);
  const logits = result.logits.copy();
  result.dispose();
  model.dispose();
  return logits;
}

for (const name of [BASE, LARGE, HUBERT, 'HuBERT for classes of sound'])
  test(`${name}: the gradient of every parameter equals central differences`, async () => {
    for (const instance of flavours) {
      const { files, input } = familyOf(name);
      const model = await instance.openModel(files);
      const frames = Array.from({ length: 2 }, (_, b) => Array.from({ length: 13 }, (_, t) => (t + b) % 7));
      const given = model.options.head === 'pooled' ? [1, 2] : frames;
      model.learn(input, given);
      // The gradient of a key bias is not compared, because softmax is invariant to a term that all keys share.
      assertSlopes(model, input, given, /\.bk$/);
      model.dispose();
    }
  });

test('a padded sound with its mask has the results of the sound alone', async () => {
  const { files } = familyOf(LARGE);
  const model = await hl.openModel(files);
  const next = uniformSource(4);
  const [long, short] = [90, 61].map((length) => Float32Array.from({ length }, () => next() - 0.5));
  const data = new Float32Array(180);
  data.set(long);
  data.set(short, 90);
  const keep = Array.from({ length: 180 }, (_, i) => Number(i < 90 + 61));
  const both = model.forward({
    input_values: { data, shape: [2, 90] },
    attention_mask: { data: keep, shape: [2, 90] },
  });
  const alone = model.forward({ samples: short });
  const [frames, letters] = alone.logits.shape;
  const [, all] = both.logits.shape;
  assert.deepEqual([frames, all, letters], [8, 13, 7]);
  const padded = both.logits.data.subarray(all * letters, (all + frames) * letters);
  alone.logits.data.forEach((x, i) => assert.ok(Math.abs(x - padded[i]) < 1e-5, `${i}: ${x}, ${padded[i]}`));
  model.dispose();
});

test('long sounds are computed in parts, with the results of the parts', async () => {
  // The windows of 128 frames with 64 channels have so many numbers that they are copied in several parts.
  const sound = { widths: [4], kernels: [2], strides: [1], positions: { kernel: 128, groups: 1 } };
  await hl.openModel(familyOf(BASE).files);
  const options = { layers: 0, numHeads: 1, context: 4096, causal: false, positions: 'none', finalNorm: false };
  const model = hl.transformer({ ...options, dModel: 64, input: 'sound', sound, head: 'none' });
  const samples = Float32Array.from({ length: 701 }, (_, i) => Math.sin(i * i));
  const { hidden } = model.forward({ samples });
  const weight = (name) => model.parameters[`embedding.${name}`].toArray();
  // Computes the last frame by the definition.
  const kernel = weight('layers.0.conv.weight');
  let rows = Array.from({ length: 700 }, (_, t) => kernel.map(([[a, b]]) => a * samples[t] + b * samples[t + 1]));
  const gelu = (x) => {
    const steps = 2000;
    let sum = 0;
    for (let i = 0; i < steps; i++) sum += Math.exp(-((((i + 0.5) / steps) * x) ** 2) / 2) * (x / steps);
    return x * (0.5 + sum / Math.sqrt(2 * Math.PI));
  };
  rows = rows.map((row, _, all) =>
    row.map((x, c) => {
      const mean = all.reduce((sum, other) => sum + other[c], 0) / all.length;
      const square = all.reduce((sum, other) => sum + (other[c] - mean) ** 2, 0) / all.length;
      return gelu((x - mean) / Math.sqrt(square + 1e-5));
    }),
  );
  const projection = weight('project.weight');
  rows = rows.map((row) => {
    const mean = row.reduce((a, b) => a + b, 0) / row.length;
    const scale = 1 / Math.sqrt(row.reduce((a, b) => a + (b - mean) ** 2, 0) / row.length + 1e-5);
    return projection.map((weights) => weights.reduce((sum, w, c) => sum + w * (row[c] - mean) * scale, 0));
  });
  const direction = weight('position.direction');
  const lengths = Array.from({ length: 128 }, (_, k) =>
    Math.sqrt(direction.flat().reduce((sum, taps) => sum + taps[k] ** 2, 0)),
  );
  const last = direction.map((channels, o) => {
    let sum = 0;
    for (let k = 0; k < 128; k++)
      for (let c = 0; c < 64; c++) sum += ((rows[699 + k - 64]?.[c] ?? 0) * channels[c][k]) / lengths[k];
    return rows[699][o] + gelu(sum);
  });
  const got = hidden.data.subarray(699 * 64);
  last.forEach((x, o) => assert.ok(Math.abs(x - got[o]) < 1e-4, `${o}: ${got[o]}, expected ${x}`));
  model.dispose();
});

test('missing fields have the defaults of Hugging Face', async () => {
  const defaults = {
    hidden_act: 'gelu',
    feat_extract_activation: 'gelu',
    feat_extract_norm: 'group',
    layer_norm_eps: 1e-5,
    conv_bias: false,
    do_stable_layer_norm: false,
    add_adapter: false,
  };
  const usual = await resultsWith(BASE, {});
  for (const [field, value] of Object.entries(defaults)) {
    assert.deepEqual(await resultsWith(BASE, { [field]: undefined }), usual, field);
    assert.deepEqual(await resultsWith(BASE, { [field]: value }), usual, field);
  }
  const { wav2vec2 } = await import('../../../src/js/models/families/wav2vec2.ts');
  const { sound, ...options } = wav2vec2.options({ model_type: 'wav2vec2' }, () => false);
  assert.deepEqual([options.layers, options.dModel, options.numHeads, options.mlp], [12, 768, 12, 3072]);
  assert.deepEqual(sound, {
    ...{ widths: new Array(7).fill(512), kernels: [10, 3, 3, 3, 3, 2, 2], strides: [5, 2, 2, 2, 2, 2, 2] },
    ...{ norm: 'first', bias: false, projectNorm: true, activation: 'gelu', positions: { kernel: 128, groups: 16 } },
  });
});

test('each special feature changes the logits', async () => {
  for (const [name, fields] of [
    [BASE, { feat_extract_activation: 'relu' }],
    [BASE, { hidden_act: 'relu' }],
    [BASE, { do_stable_layer_norm: true }],
    [BASE, { layer_norm_eps: 0.1 }],
    [LARGE, { do_stable_layer_norm: false }],
    [LARGE, { conv_stride: [5, 1, 2] }],
  ])
    assert.notDeepEqual(await resultsWith(name, fields), await resultsWith(name, {}), JSON.stringify(fields));
  const { input } = familyOf(LARGE);
  assert.notDeepEqual(await resultsWith(LARGE, {}, { samples: input.samples }), await resultsWith(LARGE, {}, input));
});

test('fields that would change the numbers, and other heads, are refused by name', async () => {
  for (const fields of [
    { add_adapter: true },
    { adapter_attn_dim: 16 },
    { conv_pos_batch_norm: true },
    { feat_extract_norm: 'batch' },
    { feat_extract_activation: 'mish' },
    { hidden_act: 'mish' },
    { num_feat_extract_layers: 4 },
  ])
    await assert.rejects(hl.openModel(withFields(BASE, fields)), { code: 'FORMAT', parameter: Object.keys(fields)[0] });
  const { wav2vec2 } = await import('../../../src/js/models/families/wav2vec2.ts');
  const config = { architectures: ['Wav2Vec2ForXVector'] };
  assert.throws(() => wav2vec2.options(config, (name) => name === '/objective.weight'), { field: 'architectures' });
  const weighted = withFields('HuBERT for classes of sound', { use_weighted_layer_sum: true });
  await assert.rejects(hl.openModel(weighted), { code: 'FORMAT', parameter: 'use_weighted_layer_sum' });
  for (const fields of [{ conv_kernel: [5, 3] }, { num_conv_pos_embedding_groups: 3 }, { conv_dim: [] }])
    await assert.rejects(hl.openModel(withFields(BASE, fields)), { code: 'FORMAT' }, JSON.stringify(fields));
});

test('samples that are too few, of another shape or with another mask are refused', async () => {
  const model = await hl.openModel(familyOf(LARGE).files);
  const refused = (input, parameter, code = 'SHAPE') =>
    assert.throws(() => model.forward(input), { code, parameter }, JSON.stringify(input));
  refused({ samples: SAMPLES.slice(0, 10) }, 'samples');
  refused({ samples: { data: SAMPLES, shape: [1, 1, 90] } }, 'samples');
  refused({ input_values: SAMPLES.slice(0, 5) }, 'input_values');
  refused({ samples: SAMPLES, keep: [1, 1, 1] }, 'keep');
  refused({ samples: SAMPLES, keep: new Array(90).fill(2) }, 'keep[0]', 'ARGUMENT');
  refused(SAMPLES, 'samples', 'ARGUMENT');
  refused('hello', 'input', 'ARGUMENT');
  assert.equal(model.forward({ samples: SAMPLES.slice(0, 17) }).logits.shape[0], 1);
  assert.throws(() => model.forward({ samples: SAMPLES.slice(0, 16) }), /at least 17 samples/);
  model.dispose();
});

test('classify names the labels of a sound', async () => {
  const { files, expected } = familyOf('HuBERT for classes of sound');
  const model = await hl.openModel(files);
  const { samples, keep } = familyOf('HuBERT for classes of sound').input;
  const first = ({ data, shape }) => ({ data: data.slice(0, shape[1]), shape: [1, shape[1]] });
  const labels = model.classify({ samples: first(samples), keep: first(keep) });
  const logits = [...expected.logits.slice(0, 3)];
  const sum = logits.reduce((all, x) => all + Math.exp(x), 0);
  assert.equal(labels[0].label, 'abc'[logits.indexOf(Math.max(...logits))]);
  assert.ok(Math.abs(labels[0].probability - Math.exp(Math.max(...logits)) / sum) < 1e-5);
  model.dispose();
});

test('values are captured and edited, and save keeps the model', async () => {
  const { files, input } = familyOf(LARGE);
  const model = await hl.openModel(files);
  const logits = (instance, options) => instance.forward(input, options).logits.copy();
  const usual = logits(model);
  const embed = model.forward(input, { capture: ['embed'] }).captured.embed;
  assert.deepEqual(logits(model, { edit: [{ at: 'embed', set: embed }] }), usual);
  assert.notDeepEqual(logits(model, { edit: [{ at: 'blocks.0.heads', head: 1, set: 'zero' }] }), usual);
  const again = hl.loadTransformer(model.save());
  assert.deepEqual(logits(again), usual);
  again.dispose();
  model.dispose();
});
