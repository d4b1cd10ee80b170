import assert from 'node:assert/strict';
import test from 'node:test';
import { HeadlightError } from 'headlight-attention';
import { uniformSource } from '../../../src/js/ops/random.ts';
import { difference } from '../../support/golden.js';
import { everywhere, hl } from '../../support/headlight.js';
import { inTier } from '../../support/tier.js';

const SMALL = { layers: 2, dModel: 16, numHeads: 4, vocab: 9, context: 12, mlp: 10, seed: 2 };
const LLAMA = { positions: 'rotary', norm: 'rms', gated: true, activation: 'silu', kvHeads: 2 };
const ENCODER = { ...SMALL, causal: false, positions: 'buckets', head: 'none' };
const FORMS = {
  before: {},
  'before, grouped heads': LLAMA,
  after: { normPlace: 'after', causal: false, embedNorm: true },
  both: { ...LLAMA, normPlace: 'both', softcap: 3, window: [2, null] },
  outputs: { ...LLAMA, normPlace: 'outputs' },
  parallel: { normPlace: 'parallel', positions: 'alibi' },
  stream: { normPlace: 'stream' },
  'parallel, one norm': { normPlace: 'parallel', sharedNorm: true, sinks: true },
  'encoder and decoder': { positions: 'buckets', encoder: ENCODER },
};
const IDS = [
  [0, 3, 1, 4, 2],
  [2, 6, 0, 1, 5],
];
const [B, T] = [2, 5];
const OF_BLOCK = 'in norm1 query key value scores weights heads attention mid norm2 hidden mlp out'.split(' ');
const OF_CROSS = 'query key value scores weights heads attention'.split(' ').map((name) => `cross.${name}`);

/** Builds a model with random biases and norms, because zeros and ones would hide mistakes. */
function build(hl, form) {
  const model = hl.transformer({ ...SMALL, ...form });
  const random = uniformSource(12);
  for (const { data } of Object.values(model.parameters))
    data.forEach((x, i) => void (data[i] = x + 0.6 * random() - 0.3));
  return model;
}
const inputOf = ({ options }, ids = IDS) =>
  options.encoder ? { encoder: { ids: ids.map((row) => [...row, 7]) }, ids } : ids;
const namesOf = ({ options }) => {
  const block = options.cross ? [...OF_BLOCK, ...OF_CROSS] : OF_BLOCK;
  const encoder = options.encoder ? ['embed', 'final', ...OF_BLOCK.map((name) => `blocks.*.${name}`)] : [];
  return [
    'embed',
    ...block.map((name) => `blocks.*.${name}`),
    'final',
    'logits',
    ...encoder.map((n) => `encoder.${n}`),
  ];
};
const copyOf = ({ data, shape }) => ({ data: data.slice(), shape: [...shape] });
/** Runs the model. Returns copies of the captured values and of the logits. */
function captureAll(model, input, options = {}) {
  const result = model.forward(input, options);
  const captured = Object.fromEntries(Object.entries(result.captured).map(([name, x]) => [name, copyOf(x)]));
  const logits = copyOf(result.logits);
  result.dispose();
  return { ...captured, logits };
}
const logitsOf = (model, input, edit, options) => captureAll(model, input, { edit, ...options }).logits.data;
/** Transposes (B,H,T,D) to (B,T,H·D). */
function joined({ data, shape: [batch, heads, rows, width] }) {
  const all = new Float64Array(data.length);
  for (let i = 0; i < data.length; i++) {
    const [d, t, h, b] = [
      i % width,
      Math.floor(i / width) % rows,
      Math.floor(i / width / rows) % heads,
      Math.floor(i / width / rows / heads),
    ];
    all[((b * rows + t) * heads + h) * width + d] = data[i];
  }
  assert.equal(data.length, batch * heads * rows * width);
  return all;
}
function linear(x, { data, shape: [out, inside] }, bias) {
  return Float64Array.from({ length: (x.length / inside) * out }, (_, i) => {
    let sum = bias?.data[i % out] ?? 0;
    for (let c = 0; c < inside; c++) sum += x[Math.floor(i / out) * inside + c] * data[(i % out) * inside + c];
    return sum;
  });
}
const plus = (a, b) => Float64Array.from(a, (x, i) => x + b[i]);
function softmax(scores, keys) {
  const out = Float64Array.from(scores);
  for (let row = 0; row < out.length; row += keys) {
    const part = out.subarray(row, row + keys);
    const most = Math.max(...part);
    part.forEach((x, i) => void (part[i] = most === -Infinity ? 0 : Math.exp(x - most)));
    const sum = part.reduce((a, b) => a + b, 0) || 1;
    part.forEach((x, i) => void (part[i] = x / sum));
  }
  return out;
}
/** Computes weights (B,H,T,S) · value (B,G,S,D). */
function mix(weights, value) {
  const [, heads, rows, keys] = weights.shape;
  const [, groups, , width] = value.shape;
  return Float64Array.from({ length: (weights.data.length / keys) * width }, (_, i) => {
    const [d, row] = [i % width, Math.floor(i / width)];
    const [h, b] = [Math.floor(row / rows) % heads, Math.floor(row / rows / heads)];
    const group = Math.floor(h / (heads / groups));
    let sum = 0;
    for (let s = 0; s < keys; s++)
      sum += weights.data[row * keys + s] * value.data[((b * groups + group) * keys + s) * width + d];
    return sum;
  });
}
const near = (actual, expected, what, limit = 2e-6) => {
  const off = difference(actual, expected);
  assert.ok(off < limit, `${what} is off by ${off}`);
};
const refuses = (fn, parameter, message) =>
  assert.throws(fn, (error) => {
    assert.ok(error instanceof HeadlightError, error.stack);
    assert.equal(error.parameter, parameter, error.message);
    assert.match(error.message, message);
    return true;
  });

