import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from 'headlight-attention';
import { readSafetensors, writeSafetensors } from 'headlight-attention/formats';
import { TASKS } from '../../../web/model/training/tasks.ts';
import { difference } from '../../support/golden.js';
import { build, everywhere, flavours, hl } from '../../support/headlight.js';
import { crossEntropy, differences } from '../../support/layers.js';
import { refuses } from '../../support/refuses.js';
import { teach } from '../../support/teach.js';
import { inTier } from '../../support/tier.js';
import { transformer } from '../../support/transformer.js';

const SMALL = { layers: 2, dModel: 6, numHeads: 2, vocab: 5, context: 4, seed: 3 };
const FORMS = [
  { mlp: 0 },
  { mlp: 7 },
  { mlp: 5, norm: 'rms' },
  { mlp: 3, norm: 'none' },
  { mlp: 0, norm: 'none', causal: false },
  { layers: 0, norm: 'rms' },
].map((form) => ({ ...SMALL, ...form }));
const LABELS = [
  [0, 3, 1, 4],
  [2, 2, 0, 1],
];
const TARGETS = [
  [3, 1, 4, -100],
  [2, 0, 1, 3],
];

const copies = (tensors) =>
  Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name, Array.from(tensor.data)]));

test(
  'logits and attention weights equal a float64 implementation',
  everywhere((hl) => {
    for (const options of FORMS) {
      const model = build(hl, options);
      const { logits, captured } = model.forward(LABELS, { capture: ['blocks.*.weights'] });
      const weights = Object.values(captured);
      const expected = transformer(copies(model.parameters), model.options, LABELS.flat(), [2, 4]);
      assert.deepEqual(logits.shape, [2, 4, 5]);
      assert.ok(difference(logits.data, expected.logits) < 1e-6, JSON.stringify(options));
      assert.equal(weights.length, options.layers);
      weights.forEach((tensor, i) => assert.ok(difference(tensor.data, expected.weights[i]) < 1e-6));
      assert.deepEqual(model.forward(LABELS[0]).logits.shape, [4, 5]);
      model.dispose();
    }
  }),
);

test(
  'the gradients of all parameters equal central differences, and accumulate',
  everywhere((hl) => {
    for (const options of inTier(FORMS, FORMS.slice(1, 3))) {
      const model = build(hl, options);
      const loss = (parameters) =>
        crossEntropy(transformer(parameters, model.options, LABELS.flat(), [2, 4]).logits, TARGETS.flat(), {
          smoothing: 0.1,
        }).loss;
      const parameters = copies(model.parameters);
      for (const times of [1, 2]) {
        const result = model.learn(LABELS, TARGETS, { labelSmoothing: 0.1 });
        assert.ok(Math.abs(result.loss - loss(parameters)) < 1e-6);
        assert.equal(result.counted, 7);
        const gradients = copies(model.gradients);
        assert.deepEqual(Object.keys(gradients), Object.keys(parameters));
        // The error is relative to the largest of all gradients, because the gradient of a key bias is only rounding
        // errors.
        const expected = Object.keys(parameters).flatMap((name) =>
          differences((at) => times * loss({ ...parameters, [name]: at }), parameters[name], 1e-5),
        );
        assert.ok(
          difference(Object.values(gradients).flat(), expected) < 2e-6,
          `${JSON.stringify(options)}: ${difference(Object.values(gradients).flat(), expected)}`,
        );
      }
      assert.ok(Object.values(model.zeroGrad().gradients).every(({ data }) => data.every((g) => g === 0)));
      model.dispose();
    }
  }),
);

test('the width of a tied head is that of the embedding', () => {
  const options = { ...SMALL, embedDim: 4, tied: true };
  refuses(() => hl.transformer({ ...options, headWidth: 6 }), 'ARGUMENT', 'headWidth', { got: 6 });
  hl.transformer({ ...options, headWidth: 4 }).dispose();
});

