// Compares the gradients of a model with central differences of the loss.

import assert from 'node:assert/strict';

const STEP = 0.006;
const norm = (data) => Math.sqrt(data.reduce((sum, x) => sum + x * x, 0));

/**
 * Compares the length of each parameter's gradient with the slope of the loss in the direction of the gradient.
 * @param {object} model a model after learn(input, targets), which computed the gradients
 * @param {unknown} input
 * @param {unknown} targets
 * @param {RegExp} flat matches the names of parameters that may have no gradient, because the loss does not depend on
 * them
 */
export function assertSlopes(model, input, targets, flat) {
  const most = Math.max(...Object.values(model.gradients).map(({ data }) => norm(data)));
  for (const [parameter, tensor] of Object.entries(model.parameters)) {
    const gradient = model.gradients[parameter].copy();
    const length = norm(gradient);
    if (length < 1e-5 * most) {
      assert.match(parameter, flat, `${parameter} has no gradient`);
      continue;
    }
    const start = tensor.copy();
    const lossAt = (step) => {
      tensor.data.set(start.map((x, i) => x + (step * gradient[i]) / length));
      return model.judge(input, targets).loss;
    };
    const differences = 8 * (lossAt(STEP) - lossAt(-STEP)) - (lossAt(2 * STEP) - lossAt(-2 * STEP));
    const slope = differences / (12 * STEP);
    tensor.data.set(start);
    const text = `${parameter}: ${length}, by differences ${slope}, the largest ${most}`;
    assert.ok(Math.abs(slope - length) < 2e-4 * most + 3e-3 * length, text);
  }
}
