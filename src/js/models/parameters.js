// The parameters of a transformer with given options: names, shapes and initial values.

import { fillNormal, fillUniform, uniformSource } from '../ops/random.js';
import { normsOutputs } from './options.js';
import { rarePart } from './rareParts.js';

/** @import { Resolved } from './options.js' */

/** @typedef {'normal' | 'xavier' | 'ones' | 'zeros'} Start */
/**
 * random: true if the layer has a stream of random numbers of its own, for its initial values. plain: the width of a
 * norm without weights.
 * @typedef {{ name: string, random: boolean, parameters: [name: string, shape: number[], start: Start][],
 *   plain?: number }} LayerShape
 */

/**
 * @param {string} name
 * @param {number} out
 * @param {number} inside
 * @param {boolean} bias
 * @returns {LayerShape}
 */
const linear = (name, out, inside, bias) => ({
  name,
  random: true,
  parameters: [['weight', [out, inside], 'xavier'], ...(bias ? [/** @type {any} */ (['bias', [out], 'zeros'])] : [])],
});

/** @param {string} name @param {number} width @param {Resolved} options @returns {LayerShape[]} */
function norm(name, width, { norm: kind, normScale, bias }) {
  if (kind === 'none') return [];
  /** @type {LayerShape['parameters']} */
  const parameters = normScale ? [['weight', [width], 'ones']] : [];
  if (kind === 'layer' && bias.norm) parameters.push(['bias', [width], 'zeros']);
  return [{ name, random: false, parameters, ...(!normScale && { plain: width }) }];
}

/**
 * @param {string} name
 * @param {Resolved} options
 * @param {number} [memory] width of the input of keys and values
 */
function attention(name, options, memory = options.dModel) {
  const { dModel: C, numHeads, kvHeads, headDim, bias } = options;
  const [queries, keys] = [numHeads * headDim, kvHeads * headDim];
  /** @type {LayerShape['parameters']} */
  const parameters = [
    ['wq', [queries, C], 'xavier'],
    ['wk', [keys, memory], 'xavier'],
    ['wv', [keys, memory], 'xavier'],
    ['wo', [C, queries], 'xavier'],
  ];
  if (bias.query) parameters.push(['bq', [queries], 'zeros']);
  if (bias.key) parameters.push(['bk', [keys], 'zeros']);
  if (bias.value) parameters.push(['bv', [keys], 'zeros']);
  if (bias.out) parameters.push(['bo', [C], 'zeros']);
  if (options.queryKeyNorm) {
    const wide = options.queryKeyNorm === 'all' || options.queryKeyNorm === 'each';
    const [query, key] = wide ? [queries, keys] : [headDim, headDim];
    parameters.push(['normQ', [query], 'ones'], ['normK', [key], 'ones']);
    if (options.queryKeyNorm === 'layer')
      parameters.push(['normQBias', [headDim], 'zeros'], ['normKBias', [headDim], 'zeros']);
  }
  if (options.sinks) parameters.push(['sinks', [numHeads], 'zeros']);
  return { name, random: true, parameters };
}

/** @param {Resolved} options @returns {Generator<LayerShape>} */
function* embedding(options) {
  const {
    input,
    vocab,
    embedDim: E,
    embedProject,
    dModel: C,
    context,
    positions,
    positionOffset,
    patch,
    channels,
    tokenTypes,
  } = options;
  const sum = embedProject === 'sum';
  const W = sum ? E : C;
  /** @type {LayerShape['parameters']} */
  const rows = [];
  if (input === 'tokens' && !options.sharedEmbedding) rows.push(['table', [vocab, E], 'normal']);
  if (positions === 'learned') rows.push(['position', [context + positionOffset, W], 'normal']);
  if (tokenTypes > 0) rows.push(['type', [tokenTypes, W], 'normal']);
  if (patch && patch.classTokens > 0) rows.push(['class', [patch.classTokens, C], 'normal']);
  yield { name: 'embedding', random: true, parameters: rows };
  if (sum || (input === 'tokens' && E !== C)) yield linear('embedding.project', C, E, sum);
  if (patch) yield linear('embedding.patch', C, patch.channels * patch.size ** 2, patch.bias);
  if (input === 'audio') {
    yield linear('embedding.conv1', C, channels * 3, true);
    yield linear('embedding.conv2', C, C * 3, true);
  }
  if (input === 'sound') yield* rarePart('sound', 'transformer').soundLayers(options);
  if (options.embedNorm) yield* norm('embedding.norm', W, options);
}

/** @param {string} at @param {Resolved} options */
function* feedForward(at, { dModel: C, mlp, gated, bias }) {
  if (gated) yield linear(`${at}.gate`, mlp, C, bias.mlp);
  yield linear(`${at}.up`, mlp, C, bias.mlp);
  yield linear(`${at}.down`, C, mlp, bias.mlp);
}

/** @param {Resolved} options @param {number} i @returns {Generator<LayerShape>} */
function* block(options, i) {
  const { dModel: C, mlp, normPlace } = options;
  const readsNorms = normPlace !== 'outputs';
  const at = `blocks.${i}`;
  const scale = (/** @type {string} */ name) =>
    options.layerScale
      ? [/** @type {LayerShape} */ ({ name: at, random: false, parameters: [[name, [C], 'ones']] })]
      : [];
  if (readsNorms && (i > 0 || options.firstNorm)) yield* norm(`${at}.norm1`, C, options);
  yield attention(`${at}.attention`, options);
  if (normsOutputs(options)) yield* norm(`${at}.after1`, C, options);
  yield* scale('scale1');
  if (options.cross) {
    yield* norm(`${at}.cross.norm`, C, options);
    yield attention(`${at}.cross`, options, options.encoder?.dModel);
  }
  if (mlp === 0) return;
  if (readsNorms && !options.sharedNorm) yield* norm(`${at}.norm2`, C, options);
  yield* feedForward(at, options);
  if (normsOutputs(options)) yield* norm(`${at}.after2`, C, options);
  yield* scale('scale2');
}

