// Tests edits of encoder–decoders: of encoder attention, decoder attention, cross-attention and the residual streams.
// Results are compared with the same change of the architecture in float64; edits also apply with a cache and during
// generation.

import assert from 'node:assert/strict';
import test from 'node:test';
import { uniformSource } from '../../../src/js/ops/random.ts';
import { families } from '../../support/families.js';
import { flavours, hl } from '../../support/headlight.js';

const NAMES = ['T5, relu and a tied head', 'BART', 'Marian', 'Whisper'];
const FAMILIES = NAMES.map((name) => families.find((family) => family.name === name));
const [LAYERS, HEADS] = [2, 4];
const LIMIT = 1e-5;
/** All heads of the three attentions: the head, and the prefix of the names of the values of its attention. */
const PLACES = ['encoder.blocks.', 'blocks.', 'cross'].flatMap((part) =>
  Array.from({ length: LAYERS * HEADS }, (_, i) => {
    const layer = Math.floor(i / HEADS);
    const at = part === 'cross' ? `blocks.${layer}.cross.` : `${part}${layer}.`;
    return { at, head: i % HEADS };
  }),
);

function off(got, expected) {
  assert.equal(got.length, expected.length);
  const most = expected.reduce((top, x) => Math.max(top, Math.abs(x)), 0);
  return expected.reduce((worst, x, i) => Math.max(worst, Math.abs(x - got[i])), 0) / most;
}

/** Multiplies one head of a value (T,H·D) by a factor. */
const scaleHead = (x, head, factor, width) =>
  x.map((value, i) => (Math.floor(i / width) % HEADS === head ? value * factor : value));
/** Returns a function that changes only the value with this name. */
const only = (name, change) => (other, value) => (other === name ? change(value) : value);
const logitsOf = (model, input, options) => {
  const result = model.forward(input, options);
  const logits = result.logits.copy();
  result.dispose();
  return logits;
};

/** Calls a function with the model of each family in each flavour of the core. */
async function everyModel(each) {
  for (const family of FAMILIES)
    for (const instance of flavours) {
      const model = await instance.openModel(family.files);
      each(model, family, instance);
      model.dispose();
    }
}

test('without one head of any attention, the logits equal those of the architecture', async () => {
  const expected = new Map();
  await everyModel((model, { name, input, expectedWith, expected: { logits: whole } }) => {
    const { headDim } = model.options;
    for (const { at, head } of PLACES) {
      const key = `${name} ${at}${head}`;
      if (!expected.has(key))
        expected.set(key, expectedWith(only(`${at}heads`, (x) => scaleHead(x, head, 0, headDim))).logits);
      assert.ok(off(expected.get(key), whole) > 100 * LIMIT, `${key} has no effect`);
      for (const change of [{ set: 'zero' }, { scale: 0 }]) {
        const logits = logitsOf(model, input, { edit: [{ at: `${at}heads`, head, ...change }] });
        assert.ok(off(logits, expected.get(key)) <= LIMIT, key);
      }
    }
  });
});

test('weights of one head are replaced, and a head is scaled, as in the architecture', async () => {
  await everyModel((model, { name, input, expectedWith }) => {
    const random = uniformSource(4);
    for (const { at, head } of PLACES.filter((_, i) => i % 3 === 1)) {
      const [first] = model.forward(input, { capture: [`${at}weights`] }).captured[`${at}weights`].shape.slice(2);
      const replaced = Float32Array.from({ length: first }, random);
      // All keys of a query get the same weight.
      const edit = [
        { at: `${at}weights`, head, set: { data: replaced, shape: [first, 1] } },
        { at: `${at}heads`, head: (head + 1) % HEADS, scale: -0.5 },
      ];
      const expected = expectedWith((other, value) => {
        if (other === `${at}heads`) return scaleHead(value, (head + 1) % HEADS, -0.5, model.options.headDim);
        if (other !== `${at}weights`) return value;
        const keys = value.length / HEADS / first;
        return value.map((x, i) =>
          Math.floor(i / keys / first) === head ? replaced[Math.floor(i / keys) % first] : x,
        );
      });
      // Compares only the first sequence, because the values of padding in the second one differ from the reference.
      const [logits, wanted] = [logitsOf(model, input, { edit }), expected.logits].map((all) =>
        all.subarray(0, all.length / 2),
      );
      assert.ok(off(logits, wanted) <= LIMIT, `${name} ${at}${head}`);
    }
  });
});