/** Replaces the scores and weights of a run by the same values, with and without capturing them. No bit may change. */
function checkSelfEdits(model, run) {
  const squares = namesOf(model).filter((name) => /scores|weights/.test(name));
  const all = run({ capture: namesOf(model) });
  for (const pattern of [/weights/, /scores/, /./]) {
    const names = squares.filter((name) => pattern.test(name));
    const edit = Object.entries(all)
      .filter(([name]) => /scores|weights/.test(name) && pattern.test(name))
      .map(([at, set]) => ({ at, set }));
    for (const options of [{ capture: names }, { edit }, { capture: names, edit }, { capture: squares, edit }])
      for (const [name, { data }] of Object.entries(run(options)))
        assert.deepEqual(data, all[name].data, `${pattern}, ${Object.keys(options)}: ${name}`);
  }
}

for (const [form, options] of Object.entries(FORMS)) {
  test(
    `${form}: every value can be captured, has its shape, and equals its formula applied to the other values`,
    everywhere((hl) => {
      const model = build(hl, options);
      const { numHeads: H, kvHeads: G, headDim: D, dModel: C, mlp, layers, softcap, sinks, normPlace } = model.options;
      const input = inputOf(model);
      const plain = captureAll(model, input);
      const got = captureAll(model, input, { capture: namesOf(model) });
      // If weights or scores are captured, the core computes whole rows of them, so sums are computed in another order.
      near(got.logits.data, plain.logits.data, 'logits', 1e-6);
      const others = namesOf(model).filter((name) => !/scores|weights/.test(name));
      assert.deepEqual(captureAll(model, input, { capture: others }).logits, plain.logits);
      for (const stack of options.encoder ? ['', 'encoder.'] : [''])
        for (let i = 0; i < layers; i++) {
          const S = stack ? T + 1 : T;
          const at = (name) => got[`${stack}blocks.${i}.${name}`];
          const p = (name) => model.parameters[`${stack}blocks.${i}.${name}`];
          for (const name of OF_BLOCK) {
            const [square, rows] = [
              [B, H, S, S],
              [B, S, name === 'hidden' ? mlp : C],
            ];
            const byHead = { query: [B, H, S, D], heads: [B, H, S, D], key: [B, G, S, D], value: [B, G, S, D] };
            const shape = { ...byHead, scores: square, weights: square }[name] ?? rows;
            assert.deepEqual(at(name)?.shape, shape, stack + name);
          }
          if (!sinks) near(softmax(at('scores').data, S), at('weights').data, 'weights');
          near(mix(at('weights'), at('value')), at('heads').data, 'heads');
          if (normPlace !== 'both' && normPlace !== 'outputs') {
            near(linear(joined(at('heads')), p('attention.wo'), p('attention.bo')), at('attention').data, 'attention');
            near(linear(at('hidden').data, p('down.weight'), p('down.bias')), at('mlp').data, 'mlp');
          }
          const [first, second] = normPlace === 'stream' ? ['norm1', 'norm2'] : ['in', 'mid'];
          near(plus(at(first).data, at('attention').data), at('mid').data, 'mid');
          if (normPlace !== 'after' && !model.options.cross)
            near(plus(at(second).data, at('mlp').data), at('out').data, 'out');
          if (i + 1 < layers) assert.deepEqual(at('out').data, got[`${stack}blocks.${i + 1}.in`].data);
          // The captured scores must follow from the captured queries and keys.
          if (model.options.positions === 'learned' || model.options.positions === 'rotary')
            at('scores').data.forEach((score, n) => {
              if (score === -Infinity) return;
              const [s, t, h, b] = [n % S, Math.floor(n / S) % S, Math.floor(n / S / S) % H, Math.floor(n / S / S / H)];
              let sum = 0;
              for (let d = 0; d < D; d++)
                sum +=
                  at('query').data[((b * H + h) * S + t) * D + d] *
                  at('key').data[((b * G + Math.floor((h * G) / H)) * S + s) * D + d];
              const scaled = sum / Math.sqrt(D);
              const expected = softcap > 0 ? softcap * Math.tanh(scaled / softcap) : scaled;
              assert.ok(Math.abs(expected - score) < 1e-5, `${expected}, ${score}`);
            });
          if (!model.options.cross || stack) continue;
          assert.deepEqual(at('cross.weights').shape, [B, H, T, T + 1]);
          assert.deepEqual(at('cross.key').shape, [B, G, T + 1, D]);
          near(mix(at('cross.weights'), at('cross.value')), at('cross.heads').data, 'cross.heads');
          near(softmax(at('cross.scores').data, T + 1), at('cross.weights').data, 'cross.weights');
          near(
            linear(joined(at('cross.heads')), p('cross.wo'), p('cross.bo')),
            at('cross.attention').data,
            'cross.attention',
          );
          near(plus(plus(at('mid').data, at('cross.attention').data), at('mlp').data), at('out').data, 'out');
        }
      model.dispose();
    }),
  );

  test(
    `${form}: an edit that sets a value to itself changes no bit of any value`,
    everywhere((hl) => {
      const model = build(hl, options);
      const input = inputOf(model);
      const capture = namesOf(model);
      const clean = captureAll(model, input, { capture });
      for (const [at, set] of Object.entries(clean)) {
        const again = captureAll(model, input, { capture, edit: [{ at, set }] });
        for (const [name, { data }] of Object.entries(clean))
          assert.deepEqual(again[name].data, data, `${at}: ${name}`);
      }
      model.dispose();
    }),
  );

  test(
    `${form}: capturing scores and weights, or setting them to themselves, changes no bit`,
    everywhere((hl) => {
      const model = build(hl, options);
      const input = inputOf(model);
      checkSelfEdits(model, (options) => captureAll(model, input, options));
      if (!model.options.causal || options.encoder) return model.dispose();
      const part = (cache, from, to, options) =>
        captureAll(
          model,
          IDS.map((row) => row.slice(from, to)),
          { ...options, cache },
        );
      // Two tokens after a prefix, then one token.
      for (const [from, to] of [
        [2, 4],
        [4, 5],
      ]) {
        const cache = model.cache({ length: 8, batch: B });
        part(cache, 0, from, {});
        checkSelfEdits(model, (options) => {
          cache.rewind(from);
          return part(cache, from, to, options);
        });
        cache.dispose();
      }
      model.dispose();
    }),
  );

  test(
    `${form}: values with a cache are those of the whole sequence`,
    everywhere((hl) => {
      const model = build(hl, options);
      const { numHeads: H, kvHeads: G, headDim: D } = model.options;
      if (!model.options.causal) return model.dispose();
      const capture = namesOf(model).filter((name) => !name.startsWith('encoder'));
      const whole = captureAll(model, inputOf(model), { capture });
      const cache = model.cache({ length: 8, batch: B });
      const first = IDS.map((row) => row.slice(0, 3));
      model.forward(options.encoder ? { ...inputOf(model), ids: first } : first, { cache }).dispose();
      const rest = captureAll(
        model,
        options.encoder ? { ids: IDS.map((row) => row.slice(3)) } : IDS.map((r) => r.slice(3)),
        {
          capture,
          cache,
        },
      );
      assert.deepEqual(rest['blocks.1.weights'].shape, [B, H, 2, T]);
      assert.deepEqual(rest['blocks.1.key'].shape, [B, G, T, D]);
      for (const [name, { data, shape }] of Object.entries(rest)) {
        const full = whole[name];
        const axis = shape.findIndex((n, i) => n !== full.shape[i]);
        const inner = shape.slice(axis + 1).reduce((a, b) => a * b, 1);
        const expected =
          axis < 0
            ? full.data
            : full.data.filter((_, i) => Math.floor(i / inner) % full.shape[axis] >= full.shape[axis] - shape[axis]);
        near(data, expected, name, 1e-5);
      }
      cache.dispose();
      model.dispose();
    }),
  );
}