/**
 * Returns the layers of the head before the last linear layer.
 * @param {Resolved} options
 * @param {number} out
 * @param {number} inside
 */
function transform(options, out, inside) {
  const { headTransform, bias } = options;
  if (headTransform === 'none') return out === inside ? [] : [linear('head.project', out, inside, false)];
  const after = headTransform === 'norm' ? norm('head.norm', out, options) : [];
  return [linear('head.dense', out, inside, bias.transform), ...after];
}

/**
 * Yields the layers of attention pooling, a block whose only query is learned.
 * @param {Resolved} options
 * @returns {Generator<LayerShape>}
 */
function* attentionPool(options) {
  yield { name: 'pool', random: true, parameters: [['probe', [1, options.dModel], 'normal']] };
  yield attention('pool.attention', { ...options, queryKeyNorm: false, sinks: false });
  if (options.mlp === 0) return;
  yield* norm('pool.norm', options.dModel, options);
  yield* feedForward('pool', options);
}

/** Returns the width of the pooled hidden states before the pooler. @param {Resolved} options */
const tokenWidth = ({ pool, dModel }) => (pool === 'first-mean' ? 2 * dModel : dModel);

/** Returns the width of the pooled hidden states. @param {Resolved} options */
export const pooledWidth = (options) => (options.pooler === 'none' ? tokenWidth(options) : options.poolDim);

/** @param {Resolved} options @returns {Generator<LayerShape>} */
function* head(options) {
  const { head, dModel: C, headWidth, vocab, tied, bias, pooler, poolDim, classes, taught, relationship } = options;
  if (options.pool === 'attention') yield* attentionPool(options);
  if (pooler !== 'none') yield linear('pooler', poolDim, tokenWidth(options), bias.pooler || pooler !== 'linear');
  if (head === 'pooled') {
    const inside = pooledWidth(options);
    yield* transform(options, inside, inside);
    yield linear('head', classes, inside, bias.head);
  }
  if (taught) yield linear('taught', classes, C, bias.head);
  if (relationship > 0) yield linear('relationship', relationship, pooledWidth(options), true);
  if (head !== 'logits') return;
  yield* transform(options, headWidth, C);
  if (!tied) yield linear('head', classes || vocab, headWidth, bias.head);
  else if (bias.head) yield { name: 'head', random: false, parameters: [['bias', [vocab], 'zeros']] };
}

/**
 * Yields the layers in the order of the computation. Names of an encoder's layers begin with `encoder.`.
 * @param {Resolved} options
 * @returns {Generator<LayerShape>}
 */
export function* layerShapes(options) {
  yield* embedding(options);
  const blocks = options.sharedBlocks ? Math.min(options.layers, 1) : options.layers;
  for (let i = 0; i < blocks; i++) yield* block(options, i);
  if (options.buckets)
    yield {
      name: 'buckets',
      random: true,
      parameters: [['table', [options.buckets.count, options.numHeads], 'normal']],
    };
  if (options.disentangled) yield* rarePart('disentangled', 'transformer').relativeLayers(options, norm);
  if (options.finalNorm) yield* norm('norm', options.dModel, options);
  yield* head(options);
  if (options.encoder)
    for (const layer of layerShapes(options.encoder)) yield { ...layer, name: `encoder.${layer.name}` };
}

/**
 * Returns the name of a block's parameter. If all blocks share their parameters, it is the name for the first block.
 * @param {{ sharedBlocks?: boolean }} options
 * @param {string} name without the prefix of an encoder
 */
export const parameterName = ({ sharedBlocks }, name) =>
  sharedBlocks ? name.replace(/^blocks\.\d+\./, 'blocks.0.') : name;

/** Returns the widths of norms without weights, by the names that the weights would have. @param {Resolved} options */
export const plainNorms = (options) =>
  new Map(
    options.normScale && (options.encoder?.normScale ?? true)
      ? []
      : [...layerShapes(options)].flatMap(({ name, plain }) => (plain ? [[`${name}.weight`, plain]] : [])),
  );

/** @param {Resolved} options @returns {Generator<[name: string, shape: number[]]>} */
export function* parameterShapes(options) {
  for (const { name, parameters } of layerShapes(options))
    for (const [part, shape] of parameters) yield [`${name}.${part}`, shape];
}

/**
 * Writes the initial values.
 * @param {Resolved} options
 * @param {(name: string) => Float32Array} dataOf
 */
export function startParameters(options, dataOf) {
  let stream = 0;
  for (const layer of layerShapes(options)) {
    const next = uniformSource(layer.random ? options.seed * 2 ** 10 + stream++ : 0);
    for (const [part, shape, start] of layer.parameters) {
      const data = dataOf(`${layer.name}.${part}`);
      if (start === 'normal') fillNormal(data, next, 0, options.std);
      else if (start === 'xavier') {
        const limit = Math.sqrt(6 / (shape[0] + shape[1]));
        fillUniform(data, next, -limit, limit);
      } else data.fill(start === 'ones' ? 1 : 0);
    }
  }
}
