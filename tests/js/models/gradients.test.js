import assert from 'node:assert/strict';
import test from 'node:test';
import { uniformSource } from '../../../src/js/ops/random.ts';
import { FORMS, SMALL, taskOf } from '../../support/forms.js';
import { assertSlopes } from '../../support/gradientSlopes.js';
import { someFlavours } from '../../support/headlight.js';

for (const [name, form] of Object.entries(FORMS)) {
  test(`${name}: the gradient of every parameter equals central differences`, () => {
    for (const hl of someFlavours) {
      const before = hl.info.memory.used;
      const options = { ...SMALL, ...form };
      const model = hl.transformer(options);
      const random = uniformSource(3);
      // Makes the parameters random, because zeros and ones would hide mistakes.
      for (const { data } of Object.values(model.parameters))
        data.forEach((x, i) => void (data[i] = x + random() * 0.6 - 0.3));
      const { given, targets } = taskOf(options);
      model.learn(given, targets);
      // The gradient of a key bias is only rounding errors, because softmax is invariant to a term that all keys share.
      assertSlopes(model, given, targets, /\.bk$|pooler|type/);
      model.dispose();
      assert.equal(hl.info.memory.used, before);
    }
  });
}
