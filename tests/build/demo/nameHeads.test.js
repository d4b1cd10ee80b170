import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headlight-attention';
import { nameHeads, saidTwice } from '../../../src/build/demo/nameHeads.ts';

test('every head has scores, and a loss without it', async () => {
  const hl = await load();
  const options = {
    layers: 2,
    dModel: 16,
    numHeads: 2,
    mlp: 32,
    vocab: 40,
    context: 128,
    positions: 'rotary',
    seed: 3,
  };
  const model = hl.transformer(options);
  const { loss, heads } = nameHeads(hl, model);
  assert.ok(loss > 3 && loss < 8, `${loss}`);
  assert.deepEqual(
    heads.map(({ layer, head }) => [layer, head]),
    [
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ],
  );
  for (const { previous, induction, without } of heads) {
    assert.ok(previous > 0 && previous < 1 && induction > 0 && induction < 1);
    assert.ok(without !== loss && Math.abs(without - loss) < 2);
  }
  hl.dispose();
});

test('passages occur twice', () => {
  const { data, shape } = saidTwice(40, 1);
  const [count, length] = shape;
  assert.equal(data.length, count * length);
  for (let b = 0; b < count; b++)
    for (let t = 0; t < length / 2; t++) assert.equal(data[b * length + t], data[b * length + length / 2 + t]);
});
