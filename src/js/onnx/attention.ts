// Attention as ONNX operators: masks and biases, rotary positions, scores, softmax, weighted values. A function uses
// the dedicated operators of opset 23 if their semantics agree, otherwise primitive operators for any runtime.

import { type RotaryScaling, rotaryTable } from '../ops/rotary.ts';

import type { OnnxGraph } from './graph.ts';

/**
 * Masks and biases of attention. Strings are names of values in the graph. queries and keys are int64 vectors of one
 * element.
 */
export type Sight = {
  /** T, the number of queries */
  queries: string;
  /** S, the number of keys with the past and without appended keys */
  keys: string;
  /** position of query 0 among the keys, a scalar or (B); default 0 */
  offset?: string | undefined;
  /** true if offset is (B) */
  offsetByBatch?: boolean | undefined;
  causal?: boolean | undefined;
  /** maximum distance of keys to the left and right; −1 means unlimited */
  window?: readonly [number, number] | undefined;
  /** bool, broadcast against (B,H,T,S): true if the query may attend to the key */
  mask?: string | undefined;
  /** bool (B,S) */
  keyPadding?: string | undefined;
  /** int64 (B), or (B,T) */
  validLens?: string | undefined;
  /** true if validLens is (B,T) */
  lensByQuery?: boolean | undefined;
  /** float, broadcast against (B,H,T,S), added to the scores */
  bias?: string | undefined;
  /** slopes (H) of ALiBi */
  slopes?: Float32Array | undefined;
  /** bias by the distance of relative positions; it does not support offsetByBatch */
  distances?: Distances | undefined;
  /** number of keys that are appended to the others and visible to every query */
  appended?: number | undefined;
};
/**
 * table (2·reach + 1, H): row n is for the distance n − reach of
 *   key and query
 */
export type Distances = { table: string; reach: number };
/** The combined mask and bias. */
export type Visible = {
  /** float, broadcast against (B,H,T,S) */
  bias?: string | undefined;
  /** bool, broadcast against (B,H,T,S) */
  visible?: string | undefined;
  /** true if a query may have no visible key */
  mayBeEmpty?: boolean | undefined;
  /** true if the mask is exactly causal with offset 0 */
  onlyCausal?: boolean | undefined;
};
/** The inputs and options of attention. */
export type Attending = {
  /** (B,H,T,D) */
  query: string;
  /** (B,G,S,D) */
  key: string;
  /** (B,G,S,Dv) */
  value: string;
  heads: number;
  /** default heads */
  kvHeads?: number | undefined;
  /** default 1/√D */
  scale?: number | undefined;
  softcap?: number | undefined;
  /** (H) */
  sinks?: string | undefined;
  /** score of a masked key; default −Infinity, which makes its weight 0 */
  fill?: number | undefined;
  /** true to return the weights */
  weights?: boolean | undefined;
};

/** The lowest float32. With −Infinity, softmax of a row without visible keys would be NaN. */
const LOWEST = -3.4028234663852886e38;

export function visibility(graph: OnnxGraph, sight: Sight): Visible {
  const { causal = false, window: [left, right] = [-1, -1], appended = 0 } = sight;
  const { mask, keyPadding, validLens, slopes, distances } = sight;
  const needsDistance = causal || left >= 0 || right >= 0 || slopes || distances;
  const distance = needsDistance ? distanceOf(graph, sight) : '';
  const row = (x: string) => graph.op('Unsqueeze', [x, graph.ints(1, 2)]);
  const hiding = [
    causal && graph.op('LessOrEqual', [distance, graph.int(0)]),
    left >= 0 && graph.op('GreaterOrEqual', [distance, graph.int(-left)]),
    right >= 0 && graph.op('LessOrEqual', [distance, graph.int(right)]),
    validLens && graph.op('Less', [graph.range(sight.keys), lensOf(graph, validLens, sight.lensByQuery)]),
    keyPadding && row(keyPadding),
    mask,
  ].filter((name) => typeof name === 'string');
  const adding = [
    sight.bias,
    slopes && slopesBias(graph, distance, slopes),
    distances && distanceBias(graph, distance, distances),
  ].filter((name) => name !== undefined);
  const known = { visible: causal || left >= 0 || right >= 0, bias: slopes || distances };
  const visible = hiding.length ? square(graph, sight, hiding, 'And', Boolean(known.visible)) : undefined;
  const bias = adding.length ? square(graph, sight, adding, 'Add', Boolean(known.bias)) : undefined;
  return {
    visible: visible && appendColumns(graph, visible, sight.keys, appended, () => graph.bool(true)),
    bias: bias && appendColumns(graph, bias, sight.keys, appended, () => graph.float(0)),
    mayBeEmpty: appended === 0 && (hiding.length > Number(causal) || sight.offset !== undefined),
    onlyCausal: causal && hiding.length === 1 && appended === 0 && sight.offset === undefined,
  };
}

