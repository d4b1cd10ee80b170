// Attention as ONNX operators: masks and biases, rotary positions, scores, softmax, weighted values. A function uses
// the dedicated operators of opset 23 if their semantics agree, otherwise primitive operators for any runtime.

import { rotaryTable } from '../ops/rotary.js';

/** @import { RotaryScaling } from '../ops/rotary.js' */
/** @import { OnnxGraph } from './graph.js' */

/**
 * Masks and biases of attention. Strings are names of values in the graph. queries and keys are int64 vectors of one
 * element.
 * @typedef {object} Sight
 * @property {string} queries T, the number of queries
 * @property {string} keys S, the number of keys with the past and without appended keys
 * @property {string} [offset] position of query 0 among the keys, a scalar or (B); default 0
 * @property {boolean} [offsetByBatch] true if offset is (B)
 * @property {boolean} [causal]
 * @property {readonly [number, number]} [window] maximum distance of keys to the left and right; −1 means unlimited
 * @property {string} [mask] bool, broadcast against (B,H,T,S): true if the query may attend to the key
 * @property {string} [keyPadding] bool (B,S)
 * @property {string} [validLens] int64 (B), or (B,T)
 * @property {boolean} [lensByQuery] true if validLens is (B,T)
 * @property {string} [bias] float, broadcast against (B,H,T,S), added to the scores
 * @property {Float32Array} [slopes] slopes (H) of ALiBi
 * @property {Distances} [distances] bias by the distance of relative positions; it does not support offsetByBatch
 * @property {number} [appended] number of keys that are appended to the others and visible to every query
 */
/**
 * @typedef {{ table: string, reach: number }} Distances table (2·reach + 1, H): row n is for the distance n − reach of
 *   key and query
 */
/**
 * The combined mask and bias.
 * @typedef {object} Visible
 * @property {string} [bias] float, broadcast against (B,H,T,S)
 * @property {string} [visible] bool, broadcast against (B,H,T,S)
 * @property {boolean} [mayBeEmpty] true if a query may have no visible key
 * @property {boolean} [onlyCausal] true if the mask is exactly causal with offset 0
 */
/**
 * The inputs and options of attention.
 * @typedef {object} Attending
 * @property {string} query (B,H,T,D)
 * @property {string} key (B,G,S,D)
 * @property {string} value (B,G,S,Dv)
 * @property {number} heads
 * @property {number} [kvHeads] default heads
 * @property {number} [scale] default 1/√D
 * @property {number} [softcap]
 * @property {string} [sinks] (H)
 * @property {number} [fill] score of a masked key; default −Infinity, which makes its weight 0
 * @property {boolean} [weights] true to return the weights
 */

/** The lowest float32. With −Infinity, softmax of a row without visible keys would be NaN. */
const LOWEST = -3.4028234663852886e38;

/**
 * @param {OnnxGraph} graph
 * @param {Sight} sight
 * @returns {Visible}
 */
