// Calls of every public function with valid arguments, in every accepted form of arrays, and their expected results. A
// call is { name, run, args } and optionally: `check` and `made`, which receive its result; `undo`, called if invalid
// arguments were accepted; `refusable`, the codes of errors that are also possible with valid arguments; `keeps`, true
// if a failed call may keep memory allocated for the next call.

import assert from 'node:assert/strict';
import { cosineSchedule, warmupSchedule } from 'headlight-attention';
import * as layers from '../support/layers.js';
import { array, build } from '../support/problems.js';
import { assertClose, checkAttention, checkGradients, checkLayer, joinRows, linear } from './expected.js';
import { copyOf, count, inForm, integersInForm, nest, SMALL } from './forms.js';
import { transformer } from './models.js';

const ACTIVATIONS = [
  ['gelu', 'GELU'],
  ['quick-gelu', 'QUICK_GELU'],
  ['relu', 'RELU'],
  ['silu', 'SILU'],
  ['tanh', 'TANH'],
];
const BIT_OPTIONS = ['mask', 'keyPadding'];

/** Makes sizes, inputs and options, both for attention() and for the reference. */
function makeProblem({ source }) {
  const sizes = {
    B: source.between(1, 3),
    G: source.between(1, 2),
    group: source.between(1, 3),
    T: source.chance(0.1) ? source.pick([0, 13, 25]) : source.between(1, 6),
    S: source.chance(0.1) ? source.pick([0, 9, 40]) : source.between(1, 7),
    D: source.chance(0.05) ? 0 : source.between(1, 6),
    Dv: source.between(1, 5),
    seed: source.seed() % 1000,
  };
  const choice = {
    scale: source.maybe(0.3, () => source.pick([0.1, 1, -0.5])),
    softcap: source.maybe(0.2, () => source.pick([0.5, 3, 30])),
    mask: source.maybe(0.3, () => source.pick(['S', 'TS', 'HTS', 'BHTS', 'B11S', '1T1'])),
    bias: source.maybe(0.3, () => source.pick(['S', 'TS', 'HTS', 'BHTS', 'B1TS', 'scalar'])),
    keyPadding: source.chance(0.2),
    validLens: source.maybe(0.2, () => source.pick(['B', 'BT'])),
    causal: source.chance(0.3),
    window: source.maybe(0.2, () => [source.between(-1, 5), source.between(-1, 5)]),
    offset: source.maybe(0.2, () => (source.chance(0.5) ? source.between(-3, 6) : [1, -2, 3])),
    maskFill: source.maybe(0.1, () => source.pick([-1e9, -3])),
    dropout: source.chance(0.15),
    sinks: source.chance(0.2),
    slopes: source.chance(0.2),
  };
  return { sizes, ...build(sizes, choice) };
}

/** Returns the options with each array in a random accepted form. */
function inForms(context, options) {
  const formed = { ...options };
  for (const name of BIT_OPTIONS) if (options[name]) formed[name] = integersInForm(context, options[name], SMALL);
  if (options.bias) formed.bias = inForm(context, options.bias);
  if (options.sinks) formed.sinks = inForm(context, options.sinks);
  if (options.dropout?.keep)
    formed.dropout = { ...options.dropout, keep: integersInForm(context, options.dropout.keep, SMALL) };
  return formed;
}

const asked = ({ source }) => ({
  ...(source.chance(0.4) && { weights: source.pick([true, 'mean', false]) }),
  ...(source.chance(0.2) && { scores: source.pick(['raw', 'scaled', 'capped', 'masked']) }),
});

