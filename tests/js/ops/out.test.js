// Tests the option `out`, which writes results into tensors of the caller, and that a layer uses parameters that
// changed after it packed them.

import assert from 'node:assert/strict';
import test from 'node:test';
import { everywhere, hl } from '../../support/headlight.js';

test(
  'out receives the output, the weights and the scores, and the result contains the same tensors',
  everywhere((hl) => {
    const [q, k, v] = [1, 2, 3].map((seed) => hl.randn([2, 3, 7, 4], { seed }));
    const expected = hl.attention(q, k, v, { weights: true, scores: 'raw' });
    const [output, weights, scores] = [hl.zeros([2, 3, 7, 4]), hl.zeros([2, 3, 7, 7]), hl.zeros([2, 3, 7, 7])];
    const result = hl.attention(q, k, v, { weights: true, scores: 'raw', out: { output, weights, scores } });
    assert.ok(result.output === output && result.weights === weights && result.scores === scores);
    for (const name of ['output', 'weights', 'scores']) assert.deepEqual(result[name].copy(), expected[name].copy());
    const { used } = hl.info.memory;
    assert.equal(hl.attention(q, k, v, { out: output }).output, output);
    assert.equal(hl.info.memory.used, used);
  }),
);

test(
  'a layer supports out as well, and then allocates nothing',
  everywhere((hl) => {
    const layer = hl.multiHeadAttention({ embedDim: 12, numHeads: 3 });
    const x = hl.randn([2, 5, 12], { seed: 1 });
    const expected = layer.forward(x).output.copy();
    const out = hl.zeros([2, 5, 12]);
    const { used } = hl.info.memory;
    assert.equal(layer.forward(x, { out }).output, out);
    assert.deepEqual(out.copy(), expected);
    assert.equal(hl.info.memory.used, used);
  }),
);

test('an out of another shape, an input, the same twice, or no tensor is refused before anything is written', () => {
  hl.scope(() => {
    const x = hl.randn([1, 3, 4], { seed: 1 });
    const before = x.copy();
    const square = hl.zeros([1, 3, 3]);
    const gone = hl.zeros([1, 3, 4]);
    gone.dispose();
    const wrong = (out, expected, options) => assert.throws(() => hl.attention(x, x, x, { ...options, out }), expected);
    wrong(hl.zeros([1, 4, 3]), {
      code: 'SHAPE',
      parameter: 'out.output',
      message: /out\.output has shape \[1,4,3\], expected \[1,3,4\]/,
    });
    wrong(x, { code: 'ARGUMENT', parameter: 'out.output', message: /neither an input nor another result/ });
    wrong(gone, { code: 'DISPOSED', parameter: 'out.output' });
    wrong([1, 2], { code: 'ARGUMENT' });
    wrong(null, { code: 'ARGUMENT', parameter: 'out' });
    wrong({ result: x }, { code: 'ARGUMENT', parameter: 'out.result' });
    wrong({ output: new Float32Array(12) }, { code: 'ARGUMENT', parameter: 'out.output' });
    assert.throws(
      () =>
        hl.attention(hl.zeros([1, 1, 3, 3]), hl.zeros([1, 1, 3, 3]), hl.zeros([1, 1, 3, 3]), {
          weights: 'mean',
          scores: 'raw',
          out: { weights: square, scores: square },
        }),
      { code: 'ARGUMENT' },
    );
    assert.deepEqual(x.copy(), before);
  });
});

test(
  'the next forward uses changed weights: loaded, or written through a view from before or after the last one',
  everywhere((hl) => {
    const layer = hl.multiHeadAttention({ embedDim: 6, numHeads: 2, seed: 1 });
    const other = hl.multiHeadAttention({ embedDim: 6, numHeads: 2, seed: 2 });
    const x = hl.randn([1, 4, 6], { seed: 3 });
    const outputs = [layer.forward(x).output.copy()];
    const next = (what) => {
      const output = layer.forward(x).output.copy();
      assert.ok(
        outputs.every((before) => before.some((y, i) => y !== output[i])),
        what,
      );
      outputs.push(output);
    };
    layer.loadStateDict(other.stateDict());
    next('loadStateDict');
    assert.deepEqual(outputs[1], other.forward(x).output.copy());
    const view = layer.parameters.wo.data;
    view[0] += 1;
    next('through a new view');
    view[7] += 1;
    next('through an old view');
    layer.parameters.bv.data.fill(1);
    next('a bias');
  }),
);

test(
  'a layer that a scope returns keeps its packed weights, and frees them with dispose',
  everywhere((hl) => {
    const { used } = hl.info.memory;
    const layer = hl.scope(() => hl.multiHeadAttention({ embedDim: 32, numHeads: 4, seed: 1 }));
    hl.scope(() => {
      const x = hl.randn([1, 4, 32], { seed: 3 });
      const expected = layer.forward(x).output.copy();
      for (let i = 0; i < 20; i++) hl.uniform([1000], { seed: 9 });
      assert.deepEqual(layer.forward(x).output.copy(), expected);
    });
    layer.dispose();
    assert.equal(hl.info.memory.used, used);
  }),
);

test('a layer uses the values that a result or clipping has written into its parameters', () => {
  hl.scope(() => {
    const layer = hl.multiHeadAttention({ embedDim: 4, numHeads: 1, bias: false });
    const x = hl.uniform([2, 4], { seed: 1 });
    const { wo, wv } = layer.parameters;
    const same = (what) => {
      const fresh = hl.multiHeadAttention({ embedDim: 4, numHeads: 1, bias: false });
      fresh.loadStateDict(layer.stateDict());
      assert.deepEqual(layer.forward(x).output.toArray(), fresh.forward(x).output.toArray(), what);
    };
    layer.forward(x);
    hl.multiHeadAttention({ embedDim: 4, numHeads: 1 }).forward(hl.uniform([4, 4], { seed: 3 }), { out: wo });
    same('output');
    hl.multiHeadAttention({ embedDim: 4, numHeads: 1 }).forward(hl.uniform([4, 4], { seed: 3 }), {
      out: { output: wv },
    });
    same('output by name');
    assert.ok(hl.clipGradients(layer.parameters, 0.1) > 0.1);
    same('clipGradients');
  });
});