test(
  'with all heads and feed-forwards set to zero the logits are those of the embedding',
  everywhere((hl) => {
    for (const form of [{}, LLAMA, { normPlace: 'both', norm: 'rms' }, { normPlace: 'parallel', tied: true }]) {
      const model = build(hl, { ...form, bias: false });
      const bare = build(hl, { ...form, bias: false, layers: 0 });
      const names = Object.keys(bare.parameters);
      bare.loadStateDict(Object.fromEntries(names.map((name) => [name, model.parameters[name]])));
      const off = ['heads', 'mlp'].map((name) => ({ at: `blocks.*.${name}`, set: 'zero' }));
      assert.deepEqual(logitsOf(model, IDS, off), logitsOf(bare, IDS));
      model.dispose();
      bare.dispose();
    }
  }),
);

test(
  'set, scale and add change only the selected heads, tokens and blocks, in this order',
  everywhere((hl) => {
    const model = build(hl, LLAMA);
    const [H, D] = [4, 4];
    const clean = captureAll(model, IDS, { capture: ['blocks.*.heads'] });
    const random = uniformSource(8);
    const numbers = Float32Array.from({ length: B * H * T * D }, random);
    const full = { data: numbers, shape: [B, H, T, D] };
    const mean = Array.from({ length: H * D }, (_, i) => {
      const [h, d] = [Math.floor(i / D), i % D];
      let sum = 0;
      for (let b = 0; b < B; b++)
        for (let t = 0; t < T; t++) sum += clean['blocks.1.heads'].data[((b * H + h) * T + t) * D + d];
      return sum / (B * T);
    });
    const cases = [
      [{ set: 'zero' }, () => 0],
      [{ set: 'mean' }, (_, _i, h, d) => mean[h * D + d]],
      [{ set: full }, (_, i) => numbers[i]],
      [{ set: [1, 2, 3, 4] }, (_, _i, _h, d) => d + 1],
      [{ set: [[[[5]]]] }, () => 5],
      [{ scale: -2 }, (x) => -2 * x],
      [{ add: [3, 0, -1, 2] }, (x, _i, _h, d) => x + [3, 0, -1, 2][d]],
      [{ set: full, scale: 2, add: [1] }, (_, i) => numbers[i] * 2 + 1],
    ];
    for (const [change, expected] of cases)
      for (const where of [{}, { head: 1 }, { head: [0, 3, 3], token: 2 }, { token: [1, 4, 99] }]) {
        const edit = [{ at: 'blocks.1.heads', ...where, ...change }];
        const got = captureAll(model, IDS, { capture: ['blocks.*.heads'], edit });
        assert.deepEqual(got['blocks.0.heads'], clean['blocks.0.heads']);
        const data = clean['blocks.1.heads'].data.map((x, i) => {
          const [d, t, h] = [i % D, Math.floor(i / D) % T, Math.floor(i / D / T) % H];
          const chosen = [where.head ?? h].flat().includes(h) && [where.token ?? t].flat().includes(t);
          return chosen ? expected(x, i, h, d) : x;
        });
        near(got['blocks.1.heads'].data, data, JSON.stringify(edit), 1e-6);
        assert.notDeepEqual(got.logits.data, clean.logits.data);
        // The same edit with nested arrays instead of a tensor.
        const { data: plain, shape } = full;
        const nested = Array.from({ length: shape[0] }, (_, b) =>
          Array.from({ length: H }, (_, h) =>
            Array.from({ length: T }, (_, t) => [...plain.subarray(((b * H + h) * T + t) * D).subarray(0, D)]),
          ),
        );
        const asData = edit.map((e) => (e.set === full ? { ...e, set: nested } : e));
        assert.deepEqual(logitsOf(model, IDS, JSON.parse(JSON.stringify(asData))), got.logits.data);
      }
    const every = captureAll(model, IDS, {
      capture: ['blocks.*.heads'],
      edit: [{ at: 'blocks.*.heads', head: 2, scale: 0 }],
    });
    for (const block of [0, 1])
      assert.ok(every[`blocks.${block}.heads`].data.every((x, i) => Math.floor(i / D / T) % H !== 2 || x === 0));
    model.dispose();
  }),
);

