// Tests the fields of config.json of BART and Marian: defaults, unsupported values, and features that change the
// logits; and translation.

import assert from 'node:assert/strict';
import test from 'node:test';
import { readSafetensors, writeSafetensors } from 'headlight-attention/formats';
import { families } from '../../support/families.js';
import { hl } from '../../support/headlight.js';

/** Returns the files of a family with changed fields of config.json. undefined removes a field. */
function withFields(name, fields) {
  const { files } = families.find((family) => family.name === name);
  const config = JSON.parse(new TextDecoder().decode(files['config.json']));
  return { ...files, 'config.json': new TextEncoder().encode(JSON.stringify({ ...config, ...fields })) };
}

const INPUT = { encoder: [5, 8, 2], ids: [2, 4, 9] };
async function logitsWith(name, fields) {
  const model = await hl.openModel(withFields(name, fields));
  const logits = model.forward(INPUT).logits.copy();
  model.dispose();
  return logits;
}

test('missing fields have the defaults of Hugging Face', async () => {
  const defaults = { activation_function: 'gelu', scale_embedding: false, normalize_before: false };
  for (const name of ['BART', 'Marian'])
    for (const [field, value] of Object.entries(defaults))
      assert.deepEqual(
        await logitsWith(name, { [field]: undefined }),
        await logitsWith(name, { [field]: value }),
        field,
      );
});

test('each special field changes the logits', async () => {
  for (const [name, fields] of [
    ['Marian', { scale_embedding: false }],
    ['Marian', { activation_function: 'relu' }],
    ['BART', { scale_embedding: true }],
  ])
    assert.notDeepEqual(await logitsWith(name, fields), await logitsWith(name, {}), JSON.stringify(fields));
});

test('fields that would change the numbers are refused by name', async () => {
  for (const name of ['BART', 'Marian'])
    for (const fields of [
      { normalize_before: true },
      { add_final_layer_norm: true },
      { add_bias_logits: true },
      { tie_word_embeddings: false },
      { share_encoder_decoder_embeddings: false },
      { static_position_embeddings: name === 'BART' },
      { normalize_embedding: name === 'Marian' },
      { activation_function: 'mish' },
    ])
      await assert.rejects(hl.openModel(withFields(name, fields)), ({ code, parameter }) => {
        assert.deepEqual([code, parameter], ['FORMAT', Object.keys(fields)[0]], name);
        return true;
      });
});

test('generate begins with the start token of config.json', async () => {
  const model = await hl.openModel(withFields('Marian', {}));
  const { ids } = await model.generate({ encoder: [5, 8, 2] }, { max: 3, stop: [] });
  const expected = [2];
  for (let i = 0; i < 3; i++) {
    const { logits } = model.forward({ encoder: [5, 8, 2], ids: expected }, { last: true });
    expected.push(logits.data.indexOf(Math.max(...logits.data)));
  }
  assert.deepEqual(ids, expected.slice(1));
  model.dispose();
});

test('positions of BART, Marian and Whisper are indices, wherever padding is', async () => {
  const twice = (row) => [row, row];
  const [ids, keep] = [
    [5, 8, 3, 9, 4, 7, 2],
    [0, 0, 1, 1, 0, 1, 1],
  ].map(twice);
  const positions = twice(ids[0].map((_, i) => i));
  for (const name of ['BART', 'Marian', 'Whisper']) {
    const { input } = families.find((family) => family.name === name);
    const model = await hl.openModel(withFields(name, {}));
    const logits = (more) => {
      const encoder = name === 'Whisper' ? input.encoder : { ids, ...more };
      return model.forward({ encoder, ids, ...more }).logits.copy();
    };
    assert.deepEqual(logits({ keep }), logits({ keep, positions }), name);
    assert.notDeepEqual(logits({ keep }), logits({ keep, positions: positions.map((row) => row.map(() => 0)) }));
    model.dispose();
  }
});

test('a BART for classes reads its own input, shifted, in the decoder', async () => {
  const model = await hl.openModel(withFields('BART for classes', {}));
  const ids = [5, 8, 9, 2];
  const { logits } = model.forward({ encoder: { ids }, ids: [2, 5, 8, 9] });
  const sum = logits.data.reduce((all, x) => all + Math.exp(x), 0);
  const expected = ['contradiction', 'neutral', 'entailment']
    .map((label, i) => ({ label, probability: Math.exp(logits.data[i]) / sum }))
    .sort((a, b) => b.probability - a.probability);
  model.tokenizer = { encode: (text, pair) => ({ ids: `${text}${pair ?? ''}` === 'ab' ? ids : [], typeIds: [] }) };
  for (const input of [
    ids,
    { ids },
    { input_ids: ids },
    'ab',
    { text: 'a', pair: 'b' },
    { encoder: ids, ids: [2, 5, 8, 9] },
  ]) {
    const labels = model.classify(input);
    assert.deepEqual(
      labels.map(({ label }) => label),
      expected.map(({ label }) => label),
    );
    labels.forEach(({ probability }, i) => assert.ok(Math.abs(probability - expected[i].probability) < 1e-6));
  }
  assert.throws(() => model.classify([5, 8, 9]), { code: 'ARGUMENT', parameter: 'ids' });
  await assert.rejects(model.generate([5, 2]), { code: 'STATE' });
  model.dispose();
});

test('a BART without a head, or without its bias, is opened', async () => {
  const { tensors } = readSafetensors(withFields('BART', {})['model.safetensors']);
  const { final_logits_bias: _, ...rest } = tensors;
  const files = { ...withFields('BART', {}), 'model.safetensors': writeSafetensors(rest) };
  const base = await hl.openModel(files);
  assert.equal(base.options.head, 'none');
  base.dispose();
  const config = JSON.parse(new TextDecoder().decode(files['config.json']));
  const named = { ...config, architectures: ['BartForConditionalGeneration'] };
  const model = await hl.openModel({ ...files, 'config.json': new TextEncoder().encode(JSON.stringify(named)) });
  const whole = await hl.openModel(withFields('BART', {}));
  const [a, b] = [model.forward(INPUT).logits.copy(), whole.forward(INPUT).logits.copy()];
  assert.ok(a.every((x, i) => Math.abs(x + tensors.final_logits_bias.data[i % 23] - b[i]) < 1e-5));
  for (const opened of [model, whole]) opened.dispose();
});
