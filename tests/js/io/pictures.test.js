// Tests pictures for models: resizing with the same bytes as Pillow, and the steps of preprocessor_config.json.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { readPictureFields } from '../../../src/js/io/picture/pictureFields.ts';
import { preparePicture } from '../../../src/js/io/picture/preparePicture.ts';
import { FILTERS, resizePicture } from '../../../src/js/io/picture/resizePicture.ts';
import { GOLDEN, modelFiles } from '../../support/golden.js';
import { hl } from '../../support/headlight.js';

const cases = JSON.parse(readFileSync(join(GOLDEN, 'pictures.json'), 'utf8'));
const bytes = (text) => new Uint8Array(Buffer.from(text, 'base64'));

for (const { size, data, to, resample, expected } of cases)
  test(`${size.join(' × ')} to ${to.join(' × ')} with filter ${resample}: the bytes of Pillow`, () => {
    const picture = { data: bytes(data), width: size[0], height: size[1] };
    assert.deepEqual(resizePicture(picture, to[0], to[1], FILTERS[resample]).data, bytes(expected));
  });

/** Returns a picture in which each pixel contains its row and column. */
const numbered = (width, height) => ({
  data: Uint8Array.from({ length: width * height * 3 }, (_, i) => {
    const pixel = Math.floor(i / 3);
    return [pixel % width, Math.floor(pixel / width), 7][i % 3];
  }),
  width,
  height,
});
const PLAIN = { do_resize: false, do_rescale: false, do_normalize: false };

test('the middle is cut out, and beyond the edges is black', () => {
  const { data, shape } = preparePicture(numbered(6, 5), { ...PLAIN, do_center_crop: true, crop_size: 3 });
  assert.deepEqual(shape, [1, 3, 3, 3]);
  assert.deepEqual([...data.subarray(0, 9)], [1, 2, 3, 1, 2, 3, 1, 2, 3]);
  assert.deepEqual([...data.subarray(9, 18)], [1, 1, 1, 2, 2, 2, 3, 3, 3]);
  const crop = { height: 3, width: 4 };
  const wide = preparePicture(numbered(2, 5), { ...PLAIN, do_center_crop: true, crop_size: crop });
  assert.deepEqual(wide.shape, [1, 3, 3, 4]);
  assert.deepEqual([...wide.data.subarray(0, 12)], [0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0]);
});

test('the shorter edge has the given size, and the longer one keeps the proportions', () => {
  const options = { ...PLAIN, do_resize: true, size: { shortest_edge: 4 }, resample: 3 };
  assert.deepEqual(preparePicture(numbered(10, 7), options).shape, [1, 3, 4, 5]);
  assert.deepEqual(preparePicture(numbered(7, 10), options).shape, [1, 3, 5, 4]);
  assert.deepEqual(preparePicture(numbered(7, 10), { ...options, size: 3 }).shape, [1, 3, 3, 3]);
});

const CLIP_COLOURS = {
  image_mean: [0.48145466, 0.4578275, 0.40821073],
  image_std: [0.26862954, 0.26130258, 0.27577711],
};
const HALF = { image_mean: [0.5, 0.5, 0.5], image_std: [0.5, 0.5, 0.5] };
const square = (side) => ({ height: side, width: side });
/** The fields of the Python library for a file with `size` only. */
const EDGE = { size: { shortest_edge: 9 }, resample: 3, do_center_crop: true, crop_size: square(224), ...CLIP_COLOURS };
const SQUARES = { resample: 3, size: square(9), do_center_crop: false, ...HALF };
const CLASSES = {
  CLIPFeatureExtractor: EDGE,
  CLIPImageProcessor: EDGE,
  CLIPImageProcessorFast: EDGE,
  BitImageProcessor: EDGE,
  ViTFeatureExtractor: { ...SQUARES, resample: 2 },
  ViTImageProcessorFast: { ...SQUARES, resample: 2 },
  DeiTFeatureExtractor: { ...SQUARES, do_center_crop: true, crop_size: square(224) },
  SiglipImageProcessor: SQUARES,
};
const STEPS = { do_resize: true, do_rescale: true, rescale_factor: 1 / 255, do_normalize: true };

test('a field that is left out has the default of the named class', () => {
  for (const [name, expected] of Object.entries(CLASSES)) {
    const field = name.endsWith('FeatureExtractor') ? 'feature_extractor_type' : 'image_processor_type';
    const given = { [field]: name, size: 9 };
    assert.deepEqual(readPictureFields(given), { ...STEPS, ...expected }, name);
    const nothing = Object.fromEntries(Object.keys({ ...STEPS, ...expected }).map((field) => [field, null]));
    assert.deepEqual(readPictureFields({ ...nothing, ...given }), { ...STEPS, ...expected }, name);
    const { size } = readPictureFields({ [field]: name });
    const side = name.startsWith('DeiT') ? 256 : 224;
    assert.deepEqual(size, expected === EDGE ? { shortest_edge: side } : square(side), name);
  }
});

test('a file without a class has the defaults of the model', () => {
  const classes = {
    ...{ clip: 'CLIP', clip_vision_model: 'CLIP', siglip: 'Siglip', siglip_vision_model: 'Siglip' },
    ...{ vit: 'ViT', deit: 'DeiT', dinov2: 'Bit' },
  };
  for (const [model, name] of Object.entries(classes))
    assert.deepEqual(
      readPictureFields({}, model),
      readPictureFields({ image_processor_type: `${name}ImageProcessor` }),
    );
});