test(
  'edits of the same value are applied one after the other',
  everywhere((hl) => {
    const model = build(hl, {});
    const at = 'blocks.0.mlp';
    const { logits } = captureAll(model, IDS, {
      edit: [
        { at, set: 'zero', add: [2] },
        { at, scale: 3 },
      ],
    });
    assert.deepEqual(logits.data, logitsOf(model, IDS, [{ at, set: [6] }]));
    assert.deepEqual(
      logitsOf(model, IDS, [
        { at, scale: 3 },
        { at, set: [6] },
      ]),
      logits.data,
    );
    const scores = 'blocks.1.scores';
    near(
      logitsOf(model, IDS, [
        { at: scores, temperature: 2 },
        { at: scores, mask: 'none' },
      ]),
      logitsOf(model, IDS, [
        { at: scores, mask: 'none' },
        { at: scores, scale: 0.5 },
      ]),
      'a mask after a temperature',
      1e-6,
    );
    model.dispose();
  }),
);

/** Computes the weights of block 1 from the captured queries and keys, in plain loops. */
function plainWeights(model, clean, change) {
  const { numHeads: H, kvHeads: G, headDim: D } = model.options;
  const [q, k] = ['query', 'key'].map((name) => clean[`blocks.1.${name}`].data);
  const scores = Float64Array.from({ length: B * H * T * T }, (_, i) => {
    const [s, t, h, b] = [i % T, Math.floor(i / T) % T, Math.floor(i / T / T) % H, Math.floor(i / T / T / H)];
    let sum = 0;
    for (let d = 0; d < D; d++)
      sum += q[((b * H + h) * T + t) * D + d] * k[((b * G + Math.floor((h * G) / H)) * T + s) * D + d];
    return change(sum / Math.sqrt(D), { s, t, h, b, shown: s <= t });
  });
  return softmax(scores, T);
}

