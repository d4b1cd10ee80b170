// Compares the ONNX files of whole models with the results of Headlight, for every family of checkpoints and for
// transformers with random options.

import { uniformSource } from '../../src/js/ops/random.ts';
import { someFamilies } from './families.js';
import { checkpoints } from './models.js';
import { difference } from './onnx.js';
import { openOnnx } from './onnxruntime.js';

const CAPTURE = ['embed', 'blocks.*.in', 'blocks.*.mlp', 'blocks.*.out', 'blocks.*.heads', 'final'];
const ACROSS = ['encoder.final', 'encoder.blocks.*.out', 'blocks.*.cross.heads'];
const WEIGHTS = ['blocks.*.weights'];
const WEIGHTS_ACROSS = ['blocks.*.cross.weights', 'encoder.blocks.*.weights'];

/** Checkpoints of every family: { name, open(hl), input }. */
export const familyCases = [
  ...someFamilies.map(({ name, files, input }) => ({ name, input, open: (hl) => hl.openModel(files) })),
  ...checkpoints.flatMap(({ name, folder, cases }) =>
    cases
      .filter(({ kind }) => kind === 'forward')
      .map((c) => ({ name: `${name}, ${c.name}`, input: c.input, open: (hl) => hl.openModel(folder) })),
  ),
];

/** Returns the inputs of the graph for an input of forward. */
export function feedsOf(input, prefix = '') {
  return Object.assign(
    {},
    ...Object.entries(input).map(([name, value]) =>
      name === 'encoder' ? feedsOf(value, 'encoder.') : { [prefix + name]: value },
    ),
  );
}

/**
 * Returns the options of toOnnx that declare the optional inputs (padding mask, token types, positions) that an input
 * has.
 */
export function inputsOf(input) {
  const has = (name) => name in input || name in (input.encoder ?? {});
  return { keep: has('keep'), typeIds: has('typeIds'), positions: has('positions') };
}

/** Adds `keep` to all parts of the input (encoder and decoder) if one of them has it. */
export function complete(input) {
  const { keep } = inputsOf(input);
  const filled = (part) => ({
    ...part,
    ...(keep && part.ids && !part.keep && { keep: { data: part.ids.data.map(() => 1), shape: part.ids.shape } }),
  });
  return { ...filled(input), ...(input.encoder && { encoder: filled(input.encoder) }) };
}

/** Returns the largest difference, relative to the largest value. */
export const off = (got, expected) =>
  `${got.shape}` === `${expected.shape}` ? difference(got.data, expected.data) : Infinity;

/**
 * Returns the largest difference between the outputs of the graph and of forward, and the name of the output.
 * @returns {Promise<{ difference: number, at: string, files: Record<string, Uint8Array> }>}
 */
export async function compareModel(model, given, options = {}, runtime = undefined) {
  const input = complete(given);
  const capture = [...CAPTURE, ...(model.options.encoder ? ACROSS : [])];
  const all = [...WEIGHTS, ...(model.options.encoder ? WEIGHTS_ACROSS : [])];
  const weights = options.weights === false ? [] : all;
  const files = await model.toOnnx({ weights: true, capture, ...inputsOf(input), ...options });
  const session = await openOnnx(files, 'model.onnx', runtime);
  const got = await session.run(feedsOf(input));
  await session.close();
  const result = model.forward(input, { capture: [...capture, ...weights], last: options.last ?? false });
  const { logits, pooled, relationship, hidden, captured } = result;
  const expected = { ...captured, logits, pooled, relationship, ...(!logits && { hidden }) };
  let worst = { difference: 0, at: '' };
  for (const [name, tensor] of Object.entries(expected)) {
    if (!tensor) continue;
    const d = got[name] ? off(got[name], { data: tensor.copy(), shape: tensor.shape }) : Infinity;
    if (d > worst.difference) worst = { difference: d, at: name };
  }
  result.dispose();
  return { ...worst, files };
}