/**
 * Combines masks or biases to (…,T,S). Expands the result for the Attention operator, which does not broadcast over
 * queries.
 * @param isSquare true if one of them is (…,T,S)
 */
function square(
  graph: OnnxGraph,
  { queries, keys }: Sight,
  masks: readonly string[],
  type: 'And' | 'Add',
  isSquare: boolean,
) {
  const all = masks.reduce((a, b) => graph.op(type, [a, b]));
  if (graph.opset < 23 || isSquare) return all;
  return graph.op('Expand', [all, graph.op('Concat', [graph.ints(1, 1), queries, keys], { axis: 0 })]);
}

/** Returns the position of each key minus that of each query, (T,S), or (B,1,T,S). */
function distanceOf(graph: OnnxGraph, { queries, keys, offset, offsetByBatch }: Sight) {
  let query = graph.op('Unsqueeze', [graph.range(queries), graph.ints(1)]);
  if (offset) query = graph.op('Add', [query, offsetByBatch ? graph.reshape(offset, -1, 1, 1, 1) : offset]);
  return graph.op('Sub', [graph.range(keys), query]);
}

const lensOf = (graph: OnnxGraph, lens: string, byQuery?: boolean) =>
  graph.op('Unsqueeze', [lens, byQuery ? graph.ints(1, 3) : graph.ints(1, 2, 3)]);

/** Returns the bias of ALiBi, −slope · |distance|. */
function slopesBias(graph: OnnxGraph, distance: string, slopes: Float32Array) {
  const far = graph.cast(graph.op('Abs', [distance]), 'float');
  const factor = graph.constant(
    slopes.map((slope) => -slope),
    [slopes.length, 1, 1],
  );
  return graph.op('Mul', [far, factor]);
}

/**
 * Returns the bias by distance, (1,H,T,S).
 * @param distance (T,S)
 */
function distanceBias(graph: OnnxGraph, distance: string, { table, reach }: Distances) {
  const near = graph.op('Clip', [distance, graph.int(-reach), graph.int(reach)]);
  const rows = graph.op('Gather', [table, graph.op('Add', [near, graph.int(reach)])]);
  return graph.op('Unsqueeze', [graph.op('Transpose', [rows], { perm: [2, 0, 1] }), graph.ints(0)]);
}

/** Extends a mask with a constant for the appended keys. */
function appendColumns(graph: OnnxGraph, mask: string, keys: string, count: number, value: () => string) {
  if (count === 0) return mask;
  // The mask is expanded first, because the mask may broadcast over the keys.
  const wide = graph.op('Expand', [mask, graph.op('Concat', [graph.ints(1, 1, 1), keys], { axis: 0 })]);
  const shape = graph.op('Shape', [wide]);
  const others = graph.op('Slice', [shape, graph.ints(0), graph.ints(-1)]);
  const more = graph.op('Expand', [value(), graph.op('Concat', [others, graph.ints(count)], { axis: 0 })]);
  return graph.op('Concat', [wide, more], { axis: -1 });
}

/**
 * Computes softmax(mask(softcap(scale · q·kᵀ) + bias)) · v.
 * @returns (B,H,T,Dv), (B,H,T,S)
 */
export function attend(graph: OnnxGraph, what: Attending & Visible): { output: string; weights?: string } {
  const { sinks, fill = -Infinity, softcap = 0, visible, bias } = what;
  // The Attention operator applies softcap after the mask, and onnxruntime returns its weights in a wrong shape.
  const plain = !sinks && fill === -Infinity && !what.weights && !(softcap && (visible || bias));
  const hasOperator = graph.opset >= 23 && plain;
  return hasOperator ? attendByOperator(graph, what) : attendByPrimitives(graph, what);
}

