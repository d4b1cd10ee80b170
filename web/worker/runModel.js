// One run of a model: what the page may ask of it, copied out of the core's memory. Every number is one of forward's or
// of headlight-attention/analysis.

import { attribution, headScores, logitLens } from '../../src/js/analysis/analysis.js';
import { headOf, normOf, statisticsOf } from '../../src/js/analysis/head.js';
import { editsOf, patchedHeads } from '../features/whatif/edits.js';
import { optionsOf, sinkOf, stepsOf } from './scoreSteps.js';

/** @import { Run } from '../store/state.js' */
/** @import { Source } from './sources/sources.js' */
/** @typedef {{ data: Float32Array, shape: readonly number[] }} Numbers */
/** @typedef {{ captured: Record<string, Numbers>, logits: Numbers | null }} Values */

/** @param {any} tensor @returns {Numbers} */
const copied = (tensor) => ({ data: tensor.copy(), shape: [...tensor.shape] });

/**
 * @param {any} hl
 * @param {Source} source
 * @param {any} input
 * @param {object[]} edit
 * @param {string[]} capture
 * @returns {Values}
 */
export function forward(hl, { model }, input, edit, capture) {
  return hl.scope(() => {
    const { logits, captured } = model.forward(input, { edit, capture });
    return {
      logits: logits ? copied(logits) : null,
      captured: Object.fromEntries(Object.entries(captured).map(([name, tensor]) => [name, copied(tensor)])),
    };
  });
}

/**
 * All edits of a run, what is patched included. Where the texts have as many tokens every token is patched, else the
 * last alone.
 * @param {Source} source
 * @param {Run} run
 * @param {number} T
 * @param {() => Values} pinned the values of the pinned run
 * @returns {object[]}
 */
export function allEdits({ about }, run, T, pinned) {
  const edits = editsOf(run, { ...about, tokens: T });
  patchedHeads(run, about).forEach((heads, layer) => {
    if (heads.length === 0) return;
    const at = `blocks.${layer}.heads`;
    const { data, shape } = pinned().captured[at];
    const [, , tokens, width] = shape;
    // Of a run without a text there is nothing to take.
    if (tokens === 0) return;
    for (const head of heads) {
      const from = data.subarray(head * tokens * width, (head + 1) * tokens * width);
      if (tokens === T) edits.unshift({ at, head, set: { data: from, shape: [tokens, width] } });
      else edits.unshift({ at, head, token: T - 1, set: { data: from.slice(-width), shape: [width] } });
    }
  });
  return edits;
}

/** Where the values of a layer are found: an encoder–decoder has three stacks of heads. */
const STACKS = { encoder: 'encoder.blocks.L.', decoder: 'blocks.L.', cross: 'blocks.L.cross.' };
/** @param {string} part @param {number | string} layer */
export const stackAt = (part, layer) =>
  /** @type {Record<string, string>} */ (STACKS)[part].replace('L', String(layer));

/**
 * What the whole page needs of a run, and what the reading of a head in this layer does.
 * @param {Source} source @param {string} part @param {number} layer
 */
export const capturesFor = ({ about }, part, layer) => [
  ...(about.parts.length > 0 ? [] : ['embed', 'blocks.*.heads', 'blocks.*.mlp', 'blocks.*.out']),
  `${stackAt(part, '*')}weights`,
  ...['query', 'key', 'value', 'scores', 'heads'].map((name) => `${stackAt(part, layer)}${name}`),
];

/** softmax of one row, in float64. @param {Float32Array} row */
export function probabilities(row) {
  const most = row.reduce((a, x) => Math.max(a, x), -Infinity);
  const powers = Float64Array.from(row, (x) => Math.exp(x - most));
  const sum = powers.reduce((a, x) => a + x, 0);
  return powers.map((x) => x / sum);
}

/** The logits of a token; those of a whole input have no axis of tokens. @param {Values} values @param {number} t */
export function rowOf({ logits }, t) {
  const { data, shape } = /** @type {Numbers} */ (logits);
  const size = shape[shape.length - 1];
  return shape.length === 2 ? data.subarray(0, size) : data.subarray(t * size, (t + 1) * size);
}

/** The likeliest labels. @param {ArrayLike<number>} values @param {number} count */
export function likeliest(values, count) {
  /** @type {number[]} */
  const found = [];
  for (let id = 0; id < values.length; id++) {
    if (found.length === count && !(values[id] > values[found[count - 1]])) continue;
    let at = found.length;
    while (at > 0 && values[id] > values[found[at - 1]]) at--;
    found.splice(at, 0, id);
    found.length = Math.min(found.length, count);
  }
  return found;
}

