// Tests pictures of another size than those in training: the interpolated positions against PyTorch.

import assert from 'node:assert/strict';
import test from 'node:test';
import { forEachTap } from '../../../src/js/models/positions/resizedPositions.ts';
import { families } from '../../support/families.js';
import { hl } from '../../support/headlight.js';

const TABLE = [0, 1, -2, 3, 0.5, 1, 2, -1, 4];
/** Results of interpolate(TABLE, size, mode='bicubic', align_corners=False) in PyTorch 1.13. */
const PYTORCH = [
  [2, 2, [0.8488846, -0.8820114, 1.505867, 2.3902664]],
  [
    5,
    4,
    [
      ...[-0.3838944, 0.9330743, -0.0073555, -2.5274494, 1.2591128, 1.2460241, 0.1701729, -1.1931126],
      ...[3.1794436, 1.3459473, 0.4055176, 1.0358889, 2.8234951, 0.2627745, 0.4734307, 3.3036511],
      ...[2.1227777, -0.6424258, 0.4785665, 4.6778951],
    ],
  ],
  [2, 4, [0.6987219, 1.1183672, 0.1118135, -1.5955515, 2.5480642, -0.0439863, 0.4703112, 3.7203207]],
];

test('positions are interpolated as by PyTorch', () => {
  for (const [down, across, expected] of PYTORCH) {
    const got = new Float64Array(down * across);
    forEachTap(3, down, across, (to, from, weight) => void (got[to] += weight * TABLE[from]));
    got.forEach((x, i) => {
      assert.ok(Math.abs(x - expected[i]) < 2e-6, `${down} × ${across}, ${i}: ${x}`);
    });
  }
});

const { files, input } = families.find(({ name }) => name === 'DINOv2');

test('a picture of another size equals a model whose table has the interpolated positions', async () => {
  const model = await hl.openModel(files);
  const { patch, context, dModel } = model.options;
  const side = Math.sqrt(context - 1);
  const [down, across] = [side + 1, side + 2];
  const image = [down * patch.size, across * patch.size];
  const other = hl.transformer({
    ...model.options,
    patch: { ...patch, image, anySize: false },
    context: down * across + 1,
  });
  const state = Object.fromEntries(Object.entries(model.stateDict()));
  const table = state['embedding.position'].data;
  const data = new Float32Array((down * across + 1) * dModel);
  data.set(table.subarray(0, dModel));
  forEachTap(side, down, across, (to, from, weight) => {
    for (let c = 0; c < dModel; c++) data[(to + 1) * dModel + c] += weight * table[(from + 1) * dModel + c];
  });
  other.loadStateDict({ ...state, 'embedding.position': { data, shape: [down * across + 1, dModel] } });
  const pixels = {
    data: Float32Array.from({ length: 2 * 3 * image[0] * image[1] }, (_, i) => Math.sin(i)),
    shape: [2, 3, ...image],
  };
  const [a, b] = [model, other].map((each) => each.forward({ pixels }).hidden);
  assert.deepEqual(a.shape, [2, down * across + 1, dModel]);
  const most = Math.max(...b.data.map(Math.abs));
  assert.ok(a.data.every((x, i) => Math.abs(x - b.data[i]) < 1e-5 * most));
  for (const each of [model, other]) each.dispose();
});

test('a picture that is smaller than a patch is refused, and so is another size in a ViT', async () => {
  const model = await hl.openModel(files);
  const { size } = model.options.patch;
  const zeros = (...shape) => ({ data: new Float32Array(shape.reduce((a, b) => a * b)), shape });
  assert.throws(() => model.forward({ pixels: zeros(1, 3, size - 1, size) }), { code: 'SHAPE', parameter: 'pixels' });
  const [batch, channels, height, width] = input.pixels.shape;
  assert.throws(() => model.forward({ pixels: zeros(batch, channels + 1, height, width) }), { code: 'SHAPE' });
  // The rest of a side that is no multiple of the patch is not read.
  assert.deepEqual(model.forward({ pixels: zeros(1, 3, 2 * size + 1, size) }).hidden.shape[1], 3);
  model.dispose();
  const vit = await hl.openModel(families.find(({ name }) => name === 'DeiT for classes').files);
  const { image } = vit.options.patch;
  assert.throws(() => vit.forward({ pixels: zeros(1, 3, 2 * image[0], image[1]) }), { code: 'SHAPE' });
  vit.dispose();
});
