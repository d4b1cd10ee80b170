// Checks that after a trap in the core the state is the same as before the call.

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headlight-attention';
import { inTier } from '../../support/tier.js';

/** Loads an instance with replaced exports of the core: `replace` receives the exports and returns the replacements. */
async function loadSeen(replace, options) {
  const { instantiate } = WebAssembly;
  let exports;
  WebAssembly.instantiate = async (...args) => {
    const instance = await instantiate.apply(WebAssembly, args);
    exports = instance.exports;
    return { exports: { ...exports, ...replace(exports) } };
  };
  try {
    return { hl: await load(options), exports };
  } finally {
    WebAssembly.instantiate = instantiate;
  }
}

/** An address beyond the end of the memory. Reading it traps, after the function has allocated stack memory. */
const NOWHERE = -1024;

for (const simd of ['simd128', 'auto']) {
  test(`after a thousand traps a valid call gives the correct result, and no memory is leaked, ${simd}`, async () => {
    let broken = false;
    const traps = (exports) =>
      Object.fromEntries(
        ['hl_attention', 'hl_multihead_forward', 'hl_add', 'hl_multihead_saved_size'].map((name) => [
          name,
          (first, ...rest) => exports[name](broken ? NOWHERE : first, ...rest),
        ]),
      );
    const { hl, exports } = await loadSeen(traps, { simd });
    const layer = hl.multiHeadAttention({ embedDim: 64, numHeads: 4 });
    const x = hl.uniform([2, 100, 64], { seed: 1 });
    const heads = { data: x.copy(), shape: [2, 4, 50, 32] };
    const expected = layer.forward(x).output.copy();
    const { used } = hl.info.memory;
    const stack = exports.__stack_pointer.value;
    broken = true;
    for (let i = 0; i < 250; i++) {
      for (const use of [
        () => hl.attention(heads, heads, heads, { weights: true }),
        () => layer.forward(x),
        () => layer.forward(x, { train: true }),
        () => hl.add(x, x),
      ]) {
        assert.throws(use, {
          name: 'HeadlightError',
          code: 'STATE',
          message: /^(attention|forward|add): the core stopped/,
        });
        assert.equal(exports.__stack_pointer.value, stack);
      }
    }
    broken = false;
    assert.equal(hl.info.memory.used, used);
    assert.deepEqual(layer.forward(x).output.copy(), expected);
  });
}

test('calls with an exhausted JavaScript stack restore the stack pointer of the core', async () => {
  const { hl, exports } = await loadSeen(() => ({}));
  const layer = hl.multiHeadAttention({ embedDim: 16, numHeads: 2 });
  const x = hl.uniform([1, 8, 16], { seed: 1 });
  const out = hl.zeros([1, 8, 16]);
  const expected = layer.forward(x).output.copy();
  const stack = exports.__stack_pointer.value;
  const dive = () => {
    layer.forward(x, { out });
    dive();
  };
  for (let i = 0; i < inTier(20, 4); i++) {
    assert.throws(dive, RangeError);
    assert.equal(exports.__stack_pointer.value, stack);
  }
  assert.deepEqual(layer.forward(x).output.copy(), expected);
});
