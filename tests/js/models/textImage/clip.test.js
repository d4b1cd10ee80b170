import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { load } from 'headlight-attention';
import { readSafetensors, writeSafetensors } from 'headlight-attention/formats';
import { flavours, hl } from '../../../support/headlight.js';
import { off, pairs } from '../../../support/models.js';

/** Largest allowed error, relative to the largest value. */
const LIMIT = 1e-5;
const CAPTURE = ['text', 'vision'].flatMap((tower) =>
  ['blocks.*.in', 'blocks.*.out', 'blocks.*.weights', 'final'].map((name) => `${tower}.${name}`),
);
const [{ folder, cases }] = pairs;
const files = Object.fromEntries(
  ['config.json', 'model.safetensors'].map((name) => [name, new Uint8Array(readFileSync(join(folder, name)))]),
);
const config = JSON.parse(new TextDecoder().decode(files['config.json']));
const json = (value) => new TextEncoder().encode(JSON.stringify(value));
const withConfig = (change) => ({ ...files, 'config.json': json({ ...config, ...change }) });
const withTensors = (change) => {
  const { tensors } = readSafetensors(files['model.safetensors']);
  return { ...files, 'model.safetensors': writeSafetensors(change(tensors)) };
};
const without = (pattern) =>
  withTensors((all) => Object.fromEntries(Object.entries(all).filter(([name]) => !pattern.test(name))));
const [padded] = cases;

function check(model, c) {
  const result = model.forward(c.input, { capture: CAPTURE });
  const got = { ...result.captured, ...result };
  for (const [output, name] of Object.entries(c.names)) {
    const difference = off(c, output, got[name].copy());
    assert.ok(difference <= LIMIT, `${c.name}: ${output} (${name}) is off by ${difference}`);
    assert.deepEqual([...got[name].shape], c.outputs[output].shape);
  }
  result.dispose();
}

for (const c of cases)
  test(`CLIP, ${c.name}: every value of both towers, and their similarities`, async () => {
    const threaded = await Promise.all(flavours.map(({ info: { simd } }) => load({ simd, threads: 2 })));
    for (const instance of [...flavours, ...threaded]) {
      const before = instance.info.memory.used;
      const model = await instance.openModel(files);
      check(model, c);
      model.dispose();
      assert.equal(instance.info.memory.used, before);
    }
    for (const instance of threaded) instance.dispose();
  });

test('each tower is a transformer with the pooled values of the model', async () => {
  const model = await hl.openModel(files);
  const { input_ids: ids, attention_mask: keep, pixel_values: pixels } = padded.inputs;
  const text = model.text.forward({ ids, keep });
  const { data } = padded.outputs['text.pooled'];
  // The tower ends with the projection.
  const projection = readSafetensors(files['model.safetensors']).tensors['text_projection.weight'];
  const [out, inside] = projection.shape;
  for (let i = 0; i < text.pooled.size; i++) {
    const [row, o] = [Math.floor(i / out), i % out];
    let sum = 0;
    for (let k = 0; k < inside; k++) sum += data[row * inside + k] * projection.data[o * inside + k];
    assert.ok(Math.abs(text.pooled.data[i] - sum) < 1e-4);
  }
  const vision = model.vision.forward({ pixels });
  assert.deepEqual([...vision.pooled.shape], [2, 24]);
  assert.deepEqual([model.text.family, model.vision.family, model.family], ['clip_text', 'clip_vision', 'clip']);
  text.dispose();
  vision.dispose();
  model.dispose();
});

test('one of both inputs gives the vectors of its tower', async () => {
  const model = await hl.openModel(files);
  const { input_ids: ids, attention_mask: keep, pixel_values: pixels } = padded.inputs;
  for (const input of [{ text: { ids, keep } }, { ids, keep }, { input_ids: ids, attention_mask: keep }]) {
    const { textEmbeds, imageEmbeds, logitsPerText, vision } = model.forward(input);
    assert.ok(off(padded, 'text_embeds', textEmbeds.copy()) <= LIMIT);
    assert.deepEqual([imageEmbeds, logitsPerText, vision], [undefined, undefined, undefined]);
  }
  for (const input of [{ pixels }, { pixel_values: pixels }]) {
    const { textEmbeds, imageEmbeds } = model.forward(input);
    assert.ok(off(padded, 'image_embeds', imageEmbeds.copy()) <= LIMIT);
    assert.equal(textEmbeds, undefined);
  }
  assert.throws(() => model.forward({}), { code: 'ARGUMENT', parameter: 'input' });
  assert.throws(() => model.forward({ text: ids, ids }), { code: 'ARGUMENT', parameter: 'ids' });
  assert.throws(() => model.forward({ text: 'a cat' }), { code: 'STATE' });
  model.dispose();
});