/** Compares a model with a cache: the first tokens are computed in one call, the others one by one. */
export async function compareCached(model, given, first, options = {}, runtime = undefined) {
  const input = complete(given);
  const { encoder, ids, keep, typeIds } = input;
  const { layers, kvHeads, headDim } = model.options;
  const files = await model.toOnnx({ cache: true, ...inputsOf(input), positions: false, ...options });
  const [batch, length] = ids.shape;
  const part = ({ data, shape: [rows, all] }, from, to) => ({
    data: Array.from(
      { length: rows * (to - from) },
      (_, i) => data[Math.floor(i / (to - from)) * all + from + (i % (to - from))],
    ),
    shape: [rows, to - from],
  });
  const fixed = {};
  if (encoder) {
    const session = await openOnnx(files, 'encoder.onnx', runtime);
    const { 'encoder.hidden': _, ...pairs } = await session.run(feedsOf({ encoder }));
    Object.assign(fixed, pairs, encoder.keep && { 'encoder.keep': encoder.keep });
    await session.close();
  }
  const session = await openOnnx(files, encoder ? 'decoder.onnx' : 'model.onnx', runtime);
  const numbers = Array.from({ length: layers }, (_, i) => i);
  let past = Object.fromEntries(
    numbers.flatMap((i) =>
      ['pastKey', 'pastValue'].map((name) => [`${name}.${i}`, { data: [], shape: [batch, kvHeads, 0, headDim] }]),
    ),
  );
  const rows = [];
  // The first call has enough tokens for the rotation of long sequences, because all keys in the cache must have the
  // same rotation.
  const { beyond = length } = model.options.rotary?.long ?? {};
  const start = beyond < length ? Math.max(first, beyond + 1) : first;
  for (let from = 0; from < length; ) {
    const to = from === 0 ? start : from + 1;
    const got = await session.run({
      ids: part(ids, from, to),
      ...(typeIds && { typeIds: part(typeIds, from, to) }),
      ...(keep && { keep: part(keep, 0, to) }),
      ...past,
      ...fixed,
    });
    rows.push(got.logits);
    past = Object.fromEntries(
      numbers.flatMap((i) => [
        [`pastKey.${i}`, got[`presentKey.${i}`]],
        [`pastValue.${i}`, got[`presentValue.${i}`]],
      ]),
    );
    from = to;
  }
  await session.close();
  const vocab = rows[0].shape[2];
  const data = new Float32Array(batch * length * vocab);
  for (let at = 0, i = 0; i < rows.length; at += rows[i++].shape[1]) {
    const [, count] = rows[i].shape;
    for (let b = 0; b < batch; b++)
      data.set(rows[i].data.slice(b * count * vocab, (b + 1) * count * vocab), (b * length + at) * vocab);
  }
  const result = model.forward(input);
  const d = off({ data, shape: [batch, length, vocab] }, { data: result.logits.copy(), shape: result.logits.shape });
  result.dispose();
  return { difference: d, files };
}

const PLACES = ['before', 'after', 'both', 'stream'];