test(
  'judge returns the loss of learn and changes nothing',
  everywhere((hl) => {
    const model = build(hl, FORMS[1]);
    assert.deepEqual(model.judge(LABELS, TARGETS), model.learn(LABELS, TARGETS));
    const before = copies(model.gradients);
    model.judge(LABELS, TARGETS);
    assert.deepEqual(copies(model.gradients), before);
    model.dispose();
  }),
);

test('models with neighbouring seeds have no initial weights in common', () => {
  hl.scope(() => {
    const models = [0, 1, 2].map((seed) => hl.transformer({ ...SMALL, layers: 3, mlp: 6, seed }));
    const matrices = models.flatMap(({ parameters }) =>
      Object.values(parameters).filter(({ shape }) => shape.length > 1),
    );
    // Divides by the bounds of the uniform numbers, which depend on the shape. Equal random streams would then give
    // equal numbers.
    const firsts = matrices.map(({ data, shape: [out, inside] }) => data[0] * Math.sqrt(out + inside));
    assert.equal(new Set(firsts.map((x) => x.toPrecision(5))).size, matrices.length);
  });
});

test('training is reproducible bit for bit, in every run and with any number of threads', async () => {
  for (const {
    info: { simd },
  } of flavours) {
    const runs = [];
    for (const threads of [1, 1, 2, 4]) {
      const hl = await load({ simd, threads });
      const model = hl.transformer({
        layers: 2,
        dModel: 32,
        numHeads: 4,
        vocab: 26,
        context: 63,
        mlp: 40,
        dropout: 0.1,
        seed: 5,
      });
      const losses = [];
      teach(hl, model, { rate: 0.01, batch: 9, steps: 12 }, TASKS.repeat, ({ loss }) => losses.push(loss));
      runs.push({ losses, parameters: copies(model.parameters) });
      hl.dispose();
    }
    assert.ok(runs[0].losses.at(-1) < runs[0].losses[0]);
    for (const run of runs) assert.deepEqual(run, runs[0], simd);
  }
});

test(
  'a saved model is loaded with the same logits, bit for bit, and with its metadata',
  everywhere((hl) => {
    for (const options of FORMS) {
      const model = build(hl, options);
      const file = model.save({ task: 'repeat' });
      assert.equal(readSafetensors(file).metadata.task, 'repeat');
      const again = hl.loadTransformer(file);
      assert.deepEqual(again.options, model.options);
      assert.deepEqual(again.forward(LABELS).logits.copy(), model.forward(LABELS).logits.copy());
      const read = hl.loadTransformer(readSafetensors(file));
      assert.deepEqual(read.forward(LABELS).logits.copy(), model.forward(LABELS).logits.copy());
      const other = hl.transformer({ ...options, seed: 4 }).loadStateDict(model.stateDict());
      assert.deepEqual(other.forward(LABELS).logits.copy(), model.forward(LABELS).logits.copy());
      for (const made of [model, again, read, other]) made.dispose();
    }
  }),
);