test('edits change the tower that they name', async () => {
  const model = await hl.openModel(files);
  const rows = (edit) => {
    const { textEmbeds, imageEmbeds } = model.forward(padded.input, { edit });
    return [textEmbeds.copy(), imageEmbeds.copy()];
  };
  const [text, image] = rows([]);
  const [editedText, sameImage] = rows([{ at: 'text.blocks.1.heads', head: 2, set: 'zero' }]);
  assert.deepEqual(sameImage, image);
  assert.notDeepEqual(editedText, text);
  const [sameText, editedImage] = rows([{ at: 'vision.blocks.*.heads', head: 0, scale: 0.5 }]);
  assert.deepEqual(sameText, text);
  assert.notDeepEqual(editedImage, image);
  const message = /capture\[0\].*begins with 'text\.' or 'vision\.'/;
  assert.throws(() => model.forward(padded.input, { capture: ['blocks.0.out'] }), { code: 'ARGUMENT', message });
  const { input_ids: ids } = padded.inputs;
  assert.throws(() => model.forward({ ids }, { edit: [{ at: 'vision.embed', scale: 2 }] }), { parameter: 'edit[0]' });
  model.dispose();
});

test('gradients of a similarity with respect to heads equal central differences', async () => {
  const model = await hl.openModel(files);
  const { pixel_values } = padded.inputs;
  const pixels = { data: pixel_values.data.slice(0, 3 * 24 * 24), shape: [1, 3, 24, 24] };
  const direction = Float32Array.from({ length: 24 }, (_, i) => Math.sin(i));
  const { gradients } = model.vision.differentiate(
    { pixels },
    { of: { pooled: { data: direction, shape: [1, 24] } }, at: ['blocks.1.heads'] },
  );
  const at = gradients['blocks.1.heads'];
  const measure = (step) => {
    const add = { data: Float32Array.from({ length: at.size }, (_, i) => (i === 5 ? step : 0)), shape: [...at.shape] };
    const { pooled } = model.vision.forward({ pixels }, { edit: [{ at: 'blocks.1.heads', add }] });
    return pooled.data.reduce((sum, x, i) => sum + x * direction[i], 0);
  };
  const slope = (measure(0.05) - measure(-0.05)) / 0.1;
  assert.ok(Math.abs(slope - at.data[5]) < 2e-3 * Math.max(...at.data.map(Math.abs)), `${slope}, ${at.data[5]}`);
  model.dispose();
});

test('rank gives a softmax over texts, embed gives vectors of length 1', async () => {
  const model = await hl.openModel(files);
  // The tokenizer encodes each letter as one id, between a start and an end token.
  model.text.tokenizer = {
    encode: (text) => {
      const ids = [0, ...[...text].map((letter) => letter.charCodeAt(0) - 90), 95];
      return { ids, tokens: ids.map(String), offsets: ids.map(() => [0, 0]), typeIds: ids.map(() => 0) };
    },
    decode: () => '',
  };
  const { pixel_values } = padded.inputs;
  const pixels = { data: pixel_values.data.slice(0, 3 * 24 * 24), shape: [1, 3, 24, 24] };
  const texts = ['cat', 'a dog'.replace(' ', ''), 'house'];
  const before = hl.info.memory.used;
  const ranked = model.rank({ pixels }, texts);
  assert.equal(hl.info.memory.used, before);
  const { logitsPerImage } = model.forward({ text: texts, pixels });
  const logits = [...logitsPerImage.data];
  const sum = logits.reduce((all, logit) => all + Math.exp(logit), 0);
  for (const { text, probability, score, index } of ranked) {
    assert.equal(text, texts[index]);
    assert.ok(Math.abs(probability - Math.exp(logits[index]) / sum) < 1e-5);
    assert.ok(Math.abs(score - logits[index]) < 1e-4);
  }
  assert.deepEqual(
    ranked.map(({ score }) => score),
    [...ranked.map(({ score }) => score)].sort((a, b) => b - a),
  );
  const vectors = model.embed(texts);
  assert.deepEqual([...vectors.shape], [3, 24]);
  for (let i = 0; i < 3; i++) {
    const row = vectors.data.subarray(24 * i, 24 * (i + 1));
    assert.ok(Math.abs(row.reduce((all, x) => all + x * x, 0) - 1) < 1e-6);
    assert.deepEqual(model.embed(texts[i]).copy(), Float32Array.from(row));
  }
  assert.ok(off(padded, 'image_embeds', model.embed({ pixels: pixel_values }).copy()) <= LIMIT);
  assert.throws(() => model.rank({ pixels: pixel_values }, texts), { code: 'ARGUMENT', parameter: 'picture' });
  assert.throws(() => model.rank({ pixels }, []), { code: 'ARGUMENT', parameter: 'texts' });
  assert.throws(() => model.rank({ pixels }, 'cat'), { code: 'ARGUMENT', parameter: 'texts' });
  assert.throws(() => model.rank(new Float32Array(4), texts), { code: 'ARGUMENT', parameter: 'picture' });
  model.dispose();
});