function attention(context) {
  const { source, world } = context;
  const { inputs, options, plain, sizes } = makeProblem(context);
  const want = asked(context);
  const [q, k, v] = inputs.map(copyOf);
  const all = { ...inForms(context, options), ...want };
  let [keys, values] = [k, v];
  if (source.chance(0.15)) {
    const { B, G, D, Dv, seed } = sizes;
    const P = source.between(0, 3);
    const [pastKey, pastValue] = [array([B, G, P, D], seed + 21), array([B, G, P, Dv], seed + 22)];
    [keys, values] = [joinRows(pastKey, k), joinRows(pastValue, v)];
    // The past keys make operands with one element per key too short, and change the default of offset.
    for (const name of ['mask', 'bias', 'keyPadding', 'validLens', 'dropout']) {
      delete all[name];
      delete plain[name === 'dropout' ? 'keep' : name];
    }
    plain.offset ??= P;
    Object.assign(all, { pastKey: inForm(context, pastKey), pastValue: inForm(context, pastValue) });
  }
  const check = (result) => {
    checkAttention(result, [q, keys, values], plain, want);
    if (all.pastKey === undefined) return;
    assert.deepEqual(result.presentKey.copy(), keys.data);
    assert.deepEqual(result.presentValue.copy(), values.data);
  };
  return {
    name: 'attention',
    run: (...args) => world.hl.attention(...args),
    args: [...[q, k, v].map((x) => inForm(context, x)), all],
    check,
  };
}

function attentionBackward(context) {
  const { source, world } = context;
  const { inputs, options, plain } = makeProblem(context);
  const [q, k, v] = inputs.map(copyOf);
  const weights = source.chance(0.3);
  const { output } = world.keep(
    world.hl.attention(...inputs.map((x) => inForm(context, x)), { ...options, train: true, weights }),
  );
  const result = world.results.pop();
  const dOutput = array([...output.shape], source.seed() % 1000);
  const dWeights = weights ? array([...result.weights.shape], source.seed() % 1000) : undefined;
  const dBias = source.chance(0.3) ? source.chance(0.5) : undefined;
  return {
    name: 'result.backward',
    run: (...args) => result.backward(...args),
    args: [
      inForm(context, dOutput),
      { ...(weights && { dWeights: inForm(context, dWeights) }), ...(dBias !== undefined && { dBias }) },
    ],
    check(gradients) {
      checkGradients(gradients, [q, k, v], plain, dOutput, dWeights);
      assert.equal(gradients.dBias !== undefined, plain.bias !== undefined && dBias !== false);
      if (gradients.dBias) assert.deepEqual([...gradients.dBias.shape], plain.bias.shape);
    },
  };
}

function packedAttention(context) {
  const { source, world } = context;
  const [B, heads, T, S, D] = [
    source.between(1, 2),
    source.between(1, 3),
    ...[1, 2, 3].map(() => source.between(1, 5)),
  ];
  const shapes = [T, S, S].map((rows) => [B, rows, heads * D]);
  const inputs = shapes.map((shape) => array(shape, source.seed() % 1000));
  const split = ({ data, shape: [, rows] }) => {
    const wide = { data: new Float32Array(data.length), shape: [B, heads, rows, D] };
    for (let i = 0; i < data.length; i++) {
      const [d, h, r, b] = [
        i % D,
        Math.floor(i / D) % heads,
        Math.floor(i / D / heads) % rows,
        Math.floor(i / D / heads / rows),
      ];
      wide.data[((b * heads + h) * rows + r) * D + d] = data[i];
    }
    return wide;
  };
  return {
    name: 'attention, packed',
    run: (...args) => world.hl.attention(...args),
    args: [...inputs.map((x) => inForm(context, x)), { heads, ...(source.chance(0.3) && { kvHeads: heads }) }],
    check(result) {
      const output = { data: result.output.copy(), shape: result.output.shape };
      checkAttention(
        { output: { copy: () => split(output).data, size: count(output.shape), shape: output.shape } },
        inputs.map(split),
        {},
        {},
      );
    },
  };
}

