import assert from 'node:assert/strict';
import test from 'node:test';
import { formatNumber, makeScale, makeSignedScale, shortest } from '../../../web/model/scale.js';
import { SCALES } from '../../../web/model/state.js';

test('on every scale the legend shows at a share of its length the value that has that share of the colours', () => {
  for (const kind of SCALES) {
    const scale = makeScale('light', 0.4, kind);
    for (const share of [0, 0.25, 0.5, 0.75, 1])
      assert.ok(Math.abs(scale.index(scale.valueAt(share)) - 255 * share) <= 1, `${kind} at ${share}`);
    assert.deepEqual(
      scale.ticks.map(({ value }) => value),
      [0, 0.25, 0.5, 0.75, 1].map(scale.valueAt),
    );
  }
});

test('a tenth of the largest weight is far from white on the square root and the logarithm', () => {
  const [linear, sqrt, log] = ['linear', 'sqrt', 'log'].map((kind) => makeScale('dark', 1, kind).index(0.1));
  assert.deepEqual([linear, sqrt, log], [26, 81, 191]);
});

test('signed colours are centred on 0, and part evenly to both sides', () => {
  for (const theme of ['light', 'dark']) {
    const scale = makeSignedScale(theme, 2);
    assert.deepEqual([-2, -1, 0, 1, 2, 9, -9].map(scale.index), [0, 64, 127, 191, 254, 254, 0]);
    assert.notDeepEqual(scale.colour(-2), scale.colour(2));
    assert.deepEqual([scale.valueAt(0), scale.valueAt(0.5), scale.valueAt(1)], [-2, 0, 2]);
    assert.deepEqual([...new Uint8Array(scale.pixels.buffer, 4 * 254, 4)], [...scale.colour(2), 255]);
  }
});

test('numbers are short, and exact where they must be', () => {
  assert.deepEqual([0, -1.5, 1 / 3, 31.2, 0.00012346, -1.5e-7, 12345678].map(formatNumber), [
    '0',
    '−1.5',
    '0.3333',
    '31.2',
    '0.0001235',
    '−1.50e-7',
    '1.23e+7',
  ]);
  for (const x of [0, 1, Math.fround(0.1), Math.fround(1 / 3), 1e-30, NaN].map(Math.fround))
    assert.ok(Object.is(Math.fround(Number(shortest(x))), x));
});
