import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headlight-attention';
import { readSafetensors, writeSafetensors } from 'headlight-attention/formats';
import { families } from '../../../support/families.js';
import { flavours, hl } from '../../../support/headlight.js';

const LIMIT = 1e-5;
const LENGTH = 12;
const SCALE = 2.3;
const BIAS = -4.5;
const familyOf = (name) => families.find((family) => family.name === name);
const [text, vision] = ['SigLIP text', 'SigLIP vision'].map(familyOf);
const tensorsOf = ({ files }) => readSafetensors(files['model.safetensors']).tensors;
const configOf = ({ files }) => JSON.parse(new TextDecoder().decode(files['config.json']));
const json = (value) => new TextEncoder().encode(JSON.stringify(value));
const number = (value) => ({ shape: [1], data: Float32Array.of(value) });

const WORDS = ['<pad>', '</s>', '<unk>', '▁', '▁a', '▁cat', '▁dog', '▁on', '▁mat', 's'];
const special = (id) => ({ id, content: WORDS[id], special: true, normalized: false });
const TOKENIZER = {
  added_tokens: [special(0), special(1), special(2)],
  // Removes punctuation and capitals, as in the files of SigLIP.
  normalizer: {
    type: 'Sequence',
    normalizers: [{ type: 'Lowercase' }, { type: 'Replace', pattern: { Regex: '[!-/:-@]' }, content: '' }],
  },
  pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true },
  model: { type: 'Unigram', unk_id: 2, vocab: WORDS.map((word, i) => [word, i < 3 ? 0 : -i]) },
  post_processor: {
    type: 'TemplateProcessing',
    single: [{ Sequence: { id: 'A', type_id: 0 } }, { SpecialToken: { id: '</s>', type_id: 0 } }],
    pair: [],
    special_tokens: { '</s>': { id: '</s>', ids: [1], tokens: ['</s>'] } },
  },
  decoder: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true },
};

/** Returns the checkpoint of both towers, with changes of config.json, and with other files. */
const filesWith = (change = {}, others = {}) => ({
  'config.json': json({
    model_type: 'siglip',
    text_config: { ...configOf(text), model_type: 'siglip_text_model' },
    vision_config: { ...configOf(vision), model_type: 'siglip_vision_model' },
    ...change,
  }),
  'model.safetensors': writeSafetensors({
    ...tensorsOf(text),
    ...tensorsOf(vision),
    logit_scale: number(SCALE),
    logit_bias: number(BIAS),
  }),
  ...others,
});
const files = filesWith();
const withTokenizer = filesWith({}, { 'tokenizer.json': json(TOKENIZER) });

const unit = (row) => {
  const length = Math.hypot(...row);
  return row.map((x) => x / length);
};
const rowsOf = (values, width) =>
  Array.from({ length: values.length / width }, (_, i) => unit([...values.slice(i * width, (i + 1) * width)]));

function near(got, expected, what) {
  const most = Math.max(...expected.map(Math.abs));
  assert.equal(got.length, expected.length);
  expected.forEach((x, i) => assert.ok(Math.abs(got[i] - x) <= LIMIT * most, `${what}: ${got[i]}, expected ${x}`));
}

test('SigLIP: the similarities are those of the architecture in float64', async () => {
  const [texts, pictures] = [text, vision].map(({ expected }) => rowsOf(expected.pooled, 16));
  const logits = texts.map((a) =>
    pictures.map((b) => Math.exp(SCALE) * a.reduce((sum, x, i) => sum + x * b[i], 0) + BIAS),
  );
  const threaded = await Promise.all(flavours.map(({ info: { simd } }) => load({ simd, threads: 2 })));
  for (const instance of [...flavours, ...threaded]) {
    const before = instance.info.memory.used;
    const model = await instance.openModel(files);
    const capture = ['text.blocks.*.weights', 'vision.blocks.*.weights', 'vision.pool.weights'];
    const result = model.forward({ text: text.input, ...vision.input }, { capture });
    near(result.textEmbeds.data, texts.flat(), 'textEmbeds');
    near(result.imageEmbeds.data, pictures.flat(), 'imageEmbeds');
    near(result.logitsPerText.data, logits.flat(), 'logitsPerText');
    near(
      result.logitsPerImage.data,
      [0, 1].flatMap((i) => logits.map((row) => row[i])),
      'logitsPerImage',
    );
    for (const [tower, { expected }] of Object.entries({ text, vision }))
      for (const [name, values] of Object.entries(expected).filter(([name]) => name.endsWith('weights')))
        near(result.captured[`${tower}.${name}`].data, [...values], `${tower}.${name}`);
    result.dispose();
    model.dispose();
    assert.equal(instance.info.memory.used, before);
  }
  for (const instance of threaded) instance.dispose();
});