/** Returns random options of a transformer and an input, from a seed. */
export function randomModel(seed) {
  const next = uniformSource(seed);
  const pick = (...choices) => choices[Math.floor(next() * choices.length)];
  const yes = (share = 0.5) => next() < share;
  const [numHeads, headDim] = [pick(1, 2, 4), pick(4, 6, 8)];
  const [vocab, context, layers] = [17, 16, pick(1, 2, 3)];
  const core = (kind) => ({
    layers,
    numHeads,
    headDim,
    dModel: pick(8, 12, 16),
    kvHeads: pick(1, numHeads),
    mlp: pick(0, 12, 20),
    norm: pick('layer', 'rms', 'none'),
    normPlace: kind === 'decoder' ? pick(...PLACES) : pick(...PLACES, 'parallel', 'outputs'),
    normScale: yes(0.8),
    sharedNorm: yes(0.3),
    firstNorm: yes(0.8),
    embedNorm: yes(0.3),
    positions: pick('learned', 'sinusoidal', 'rotary', 'alibi', 'buckets', 'none'),
    rotary: {
      theta: pick(100, 10000),
      localTheta: pick(50, 10000),
      width: pick(2, 4, headDim - (headDim % 2)),
      pairing: pick('halves', 'neighbours'),
      ...(yes(0.3) && { scaling: { type: 'linear', factor: 2 } }),
      ...(yes(0.3) && { layers: Array.from({ length: layers }, () => yes()) }),
    },
    buckets: { count: pick(4, 8), distance: pick(6, 20) },
    activation: pick('gelu', 'gelu-tanh', 'quick-gelu', 'relu', 'silu'),
    gated: yes(),
    bias: yes() ? yes() : { query: yes(), key: yes(), value: yes(), out: yes(), mlp: yes(), norm: yes(), head: yes() },
    window: pick(
      null,
      null,
      3,
      Array.from({ length: layers }, () => pick(null, 2, 5)),
    ),
    softcap: pick(0, 0, 2),
    queryKeyNorm: pick(false, false, true, 'all'),
    sinks: yes(0.3),
    scale: pick(undefined, 0.3),
    residualScale: pick(1, 1, 0.4),
    context,
    seed,
  });
  // Without norms, hidden states grow from block to block, and the softmax of large scores amplifies rounding.
  const withLayout = ({ positions, rotary, buckets, ...others }, causal) => ({
    ...others,
    std: others.norm === 'none' ? 0.5 : 1,
    positions,
    causal,
    // With a cache, padding cannot be detected by the id of its tokens, so there is no padToken.
    ...(positions === 'learned' &&
      pick({}, { positionOffset: 2 }, { positionOffset: 2, padToken: causal ? undefined : 1 })),
    ...(positions === 'rotary' && { rotary }),
    ...(positions === 'buckets' && { buckets }),
  });
  const batch = pick(1, 2, 3);
  const tokens = (length) => ({
    data: Int32Array.from({ length: batch * length }, () => next() * vocab),
    shape: [batch, length],
  });
  const padding = (length) => ({
    data: Int32Array.from({ length: batch * length }, () => Number(yes(0.7))),
    shape: [batch, length],
  });
  const makeTokens = (options) => {
    const length = pick(1, 4, 9);
    return {
      ids: tokens(length),
      ...(yes() && { keep: padding(length) }),
      ...(options.tokenTypes > 0 &&
        yes() && { typeIds: { ...tokens(length), data: tokens(length).data.map((x) => x % 2) } }),
    };
  };
  const floats = (...shape) => ({
    data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => 2 * next() - 1),
    shape,
  });
  const kind = pick('decoder only', 'decoder only', 'both ways', 'patches', 'decoder', 'audio');
  const ofTokens = { vocab, embedDim: yes(0.3) ? 10 : undefined, embedScale: pick(1, 3), tokenTypes: pick(0, 0, 2) };
  const ofLogits = {
    ...pick({ tied: true }, { headWidth: 6 }, {}),
    logitSoftcap: pick(0, 0, 3),
    logitScale: pick(1, 0.5),
    headTransform: pick('none', 'none', 'norm', 'plain'),
    headActivation: pick(undefined, 'gelu', 'relu'),
  };
  const ofPool = {
    pooler: pick('none', 'tanh', 'linear', 'relu'),
    poolDim: 6,
    head: 'pooled',
    classes: 5,
    taught: false,
  };
  const clean = (options) => Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  if (kind === 'patches') {
    const patch = { size: 4, image: [8, 13], channels: pick(1, 3), classTokens: pick(0, 1, 2) };
    const options = { ...withLayout(core(kind), false), input: 'patches', patch, ...ofPool, taught: yes(0.4) };
    return { kind, options: clean(options), input: { pixels: floats(batch, patch.channels, 8, 13) } };
  }
  if (kind === 'both ways') {
    const options = { ...withLayout(core(kind), false), ...ofTokens };
    const end = pick(undefined, 3);
    const pooled = { ...ofPool, pool: pick('first', 'end', 'mean', 'last'), endToken: end };
    const both = { ...ofLogits, head: 'logits', pool: 'first', pooler: 'tanh', poolDim: 6, relationship: 2 };
    return {
      kind,
      options: clean({ ...options, ...pick(pooled, both, { head: 'none' }) }),
      input: makeTokens(options),
    };
  }
  const options = { ...withLayout(core(kind), true), ...ofTokens, ...ofLogits };
  if (kind === 'decoder only') return { kind, options: clean(options), input: makeTokens(options) };
  const audio = { input: 'audio', channels: 3, head: 'none', context: 10 };
  const read = { ...ofTokens, tokenTypes: 0, head: 'none' };
  const encoder = clean({
    ...withLayout(core(kind), false),
    ...(kind === 'audio' ? audio : read),
    cross: false,
  });
  const { normPlace } = core('decoder');
  const heard = kind === 'audio' ? { features: floats(batch, 3, 20) } : makeTokens(encoder);
  return {
    kind,
    options: clean({ ...options, normPlace, encoder }),
    input: { ...makeTokens(options), encoder: heard },
  };
}