test('invalid inputs are refused by name, and no tensor is lost', async () => {
  const before = hl.info.memory.used;
  const make = (options) => () => hl.transformer({ ...SMALL, ...options });
  refuses(make({ layers: -1 }), 'ARGUMENT', 'layers', { got: -1 });
  refuses(make({ dModel: 1.5 }), 'ARGUMENT', 'dModel', { got: 1.5 });
  refuses(make({ numHeads: 4 }), 'SHAPE', 'numHeads', /dModel 6 is not a multiple of numHeads 4/);
  refuses(make({ vocab: undefined }), 'ARGUMENT', 'vocab', { got: undefined });
  refuses(make({ context: 0 }), 'ARGUMENT', 'context', /context is 0/);
  refuses(make({ norm: 'batch' }), 'ARGUMENT', 'norm', /'layer', 'rms' or 'none'/);
  refuses(make({ causal: 1 }), 'ARGUMENT', 'causal', { got: 1 });
  refuses(make({ std: -1 }), 'ARGUMENT', 'std', { got: -1 });
  refuses(make({ dropout: 2 }), 'ARGUMENT', 'dropout', /at most 1/);
  refuses(make({ scale: [1] }), 'ARGUMENT', 'scale', /a number, or 2, one for each layer/);
  refuses(make({ layers: 1, scale: ['1'] }), 'ARGUMENT', 'scale[0]', { got: '1' });
  refuses(make({ heads: 2 }), 'ARGUMENT', 'heads');
  const encoder = { ...SMALL, causal: false, head: 'none' };
  const rotating = (layers) => make({ dModel: 8, positions: 'rotary', rotary: { layers } });
  for (const layers of [[true], 'all']) refuses(rotating(layers), 'ARGUMENT', 'layers', /one for each layer/);
  refuses(rotating([1, 0]), 'ARGUMENT', 'layers[0]', /true or false/);
  refuses(make({ queryKeyNorm: 'every' }), 'ARGUMENT', 'queryKeyNorm', /true, false, 'all', 'layer' or 'each'/);
  for (const normPlace of ['parallel', 'outputs'])
    refuses(make({ encoder, normPlace }), 'ARGUMENT', 'normPlace', /attention to an encoder/);
  const rounded = hl.transformer(SMALL);
  const kept = rounded.forward(LABELS, { train: true });
  rounded.quantize();
  refuses(() => rounded.backward({ dLogits: kept.logits }), 'STATE', undefined, /no forward with train: true/);
  kept.dispose();
  rounded.dispose();

  const model = hl.transformer(SMALL);
  const file = model.save();
  model.learn(LABELS, TARGETS);
  const made = hl.info.memory.used;
  refuses(() => model.forward([0, 5]), 'ARGUMENT', 'ids[1]', { got: 5 });
  refuses(() => model.forward([0, 1, 2, 3, 4]), 'SHAPE', 'ids', /the context is 4/);
  refuses(
    () =>
      model.learn(LABELS, [
        [0, 1, 2, 3],
        [0, 1, 2, 9],
      ]),
    'ARGUMENT',
    'targets[7]',
    /learn: targets\[7\] is 9, expected an integer from 0 to 4, or -100/,
  );
  refuses(
    () => model.judge(LABELS, TARGETS[0]),
    'SHAPE',
    'targets',
    /judge: targets has shape \[4\], expected \[2,4\]/,
  );
  refuses(() => model.learn(LABELS, TARGETS, { smoothing: 1 }), 'ARGUMENT', 'smoothing');

  const { tensors, metadata } = readSafetensors(file);
  const { 'head.weight': head, ...headless } = tensors;
  const wrong =
    (entries, options = metadata.headlight) =>
    () =>
      hl.loadTransformer(writeSafetensors(entries, options === null ? {} : { headlight: options }));
  refuses(wrong(tensors, null), 'FORMAT', 'headlight', /cannot read the options of the transformer/);
  refuses(wrong(tensors, '{'), 'FORMAT', 'headlight', /not JSON/);
  refuses(wrong(tensors, 'null'), 'ARGUMENT', 'options', { got: null });
  refuses(wrong(tensors, '{"layers":1}'), 'ARGUMENT', 'dModel', { got: undefined });
  refuses(wrong(headless), 'ARGUMENT', 'head.weight');
  refuses(wrong({ ...tensors, more: head }), 'ARGUMENT', 'more');
  refuses(
    wrong({ ...tensors, 'head.weight': { ...head, shape: [6, 5] } }),
    'SHAPE',
    'head.weight',
    /has shape \[6,5\], expected \[5,6\]/,
  );
  const read = readSafetensors(file);
  const name = 'embedding.table';
  const reads = (changed) => () => hl.loadTransformer({ ...read, ...changed });
  refuses(reads({ tensors: null }), 'ARGUMENT', 'tensors', { got: null });
  refuses(reads({ metadata: null }), 'ARGUMENT', 'metadata', { got: null });
  refuses(reads({ tensors: { ...read.tensors, [name]: null } }), 'ARGUMENT', name, /null/);
  refuses(reads({ tensors: { ...read.tensors, [name]: [1] } }), 'SHAPE', name, /\[1\]/);
  refuses(() => hl.loadTransformer(file.slice(0, 99)), 'FORMAT', undefined, /readSafetensorsHeader: .* truncated/);
  refuses(() => model.loadStateDict(null), 'ARGUMENT', 'dict', { got: null });
  assert.equal(hl.info.memory.used, made);
  model.dispose();
  refuses(() => model.forward([0]), 'DISPOSED', undefined, /this model has been disposed/);
  assert.equal(hl.info.memory.used, before);

  const narrow = await load({ maxMemory: 2 ** 20 });
  const free = narrow.info.memory.used;
  refuses(() => narrow.transformer({ ...SMALL, layers: 9, dModel: 96 }), 'OUT_OF_MEMORY', undefined, /out of memory/);
  assert.equal(narrow.info.memory.used, free);
  narrow.dispose();
});