function makeLayer(context) {
  const { source, world } = context;
  const numHeads = source.pick([1, 2, 4]);
  const options = {
    embedDim: numHeads * source.between(1, 3),
    numHeads,
    ...(source.chance(0.3) && { kvHeads: 1 }),
    ...(source.chance(0.2) && { headDim: source.between(1, 4) }),
    ...(source.chance(0.2) && { keyDim: source.between(1, 5) }),
    ...(source.chance(0.2) && { bias: source.chance(0.5) }),
    ...(source.chance(0.2) && { outProjection: source.chance(0.5) }),
    ...(source.chance(0.2) && { biasKV: true }),
    ...(source.chance(0.2) && { zeroAttention: true }),
    ...(source.chance(0.2) && { dropout: 0.5 }),
    ...(source.chance(0.2) && { weights: 'int8' }),
    seed: source.below(100),
  };
  return {
    name: 'multiHeadAttention',
    run: (...args) => world.hl.multiHeadAttention(...args),
    args: [options],
    made: (layer) => world.layers.push(layer),
  };
}

function forward(context) {
  const { source, world } = context;
  const layer = source.pick(world.layers);
  const { options } = layer;
  const [B, T, S] = [source.between(1, 2), source.between(0, 4), source.between(0, 5)];
  const x = array([B, T, options.queryDim], source.seed() % 1000);
  const self = options.keyDim === options.queryDim && options.valueDim === options.queryDim && source.chance(0.5);
  const y = self ? x : array([B, S, options.keyDim], source.seed() % 1000);
  const z =
    self || (options.valueDim === options.keyDim && source.chance(0.5))
      ? y
      : array([B, y.shape[1], options.valueDim], source.seed() % 1000);
  const want = {
    ...asked(context),
    ...(source.chance(0.3) && { causal: true }),
    ...(source.chance(0.3) && { train: source.chance(0.7) }),
  };
  const args = self
    ? [inForm(context, x)]
    : z === y
      ? [x, y].map((a) => inForm(context, a))
      : [x, y, z].map((a) => inForm(context, a));
  const plain = { causal: want.causal };
  const exact = options.weights === 'float32' && !options.biasKV && !options.zeroAttention;
  const drops = (want.train ?? world.training.has(layer)) && options.dropout > 0;
  return {
    name: 'layer.forward',
    run: (...given) => layer.forward(...given),
    args: [...args, want],
    check(result) {
      // Invalid arguments that were accepted, such as a state with NaN, may have changed the parameters.
      if (!Object.values(layer.parameters).every((tensor) => tensor.copy().every(Number.isFinite))) return;
      if (exact && !drops) checkLayer(result, layer, [x, y, z], plain, want);
      else assert.ok(result.output.copy().every(Number.isFinite), 'finite');
    },
    made: (result) => world.passes.set(layer, { shape: [...result.output.shape] }),
  };
}

function backward(context) {
  const { source, world } = context;
  const layer = source.pick(world.layers);
  const shape = world.passes.get(layer)?.shape ?? [1, 1, 1];
  return {
    name: 'layer.backward',
    run: (...args) => layer.backward(...args),
    args: [inForm(context, array(shape, source.seed() % 1000)), {}],
    // There may have been no forward in training mode before the call.
    refusable: ['STATE', 'SHAPE'],
  };
}

const LAYOUTS = ['headlight', 'torch', 'd2l', 'keras', 'keras-layer', 'bert', 'linear'];

function state(context) {
  const { source, world } = context;
  const layer = source.pick(world.layers);
  const layout = source.maybe(0.7, () => source.pick(LAYOUTS));
  if (source.chance(0.5))
    return {
      name: 'layer.stateDict',
      run: (...args) => layer.stateDict(...args),
      args: layout ? [layout] : [],
      refusable: ['ARGUMENT'],
      check(dict) {
        for (const { data, shape } of Object.values(dict)) assert.equal(data.length, count(shape));
      },
    };
  const dict = layer.stateDict();
  const values = Object.fromEntries(Object.entries(dict).map(([name, entry]) => [name, copyOf(entry)]));
  return {
    name: 'layer.loadStateDict',
    run: (...args) => layer.loadStateDict(...args),
    args: [Object.fromEntries(Object.entries(dict).map(([name, entry]) => [name, inForm(context, entry)]))],
    check() {
      for (const [name, { data }] of Object.entries(values)) assert.deepEqual(layer.parameters[name].copy(), data);
    },
  };
}

