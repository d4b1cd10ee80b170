// Opens files with queries, keys and values, or with the weights and the inputs of an attention layer.

import type { Tensor } from '../../../src/js/memory/tensor.ts';
import type { LayerSummary } from '../../model/protocol/protocol.ts';
import { numberedPieces } from '../run/modelInput.ts';
import { aboutHeads } from './attentionOnly.ts';
import { tokensFor } from './attentionWeights.ts';
import { type Found, reasonOf, type Stored } from './fileContents.ts';
import { project, splitHeads } from './headMath.ts';
import { Problem } from './problem.ts';
import type { HeadsSource, Hl, Numbers } from './types.ts';

/** Maximum numbers of tokens and of heads that the page draws. */
const MAX_TOKENS = 4096;
const MAX_HEADS = 144;

const NAMES = {
  query: ['query', 'queries', 'q', 'x', 'input', 'hidden_states'],
  key: ['key', 'keys', 'k'],
  value: ['value', 'values', 'v'],
};
const WEIGHT = /(^|[._/])(w[qkvo]|b[qkvo]|weight|bias|kernel|in_proj_(weight|bias)|[qkv]_proj_weight)$/i;

export type Named = { query: Stored | undefined; key: Stored | undefined; value: Stored | undefined };
export type Entries = ReturnType<typeof entriesOf>;
/** heads: the tensors have an axis of heads; projected: they are inputs, multiplied by a layer's weights */
export type Layer = {
  query: Entries;
  key: Entries;
  value: Entries;
  heads: boolean;
  projected: boolean;
  T: number;
  S: number;
  width: number;
  batch: number;
};

function named(tensors: readonly Stored[]): Named {
  const others = tensors.filter(({ name }) => !WEIGHT.test(name));
  const find = (kind: keyof typeof NAMES) =>
    others.find(({ name }) => NAMES[kind].includes(name.slice(name.lastIndexOf('.') + 1).toLowerCase()));
  return { query: find('query'), key: find('key'), value: find('value') };
}

/**
 * Returns true if one tensor has a name of queries, and only queries, keys and values may look like attention weights,
 * because their rows may sum to 1 by chance. `others`: tensors that do not.
 */
export function isLayer(tensors: readonly Stored[], others: readonly Stored[]) {
  const { query, key, value } = named(tensors);
  const own = [query, key, value];
  // A tensor named 'q' or 'query' needs keys or the weights of a layer. An input without keys attends to itself.
  const alone = !key && /(^|\.)(q|query|queries)$/i.test(query?.name ?? 'q');
  if (alone && !tensors.some(({ name }) => WEIGHT.test(name))) return false;
  return query !== undefined && tensors.every((tensor) => own.includes(tensor) || others.includes(tensor));
}

/** Makes a reader for single entries of a batch. The shape is (T,C), (B,T,C) or (B,H,T,D). */
function entriesOf({ name, shape, read }: Stored) {
  if (shape.length < 2 || shape.length > 4 || shape.includes(0))
    throw new Problem('layerShape', name, shape.join(' × '));
  const own = shape.length === 4 ? shape.slice(1) : shape.slice(-2);
  const size = own.reduce((a, b) => a * b, 1);
  const batch = shape.length > 2 ? shape[0] : 1;
  return {
    shape: own,
    batch,
    /** Reads an entry. In a batch of one, any index is entry 0. */
    read: async (entry: number): Promise<Numbers> => ({
      data: await read(Math.min(entry, batch - 1) * size, size),
      shape: own,
    }),
  };
}

/** Returns the numbers of heads that divide a width. */
const divisors = (width: number) =>
  Array.from({ length: Math.min(width, MAX_HEADS) }, (_, i) => i + 1).filter((n) => width % n === 0);
/** Chooses the number of heads that makes a head about 64 wide. */
const usual = (choices: number[], width: number) =>
  choices.reduce((best, n) => (Math.abs(width / n - 64) < Math.abs(width / best - 64) ? n : best));

function layerOf(tensors: Named, projected: boolean): Layer {
  const query = entriesOf(tensors.query as Stored);
  const key = tensors.key ? entriesOf(tensors.key) : query;
  const value = tensors.value ? entriesOf(tensors.value) : key;
  const [T, S, width] = [query.shape.at(-2) ?? 0, key.shape.at(-2) ?? 0, query.shape.at(-1) ?? 0];
  return { query, key, value, heads: query.shape.length === 3, projected, T, S, width, batch: query.batch };
}