test('the names and shapes of a saved file must match every option', () => {
  for (const form of FORMS) {
    const model = hl.transformer(form);
    const { tensors, metadata } = readSafetensors(model.save());
    const other = (options) => () =>
      hl.loadTransformer(
        writeSafetensors(tensors, { headlight: JSON.stringify({ ...JSON.parse(metadata.headlight), ...options }) }),
      );
    hl.loadTransformer(model.save()).dispose();
    assert.throws(other({ layers: form.layers + 1 }), { code: 'ARGUMENT', message: /loadTransformer: missing blocks/ });
    refuses(other({ dModel: 8 }), 'SHAPE', 'embedding.table', /has shape \[5,6\], expected \[5,8\]/);
    refuses(other({ vocab: 6 }), 'SHAPE', 'embedding.table', /has shape \[5,6\], expected \[6,6\]/);
    refuses(other({ context: 5 }), 'SHAPE', 'embedding.position', /has shape \[4,6\], expected \[5,6\]/);
    if (form.layers > 0) assert.throws(other({ mlp: 9 }), { message: /up.weight has shape|missing blocks.0/ });
    if (form.norm !== 'rms') assert.throws(other({ norm: 'rms' }), { code: 'ARGUMENT', message: /missing|unexpected/ });
    model.dispose();
  }
});

test('a file is compared with its options before anything is allocated', () => {
  const { used, reserved } = hl.info.memory;
  const claims = (options, tensors = {}) =>
    hl.loadTransformer.bind(
      hl,
      writeSafetensors(tensors, { headlight: JSON.stringify({ ...SMALL, mlp: 0, ...options }) }),
    );
  const wide = { vocab: 2 ** 20, context: 2 ** 20, dModel: 2 ** 20, numHeads: 1, layers: 2 ** 20 };
  const first = 'embedding.table';
  refuses(claims({ layers: 2 ** 20 }), 'ARGUMENT', first, /loadTransformer: missing embedding.table, .* and others$/);
  refuses(claims({ dModel: 8192 }), 'ARGUMENT', first);
  refuses(claims(wide), 'ARGUMENT', first);
  const table = { data: new Float32Array(30), shape: [5, 6] };
  refuses(claims({ layers: 2 ** 20 }, { [first]: table }), 'ARGUMENT', 'embedding.position', /and others$/);
  refuses(claims(wide, { [first]: table }), 'SHAPE', first, /has shape \[5,6\], expected \[1048576,1048576\]/);
  assert.deepEqual(hl.info.memory, { ...hl.info.memory, used, reserved });
});

test('errors list only a few of many wrong names', () => {
  const model = hl.transformer(SMALL);
  const many = Object.fromEntries(Array.from({ length: 20000 }, (_, i) => [`${'x'.repeat(90)}${i}`, [0]]));
  assert.throws(
    () => model.loadStateDict({ ...model.stateDict(), ...many }),
    ({ code, message }) =>
      code === 'ARGUMENT' && /unexpected xxx.* and 19992 more$/.test(message) && message.length < 800,
  );
  assert.throws(() => model.loadStateDict({}), /missing embedding.table, .* and \d+ more$/);
  model.dispose();
});

test(
  'a model that is returned from a scope keeps its tensors',
  everywhere((hl) => {
    const model = hl.scope(() => hl.transformer(SMALL));
    assert.ok(Number.isFinite(model.learn(LABELS, TARGETS).loss));
  }),
);

