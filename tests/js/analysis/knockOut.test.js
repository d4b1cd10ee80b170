// Tests attention knock-out: a query gives no weight to a key, and the other weights of the row are computed again.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { knockOut } from 'headlight-attention/analysis';
import { uniformSource } from '../../../src/js/ops/random.ts';
import { difference, GOLDEN, readPack } from '../../support/golden.js';
import { build, everywhere, hl } from '../../support/headlight.js';
import { inTier } from '../../support/tier.js';

const close = (actual, expected, most) => {
  const off = difference([...actual], [...expected]);
  assert.ok(off <= most, `off by ${off}`);
};
const WEIGHTS = { capture: ['blocks.*.weights'] };

for (const name of ['gpt2-a', 'llama-a'])
  test(`${name}: weights and logits after a knock-out equal golden vectors`, async () => {
    const model = await hl.openModel(join(GOLDEN, 'models', name));
    for (const { kind, inputs, outputs, options } of readPack(name, join(GOLDEN, 'heads'))) {
      if (kind !== 'knock') continue;
      const { data: ids } = inputs.ids;
      const edit = Object.entries(options.where).flatMap(([layer, heads]) =>
        knockOut(options.pairs, { length: ids.length, layers: Number(layer), heads }),
      );
      const { captured, logits } = model.forward(ids, { ...WEIGHTS, edit });
      close(logits.data, outputs.logits.data, 2e-5);
      close(
        [0, 1].flatMap((l) => [...captured[`blocks.${l}.weights`].data]),
        outputs.weights.data,
        2e-5,
      );
    }
    model.dispose();
  });

/** Sets the weights (B,H,T,S) of some pairs in some heads to 0, and divides each row by its sum. */
function plainKnockOut({ data, shape: [, heads, rows, keys] }, pairs, layer, where) {
  const isHit = (head, t, s) =>
    (where.layers ?? [layer]).includes(layer) &&
    (where.heads ?? [head]).includes(head) &&
    pairs.some(([query, key]) => query === t && key === s);
  const kept = Float64Array.from(data, (w, i) => {
    const [s, t, head] = [i % keys, Math.floor(i / keys) % rows, Math.floor(i / keys / rows) % heads];
    return isHit(head, t, s) ? 0 : w;
  });
  return kept.map((w, i) => {
    const row = Math.floor(i / keys) * keys;
    const sum = kept.subarray(row, row + keys).reduce((a, b) => a + b, 0);
    return w === 0 ? 0 : w / sum;
  });
}

const FORMS = {
  'GPT-2': {},
  'grouped heads and a window': { norm: 'rms', positions: 'rotary', kvHeads: 2, window: [3], softcap: 4 },
  'an encoder': { causal: false, normPlace: 'after' },
  ALiBi: { positions: 'alibi', normPlace: 'parallel' },
};
for (const [name, form] of Object.entries(FORMS))
  test(
    `the other weights of a row sum to 1, and the model's own masks stay: ${name}`,
    everywhere((instance, t) => {
      for (let seed = 1; seed <= inTier(20, 4); seed++) {
        t.diagnostic(`seed ${seed}`);
        const random = uniformSource(seed);
        const below = (count) => Math.floor(random() * count);
        const model = build(instance, { layers: 1, dModel: 16, numHeads: 4, vocab: 9, context: 8, mlp: 8, ...form });
        const [batch, length] = [1 + below(2), 2 + below(6)];
        const ids = Array.from({ length: batch }, () => Array.from({ length }, () => below(9)));
        const keep = ids.map((row) => row.map((_, s) => Number(s === 0 || random() < 0.8)));
        const pairs = Array.from({ length: 1 + below(5) }, () => [below(length), below(length)]);
        const where = [{}, { heads: [below(4)] }, { layers: [0], heads: [1, 3] }, { layers: [] }][below(4)];
        const plain = model.forward({ ids, keep }, WEIGHTS).captured['blocks.0.weights'];
        const edit = knockOut(pairs, { length, ...where });
        const { captured } = model.forward({ ids, keep }, { ...WEIGHTS, edit });
        close(captured['blocks.0.weights'].data, plainKnockOut(plain, pairs, 0, where), 1e-5);
        model.dispose();
      }
    }),
  );

test('with a cache, a query that comes later does not attend to the key either', () => {
  const model = build(hl, { layers: 2, dModel: 16, numHeads: 4, vocab: 9, context: 8, mlp: 8 });
  const ids = [3, 1, 4, 1, 5, 2];
  const edit = knockOut(
    [
      [5, 0],
      [2, 1],
      [5, 2],
    ],
    { length: 6, layers: 1, heads: [0, 2] },
  );
  const { logits } = model.forward(ids, { edit, last: true });
  const cache = model.cache({ length: 8 });
  model.forward(ids.slice(0, 5), { edit: knockOut([[2, 1]], { length: 5, layers: 1, heads: [0, 2] }), cache });
  const later = edit.filter(({ token }) => token === 5);
  close(model.forward(ids.slice(5), { edit: later, cache, last: true }).logits.data, logits.data, 1e-5);
  model.dispose();
});

test('there is one edit for each layer and each query', () => {
  const pairs = [
    [3, 1],
    [2, 2],
    [3, 0],
  ];
  const row = (...keys) => ({
    data: Float32Array.from({ length: 4 }, (_, s) => (keys.includes(s) ? -Infinity : 0)),
    shape: [4],
  });
  assert.deepEqual(knockOut(pairs, { length: 4 }), [
    { at: 'blocks.*.scores', token: 3, add: row(0, 1) },
    { at: 'blocks.*.scores', token: 2, add: row(2) },
  ]);
  assert.deepEqual(
    knockOut([[0, 0]], { length: 4, layers: [0, 2], heads: 1 }),
    [0, 2].map((layer) => ({ at: `blocks.${layer}.scores`, head: [1], token: 0, add: row(0) })),
  );
  assert.deepEqual(knockOut([], { length: 4 }), []);
});

test('invalid arguments are refused, and the error names them', () => {
  const refuses = (pairs, options, parameter) =>
    assert.throws(
      () => knockOut(pairs, options),
      (error) => {
        assert.deepEqual([error.name, error.code, error.parameter], ['HeadlightError', 'ARGUMENT', parameter]);
        assert.match(error.message, /^knockOut: /);
        return true;
      },
    );
  for (const pairs of [
    undefined,
    3,
    [[0]],
    [[0, 1, 2]],
    [0, 1],
    [null],
    [[4, 0]],
    [[0, 4]],
    [[-1, 0]],
    [[0.5, 0]],
    [['1', 0]],
  ])
    refuses(pairs, { length: 4 }, 'pairs');
  for (const length of [undefined, 0, 1.5, '4', Infinity]) refuses([[0, 0]], { length }, 'length');
  for (const value of [-1, 0.5, '0', [0, null]]) {
    refuses([[0, 0]], { length: 4, layers: value }, 'layers');
    refuses([[0, 0]], { length: 4, heads: value }, 'heads');
  }
  refuses([[0, 0]], undefined, 'options');
  refuses([[0, 0]], { length: 4, layer: 0 }, 'layer');
});