function useLayer({ source, world }) {
  const layer = source.pick(world.layers);
  const on = source.chance(0.5);
  return source.pick([
    {
      name: 'layer.train',
      run: (...args) => layer.train(...args),
      args: [on],
      made: () => (on ? world.training.add(layer) : world.training.delete(layer)),
      undo: () => layer.eval() && world.training.delete(layer),
    },
    { name: 'layer.eval', run: () => layer.eval(), args: [], made: () => world.training.delete(layer) },
    {
      name: 'layer.zeroGrad',
      run: () => layer.zeroGrad(),
      args: [],
      check: () => assert.ok(Object.values(layer.gradients).every((tensor) => tensor.copy().every((x) => x === 0))),
    },
    {
      name: 'layer.quantize',
      run: () => layer.quantize(),
      args: [],
      check: () => assert.equal(layer.options.weights, 'int8'),
    },
  ]);
}

function plainLayer(context) {
  const { source, world } = context;
  const { hl } = world;
  const [rows, width, out] = [source.between(0, 4), source.between(1, 5), source.between(1, 5)];
  const x = array([rows, width], source.seed() % 1000);
  const held = world.simple;
  return source.pick([
    () => ({
      name: 'linear',
      run: (...args) => hl.linear(...args),
      args: [{ in: width, out, ...(source.chance(0.5) && { bias: source.chance(0.5) }), seed: 3 }],
      made: (layer) => held.push(layer),
    }),
    () => {
      const layer = world.keep(hl.linear({ in: width, out, seed: source.below(9) }));
      const [weight, bias] = [layer.parameters.weight.copy(), layer.parameters.bias.copy()];
      return {
        name: 'linear.forward',
        run: (...args) => layer.forward(...args),
        args: [inForm(context, x)],
        check: (y) => assertClose(y.copy(), linear(x.data, weight, bias, width), 'linear'),
      };
    },
    () => {
      const rms = source.chance(0.5);
      const layer = world.keep(rms ? hl.rmsNorm({ width }) : hl.layerNorm({ width }));
      const expected = layers.norm(Array.from(x.data), new Array(width).fill(1), null, { eps: 1e-5, mean: !rms });
      return {
        name: 'norm.forward',
        run: (...args) => layer.forward(...args),
        args: [inForm(context, x)],
        check: (y) => assertClose(y.copy(), expected, 'norm', 1e-3),
      };
    },
    () => {
      const approximate = source.pick(['none', 'tanh']);
      const layer = world.keep(hl.gelu({ approximate }));
      return {
        name: 'gelu.forward',
        run: (...args) => layer.forward(...args),
        args: [inForm(context, x)],
        check: (y) =>
          assertClose(
            y.copy(),
            Array.from(x.data, (value) => layers.gelu(value, approximate)),
            'gelu',
          ),
      };
    },
    () => {
      const [kind, name] = source.pick(ACTIVATIONS);
      const layer = world.keep(hl.activation({ kind, gated: true }));
      const up = array(x.shape, source.seed() % 1000);
      return {
        name: 'gated.forward',
        run: (...args) => layer.forward(...args),
        args: [inForm(context, x), inForm(context, up), { train: source.chance(0.5) }],
        check: (y) =>
          assertClose(
            y.copy(),
            Array.from(x.data, (value, i) => layers.activation[name](value) * up.data[i]),
            'gated',
          ),
      };
    },
    () => {
      const target = array(x.shape, source.seed() % 1000);
      const errors = Array.from(x.data, (value, i) => value - target.data[i]);
      return {
        name: 'meanSquaredError',
        run: (...args) => hl.meanSquaredError(...args),
        args: [inForm(context, x), inForm(context, target)],
        check: ({ dPrediction }) =>
          assertClose(
            dPrediction.copy(),
            errors.map((e) => (2 * e) / errors.length),
            'mean squared error',
          ),
      };
    },
    () => {
      const layer = world.keep(hl.embedding({ count: 5, width, context: 9, seed: 2 }));
      const labels = Int32Array.from({ length: rows }, () => source.below(5));
      const [table, position] = [layer.parameters.table.copy(), layer.parameters.position.copy()];
      const first = source.below(4);
      return {
        name: 'embedding.forward',
        run: (...args) => layer.forward(...args),
        args: [integersInForm(context, { data: labels, shape: [rows] }, SMALL), { offset: first }],
        check: (y) =>
          assertClose(y.copy(), layers.embedding(table, position, labels, { rows, width, first }), 'embedding'),
      };
    },
    () => ({
      name: 'layerNorm',
      run: (...args) => hl.layerNorm(...args),
      args: [{ width, eps: 1e-4 }],
      made: (layer) => held.push(layer),
    }),
    () => ({
      name: 'rmsNorm',
      run: (...args) => hl.rmsNorm(...args),
      args: [{ width, bias: true }],
      made: (layer) => held.push(layer),
    }),
    () => ({
      name: 'gelu',
      run: (...args) => hl.gelu(...args),
      args: [{ approximate: 'tanh' }],
      made: (layer) => held.push(layer),
    }),
    () => ({
      name: 'embedding',
      run: (...args) => hl.embedding(...args),
      args: [{ count: 3, width, ...(source.chance(0.5) && { context: 4 }), std: 0.1 }],
      made: (layer) => held.push(layer),
    }),
    () => {
      const layer = held.length > 0 ? source.pick(held) : world.keep(hl.gelu());
      const method = source.pick(['forward', 'backward', 'zeroGrad', 'dispose']);
      // The gradient may have a different width, there may have been no forward, or the layer may be disposed of.
      const refusable = ['SHAPE', 'STATE', 'DISPOSED', 'ARGUMENT'];
      return {
        name: `simple.${method}`,
        run: (...args) => layer[method](...args),
        args: [inForm(context, x)],
        refusable,
      };
    },
  ])();
}