function attendByOperator(graph: OnnxGraph, what: Attending & Visible) {
  const { query, key, value, scale, softcap, visible, bias, onlyCausal } = what;
  const single = visible ?? bias ?? '';
  const mask =
    onlyCausal && !bias ? '' : visible && bias ? graph.op('Where', [visible, bias, graph.float(LOWEST)]) : single;
  const attributes = {
    scale,
    softcap: softcap || undefined,
    is_causal: onlyCausal && !bias ? 1 : undefined,
  };
  const output = graph.op('Attention', [query, key, value, ...(mask ? [mask] : [])], attributes);
  if (!visible || !what.mayBeEmpty) return { output };
  const any = graph.cast(graph.reduce('ReduceMax', graph.cast(visible, 'int32'), [-1]), 'bool');
  return { output: graph.op('Where', [any, output, graph.float(0)]) };
}

function attendByPrimitives(graph: OnnxGraph, what: Attending & Visible) {
  const { query, key, value, heads, kvHeads = heads, softcap, visible, bias, sinks, fill = -Infinity } = what;
  const grouped = kvHeads !== heads;
  // The queries of all heads of a group are the rows of one product.
  const rows = (x: string) => (grouped ? graph.op('Reshape', [x, groupRows(graph, x, kvHeads)]) : x);
  const split = (x: string) => (grouped ? graph.reshape(x, 0, heads, -1, graph.size(x, 3)) : x);
  const transposed = graph.op('Transpose', [key], { perm: [0, 1, 3, 2] });
  let scores = split(graph.op('MatMul', [rows(query), transposed]));
  scores = graph.op('Mul', [scores, what.scale === undefined ? scaleOf(graph, query) : graph.float(what.scale)]);
  if (softcap) {
    const cap = graph.float(softcap);
    scores = graph.op('Mul', [graph.op('Tanh', [graph.op('Div', [scores, cap])]), cap]);
  }
  if (bias) scores = graph.op('Add', [scores, bias]);
  const replaced = Number.isFinite(fill);
  if (visible) scores = graph.op('Where', [visible, scores, graph.float(replaced ? fill : LOWEST)]);
  let weights = sinks ? softmaxWithSinks(graph, scores, sinks, heads) : graph.op('Softmax', [scores], { axis: -1 });
  if (visible && !replaced && (what.mayBeEmpty ?? true))
    weights = graph.op('Where', [visible, weights, graph.float(0)]);
  const output = split(graph.op('MatMul', [rows(weights), value]));
  return { output, weights };
}

/** Returns the sizes (B,G,−1,last) to which x (B,H,T,last) is reshaped. */
const groupRows = (graph: OnnxGraph, x: string, kvHeads: number) =>
  graph.op('Concat', [graph.ints(0, kvHeads, -1), graph.size(x, 3)], { axis: 0 });

/** Returns 1/√D. */
function scaleOf(graph: OnnxGraph, query: string) {
  const width = graph.cast(graph.size(query, 3), 'float');
  return graph.op('Reciprocal', [graph.op('Sqrt', [width])]);
}

/** Applies softmax over the scores and the sink of the head, then removes the column of the sink. */
function softmaxWithSinks(graph: OnnxGraph, scores: string, sinks: string, heads: number) {
  const others = graph.op('Slice', [graph.op('Shape', [scores]), graph.ints(0), graph.ints(3)]);
  const shape = graph.op('Concat', [others, graph.ints(1)], { axis: 0 });
  const column = graph.op('Expand', [graph.reshape(sinks, 1, heads, 1, 1), shape]);
  const all = graph.op('Softmax', [graph.op('Concat', [scores, column], { axis: -1 })], { axis: -1 });
  return graph.op('Slice', [all, graph.ints(0), graph.ints(-1), graph.ints(-1)]);
}

/**
 * Tables of cosines and sines (context,W/2), as in the core. picked: true if cos and sin are the rows for the
 * positions, (B,T,W/2).
 */