test(
  'mask, temperature and window of the scores give the same weights as plain code, for selected heads and tokens',
  everywhere((hl) => {
    const model = build(hl, LLAMA);
    const at = 'blocks.1.scores';
    const capture = ['blocks.1.query', 'blocks.1.key', 'blocks.1.weights', 'blocks.1.value', 'blocks.1.heads'];
    const clean = captureAll(model, IDS, { capture });
    const causal = (x, { shown }) => (shown ? x : -Infinity);
    const painted = Array.from({ length: T }, (_, t) => Array.from({ length: T }, (_, s) => Number((t + s) % 3 !== 1)));
    const cases = [
      [[{ at, mask: 'none' }], (x) => x],
      [[{ at, mask: painted }], (x, { s, t }) => (painted[t][s] ? x : -Infinity)],
      [[{ at, mask: painted.map((row) => row.map(Boolean)) }], (x, { s, t }) => (painted[t][s] ? x : -Infinity)],
      [[{ at, mask: [1, 0, 1, 0, 0] }], (x, { s }) => (s === 0 || s === 2 ? x : -Infinity)],
      [[{ at, mask: [[0]] }], () => -Infinity],
      [[{ at, temperature: 0.5 }], (x, p) => causal(x * 2, p)],
      [[{ at, window: [1, -1] }], (x, p) => (p.t - p.s <= 1 ? causal(x, p) : -Infinity)],
      [[{ at, window: [0, 2], mask: 'none' }], (x, { s, t }) => (s >= t && s - t <= 2 ? x : -Infinity)],
      [
        [{ at, head: 2, token: 3, mask: 'none', temperature: 2 }],
        (x, p) => (p.h === 2 && p.t === 3 ? x / 2 : causal(x, p)),
      ],
      [
        [
          { at, mask: painted },
          { at, head: [0, 1], window: [1, 1] },
        ],
        (x, { s, t, h }) => (painted[t][s] && (h > 1 || Math.abs(s - t) <= 1) ? x : -Infinity),
      ],
      [
        [
          { at, window: [0, 0] },
          { at, head: 1, mask: 'none' },
        ],
        (x, { s, t, h }) => (h === 1 || s === t ? x : -Infinity),
      ],
      [[{ at, scale: 0 }], (_, p) => causal(0, p)],
      [[{ at, scale: -1, add: [0, 0, 3, 0, 0] }], (x, p) => causal(-x + (p.s === 2 ? 3 : 0), p)],
      [[{ at, set: 'zero' }], () => 0],
    ];
    for (const [edit, change] of cases) {
      const what = JSON.stringify(edit);
      const got = captureAll(model, IDS, { capture, edit });
      const weights = { data: plainWeights(model, clean, change), shape: [B, 4, T, T] };
      near(got['blocks.1.weights'].data, weights.data, what, 1e-6);
      near(got['blocks.1.heads'].data, mix(weights, clean['blocks.1.value']), what, 2e-6);
      assert.deepEqual(captureAll(model, IDS, { capture, edit: JSON.parse(what) }), got);
    }
    const means = captureAll(model, IDS, { capture, edit: [{ at, set: 'mean' }] })['blocks.1.weights'].data;
    assert.ok(
      means.every((w, i) => (i % T <= Math.floor(i / T) % T ? w > 0 : w === 0)),
      'hidden keys stay hidden',
    );
    model.dispose();
  }),
);

test(
  'a mask can make padding visible, a window cannot',
  everywhere((hl) => {
    const model = build(hl, { causal: false, positions: 'none' });
    const keep = [
      [1, 1, 1, 0, 0],
      [1, 1, 1, 1, 1],
    ];
    const weights = (edit) =>
      captureAll(model, { ids: IDS, keep }, { capture: ['blocks.0.weights'], edit })['blocks.0.weights'].data;
    const padded = (data) => data.filter((_, i) => i < data.length / 2 && i % T > 2);
    const at = 'blocks.0.scores';
    assert.ok(padded(weights([{ at, window: [-1, -1] }])).every((w) => w === 0));
    assert.ok(padded(weights([{ at, mask: 'none' }])).every((w) => w > 0));
    model.dispose();
  }),
);

test(
  'weights that are set need not sum to 1',
  everywhere((hl) => {
    const model = build(hl, LLAMA);
    const capture = ['blocks.0.heads', 'blocks.0.value'];
    const got = captureAll(model, IDS, { capture, edit: [{ at: 'blocks.0.weights', set: [1, 2, 0, 0, -1] }] });
    const weights = { data: Float32Array.from({ length: B * 4 * T * T }, (_, i) => [1, 2, 0, 0, -1][i % T]) };
    near(got['blocks.0.heads'].data, mix({ ...weights, shape: [B, 4, T, T] }, got['blocks.0.value']), 'heads');
    model.dispose();
  }),
);

test(
  'with a cache the token of an edit is a position in the whole sequence',
  everywhere((hl) => {
    const model = build(hl, LLAMA);
    const set = captureAll(model, IDS, { capture: ['blocks.0.mlp'] })['blocks.0.mlp'];
    const edits = [
      [{ at: 'blocks.0.mlp', token: 3, add: [4] }],
      [{ at: 'blocks.1.heads', head: 2, token: [1, 4], scale: 3 }],
      [{ at: 'blocks.0.scores', token: 4, temperature: 3 }],
      [{ at: 'blocks.1.key', token: 1, set: 'zero' }],
      [{ at: 'logits', token: 4, add: [5] }],
      [{ at: 'blocks.1.scores', window: [1, 0] }],
    ];
    for (const edit of edits) {
      const whole = logitsOf(model, IDS, edit).filter((_, i) => Math.floor(i / 9) % T === T - 1);
      const cache = model.cache({ length: T, batch: B });
      const parts = [0, 2, 4].map((from, i) =>
        logitsOf(
          model,
          IDS.map((row) => row.slice(from, [2, 4, 5][i])),
          edit,
          { cache },
        ),
      );
      near(parts[2], whole, JSON.stringify(edit), 1e-5);
      near(logitsOf(model, IDS, edit, { last: true }), whole, JSON.stringify(edit), 1e-6);
      cache.dispose();
    }
    // An edit with a tensor in the shape of the prompt has no effect on later tokens.
    const cache = model.cache({ length: 8, batch: B });
    const edit = [{ at: 'blocks.0.mlp', token: [0, 1], set: { ...set, data: set.data.map((x) => 2 * x) } }];
    logitsOf(model, IDS, edit, { cache });
    const next = IDS.map(() => [3]);
    near(
      logitsOf(model, next, edit, { cache }),
      logitsOf(
        model,
        IDS.map((row) => [...row, 3]),
        [{ at: 'blocks.0.mlp', token: [0, 1], scale: 2 }],
      ).filter((_, i) => Math.floor(i / 9) % 6 === 5),
      'a tensor',
      1e-5,
    );
    cache.dispose();
    model.dispose();
  }),
);

