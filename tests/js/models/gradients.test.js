import assert from 'node:assert/strict';
import test from 'node:test';
import { uniformSource } from '../../../src/js/ops/random.js';
import { FORMS, SMALL, taskOf } from '../../support/forms.js';
import { flavours } from '../../support/headlight.js';

for (const [name, form] of Object.entries(FORMS)) {
  test(`${name}: the gradient of every parameter equals central differences`, () => {
    for (const hl of flavours) {
      const before = hl.info.memory.used;
      const options = { ...SMALL, ...form };
      const model = hl.transformer(options);
      const random = uniformSource(3);
      // Random values, as zeros and ones would hide mistakes.
      for (const { data } of Object.values(model.parameters))
        data.forEach((x, i) => void (data[i] = x + random() * 0.6 - 0.3));
      const { given, targets } = taskOf(options);
      model.learn(given, targets);
      const norm = (data) => Math.sqrt(data.reduce((sum, x) => sum + x * x, 0));
      const most = Math.max(...Object.values(model.gradients).map(({ data }) => norm(data)));
      for (const [parameter, tensor] of Object.entries(model.parameters)) {
        const gradient = model.gradients[parameter].copy();
        const length = norm(gradient);
        // Softmax is invariant to a term that all keys share: the gradient of the key's bias is only rounding.
        if (length < 1e-5 * most) {
          assert.match(parameter, /\.bk$|pooler|type/, `${parameter} has no gradient`);
          continue;
        }
        const start = tensor.copy();
        const lossAt = (step) => {
          tensor.data.set(start.map((x, i) => x + (step * gradient[i]) / length));
          return model.judge(given, targets).loss;
        };
        const h = 0.006;
        const slope = (8 * (lossAt(h) - lossAt(-h)) - (lossAt(2 * h) - lossAt(-2 * h))) / (12 * h);
        tensor.data.set(start);
        assert.ok(
          Math.abs(slope - length) < 2e-4 * most + 3e-3 * length,
          `${hl.info.simd}: ${parameter}: ${length}, by differences ${slope}, the largest ${most}`,
        );
      }
      model.dispose();
      assert.equal(hl.info.memory.used, before);
    }
  });
}