export function visibility(graph, sight) {
  const { causal = false, window: [left, right] = [-1, -1], appended = 0 } = sight;
  const { mask, keyPadding, validLens, slopes, distances } = sight;
  const needsDistance = causal || left >= 0 || right >= 0 || slopes || distances;
  const distance = needsDistance ? distanceOf(graph, sight) : '';
  const row = (/** @type {string} */ x) => graph.op('Unsqueeze', [x, graph.ints(1, 2)]);
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
 * @param {OnnxGraph} graph
 * @param {Sight} sight
 * @param {readonly string[]} masks
 * @param {'And' | 'Add'} type
 * @param {boolean} isSquare true if one of them is (…,T,S)
 */
function square(graph, { queries, keys }, masks, type, isSquare) {
  const all = masks.reduce((a, b) => graph.op(type, [a, b]));
  if (graph.opset < 23 || isSquare) return all;
  return graph.op('Expand', [all, graph.op('Concat', [graph.ints(1, 1), queries, keys], { axis: 0 })]);
}

/**
 * Returns the position of each key minus that of each query, (T,S), or (B,1,T,S).
 * @param {OnnxGraph} graph
 * @param {Sight} sight
 */
function distanceOf(graph, { queries, keys, offset, offsetByBatch }) {
  let query = graph.op('Unsqueeze', [graph.range(queries), graph.ints(1)]);
  if (offset) query = graph.op('Add', [query, offsetByBatch ? graph.reshape(offset, -1, 1, 1, 1) : offset]);
  return graph.op('Sub', [graph.range(keys), query]);
}

/** @param {OnnxGraph} graph @param {string} lens @param {boolean} [byQuery] */
const lensOf = (graph, lens, byQuery) =>
  graph.op('Unsqueeze', [lens, byQuery ? graph.ints(1, 3) : graph.ints(1, 2, 3)]);

/**
 * Returns the bias of ALiBi, −slope · |distance|.
 * @param {OnnxGraph} graph
 * @param {string} distance
 * @param {Float32Array} slopes
 */
function slopesBias(graph, distance, slopes) {
  const far = graph.cast(graph.op('Abs', [distance]), 'float');
  const factor = graph.constant(
    slopes.map((slope) => -slope),
    [slopes.length, 1, 1],
  );
  return graph.op('Mul', [far, factor]);
}

/**
 * Returns the bias by distance, (1,H,T,S).
 * @param {OnnxGraph} graph
 * @param {string} distance (T,S)
 * @param {Distances} distances
 */
function distanceBias(graph, distance, { table, reach }) {
  const near = graph.op('Clip', [distance, graph.int(-reach), graph.int(reach)]);
  const rows = graph.op('Gather', [table, graph.op('Add', [near, graph.int(reach)])]);
  return graph.op('Unsqueeze', [graph.op('Transpose', [rows], { perm: [2, 0, 1] }), graph.ints(0)]);
}

/**
 * Extends a mask with a constant for the appended keys.
 * @param {OnnxGraph} graph
 * @param {string} mask
 * @param {string} keys
 * @param {number} count
 * @param {() => string} value
 */
function appendColumns(graph, mask, keys, count, value) {
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
 * @param {OnnxGraph} graph
 * @param {Attending & Visible} what
 * @returns {{ output: string, weights?: string }} (B,H,T,Dv), (B,H,T,S)
 */
export function attend(graph, what) {
  const { sinks, fill = -Infinity, softcap = 0, visible, bias } = what;
  // The Attention operator applies softcap after the mask, and onnxruntime returns its weights in a wrong shape.
  const plain = !sinks && fill === -Infinity && !what.weights && !(softcap && (visible || bias));
  const hasOperator = graph.opset >= 23 && plain;
  return hasOperator ? attendByOperator(graph, what) : attendByPrimitives(graph, what);
}

/** @param {OnnxGraph} graph @param {Attending & Visible} what */
function attendByOperator(graph, what) {
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

/** @param {OnnxGraph} graph @param {Attending & Visible} what */
function attendByPrimitives(graph, what) {
  const { query, key, value, heads, kvHeads = heads, softcap, visible, bias, sinks, fill = -Infinity } = what;
  const grouped = kvHeads !== heads;
  // The queries of all heads of a group are the rows of one product.
  const rows = (/** @type {string} */ x) => (grouped ? graph.op('Reshape', [x, groupRows(graph, x, kvHeads)]) : x);
  const split = (/** @type {string} */ x) => (grouped ? graph.reshape(x, 0, heads, -1, graph.size(x, 3)) : x);
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

/**
 * Returns the sizes (B,G,−1,last) to which x (B,H,T,last) is reshaped.
 * @param {OnnxGraph} graph
 * @param {string} x
 * @param {number} kvHeads
 */
const groupRows = (graph, x, kvHeads) =>
  graph.op('Concat', [graph.ints(0, kvHeads, -1), graph.size(x, 3)], { axis: 0 });

/** Returns 1/√D. @param {OnnxGraph} graph @param {string} query */
function scaleOf(graph, query) {
  const width = graph.cast(graph.size(query, 3), 'float');
  return graph.op('Reciprocal', [graph.op('Sqrt', [width])]);
}

/**
 * Applies softmax over the scores and the sink of the head, then removes the column of the sink.
 * @param {OnnxGraph} graph
 * @param {string} scores
 * @param {string} sinks
 * @param {number} heads
 */
function softmaxWithSinks(graph, scores, sinks, heads) {
  const others = graph.op('Slice', [graph.op('Shape', [scores]), graph.ints(0), graph.ints(3)]);
  const shape = graph.op('Concat', [others, graph.ints(1)], { axis: 0 });
  const column = graph.op('Expand', [graph.reshape(sinks, 1, heads, 1, 1), shape]);
  const all = graph.op('Softmax', [graph.op('Concat', [scores, column], { axis: -1 })], { axis: -1 });
  return graph.op('Slice', [all, graph.ints(0), graph.ints(-1), graph.ints(-1)]);
}

/**
 * Tables of cosines and sines (context,W/2), as in the core. picked: true if cos and sin are the rows for the
 * positions, (B,T,W/2).
 * @typedef {{ cos: string, sin: string, rotated: number, neighbours: boolean, picked?: boolean }} RotaryTables
 */
/**
 * @param {OnnxGraph} graph
 * @param {string} name of the tables
 * @param {{ theta?: number, rotated: number, neighbours?: boolean, scaling?: RotaryScaling, context: number }} options
 * @returns {RotaryTables}
 */
export function rotaryTables(graph, name, { theta, rotated, neighbours = false, scaling, context }) {
  const table = rotaryTable({ theta, width: rotated, scaling, context });
  const half = rotated / 2;
  const part = (/** @type {number} */ first) =>
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
 * @param {OnnxGraph} graph
 * @param {RotaryTables} near
 * @param {RotaryTables} far
 * @param {string} positions int64 (1,T) or (B,T)
 * @param {number} beyond
 * @returns {RotaryTables}
 */
export function rowsByLength(graph, near, far, positions, beyond) {
  const last = graph.op('ReduceMax', [positions], { keepdims: 0 });
  const isFar = graph.op('GreaterOrEqual', [last, graph.int(beyond)]);
  // Positions are limited, because the near tables have only `beyond` rows.
  const within = graph.op('Min', [positions, graph.int(beyond - 1)]);
  const pick = (/** @type {'cos' | 'sin'} */ part) =>
    graph.op('Where', [isFar, graph.op('Gather', [far[part], positions]), graph.op('Gather', [near[part], within])]);
  return { ...near, cos: pick('cos'), sin: pick('sin'), picked: true };
}

/**
 * Rotates queries or keys (B,H,T,D) by their positions, int64 (T) or (B,T).
 * @param {OnnxGraph} graph
 * @param {string} x
 * @param {string} positions
 * @param {number} width D
 * @param {RotaryTables} tables
 */
export function rotate(graph, x, positions, width, { cos, sin, rotated, neighbours, picked = false }) {
  if (rotated === 0) return x;
  if (graph.opset >= 23) {
    const sizes = [graph.size(x, 0), graph.size(x, 2)];
    const attributes = { interleaved: Number(neighbours), rotary_embedding_dim: rotated === width ? 0 : rotated };
    const expand = (/** @type {string} */ rows, /** @type {string[]} */ ...more) =>
      graph.op('Expand', [rows, graph.op('Concat', [...sizes, ...more], { axis: 0 })]);
    const of = picked ? [cos, sin].map((rows) => expand(rows, graph.ints(rotated / 2))) : [cos, sin, expand(positions)];
    return graph.op('RotaryEmbedding', [x, ...of], attributes);
  }
  const half = rotated / 2;
  /** @param {number} from @param {number} to @param {number} [step] */
  const slice = (from, to, step = 1) =>
    graph.op('Slice', [x, graph.ints(from), graph.ints(to), graph.ints(-1), graph.ints(step)]);
  // These are the cosines and sines, (1,T,W/2) or (B,1,T,W/2).
  const [c, s] = [cos, sin].map((table) =>
    graph.op('Unsqueeze', [picked ? table : graph.op('Gather', [table, positions]), graph.ints(-3)]),
  );
  const [a, b] = neighbours ? [slice(0, rotated, 2), slice(1, rotated, 2)] : [slice(0, half), slice(half, rotated)];
  const mul = (/** @type {string} */ p, /** @type {string} */ q) => graph.op('Mul', [p, q]);
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