export type RotaryTables = { cos: string; sin: string; rotated: number; neighbours: boolean; picked?: boolean };
/** @param name of the tables */
export function rotaryTables(
  graph: OnnxGraph,
  name: string,
  {
    theta,
    rotated,
    neighbours = false,
    scaling,
    context,
  }: { theta?: number; rotated: number; neighbours?: boolean; scaling?: RotaryScaling; context: number },
): RotaryTables {
  const table = rotaryTable({ theta, width: rotated, scaling, context });
  const half = rotated / 2;
  const part = (first: number) =>
    Float32Array.from({ length: context * half }, (_, i) => table[Math.floor(i / half) * rotated + first + (i % half)]);
  return {
    cos: graph.weight(`${name}.cos`, part(0), [context, half]),
    sin: graph.weight(`${name}.sin`, part(half), [context, half]),
    rotated,
    neighbours,
  };
}

/**
 * Picks the rows for the positions, from the far tables if any position is at least `beyond`, else from the near
 * tables.
 * @param positions int64 (1,T) or (B,T)
 */
export function rowsByLength(
  graph: OnnxGraph,
  near: RotaryTables,
  far: RotaryTables,
  positions: string,
  beyond: number,
): RotaryTables {
  const last = graph.op('ReduceMax', [positions], { keepdims: 0 });
  const isFar = graph.op('GreaterOrEqual', [last, graph.int(beyond)]);
  // Positions are limited, because the near tables have only `beyond` rows.
  const within = graph.op('Min', [positions, graph.int(beyond - 1)]);
  const pick = (part: 'cos' | 'sin') =>
    graph.op('Where', [isFar, graph.op('Gather', [far[part], positions]), graph.op('Gather', [near[part], within])]);
  return { ...near, cos: pick('cos'), sin: pick('sin'), picked: true };
}

/**
 * Rotates queries or keys (B,H,T,D) by their positions, int64 (T) or (B,T).
 * @param width D
 */
export function rotate(
  graph: OnnxGraph,
  x: string,
  positions: string,
  width: number,
  { cos, sin, rotated, neighbours, picked = false }: RotaryTables,
) {
  if (rotated === 0) return x;
  if (graph.opset >= 23) {
    const sizes = [graph.size(x, 0), graph.size(x, 2)];
    const attributes = { interleaved: Number(neighbours), rotary_embedding_dim: rotated === width ? 0 : rotated };
    const expand = (rows: string, ...more: string[]) =>
      graph.op('Expand', [rows, graph.op('Concat', [...sizes, ...more], { axis: 0 })]);
    const of = picked ? [cos, sin].map((rows) => expand(rows, graph.ints(rotated / 2))) : [cos, sin, expand(positions)];
    return graph.op('RotaryEmbedding', [x, ...of], attributes);
  }
  const half = rotated / 2;
  const slice = (from: number, to: number, step = 1) =>
    graph.op('Slice', [x, graph.ints(from), graph.ints(to), graph.ints(-1), graph.ints(step)]);
  // These are the cosines and sines, (1,T,W/2) or (B,1,T,W/2).
  const [c, s] = [cos, sin].map((table) =>
    graph.op('Unsqueeze', [picked ? table : graph.op('Gather', [table, positions]), graph.ints(-3)]),
  );
  const [a, b] = neighbours ? [slice(0, rotated, 2), slice(1, rotated, 2)] : [slice(0, half), slice(half, rotated)];
  const mul = (p: string, q: string) => graph.op('Mul', [p, q]);
  const first = graph.op('Sub', [mul(a, c), mul(b, s)]);
  const second = graph.op('Add', [mul(b, c), mul(a, s)]);
  const rest = rotated < width ? [slice(rotated, width)] : [];
  if (!neighbours) return graph.op('Concat', [first, second, ...rest], { axis: -1 });
  const pairs = [first, second].map((part) => graph.op('Unsqueeze', [part, graph.ints(-1)]));
  const joined = graph.op('Concat', pairs, { axis: -1 });
  const shape = graph.op(
    'Concat',
    [graph.op('Slice', [graph.op('Shape', [x]), graph.ints(0), graph.ints(3)]), graph.ints(rotated)],
    { axis: 0 },
  );
  const interleaved = graph.op('Reshape', [joined, shape]);
  return rest.length ? graph.op('Concat', [interleaved, ...rest], { axis: -1 }) : interleaved;
}