test('many training steps take no more memory than two', () => {
  const model = hl.transformer({ ...SMALL, mlp: 8 });
  const layers = [model];
  const optimizer = hl.adamW(layers);
  const after = (steps) => {
    for (let step = 0; step < steps; step++) {
      model.zeroGrad().learn(LABELS, TARGETS);
      hl.clipGradients(layers, 1);
      optimizer.step();
      model.judge(LABELS, TARGETS);
    }
    return hl.info.memory;
  };
  assert.deepEqual(after(inTier(1998, 198)), after(2));
  optimizer.dispose();
  model.dispose();
});

test('divergence by a high learning rate is visible in the loss and affects no other model', () => {
  const other = build(hl, FORMS[1]);
  const before = other.judge(LABELS, TARGETS);
  const model = hl.transformer({ ...SMALL, norm: 'none' });
  const optimizer = hl.sgd([model], { lr: 1e30 });
  let loss = 0;
  for (let step = 0; step < 5; step++) {
    ({ loss } = model.zeroGrad().learn(LABELS, TARGETS));
    optimizer.step();
  }
  assert.ok(Number.isNaN(loss), `the loss is ${loss}`);
  assert.ok(Number.isNaN(model.judge(LABELS, TARGETS).loss));
  assert.deepEqual(other.judge(LABELS, TARGETS), before);
  for (const made of [model, other, optimizer]) made.dispose();
});

test('options that exclude each other are refused when a model is created', () => {
  const make = (options) => () => hl.transformer({ ...SMALL, ...options });
  refuses(make({ head: 'pooled', pool: 'none', classes: 2 }), 'ARGUMENT', 'pool', { got: 'none' });
  refuses(make({ padToken: 1 }), 'ARGUMENT', 'positionOffset', /at least 1, because padToken has the row before/);
  refuses(
    make({ padToken: 1, positionOffset: 2, positions: 'rotary' }),
    'ARGUMENT',
    'padToken',
    /positions 'rotary' count every token/,
  );
});

test('after quantize() every training method is refused', () => {
  const model = hl.transformer(SMALL);
  const optimizer = hl.adamW([model], { lr: 0.1 });
  model.learn(LABELS, TARGETS);
  optimizer.step();
  model.quantize();
  const before = copies(model.parameters);
  const int8 = /a model with int8 weights cannot be trained/;
  refuses(() => optimizer.step(), 'STATE', undefined, int8);
  refuses(() => model.zeroGrad(), 'STATE', undefined, int8);
  refuses(() => hl.clipGradients([model], 1), 'STATE', undefined, int8);
  refuses(() => model.learn(LABELS, TARGETS), 'STATE', undefined, int8);
  assert.deepEqual(copies(model.parameters), before);
  optimizer.dispose();
  model.dispose();
});

test('backward is refused if the weights have changed since forward', () => {
  const model = hl.transformer(SMALL);
  const optimizer = hl.sgd([model], { lr: 0.1 });
  for (const change of [() => model.loadStateDict(model.stateDict()), () => optimizer.step()]) {
    const { logits } = model.forward(LABELS, { train: true });
    const dLogits = { data: logits.copy(), shape: logits.shape };
    change();
    refuses(() => model.backward({ dLogits }), 'STATE', undefined, /the weights have changed since forward/);
    model.forward(LABELS, { train: true });
    model.backward({ dLogits });
  }
  optimizer.dispose();
  model.dispose();
});

