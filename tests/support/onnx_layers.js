// Computes random layers and attentions by Headlight and by ONNX files.

import { toOnnx } from 'headlight-attention/onnx';
import { difference, rounded, runOnnx } from './onnx.js';

/** Returns a generator of numbers from 0 to 1 (mulberry32). */
function source(seed) {
  let state = seed * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SCALINGS = [
  { type: 'linear', factor: 4 },
  { type: 'llama3', factor: 8, lowFreqFactor: 1, highFreqFactor: 4, originalContext: 32 },
  { type: 'yarn', factor: 4, originalContext: 32 },
];

/** Chooses the options of a layer, masks and sizes at random. */
export function chooseLayer(seed) {
  const next = source(seed);
  const pick = (...list) => list[Math.floor(next() * list.length)];
  const maybe = (share = 0.3) => next() < share;
  const count = (least, most) => least + Math.floor(next() * (most - least + 1));
  const kvHeads = count(1, 3);
  const headDim = pick(2, 4, 6, 8, 16);
  const alone = maybe(0.25);
  const apart = !alone && maybe();
  const layer = {
    numHeads: kvHeads * count(1, 3),
    kvHeads,
    headDim,
    embedDim: count(1, 24),
    ...(apart && { queryDim: count(1, 20), keyDim: count(1, 20), valueDim: count(1, 20) }),
    ...(maybe() && { bias: false, outBias: maybe() }),
    ...(maybe() && { outProjection: false }),
    ...(maybe() && { biasKV: true }),
    ...(maybe() && { zeroAttention: true }),
    ...(!alone && maybe(0.15) && { weights: 'int8' }),
    seed,
  };
  const sight = {
    ...(maybe(0.4) && { causal: true }),
    ...(maybe() && { window: [count(-1, 4), count(-1, 2)] }),
    ...(maybe() && { softcap: pick(0.5, 3, 30) }),
    ...(maybe(0.2) && { scale: pick(0.1, 1) }),
    ...(maybe() && { alibi: true }),
    ...(maybe() && {
      rotary: {
        ...(maybe() && { width: pick(0, 2) }),
        ...(maybe(0.5) && { pairing: 'neighbours' }),
        ...(maybe() && { theta: 500 }),
        ...(maybe() && { scaling: pick(...SCALINGS) }),
      },
    }),
    ...(maybe(0.15) && { maskFill: -1e4 }),
  };
  const tensors = {
    ...(maybe() && { mask: pick('boolean', 'float') }),
    ...(maybe() && { bias: true }),
    ...(maybe() && { keyPadding: true }),
    ...(maybe(0.2) && { validLens: pick(true, 'queries') }),
    ...(maybe(0.2) && { sinks: true }),
    ...(maybe(0.2) && { offset: pick(true, count(0, 3)) }),
  };
  const self = !alone && !apart && maybe(0.5);
  const cache = maybe();
  const sizes = { batch: count(1, 3), queries: count(1, 6), fresh: count(1, 7), past: cache ? count(0, 4) : 0 };
  if (self) sizes.fresh = sizes.queries;
  const file = { cache, weights: pick(true, 'mean', false), ...(maybe() && { external: true }) };
  const packed = alone && maybe(0.5);
  return { seed, layer, alone, packed, self, sight, tensors, sizes, file };
}

const numbers = (next, shape, make = () => 2 * next() - 1) => ({
  data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, make),
  shape,
});
const booleans = (next, shape, share) => {
  const { data } = numbers(next, shape, () => Number(next() < share));
  return { data: Uint8Array.from(data), shape };
};
const integers = (next, shape, least, most) => {
  const { data } = numbers(next, shape, () => least + Math.floor(next() * (most - least + 1)));
  return { data: BigInt64Array.from(data, BigInt), shape };
};

/** Returns inputs for the options and sizes that were chosen at random, by name. */
function makeInputs({ seed, layer, alone, packed, self, tensors, sizes, file }) {
  const next = source(seed + 1e6);
  const { batch, queries, fresh, past } = sizes;
  const { numHeads: heads, kvHeads, headDim, embedDim, queryDim, keyDim, valueDim } = layer;
  const keys = past + fresh;
  const shapes = alone
    ? {
        query: packed ? [batch, queries, heads * headDim] : [batch, heads, queries, headDim],
        key: packed ? [batch, fresh, kvHeads * headDim] : [batch, kvHeads, fresh, headDim],
        value: packed ? [batch, fresh, kvHeads * headDim] : [batch, kvHeads, fresh, headDim],
      }
    : {
        query: [batch, queries, queryDim ?? embedDim],
        ...(!self && { key: [batch, fresh, keyDim ?? embedDim], value: [batch, fresh, valueDim ?? embedDim] }),
      };
  const inputs = Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, numbers(next, shape)]));
  const forms = [
    [batch, heads, queries, keys],
    [1, 1, queries, keys],
    [batch, 1, 1, keys],
    [1, heads, queries, 1],
  ];
  const form = () => forms[Math.floor(next() * forms.length)];
  if (tensors.mask === 'boolean') inputs.mask = booleans(next, form(), 0.6);
  if (tensors.mask === 'float') inputs.mask = numbers(next, form());
  if (tensors.bias) inputs.bias = numbers(next, form());
  if (tensors.keyPadding) inputs.keyPadding = booleans(next, [batch, keys], 0.7);
  if (tensors.validLens)
    inputs.validLens = integers(next, tensors.validLens === 'queries' ? [batch, queries] : [batch], 0, keys);
  if (tensors.sinks) inputs.sinks = numbers(next, [heads]);
  if (tensors.offset === true) inputs.offset = integers(next, [batch], 0, 4);
  if (file.cache) {
    inputs.pastKey = numbers(next, [batch, kvHeads, past, headDim]);
    inputs.pastValue = numbers(next, [batch, kvHeads, past, headDim]);
  }
  return inputs;
}