test(
  'with a cache, a mask of the first tokens has no effect on later ones',
  everywhere((hl) => {
    for (const form of [LLAMA, { ...LLAMA, window: [2, null] }]) {
      const model = build(hl, form);
      const at = 'blocks.*.scores';
      const capture = ['blocks.*.weights'];
      const random = uniformSource(5);
      // The mask has a third column, which does not exist yet in the call with the first two tokens.
      const [rows, columns] = [2, 3];
      const painted = Array.from({ length: rows }, () => [Number(random() < 0.6), Number(random() < 0.6), 0]);
      const full = (length) => (clean) =>
        Array.from({ length: B }, (_, b) =>
          Array.from({ length: 4 }, (_, h) =>
            Array.from({ length }, (_, t) =>
              Array.from({ length }, (_, s) =>
                t < rows && s < columns ? painted[t][s] : Number(clean[((b * 4 + h) * length + t) * length + s] > 0),
              ),
            ),
          ),
        );
      const clean = captureAll(model, IDS, { capture });
      // For keys outside the painted mask, the expected mask follows from a run without the mask, because visibility
      // does not depend on the values.
      const edit = [0, 1].map((i) => ({
        at: `blocks.${i}.scores`,
        mask: full(T)(clean[`blocks.${i}.weights`].data),
      }));
      const whole = captureAll(model, IDS, { capture, edit });
      const cache = model.cache({ length: 8, batch: B });
      const parts = [
        [0, 2],
        [2, 4],
        [4, 5],
      ].map(([from, to]) =>
        captureAll(
          model,
          IDS.map((row) => row.slice(from, to)),
          { capture, edit: [{ at, mask: painted }], cache },
        ),
      );
      const last = (data) => data.filter((_, i) => Math.floor(i / 9) % T === T - 1);
      near(parts[2].logits.data, last(whole.logits.data), 'logits', 1e-5);
      near(
        parts[0]['blocks.1.weights'].data,
        whole['blocks.1.weights'].data.filter((_, i) => Math.floor(i / T) % T < 2 && i % T < 2),
        'weights',
        1e-5,
      );
      cache.dispose();
      refuses(() => model.forward(IDS, { edit: [{ at, mask: painted }] }), 'edit[0].mask', /broadcasts/);
      model.dispose();
    }
  }),
);

test('capturing does not change the logits, for any length of the sequence', () => {
  hl.scope(() => {
    for (const form of [{}, { ...LLAMA, window: 40 }]) {
      const model = build(hl, { ...form, dModel: 32, context: 700 });
      const ids = Array.from({ length: inTier(600, 200) }, (_, i) => (i * 7 + (i >> 3)) % 9);
      const plain = captureAll(model, ids);
      for (const name of ['blocks.*.weights', 'blocks.*.scores', 'blocks.*.query', 'blocks.*.heads', 'blocks.*.out'])
        near(captureAll(model, ids, { capture: [name] }).logits.data, plain.logits.data, name, 5e-6);
      for (const last of [false, true])
        checkSelfEdits(model, (options) => captureAll(model, ids, { ...options, last }));
      model.dispose();
    }
  });
});

test('invalid names and edits are refused by name, and no tensor is lost', () => {
  const model = build(hl, LLAMA);
  model.forward(IDS).dispose();
  const { used } = hl.info.memory;
  const edit =
    (...edits) =>
    () =>
      model.forward(IDS, { edit: edits });
  const at = 'blocks.0.heads';
  refuses(() => model.forward(IDS, { capture: 'embed' }), 'capture', /a list of names/);
  refuses(() => model.forward(IDS, { capture: ['embed', 'blocks.2.out'] }), 'capture[1]', /blocks\.2\.out/);
  refuses(() => model.forward(IDS, { capture: ['encoder.embed'] }), 'capture[0]', /a name without encoder/);
  refuses(() => model.forward(IDS, { capture: ['blocks.0.cross.heads'] }), 'capture[0]', /no attention to an encoder/);
  refuses(edit({ at: 'blocks.0.head' }), 'edit[0].at', /blocks\.0\.head/);
  refuses(edit({ at }, { at: 7 }), 'edit[1].at', /the name of a value/);
  refuses(edit({ at, value: 1 }), 'value', /unknown option 'value'/);
  refuses(edit({ at, head: 4, set: 'zero' }), 'edit[0].head', /head is 4, expected less than 4/);
  refuses(edit({ at: 'blocks.1.key', head: [0, 2], set: 'zero' }), 'edit[0].head', /head is 2, expected less than 2/);
  refuses(edit({ at: 'blocks.0.mlp', head: 0, set: 'zero' }), 'edit[0].head', /none, as blocks\.0\.mlp has no heads/);
  refuses(edit({ at, head: -1 }), 'edit[0].head', /at least 0/);
  refuses(edit({ at, token: 0.5 }), 'edit[0].token', /integer/);
  refuses(edit({ at, set: 'one' }), 'edit[0].set', /'zero' or 'mean'/);
  refuses(edit({ at, set: [1, 2] }), 'edit[0].set', /has shape \[2\], expected a shape that broadcasts to/);
  refuses(edit({ at }, { at, add: [[[[1, 2]]]] }), 'edit[1].add', /broadcasts/);
  refuses(edit({ at, scale: '2' }), 'edit[0].scale', /scale/);
  refuses(edit({ at, mask: 'none' }), 'edit[0].mask', /only 'blocks\.L\.scores'/);
  refuses(edit({ at: 'blocks.0.weights', temperature: 2 }), 'edit[0].temperature', /only 'blocks\.L\.scores'/);
  refuses(edit({ at: 'blocks.0.scores', temperature: 0 }), 'edit[0].temperature', /at least/);
  refuses(edit({ at: 'blocks.0.scores', window: [1] }), 'edit[0].window', /\[left, right\]/);
  refuses(edit({ at: 'blocks.0.scores', window: [1, -2] }), 'edit[0].window', /at least -1/);
  refuses(edit({ at: 'blocks.0.scores', mask: [[1, 1]] }), 'edit[0].mask', /broadcasts/);
  refuses(edit({ at: 'blocks.0.scores', mask: 'all' }), 'edit[0].mask', /'none'/);
  refuses(() => model.forward(IDS, { train: true, edit: [] }), 'train', /false with a cache or edits/);
  assert.equal(hl.info.memory.used, used);
  model.dispose();
});