test('a picture is prepared as CLIP does: shortest edge, bicubic, center', async () => {
  const preprocessor = { crop_size: 24, size: 24, feature_extractor_type: 'CLIPFeatureExtractor' };
  const model = await hl.openModel({ ...files, 'preprocessor_config.json': json(preprocessor) });
  const picture = { width: 60, height: 48, data: new Uint8ClampedArray(4 * 60 * 48).fill(128) };
  const { pixels } = await model.pixels(picture);
  assert.deepEqual(pixels.shape, [1, 3, 24, 24]);
  assert.ok(Math.abs(pixels.data[0] - (128 / 255 - 0.48145466) / 0.26862954) < 1e-6);
  // Changes only columns outside the middle square, which are cropped. If the picture were squeezed into a square, they
  // would have an effect.
  for (let i = 0; i < 60 * 48; i++) if (i % 60 < 3 || i % 60 > 56) picture.data[4 * i] = 255;
  const cut = (await model.pixels(picture)).pixels;
  assert.deepEqual(cut.data, pixels.data);
  assert.deepEqual(model.embed(picture).copy(), model.embed({ pixels: cut }).copy());
  model.dispose();
});

test('a tower is opened alone, by its option or if the file has no other', async () => {
  const whole = await hl.openModel(files);
  for (const [tower, input, name] of [
    ['text', { ids: padded.inputs.input_ids, keep: padded.inputs.attention_mask }, 'textEmbeds'],
    ['vision', { pixels: padded.inputs.pixel_values }, 'imageEmbeds'],
  ]) {
    const expected = whole[tower].forward(input).pooled.copy();
    const other = tower === 'text' ? /^vis/ : /^text/;
    for (const open of [() => hl.openModel(files, { tower }), () => hl.openModel(without(other))]) {
      const model = await open();
      assert.deepEqual(model.forward(input).pooled.copy(), expected, name);
      assert.equal(model.config.model_type, `clip_${tower}_model`);
      model.dispose();
    }
    const folder = await whole[tower].saveFolder().catch((error) => error);
    if (tower === 'vision') assert.match(folder.message, /only models that read tokens/);
    else {
      const saved = await hl.openModel(folder);
      assert.deepEqual(saved.forward(input).pooled.copy(), expected);
      assert.deepEqual(saved.config.architectures, ['CLIPTextModelWithProjection']);
      saved.dispose();
    }
  }
  whole.dispose();
  const both = await hl.openModel(files, { tower: 'both' });
  assert.ok(both.vision && both.text);
  both.dispose();
  const alone = without(/^vis/);
  await assert.rejects(hl.openModel(alone, { tower: 'both' }), { code: 'ARGUMENT', parameter: 'tower' });
  await assert.rejects(hl.openModel(files, { tower: 'audio' }), { code: 'ARGUMENT', parameter: 'tower' });
});

test('positions of texts are indices, also after padding', async () => {
  const model = await hl.openModel(files);
  const input = { ids: [[5, 6, 7, 8]], keep: [[0, 1, 1, 1]] };
  const hidden = (more) => model.text.forward({ ...input, ...more }).hidden.copy();
  assert.deepEqual(hidden({}), hidden({ positions: [[0, 1, 2, 3]] }));
  assert.notDeepEqual(hidden({}), hidden({ positions: [[0, 0, 1, 2]] }));
  model.dispose();
});