test('inputs may have the names of other libraries', () => {
  const model = build(hl, { ...SMALL, tokenTypes: 2 });
  const tensor = (rows) => ({
    data: BigInt64Array.from(rows.flat(), BigInt),
    dims: [rows.length, rows[0].length],
    type: 'int64',
  });
  const keep = [
    [0, 1, 1, 1],
    [1, 1, 1, 1],
  ];
  const types = [
    [0, 0, 1, 1],
    [0, 1, 1, 1],
  ];
  const expected = model.forward({ ids: LABELS, keep, typeIds: types }).logits.copy();
  const given = { input_ids: tensor(LABELS), attention_mask: tensor(keep), token_type_ids: tensor(types) };
  assert.deepEqual(model.forward(given).logits.copy(), expected);
  refuses(() => model.forward({ ...given, ids: LABELS }), 'ARGUMENT', 'input_ids', /none, as ids is given/);
  refuses(() => model.forward({ input_ids: [[9]] }), 'ARGUMENT', 'input_ids[0]', { got: 9 });
  refuses(() => model.forward({ input_ids: [[1]], attention_mask: [[2]] }), 'ARGUMENT', 'attention_mask[0]', {
    got: 2,
  });
  refuses(() => model.forward(['one text', 'another']), 'ARGUMENT', 'ids', /one text in place of a list/);
  model.dispose();
  const picture = { input: 'patches', patch: { size: 2, image: 4 }, positions: 'learned', context: 5 };
  const seeing = hl.transformer({ ...SMALL, ...picture, causal: false, head: 'none' });
  const pixels = hl.uniform([1, 3, 4, 4]);
  const hidden = seeing.forward({ pixels }).hidden.copy();
  assert.deepEqual(seeing.forward({ pixel_values: pixels }).hidden.copy(), hidden);
  refuses(() => seeing.forward({ pixel_values: [1] }), 'SHAPE', 'pixel_values', /pixel_values has shape/);
  refuses(() => seeing.forward('a text'), 'ARGUMENT', 'input', /the input of this model: \{ pixels \}/);
  seeing.dispose();
});

test('a model of patches without class tokens has no weight for them', () => {
  const shared = { ...SMALL, input: 'patches', positions: 'learned', causal: false, head: 'none' };
  const [one, none] = [1, 0].map((classTokens) =>
    hl.transformer({ ...shared, context: 4 + classTokens, patch: { size: 2, image: 4, classTokens } }),
  );
  assert.deepEqual(
    Object.keys(one.parameters).filter((name) => !(name in none.parameters)),
    ['embedding.class'],
  );
  const { hidden } = none.forward({ pixels: hl.uniform([1, 3, 4, 4]) });
  assert.deepEqual(hidden.shape, [1, 4, SMALL.dModel]);
  for (const model of [one, none]) model.dispose();
});

test('console.log shows one line for each object', async () => {
  const { inspect } = await import('node:util');
  const own = await load();
  const model = own.transformer(SMALL);
  const cache = model.cache({ length: 3, batch: 2 });
  model.forward([[1], [2]], { cache });
  const tensor = own.tensor([
    [1.23456789, 2],
    [3, 4],
    [5, 6],
    [7, 8],
  ]);
  const layer = own.multiHeadAttention({ embedDim: 8, numHeads: 4, kvHeads: 2 });
  const lines = [
    [tensor, 'Tensor [4,2]: 1.2346, 2, 3, 4, 5, 6, …'],
    [own.zeros([0, 3]), 'Tensor [0,3]'],
    [model, 'Transformer: layers 2, heads 2, width 6, tokens 5, context 4, float32'],
    [cache, 'Cache: 1 of 3 tokens, batch 2, float32'],
    [layer, 'MultiHeadAttention: 4 heads, 2 of keys and values, width 8, head width 2'],
  ];
  for (const [object, line] of lines) assert.equal(inspect(object), line);
  assert.match(inspect(own), /^Headlight \d+\.\d+\.\d+: (simd128|relaxed), threads 1, memory \d/);
  const tokenizer = await own.openTokenizer(
    new TextEncoder().encode(JSON.stringify({ model: { type: 'BPE', vocab: { a: 0 }, merges: [] } })),
  );
  assert.equal(inspect(tokenizer), 'Tokenizer: 1 tokens, 0 of them special');
  tensor.dispose();
  cache.dispose();
  assert.match(inspect(tensor), /disposed/);
  assert.match(inspect(cache), /disposed/);
  own.dispose();
  for (const [object] of lines) assert.equal(inspect(object).split('\n').length, 1);
  assert.match(inspect(own), /disposed/);
});