function arithmetic(context) {
  const { source, world } = context;
  const { hl } = world;
  const shape = Array.from({ length: source.below(4) }, () => source.below(4));
  const [a, b] = [array(shape, source.seed() % 1000), array(shape, source.seed() % 1000)];
  return source.pick([
    () => ({
      name: 'add',
      run: (...args) => hl.add(...args),
      args: [inForm(context, a), inForm(context, b)],
      check: (sum) =>
        assertClose(
          sum.copy(),
          a.data.map((x, i) => x + b.data[i]),
          'add',
        ),
    }),
    () => ({
      name: 'tensor',
      run: (...args) => hl.tensor(...args),
      args: [inForm(context, a), ...(source.chance(0.5) ? [shape] : [])],
      check(tensor) {
        assert.deepEqual(tensor.copy(), Float32Array.from(a.data));
        assert.deepEqual([...tensor.shape], shape);
        if (count(shape) > 0) assert.deepEqual(tensor.toArray(), nest(a));
      },
    }),
    () => ({
      name: 'zeros',
      run: (...args) => hl.zeros(...args),
      args: [shape],
      check: (t) => assert.ok(t.copy().every((x) => x === 0)),
    }),
    () => ({
      name: 'randn',
      run: (...args) => hl.randn(...args),
      args: [shape, { seed: 4, std: 2 }],
      check: (t) => assert.ok(t.copy().every(Number.isFinite)),
    }),
    () => ({
      name: 'uniform',
      run: (...args) => hl.uniform(...args),
      args: [shape, { low: -1, high: 1 }],
      check: (t) => assert.ok(t.copy().every((x) => x >= -1 && x <= 1)),
    }),
    () => {
      const [rows, classes] = [source.between(0, 4), source.between(1, 5)];
      const logits = array([rows, classes], source.seed() % 1000);
      const labels = Int32Array.from({ length: rows }, () => (source.chance(0.2) ? -100 : source.below(classes)));
      const smoothing = source.pick([0, 0.1]);
      const expected = layers.crossEntropy(logits.data, labels, { smoothing });
      return {
        name: 'crossEntropy',
        run: (...args) => hl.crossEntropy(...args),
        args: [inForm(context, logits), { data: labels, shape: [rows] }, { labelSmoothing: smoothing }],
        check({ loss, counted }) {
          assert.equal(counted, expected.counted);
          assertClose([loss], [expected.loss], 'loss');
        },
      };
    },
    () => {
      const tensor = world.keep(hl.tensor(a));
      return {
        name: 'clipGradients',
        run: (...args) => hl.clipGradients(...args),
        args: [{ tensor }, 1],
        check: (norm) => assertClose([norm], [Math.hypot(...a.data)], 'norm'),
      };
    },
    () => ({
      name: 'warmupSchedule',
      run: (...args) => warmupSchedule(...args)(2),
      args: [{ lr: 1, warmup: 4 }],
      check: (lr) => assertClose([lr], [0.75], 'lr'),
    }),
    () => ({
      name: 'cosineSchedule',
      run: (...args) => cosineSchedule(...args)(5),
      args: [{ lr: 1, steps: 10 }],
      check: (lr) => assertClose([lr], [0.5], 'lr'),
    }),
    () => {
      const inner = () => [hl.zeros([2]), { deep: hl.zeros([3]) }];
      return {
        name: 'scope',
        run: (...args) => hl.scope(...args),
        args: [inner],
        check: ([t, { deep }]) => assert.ok(!t.disposed && !deep.disposed),
      };
    },
    () => {
      const tensors = world.tensors.filter((tensor) => !tensor.disposed);
      if (tensors.length > 0) source.pick(tensors).dispose();
      return { name: 'info', run: () => hl.info.threads, args: [], check: (threads) => assert.equal(threads, 1) };
    },
  ])();
}

