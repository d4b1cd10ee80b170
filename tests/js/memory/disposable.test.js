import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from 'headlight-attention';

const DISPOSE = Symbol.dispose ?? Symbol.for('Symbol.dispose');

test('every object with dispose() can be declared with `using`', async () => {
  const hl = await load();
  const before = hl.info.memory.used;
  const x = hl.randn([1, 3, 8], { seed: 1 });
  const layer = hl.multiHeadAttention({ embedDim: 8, numHeads: 2 });
  const model = hl.transformer({ layers: 1, dModel: 8, numHeads: 2, vocab: 4, context: 4 });
  const disposables = [
    layer.forward(x, { weights: true }),
    hl.attention(x, x, x, { train: true }),
    hl.adamW([layer, model]),
    hl.sgd([layer], { momentum: 0.9 }),
    hl.linear({ in: 8, out: 4 }),
    hl.embedding({ count: 4, width: 8 }),
    hl.layerNorm({ width: 8 }),
    hl.gelu(),
    hl.activation({ kind: 'silu', gated: true }),
    hl.additiveAttention({ queryDim: 8, keyDim: 8, hidden: 4 }),
    model,
    layer,
    x,
  ];
  for (const disposable of disposables) {
    assert.equal(typeof disposable.dispose, 'function', disposable.constructor.name);
    disposable[DISPOSE]();
  }
  assert.equal(hl.info.memory.used, before);
  hl[DISPOSE]();
  assert.throws(() => hl.zeros([1]), { code: 'DISPOSED' });
});