test('options of openModel hold for both towers', async () => {
  const reports = [];
  const model = await hl.openModel(files, { layers: 1, weights: 'int8', onProgress: (report) => reports.push(report) });
  assert.deepEqual([model.text.options.layers, model.vision.options.layers], [1, 1]);
  assert.deepEqual([model.source.weights, model.source.format], ['int8', 'safetensors']);
  assert.equal(model.unread.length, 32);
  assert.ok(model.unread.every((name) => name.includes('.layers.1.')));
  // All reports have the same total, which counts the bytes of both towers.
  assert.equal(new Set(reports.map(({ total }) => total)).size, 1);
  assert.equal(reports.at(-1).read, reports.at(-1).total);
  model.dispose();
  const all = await hl.openModel(files);
  assert.deepEqual(all.unread, []);
  all.dispose();
});

test('missing fields have the defaults of CLIP, and the older fields count', async () => {
  const open = async (change) => {
    const model = await hl.openModel(withConfig(change));
    const options = [model.text.options, model.vision.options];
    model.dispose();
    return options;
  };
  const [text, vision] = await open({});
  assert.deepEqual([text.activation, vision.activation], ['quick-gelu', 'quick-gelu']);
  assert.deepEqual([text.normEps, vision.normEps], [1e-5, 1e-5]);
  const older = { text_config_dict: config.text_config, vision_config_dict: config.vision_config };
  const wrong = { text_config: { hidden_size: 7 }, vision_config: { hidden_size: 7 } };
  assert.deepEqual(await open({ ...older, ...wrong }), [text, vision]);
  assert.deepEqual(await open({ text_config_dict: null, vision_config_dict: null }), [text, vision]);
  // A tower without any fields has the sizes of the base model.
  await assert.rejects(open({ vision_config: undefined }), /expected \[50,768\]/);
  await assert.rejects(open({ text_config: undefined }), /expected \[(49408|77),512\]/);
  await assert.rejects(
    open({ projection_dim: undefined, text_config: { ...config.text_config, projection_dim: undefined } }),
    {
      code: 'FORMAT',
      parameter: 'text_projection.weight',
    },
  );
});

test('a file without a part of the similarity is refused', async () => {
  for (const name of [
    'logit_scale',
    'text_projection.weight',
    'visual_projection.weight',
    'vision_model.pre_layrnorm.weight',
  ])
    await assert.rejects(hl.openModel(without(new RegExp(`^${name}$`))), { code: 'FORMAT', parameter: name });
  const wide = withTensors((all) => ({ ...all, logit_scale: { shape: [2], data: new Float32Array(2) } }));
  await assert.rejects(hl.openModel(wide), { code: 'FORMAT', parameter: 'logit_scale' });
  const extra = withTensors((all) => ({
    ...all,
    'vision_model.gate.weight': { shape: [2], data: new Float32Array(2) },
  }));
  const model = await hl.openModel(files);
  model.dispose();
  await assert.rejects(hl.openModel(extra), { code: 'FORMAT' });
});

test('a model that fails after its weights were read leaves no memory behind', async () => {
  const before = hl.info.memory.used;
  const broken = { ...files, 'tokenizer.json': json({ model: { type: 'Other' } }) };
  await assert.rejects(hl.openModel(broken), { code: 'FORMAT' });
  const abort = new AbortController();
  const options = { signal: abort.signal, onProgress: ({ read, total }) => read === total && abort.abort() };
  await assert.rejects(hl.openModel(files, options), { name: 'AbortError' });
  assert.equal(hl.info.memory.used, before);
  const model = await hl.openModel(files);
  const used = hl.info.memory.used;
  // The ids of the text are valid, the picture is not.
  assert.throws(() => model.forward({ ids: padded.inputs.input_ids, pixels: [[[[1]]]] }), { code: 'SHAPE' });
  assert.equal(hl.info.memory.used, used);
  model.dispose();
});

test('models that only resemble CLIP and SigLIP are refused by name', async () => {
  for (const model_type of [
    'clipseg',
    'chinese_clip',
    'align',
    'siglip2',
    'siglip2_vision_model',
    'altclip',
    'x_clip',
    'metaclip_2',
  ])
    await assert.rejects(hl.openModel(withConfig({ model_type })), {
      code: 'FORMAT',
      parameter: 'model_type',
      got: model_type,
    });
});