/** Returns the options of Headlight for the same computation. */
function optionsOf({ sight, tensors, file }, { mask, bias, keyPadding, validLens, sinks, offset, pastKey, pastValue }) {
  const sum = tensors.mask === 'float' ? mask : undefined;
  const given = { keyPadding, validLens, sinks, pastKey, pastValue, weights: file.weights };
  return {
    ...sight,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...(tensors.mask === 'boolean' && { mask }),
    ...((bias || sum) && { bias: bias && sum ? 'both' : (bias ?? sum) }),
    ...(tensors.offset !== undefined && { offset: offset ? Int32Array.from(offset.data, Number) : tensors.offset }),
  };
}

/** Adds two operands, which are broadcast, and returns a sum of the full shape. */
function addWide(a, b, shape) {
  const at = ({ data, shape: own }, place) =>
    data[own.reduce((sum, n, axis) => sum * n + (n === 1 ? 0 : place[axis]), 0)];
  const data = new Float32Array(shape.reduce((x, y) => x * y, 1));
  for (let i = 0; i < data.length; i++) {
    const place = [];
    let rest = i;
    for (let axis = 3; axis >= 0; axis--) {
      place[axis] = rest % shape[axis];
      rest = Math.floor(rest / shape[axis]);
    }
    data[i] = at(a, place) + at(b, place);
  }
  return { data, shape };
}

/** Makes a float32 layer with the rounded weights of an int8 layer. */
function sameInFloat32(hl, layer) {
  const state = Object.fromEntries(
    Object.entries(layer.parameters).map(([name, parameter]) => {
      const { shape } = parameter;
      return [name, { data: shape.length === 2 ? rounded(parameter.copy(), shape) : parameter.copy(), shape }];
    }),
  );
  const same = hl.multiHeadAttention({ ...layer.options, weights: 'float32' });
  for (const [name, { data }] of Object.entries(state)) same.parameters[name].data.set(data);
  return same;
}

/**
 * Returns the largest differences by output, relative to the largest value. The file of an int8 layer contains the
 * rounded weights, but does not round inputs, so it is compared with a float32 layer that has these weights. `own` is
 * the difference from the int8 layer itself.
 * @returns {Promise<{ files: object, differences: Record<string, number>, own?: Record<string, number> }>}
 */
export async function compareLayer(hl, choice, opset, runtime) {
  const { layer: options, alone, packed, self, sight, tensors, sizes, file } = choice;
  const inputs = makeInputs(choice);
  const given = optionsOf(choice, inputs);
  if (given.bias === 'both') {
    const { batch, queries, past, fresh } = sizes;
    given.bias = addWide(inputs.mask, inputs.bias, [batch, options.numHeads, queries, past + fresh]);
  }
  const { query, key, value } = inputs;
  const form = { ...sight, ...tensors, ...file, opset, context: 32 };
  let expected;
  let own;
  let files;
  if (alone) {
    const { numHeads, kvHeads, headDim } = options;
    expected = hl.attention(query, key, value, { ...given, ...(packed && { heads: numHeads, kvHeads }) });
    files = toOnnx({ numHeads, kvHeads, headDim, packed }, form);
  } else {
    const layer = hl.multiHeadAttention(options);
    for (const name of ['bq', 'bk', 'bv', 'bo'])
      layer.parameters[name]?.data.set(hl.randn([layer.parameters[name].size], { seed: choice.seed, std: 0.1 }).data);
    const run = (some) => (self ? some.forward(query, given) : some.forward(query, key, value, given));
    expected = run(layer);
    if (options.weights === 'int8') [own, expected] = [expected, run(sameInFloat32(hl, layer))];
    files = await layer.toOnnx({ ...form, self });
  }
  const results = await runOnnx(files, inputs, runtime);
  const from = (wanted) =>
    Object.fromEntries(
      Object.entries(results).map(([name, { data, shape }]) => {
        const same = String(shape) === String(wanted[name].shape);
        return [name, same ? difference(data, wanted[name].data) : Infinity];
      }),
    );
  return { files, differences: from(expected), ...(own && { own: from(own) }) };
}