function optimize(context) {
  const { source, world } = context;
  const { hl } = world;
  const n = source.between(0, 4);
  const [w, g] = [array([n], source.seed() % 1000), array([n], source.seed() % 1000)];
  if (world.optimizers.length > 0 && source.chance(0.3)) {
    const optimizer = source.pick(world.optimizers);
    const method = source.pick(['step', 'dispose']);
    return {
      name: `optimizer.${method}`,
      run: (...args) => optimizer[method](...args),
      args: [],
      refusable: ['ARGUMENT', 'DISPOSED', 'SHAPE'],
    };
  }
  const tensor = world.keep(hl.tensor(w));
  if (source.chance(0.5)) {
    const optimizer = world.keep(hl.sgd({ w: tensor }, { lr: 0.5 }));
    return {
      name: 'sgd.step',
      run: (...args) => optimizer.step(...args),
      args: [{ w: inForm(context, g) }],
      check: () =>
        assertClose(
          tensor.copy(),
          w.data.map((x, i) => x - 0.5 * g.data[i]),
          'sgd',
        ),
    };
  }
  const kind = source.pick(['sgd', 'adam', 'adamW']);
  const parameters = source.chance(0.5) || world.layers.length === 0 ? { w: tensor } : [source.pick(world.layers)];
  const options =
    kind === 'sgd' ? { lr: 0.1, momentum: 0.9, nesterov: true } : { lr: 0.1, betas: [0.9, 0.99], eps: 1e-8 };
  return {
    name: kind,
    run: (...args) => hl[kind](...args),
    args: [parameters, options],
    made: (optimizer) => world.optimizers.push(optimizer),
  };
}

const KINDS = [
  [30, attention],
  [8, attentionBackward],
  [6, packedAttention],
  [6, makeLayer],
  [16, forward],
  [6, backward],
  [5, state],
  [4, useLayer],
  [12, plainLayer],
  [14, arithmetic],
  [6, optimize],
  [16, transformer],
];
const ALL = KINDS.flatMap(([share, kind]) => new Array(share).fill(kind));
const NEEDS_LAYER = new Set([forward, backward, state, useLayer]);

/** Makes a random call, with the objects that exist in the world. */
export function makeCall(context) {
  const kind = context.source.pick(ALL);
  return (NEEDS_LAYER.has(kind) && context.world.layers.length === 0 ? makeLayer : kind)(context);
}