test('the residual streams of both stacks are edited as in the architecture', async () => {
  await everyModel((model, { name, input, expectedWith }) => {
    const { dModel } = model.options;
    const added = Float32Array.from({ length: dModel }, (_, c) => (c % 3) - 1);
    for (const at of ['encoder.blocks.0.out', 'encoder.blocks.1.in', 'blocks.0.in', 'blocks.1.out']) {
      const edit = [{ at, scale: 0.5, add: { data: added, shape: [dModel] } }];
      const expected = expectedWith(only(at, (x) => x.map((value, i) => value / 2 + added[i % dModel])));
      assert.ok(off(logitsOf(model, input, { edit }), expected.logits) <= LIMIT, `${name} ${at}`);
    }
  });
});

/** Returns the first sequence of an input. */
const firstOf = (input) =>
  Object.fromEntries(
    Object.entries(input).map(([name, { data, shape }]) => [
      name,
      { data: data.slice(0, data.length / shape[0]), shape: [1, ...shape.slice(1)] },
    ]),
  );

/** Edits that do not depend on the number of tokens in a call. */
const editsFor = ({ options: { headDim, dModel } }) => [
  ...PLACES.filter((_, i) => i % 5 === 0).map(({ at, head }) => [{ at: `${at}heads`, head, set: 'zero' }]),
  [{ at: 'blocks.*.cross.heads', token: [1, 3], scale: -1 }],
  [{ at: 'blocks.*.cross.scores', head: 2, temperature: 3 }],
  [{ at: 'blocks.0.cross.scores', window: [1, 1] }],
  [{ at: 'blocks.1.cross.weights', head: [0, 3], token: 2, scale: 2 }],
  [{ at: 'blocks.*.cross.key', head: 1, token: 0, scale: -2 }],
  [{ at: 'blocks.1.cross.value', token: [0, 2], add: { data: new Float32Array(headDim).fill(1), shape: [headDim] } }],
  [{ at: 'encoder.blocks.0.scores', window: [1, 0] }],
  [{ at: 'encoder.final', token: 1, set: 'zero' }],
  [
    {
      at: 'blocks.0.in',
      token: 3,
      add: { data: Float32Array.from({ length: dModel }, (_, c) => c % 2), shape: [dModel] },
    },
  ],
];

test('edits with a cache give the logits without one, and leave the cache as it is', async () => {
  await everyModel((model, { name, input }) => {
    const encoder = firstOf(input.encoder);
    const length = input.ids.shape[1];
    const part = (from, to) => ({ data: input.ids.data.slice(from, to), shape: [1, to - from] });
    const plain = logitsOf(model, { encoder, ids: part(0, length) });
    for (const edit of editsFor(model)) {
      const whole = logitsOf(model, { encoder, ids: part(0, length) }, { edit });
      assert.ok(off(whole, plain) > 100 * LIMIT, `${name}: ${JSON.stringify(edit)} has no effect`);
      const cache = model.cache({ length });
      const rows = [
        [0, 2],
        [2, 3],
        [3, length],
      ].map(([from, to]) => logitsOf(model, { ...(from === 0 && { encoder }), ids: part(from, to) }, { cache, edit }));
      assert.ok(
        off(
          rows.flatMap((row) => [...row]),
          whole,
        ) <= LIMIT,
        `${name}: ${JSON.stringify(edit)}`,
      );
      cache.dispose();
    }
    // An edit of the cross-attention keys does not change the keys in the cache, so it has no effect on later calls.
    const cache = model.cache({ length });
    const edit = [
      { at: 'blocks.*.cross.key', scale: -2 },
      { at: 'blocks.*.cross.value', set: 'zero' },
    ];
    logitsOf(model, { encoder, ids: part(0, 2) }, { cache });
    logitsOf(model, { ids: part(2, length) }, { cache, edit });
    const again = logitsOf(model, { ids: part(2, length) }, { cache: cache.rewind(2) });
    assert.ok(off(again, plain.slice(2 * model.options.vocab)) <= LIMIT, name);
    cache.dispose();
  });
});

test('generate applies the edits of every attention to every token', async () => {
  for (const family of FAMILIES) {
    const model = await hl.openModel(family.files);
    const encoder = firstOf(family.input.encoder);
    const { vocab } = model.options;
    const changed = [];
    for (const edit of [[], [{ at: 'blocks.*.cross.heads', scale: -9 }], ...editsFor(model)]) {
      const ids = [3];
      for (let i = 0; i < 4; i++) {
        const row = logitsOf(model, { encoder, ids: { data: ids, shape: [1, ids.length] } }, { edit }).slice(-vocab);
        ids.push(row.indexOf(Math.max(...row)));
      }
      const result = await model.generate({ encoder, ids: [3] }, { max: 4, stop: [], edit });
      assert.deepEqual(result.ids, ids.slice(1), `${family.name}: ${JSON.stringify(edit)}`);
      changed.push(String(ids));
    }
    assert.ok(new Set(changed).size > 1, `${family.name}: no edit changes the text`);
    model.dispose();
  }
});
