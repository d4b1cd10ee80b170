// The parameters of a transformer with given options: names, shapes and initial values.

import { fillNormal, fillUniform, uniformSource } from '../ops/random.ts';
import { type LayerShape, linear, norm } from './layerShapes.ts';
import { normsOutputs, type Resolved } from './options.ts';
import { rarePart } from './rareParts.ts';
import { componentsOf, sublayersOf } from './sublayers.ts';

function* embedding(options: Resolved): Generator<LayerShape> {
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
  const rows: LayerShape['parameters'] = [];
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

function* block(options: Resolved, i: number): Generator<LayerShape> {
  const C = options.dModel;
  const at = `blocks.${i}`;
  for (const { component, norm: name, hasNorm, number } of sublayersOf(options, i)) {
    if (hasNorm) yield* norm(`${at}.${name}`, C, options);
    yield* component.parameters(at, options);
    if (!number) continue;
    if (normsOutputs(options)) yield* norm(`${at}.after${number}`, C, options);
    if (options.layerScale) yield { name: at, random: false, parameters: [[`scale${number}`, [C], 'ones']] };
  }
}

/** Returns the layers of the head before the last linear layer. */
function transform(options: Resolved, out: number, inside: number) {
  const { headTransform, bias } = options;
  if (headTransform === 'none') return out === inside ? [] : [linear('head.project', out, inside, false)];
  const after = headTransform === 'norm' ? norm('head.norm', out, options) : [];
  return [linear('head.dense', out, inside, bias.transform), ...after];
}

/** Returns the width of the pooled hidden states before the pooler. */
const tokenWidth = ({ pool, dModel }: Resolved) => (pool === 'first-mean' ? 2 * dModel : dModel);

/** Returns the width of the pooled hidden states. */
export const pooledWidth = (options: Resolved) => (options.pooler === 'none' ? tokenWidth(options) : options.poolDim);

function* head(options: Resolved): Generator<LayerShape> {
  const { head, dModel: C, headWidth, vocab, tied, bias, pooler, poolDim, classes, taught, relationship } = options;
  if (options.pool === 'attention') yield* rarePart('attentionPool', 'transformer').poolLayers(options);
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

/** Yields the layers in the order of the computation. Names of an encoder's layers begin with `encoder.`. */
export function* layerShapes(options: Resolved): Generator<LayerShape> {
  yield* embedding(options);
  const blocks = options.sharedBlocks ? Math.min(options.layers, 1) : options.layers;
  for (let i = 0; i < blocks; i++) yield* block(options, i);
  for (const { shared } of componentsOf(options)) yield* shared?.(options) ?? [];
  if (options.finalNorm) yield* norm('norm', options.dModel, options);
  yield* head(options);
  if (options.encoder)
    for (const layer of layerShapes(options.encoder)) yield { ...layer, name: `encoder.${layer.name}` };
}

/** The name of the first block's parameter if all blocks share them. name: without the prefix of an encoder. */
export const parameterName = ({ sharedBlocks }: { sharedBlocks?: boolean }, name: string) =>
  sharedBlocks ? name.replace(/^blocks\.\d+\./, 'blocks.0.') : name;

/** Returns the widths of norms without weights, by the names that the weights would have. */
export const plainNorms = (options: Resolved) =>
  new Map(
    options.normScale && (options.encoder?.normScale ?? true)
      ? []
      : [...layerShapes(options)].flatMap(({ name, plain }) => (plain ? [[`${name}.weight`, plain]] : [])),
  );

export function* parameterShapes(options: Resolved): Generator<[name: string, shape: number[]]> {
  for (const { name, parameters } of layerShapes(options))
    for (const [part, shape] of parameters) yield [`${name}.${part}`, shape];
}

export function startParameters(options: Resolved, dataOf: (name: string) => Float32Array) {
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