/** The weights of every head, (L,H,T,S) in one block. @param {Numbers[]} layers */
export function weightsOf(layers) {
  const parts = layers.map(({ data }) => data);
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/**
 * Scores of all heads, [layer][head].
 * @param {Numbers[]} weights of every layer
 * @param {{ data: ArrayLike<number>, shape: number[] }} ids
 * @returns {Record<string, number>[][]}
 */
export function scoresOf(weights, ids) {
  const scores = headScores(weights, { ids: /** @type {any} */ (ids) });
  const [batch, heads, T] = weights[0].shape;
  return weights.map(({ data }, l) =>
    Array.from({ length: heads }, (_, h) => ({
      ...Object.fromEntries(Object.entries(scores).map(([name, { data: all }]) => [name, all[l * heads + h]])),
      itself: onDiagonal(data, batch, heads, h, T),
    })),
  );
}

/** The mean weight that tokens with others before them give themselves. */
function onDiagonal(
  /** @type {Float32Array} */ data,
  /** @type {number} */ batch,
  /** @type {number} */ heads,
  /** @type {number} */ head,
  /** @type {number} */ T,
) {
  let sum = 0;
  for (let b = 0; b < batch; b++) {
    const start = (b * heads + head) * T * T;
    for (let t = 1; t < T; t++) sum += data[start + t * T + t];
  }
  return sum / (batch * (T - 1));
}

/**
 * If the model ended after the embedding, and after each layer: how likely a label would be, and the likeliest one.
 * @param {Source} source @param {Values} values @param {number} label
 */
export function lensOf({ model }, values, label) {
  const layers = logitLens(model, values, { labels: [label], top: 1 }).map(({ tokens }) => tokens[0]);
  return {
    lens: layers.map(({ labels }) => labels[0].probability),
    likeliest: layers.map(({ top }) => ({ id: top[0].label, probability: top[0].probability })),
  };
}

/**
 * What every part of the model adds to the logit of a label.
 * @param {Source} source @param {Values} values @param {number} label
 */
export function addedTo({ model }, values, label) {
  const { embed, heads, mlps, bias, sum } = attribution(model, values, { label });
  return { label, embed, heads: heads.data, mlps: mlps.data, bias, sum };
}

/**
 * All that the reading of a head needs. `directions` (T,D): its product with a value, times the weight, is what that
 * value adds by this head to the logit of the label that follows; over all keys these add up to the head's attribution.
 * @param {Source} source
 * @param {Values} values
 * @param {number} layer
 * @param {number} head
 * @param {number | null} chosen the label that is followed
 * @param {string} [part] of an encoder–decoder
 * @param {number} [temperature] of this head
 */
export function headValues(source, values, layer, head, chosen, part = 'decoder', temperature = 1) {
  const { captured } = values;
  const { numHeads, headDim } = optionsOf(source.model, part);
  const take = (/** @type {string} */ name, shared = false) => {
    const { data, shape } = captured[`${stackAt(part, layer)}${name}`];
    const size = shape[2] * shape[3];
    // Several query heads may read one head of keys and values.
    const h = shared ? Math.floor(head / (numHeads / shape[1])) : head;
    return data.slice(h * size, (h + 1) * size);
  };
  const [, , T, S] = captured[`${stackAt(part, layer)}scores`].shape;
  const asked = { part, layer, head, T, S, temperature };
  // The likeliest label of every token costs a look at all logits: of many, only the one that is followed.
  const all = source.exact && T * (values.logits?.shape[2] ?? Number.POSITIVE_INFINITY) <= MOST_LOGITS;
  const labels = Array.from({ length: T }, (_, t) =>
    t === T - 1 && chosen !== null ? chosen : all ? topLabel(values, t) : -1,
  );
  return {
    layer,
    head,
    width: headDim,
    query: take('query'),
    key: take('key', true),
    value: take('value', true),
    scores: take('scores'),
    steps: stepsOf(source.model, asked),
    sink: sinkOf(source.model, asked),
    mixture: take('heads'),
    labels,
    directions: source.exact ? directionsOf(source, values, layer, head, labels) : null,
  };
}
const MOST_LOGITS = 2 ** 23;

/** @param {Values} values @param {number} t */
const topLabel = (values, t) => rowOf(values, t).reduce((best, x, i, row) => (x > row[best] ? i : best), 0);

/**
 * Where the stream is normed once, at its end: null for models whose norms stand after each layer.
 * @param {Source} source
 * @param {Values} values
 * @param {number} layer
 * @param {number} head
 * @param {number[]} labels
 */
function directionsOf({ model, about: { layers, width } }, { captured }, layer, head, labels) {
  if ((model.options.normPlace ?? 'before') !== 'before') return null;
  const caller = 'directions';
  const out = headOf(caller, model);
  const norm = normOf(caller, model, 'norm');
  const last = captured[`blocks.${layers - 1}.out`];
  const C = last.shape[2];
  const name = `blocks.${layer}.attention.wo`;
  const wo = model.parameters[name] ?? model.stateDict()[name];
  const { data, shape } = wo;
  const found = new Float32Array(labels.length * width);
  labels.forEach((label, t) => {
    if (label < 0) return found.fill(Number.NaN, t * width, (t + 1) * width);
    const { row } = out.direction(label);
    const x = Float64Array.from(last.data.subarray(t * C, (t + 1) * C));
    const { rstd } = norm ? statisticsOf(model, x) : { rstd: 1 };
    const along = row.map((u, c) => u * (norm ? norm.weight[c] * rstd : 1));
    // A norm that takes away the mean does so here as well.
    const mean = norm && model.options.norm !== 'rms' ? along.reduce((sum, u) => sum + u, 0) / C : 0;
    for (let c = 0; c < C; c++)
      for (let d = 0; d < width; d++) found[t * width + d] += (along[c] - mean) * data[c * shape[1] + head * width + d];
  });
  return found;
}