test('errors name the existing blocks; a star matches any block, or all values of one', () => {
  const model = build(hl, LLAMA);
  refuses(
    () => model.forward(IDS, { capture: ['blocks.5.out'] }),
    'capture[0]',
    /a block from 0 to 1: this model has 2/,
  );
  refuses(() => model.forward(IDS, { capture: ['blocks.00.out'] }), 'capture[0]', /the name of a value/);
  refuses(() => model.forward(IDS, { edit: [{ at: 'blocks.0.*' }] }), 'edit[0].at', /the name of a value/);
  const none = hl.transformer({ layers: 0, dModel: 8, numHeads: 2, vocab: 99, context: 16 });
  refuses(() => none.forward(IDS, { capture: ['blocks.0.out'] }), 'capture[0]', /this model has no blocks/);
  none.dispose();
  const namesOf = (capture) => {
    const result = model.forward(IDS, { capture });
    result.dispose();
    return Object.keys(result.captured);
  };
  assert.deepEqual(namesOf(['blocks.*.weights']), ['blocks.0.weights', 'blocks.1.weights']);
  const all = namesOf(['blocks.1.*']);
  assert.equal(all.length, 14);
  assert.ok(all.every((name) => name.startsWith('blocks.1.')));
  assert.equal(namesOf(['blocks.*.*', 'final']).length, 29);
  model.dispose();
});

test('long names and a hundred thousand names take linear time', () => {
  const model = build(hl, LLAMA);
  for (const length of [1e6, 1e7])
    assert.throws(
      () => model.forward(IDS, { capture: ['x'.repeat(length)] }),
      ({ code, message }) => code === 'ARGUMENT' && message.length < 300,
    );
  const capture = Array.from({ length: 1e5 }, (_, i) => `blocks.${i % 2}.${i % 3 ? 'out' : 'weights'}`);
  const names = model.forward(IDS, { capture });
  assert.equal(Object.keys(names.captured).length, 4);
  names.dispose();
  const [batch, rows] = [2 ** 30, 0];
  assert.throws(() => model.forward({ data: new Int32Array(0), shape: [batch, rows] }), { code: 'SHAPE' });
  const none = model.forward({ data: new Int32Array(0), shape: [2 ** 24, rows] });
  assert.deepEqual([...none.logits.shape], [2 ** 24, 0, model.options.vocab]);
  none.dispose();
  model.dispose();
});

test('edits of the same value are applied in the order of the list, also if their names differ', () => {
  const model = build(hl, LLAMA);
  const edit = [
    { at: 'blocks.*.out', set: [1] },
    { at: 'blocks.1.out', scale: 3 },
    { at: 'blocks.*.out', add: [2] },
  ];
  const { captured } = model.forward(IDS, { edit, capture: ['blocks.*.out'] });
  assert.ok(captured['blocks.0.out'].data.every((x) => x === 3));
  assert.ok(captured['blocks.1.out'].data.every((x) => x === 5));
  model.dispose();
});