test('texts are lower-cased, padded to the context with the padding token, and the padding is read', async () => {
  const model = await hl.openModel(withTokenizer);
  const ids = (...list) => [...list, ...new Array(LENGTH - list.length).fill(1)];
  const { ids: got, tokens } = model.encode('A Cat, on a mat!');
  assert.deepEqual(got, ids(4, 5, 7, 4, 8, 1));
  assert.deepEqual([tokens[5], tokens.at(-1)], ['</s>', '</s>']);
  assert.deepEqual(model.encode('a '.repeat(20)).ids, [...new Array(LENGTH - 1).fill(4), 1]);
  const batch = model.encode(['a cat', 'a']);
  assert.deepEqual([batch.ids.shape, [...batch.keep.data].every((keep) => keep === 1)], [[2, LENGTH], true]);
  const pooled = (input) => model.text.forward(input).pooled.copy();
  assert.deepEqual(pooled('A cat!'), pooled(ids(4, 5, 1)));
  const short = pooled([4, 5, 1]);
  assert.ok(
    pooled('a cat').some((x, i) => Math.abs(x - short[i]) > 1e-3),
    'padding changes the vector',
  );
  const hidden = { ids: [ids(4, 5, 1)], keep: [ids(1, 1, 1).map((_x, i) => Number(i < 3))] };
  assert.ok(
    pooled('a cat').some((x, i) => Math.abs(x - pooled(hidden)[i]) > 1e-3),
    'hidden padding is another vector',
  );
  model.dispose();
});

test("SigLIP 2 pads with its tokenizer's own padding token", async () => {
  for (const pad_token of ['<pad>', { content: '<pad>', special: true }]) {
    // The tokenizer of SigLIP 2 keeps capitals, but the model was trained on texts in lower case.
    const tokenizer = json({ ...TOKENIZER, normalizer: null });
    const others = { 'tokenizer.json': tokenizer, 'tokenizer_config.json': json({ pad_token }) };
    const model = await hl.openModel({ ...files, ...others });
    assert.deepEqual(model.encode('A Cat').ids, [4, 5, 1, ...new Array(LENGTH - 3).fill(0)]);
    const saved = await hl.openModel(await model.text.saveFolder());
    assert.deepEqual(saved.encode('a cat').ids, model.encode('a cat').ids);
    assert.deepEqual(saved.forward('a cat').pooled.copy(), model.text.forward('a cat').pooled.copy());
    saved.dispose();
    model.dispose();
  }
});

test('rank gives a sigmoid of each text, which does not depend on the others', async () => {
  const model = await hl.openModel(withTokenizer);
  const { data, shape } = vision.input.pixels;
  const pixels = { data: data.slice(0, data.length / 2), shape: [1, ...shape.slice(1)] };
  const texts = ['a cat', 'a dog', 'a mat'];
  const ranked = model.rank({ pixels }, texts);
  const { logitsPerImage } = model.forward({ text: texts, pixels });
  for (const { text, probability, score, index } of ranked) {
    assert.equal(text, texts[index]);
    assert.ok(Math.abs(score - logitsPerImage.data[index]) < 1e-5);
    assert.ok(Math.abs(probability - 1 / (1 + Math.exp(-score))) < 1e-12);
    assert.deepEqual(model.rank({ pixels }, [text]), [{ text, probability, score, index: 0 }]);
  }
  model.dispose();
});

test('each special feature of SigLIP changes the result', async () => {
  const model = await hl.openModel(files);
  const result = (options, tower, input) => {
    const other = hl.transformer({ ...model[tower].options, ...options });
    other.loadStateDict(
      Object.fromEntries(Object.entries(model[tower].stateDict()).filter(([name]) => other.parameters[name])),
    );
    const values = other.forward(input).pooled.copy();
    other.dispose();
    return values;
  };
  const differs = (tower, input, options) => {
    const [a, b] = [result({}, tower, input), result(options, tower, input)];
    assert.ok(
      a.some((x, i) => Math.abs(x - b[i]) > 1e-5),
      JSON.stringify(options),
    );
  };
  for (const options of [{ causal: true }, { pool: 'first' }, { normEps: 1e-2 }, { activation: 'gelu' }])
    differs('text', text.input, options);
  for (const options of [{ pool: 'first' }, { pool: 'mean' }, { activation: 'quick-gelu' }])
    differs('vision', vision.input, options);
  model.dispose();
});

test('a SigLIP without its head, its scale or its bias is refused', async () => {
  for (const name of ['logit_scale', 'logit_bias', 'vision_model.head.probe', 'text_model.head.weight']) {
    const { tensors } = readSafetensors(files['model.safetensors']);
    const left = Object.entries(tensors).filter(([other]) => !other.startsWith(name.replace('.probe', '.')));
    const broken = { ...files, 'model.safetensors': writeSafetensors(Object.fromEntries(left)) };
    await assert.rejects(hl.openModel(broken), { code: 'FORMAT', parameter: name });
  }
  const fields = { vision_config: { ...configOf(vision), vision_use_head: false } };
  await assert.rejects(hl.openModel(filesWith(fields)), { code: 'FORMAT', parameter: 'vision_use_head' });
});

test('missing fields have the defaults of SigLIP', async () => {
  const said = { hidden_act: 'gelu_pytorch_tanh', layer_norm_eps: 1e-6 };
  const [left, given] = [
    filesWith(),
    filesWith({ text_config: { ...configOf(text), ...said }, vision_config: { ...configOf(vision), ...said } }),
  ];
  const [a, b] = [await hl.openModel(left), await hl.openModel(given)];
  for (const tower of ['text', 'vision']) assert.deepEqual(a[tower].options, b[tower].options);
  await assert.rejects(hl.openModel(filesWith({ vision_config: {} })), /expected \[(768|196)/);
  await assert.rejects(hl.openModel(filesWith({ text_config: {} })), /expected \[(32000|64),768\]/);
  a.dispose();
  b.dispose();
});
