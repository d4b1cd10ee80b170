import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { HeadlightError } from 'headlight-attention';
import { difference } from '../../support/golden.js';
import { everywhere, hl } from '../../support/headlight.js';

const golden = JSON.parse(readFileSync(new URL('../../golden/layers.json', import.meta.url), 'utf8'));

test(
  'cross-entropy and its gradient equal those of PyTorch, with and without smoothing',
  everywhere((hl) => {
    for (const { logits, labels, labelSmoothing, loss, dLogits } of golden.losses) {
      const result = hl.crossEntropy(logits, labels, { labelSmoothing });
      assert.ok(Math.abs(result.loss - loss) < 1e-6);
      assert.ok(difference(result.dLogits.data, dLogits.flat()) < 1e-6);
      assert.equal(result.counted, 5);
      assert.equal(result.correct, logits.filter((row, r) => row.indexOf(Math.max(...row)) === labels[r]).length);
    }
  }),
);

test('logits may have any number of leading axes; with no counted label the loss is 0', () => {
  hl.scope(() => {
    const { dLogits, counted } = hl.crossEntropy(hl.randn([2, 3, 5], { seed: 1 }), [
      [0, 1, 2],
      [3, 4, -100],
    ]);
    assert.deepEqual(dLogits.shape, [2, 3, 5]);
    assert.equal(counted, 5);
    const { loss, correct } = hl.crossEntropy([1, 2, 3], 2);
    assert.ok(Math.abs(loss - Math.log(1 + Math.exp(-1) + Math.exp(-2))) < 1e-6);
    assert.equal(correct, 1);
    const none = hl.crossEntropy([[1, 2]], [7], { ignore: 7 });
    assert.deepEqual([none.loss, none.counted, [...none.dLogits.data]], [0, 0, [0, 0]]);
    assert.equal(hl.crossEntropy({ data: [], shape: [0, 4] }, []).loss, 0);
  });
});

for (const [name, fn, code, parameter, message] of [
  [
    'a label that is not a class',
    () => hl.crossEntropy([[1, 2]], [2]),
    'ARGUMENT',
    'targets[0]',
    /targets\[0\] is 2, expected an integer from 0 to 1, or -100/,
  ],
  [
    'labels of another shape',
    () => hl.crossEntropy([[1, 2]], [1, 0]),
    'SHAPE',
    'targets',
    /targets has shape \[2\], expected \[1\]/,
  ],
  ['a single number', () => hl.crossEntropy(3, []), 'SHAPE', 'logits', /expected \(…,V\)/],
  [
    'an ignored target that is no integer',
    () => hl.crossEntropy([[1, 2]], [1], { ignore: 1.5 }),
    'ARGUMENT',
    'ignore',
    /ignore is 1.5, expected an integer/,
  ],
  [
    'too much smoothing',
    () => hl.crossEntropy([[1, 2]], [1], { labelSmoothing: 2 }),
    'ARGUMENT',
    'labelSmoothing',
    /labelSmoothing is 2/,
  ],
]) {
  test(`cross-entropy refuses ${name}`, () => {
    const before = hl.info.memory.used;
    assert.throws(
      fn,
      (error) =>
        error instanceof HeadlightError &&
        error.code === code &&
        error.parameter === parameter &&
        message.test(error.message),
    );
    assert.equal(hl.info.memory.used, before);
  });
}