/** Throws if queries, keys and values do not fit together. */
function checkLayer({ query, key, value, heads, projected, T, S, width, batch }: Layer, tensors: Named) {
  const nameOf = (kind: keyof typeof NAMES) => tensors[kind]?.name ?? tensors.key?.name ?? tensors.query?.name ?? kind;
  const checkShape = (kind: keyof typeof NAMES, shape: number[], expected: number[]) => {
    if (String(shape) !== String(expected))
      throw new Problem('layerMisfit', nameOf(kind), shape.join(' × '), expected.join(' × '));
  };
  if (projected && heads) throw new Problem('layerShape', nameOf('query'), query.shape.join(' × '));
  const lead = heads ? query.shape.slice(0, 1) : [];
  checkShape('key', key.shape, [...lead, S, projected ? (key.shape.at(-1) ?? 0) : width]);
  checkShape('value', value.shape, [...lead, S, value.shape.at(-1) ?? 0]);
  for (const [kind, one] of [
    ['key', key],
    ['value', value],
  ] as const)
    if (one.batch !== batch && one.batch !== 1) checkShape(kind, [one.batch, ...one.shape], [batch, ...one.shape]);
  if (Math.max(T, S) > MAX_TOKENS) throw new Problem('layerLarge', Math.max(T, S), MAX_TOKENS);
  if (heads && query.shape[0] > MAX_HEADS) throw new Problem('manyHeads', nameOf('query'), 1, query.shape[0]);
}

async function readLayerWeights(tensors: readonly Stored[]): Promise<Record<string, Numbers>> {
  const weights: Record<string, Numbers> = {};
  for (const { name, shape, read } of tensors.filter(({ name }) => WEIGHT.test(name))) {
    const size = shape.reduce((a, b) => a * b, 1);
    weights[name] = { data: await read(0, size), shape: [...shape] };
  }
  return weights;
}

async function readHeads(hl: Hl, layer: Layer, weights: Record<string, Numbers>, heads: number, entry: number) {
  const { query, key, value } = layer;
  const [q, k, v] = await Promise.all([query, key, value].map(({ read }) => read(entry)));
  if (layer.heads) return { q, k, v };
  const split = (x: Numbers) => splitHeads(x, heads);
  if (!layer.projected) return { q: split(q), k: split(k), v: split(v) };
  const { wq, wk, wv, bq, bk, bv } = parametersOf(hl, weights, heads, layer);
  return { q: split(project(hl, q, wq, bq)), k: split(project(hl, k, wk, bk)), v: split(project(hl, v, wv, bv)) };
}

export async function openLayer(
  hl: Hl,
  name: string,
  title: string,
  found: Found,
): Promise<{ source: HeadsSource; summary: LayerSummary }> {
  const tensors = named(found.tensors);
  const weights = await readLayerWeights(found.tensors);
  const layer = layerOf(tensors, Object.keys(weights).length > 0);
  checkLayer(layer, tensors);
  const { projected, T, S, width, batch } = layer;
  const valueWidth = layer.value.shape.at(-1) ?? 0;
  const choices = layer.heads ? [] : divisors(width).filter((n) => projected || valueWidth % n === 0);
  let heads = layer.heads ? layer.query.shape[0] : usual(choices, width);
  /** The entry that was shown last. */
  let shown = { entry: 0, heads, parts: await readHeads(hl, layer, weights, heads, 0) };
  const source: HeadsSource = {
    about: aboutHeads(name, { title, heads, context: MAX_TOKENS, reads: 'nothing', choices, batch }),
    tokens: found.tokens,
    version: 0,
    split(count) {
      heads = count;
      source.about = { ...source.about, heads };
    },
    async headInputs(_hl, _run, wanted = 0) {
      const entry = Math.min(wanted, batch - 1);
      if (shown.entry !== entry || shown.heads !== heads)
        shown = { entry, heads, parts: await readHeads(hl, layer, weights, heads, entry) };
      const names = tokensFor(source.tokens ?? {}, T, S);
      const pieces = numberedPieces(T, names.queries);
      const layers = [shown.parts];
      return tensors.key ? { pieces, keys: numberedPieces(S, names.keys), layers } : { pieces, layers };
    },
  };
  const hasTokens = Object.keys(found.tokens).length > 0;
  const sizes = { T, S, width, projected, split: layer.heads, batch };
  return { source, summary: { kind: 'layer', ...sizes, named: hasTokens } };
}

/** Converts a layer's weights to parameters by multiHeadAttention, which accepts other libraries' names. */
function parametersOf(hl: Hl, weights: Record<string, Numbers>, heads: number, { width, key, value }: Layer) {
  const some = (pattern: RegExp) => Object.keys(weights).some((name) => pattern.test(name));
  return hl.scope(() => {
    try {
      const layer = hl.multiHeadAttention({
        embedDim: width,
        numHeads: heads,
        keyDim: key.shape.at(-1),
        valueDim: value.shape.at(-1),
        bias: some(/bias|^b[qkv]$/i),
        outProjection: some(/^wo$|w_o|out|dense|^w\./i),
      });
      layer.loadStateDict(weights);
      const { wq, wk, wv, bq, bk, bv } = layer.parameters;
      const copy = (tensor: Tensor) => ({ data: tensor.copy(), shape: tensor.shape });
      const matrices = { wq: copy(wq), wk: copy(wk), wv: copy(wv) };
      return { ...matrices, bq: bq && copy(bq), bk: bk && copy(bk), bv: bv && copy(bv) };
    } catch (error) {
      throw new Problem('layerWeights', reasonOf(error));
    }
  });
}