for (const [name, form] of Object.entries(FORMS))
  test(`${name}: each head and the feed-forward read an input of their own, by default the residual stream`, () => {
    const model = build(hl, form);
    const input = inputOf(model);
    const inputs = ['query.in', 'key.in', 'value.in', 'mlp.in'].map((part) => `blocks.*.${part}`);
    const plain = captureAll(model, input, { capture: ['blocks.*.*'] });
    const same = captureAll(model, input, { capture: ['blocks.*.*', ...inputs] });
    assert.deepEqual(
      Object.keys(plain),
      Object.keys(plain).filter((name) => !/\w\.in$/.test(name.slice(8))),
    );
    for (const [name, { data }] of Object.entries(plain)) assert.ok(difference(same[name].data, data) < 1e-5, name);
    const stream = same['blocks.1.in'];
    const { numHeads, kvHeads } = model.options;
    for (const [part, heads] of [
      ['query', numHeads],
      ['key', kvHeads],
      ['value', kvHeads],
    ]) {
      const own = same[`blocks.1.${part}.in`];
      assert.deepEqual(own.shape, [B, heads, T, 16]);
      own.data.forEach((x, i) => {
        const batch = Math.floor(i / (heads * T * 16));
        assert.equal(x, stream.data[batch * T * 16 + (i % (T * 16))]);
      });
    }
    // An edit of the input of one head changes only this head.
    const add = Float32Array.from({ length: 16 }, (_, i) => Math.sin(i + 1));
    const edit = [{ at: 'blocks.1.key.in', head: 1, token: 2, add }];
    const changed = captureAll(model, input, { edit, capture: ['blocks.1.*'] });
    assert.ok(difference(changed['blocks.1.in'].data, plain['blocks.1.in'].data) < 1e-5);
    assert.ok(difference(changed['blocks.1.query'].data, plain['blocks.1.query'].data) < 1e-5);
    assert.ok(difference(changed['blocks.1.value'].data, plain['blocks.1.value'].data) < 1e-5);
    const [before, after] = [plain['blocks.1.key'], changed['blocks.1.key']];
    const [, , , width] = before.shape;
    before.data.forEach((x, i) => {
      const [head, token] = [Math.floor(i / (T * width)) % kvHeads, Math.floor(i / width) % T];
      if (head !== 1 || token !== 2) assert.ok(Math.abs(after.data[i] - x) < 1e-5);
    });
    assert.ok(difference(after.data, before.data) > 1e-2);
    // Adding a value to the inputs of query, key, value and feed-forward must have the same effect on the output of
    // attention and feed-forward as adding it to the input of the block.
    if (form.normPlace === 'parallel') {
      const added = (edit) => {
        const { 'blocks.1.attention': attention, 'blocks.1.mlp': mlp } = captureAll(model, input, {
          edit,
          capture: ['blocks.1.*'],
        });
        return attention.data.map((x, i) => x + mlp.data[i]);
      };
      const parts = inputs.map((name) => ({ at: name.replace('*', 1), add }));
      assert.ok(difference(added(parts), added([{ at: 'blocks.1.in', add }])) < 1e-5);
    }
    model.dispose();
  });

test('the input of a part cannot be named together with an edit of the norm after it, nor for int8 weights', () => {
  const model = build(hl, LLAMA);
  const edit = [{ at: 'blocks.0.norm1', scale: 2 }];
  const refuses = (call, code, parameter) => assert.throws(call, { code, parameter });
  refuses(() => model.forward(IDS, { capture: ['blocks.*.key.in'], edit }), 'ARGUMENT', 'edit[0].at');
  refuses(
    () => model.forward(IDS, { edit: [{ at: 'blocks.0.query.in', head: 4, scale: 2 }] }),
    'ARGUMENT',
    'edit[0].head',
  );
  refuses(
    () => model.forward(IDS, { edit: [{ at: 'blocks.0.mlp.in', head: 0, scale: 2 }] }),
    'ARGUMENT',
    'edit[0].head',
  );
  model.quantize();
  refuses(() => model.forward(IDS, { capture: ['blocks.0.key.in'] }), 'STATE', undefined);
  model.forward(IDS, { capture: ['blocks.0.mlp.in'] }).dispose();
});

test(
  'a function gets a copy of each value and its name, and returns the new value',
  everywhere((hl) => {
    const model = build(hl, LLAMA);
    const seen = [];
    const looks = {
      at: 'blocks.*.heads',
      change(value, name) {
        seen.push([name, value.shape]);
        value.data.fill(7);
        // During this call the memory of the outer run may grow and move.
        model.forward(IDS).dispose();
      },
    };
    const plain = captureAll(model, IDS, { capture: ['blocks.*.mlp', 'blocks.0.scores'] });
    const same = captureAll(model, IDS, { capture: ['blocks.*.mlp', 'blocks.0.scores'], edit: [looks] });
    assert.ok(difference(same.logits.data, plain.logits.data) < 1e-6);
    assert.deepEqual(
      seen,
      ['blocks.0.heads', 'blocks.1.heads'].map((name) => [name, [B, 4, T, 4]]),
    );
    const double = ({ data, shape }) => ({ data: data.map((x) => 2 * x), shape });
    const changed = captureAll(model, IDS, { edit: [{ at: 'blocks.*.mlp', change: double }] });
    const scaled = captureAll(model, IDS, { edit: [{ at: 'blocks.*.mlp', scale: 2 }] });
    assert.deepEqual(changed.logits.data, scaled.logits.data);
    const refuses = (edit, code, parameter) =>
      assert.throws(() => model.forward(IDS, { edit: [edit] }), { code, parameter: `edit[0].${parameter}` });
    refuses({ at: 'embed', change: 3 }, 'ARGUMENT', 'change');
    refuses({ at: 'embed', change: double, scale: 2 }, 'ARGUMENT', 'change');
    refuses({ at: 'blocks.0.scores', change: double }, 'ARGUMENT', 'change');
    refuses({ at: 'embed', change: () => [1, 2] }, 'SHAPE', 'change');
    const fails = () => {
      throw new Error('mine');
    };
    assert.throws(() => model.forward(IDS, { edit: [{ at: 'embed', change: fails }] }), /mine/);
    const of = { 'blocks.1.out': [1] };
    assert.throws(() => model.differentiate(IDS, { of, at: ['embed'], edit: [{ at: 'embed', change: double }] }), {
      code: 'ARGUMENT',
      parameter: 'edit[0].change',
    });
    model.dispose();
  }),
);