test('a picture for CLIP is not squeezed, but one for ViT is', () => {
  const prepare = (type, picture) =>
    preparePicture(picture, {
      image_processor_type: type,
      size: 6,
      crop_size: 6,
      do_rescale: false,
      do_normalize: false,
    });
  const { data } = prepare('CLIPImageProcessor', numbered(12, 6));
  assert.deepEqual([...data.subarray(0, 6)], [3, 4, 5, 6, 7, 8]);
  assert.deepEqual(prepare('ViTImageProcessor', numbered(12, 6)).shape, [1, 3, 6, 6]);
  const list = { ...PLAIN, do_resize: true, image_processor_type: 'CLIPImageProcessor', do_center_crop: false };
  assert.deepEqual(preparePicture(numbered(12, 6), { ...list, size: [5, 7] }).shape, [1, 3, 5, 7]);
  assert.deepEqual(preparePicture(numbered(12, 6), { ...list, size: 3, default_to_square: true }).shape, [1, 3, 3, 3]);
});

test('bytes are scaled and normalized by channel', () => {
  const config = { do_resize: false, image_mean: [0.5, 0.25, 0], image_std: [0.5, 0.5, 2] };
  const { data } = preparePicture({ data: Uint8Array.of(255, 51, 102), width: 1, height: 1 }, config);
  assert.deepEqual([...data], [1, (0.2 - 0.25) / 0.5, 0.2].map(Math.fround));
  const same = { do_resize: false, image_mean: 0.5, image_std: 0.25 };
  const grey = preparePicture({ data: Uint8Array.of(255, 51, 102), width: 1, height: 1 }, same);
  assert.deepEqual([...grey.data], [2, (0.2 - 0.5) / 0.25, (0.4 - 0.5) / 0.25].map(Math.fround));
});

test('steps that are not supported are refused by their field', () => {
  const refused = (config, parameter) =>
    assert.throws(() => preparePicture(numbered(2, 2), config), { parameter, code: 'FORMAT' });
  refused({ size: 2, resample: 5 }, 'resample');
  refused({ size: 'large' }, 'size');
  refused({ size: { shortest_edge: 2, longest_edge: 3 } }, 'size');
  refused({ size: { height: 2 } }, 'size');
  refused({ size: 2, do_pad: true }, 'do_pad');
  refused({ size: 2, data_format: 'channels_last' }, 'data_format');
  refused({ size: 2, rescale_factor: 'x' }, 'rescale_factor');
  refused({ size: 2, image_processor_type: 'ConvNextImageProcessor' }, 'image_processor_type');
  refused({ size: 2, feature_extractor_type: 'DPTFeatureExtractor' }, 'feature_extractor_type');
  refused({ do_resize: false, do_center_crop: true }, 'crop_size');
  refused({ do_resize: false, image_mean: [1] }, 'image_mean');
  refused({ do_resize: false, image_mean: [0, 0, 0], image_std: [1, 0, 1] }, 'image_std');
  for (const side of [1e9, 0, -1, 2.5, '8']) {
    refused({ size: { width: side, height: 4 } }, 'size');
    refused({ size: { shortest_edge: side } }, 'size');
  }
  const thin = { ...PLAIN, do_resize: true, size: { shortest_edge: 8 } };
  assert.throws(() => preparePicture(numbered(5000, 1), thin), { parameter: 'picture', code: 'ARGUMENT' });
});

test('a model prepares a picture by its preprocessor_config.json', async () => {
  const json = (value) => new TextEncoder().encode(JSON.stringify(value));
  const files = modelFiles('vit-a');
  const { image_size: side } = JSON.parse(new TextDecoder().decode(files['config.json']));
  const [height, width] = [side].flat().length === 1 ? [side, side].flat() : side;
  const preprocessor = {
    size: { height, width },
    resample: 2,
    image_mean: [0.5, 0.5, 0.5],
    image_std: [0.5, 0.5, 0.5],
  };
  const model = await hl.openModel({ ...files, 'preprocessor_config.json': json(preprocessor) });
  const data = Uint8ClampedArray.from({ length: 4 * 30 * 20 }, (_, i) => (i * 37) % 256);
  const { pixels } = await model.pixels({ data, width: 30, height: 20 });
  const rgb = Uint8Array.from({ length: 3 * 600 }, (_, i) => data[4 * Math.floor(i / 3) + (i % 3)]);
  assert.deepEqual(pixels, preparePicture({ data: rgb, width: 30, height: 20 }, preprocessor));
  const classes = model.classify({ pixels });
  assert.ok(classes.length > 1 && classes[0].probability >= classes[1].probability);
  await assert.rejects(model.pixels({ data, width: 30, height: 21 }), { parameter: 'picture' });
  await assert.rejects(model.pixels('whale.png'), /picture is 'whale.png', expected \{ data, width, height \}/);
  model.dispose();
  const without = await hl.openModel(files);
  await assert.rejects(without.pixels({ data, width: 30, height: 20 }), /have no preprocessor_config.json/);
  without.dispose();
  const nested = await hl.openModel({ ...files, 'processor_config.json': json({ image_processor: preprocessor }) });
  assert.deepEqual((await nested.pixels({ data, width: 30, height: 20 })).pixels, pixels);
  nested.dispose();
});
