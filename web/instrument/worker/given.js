// Sources of what a program has handed over: see model/given.js.

import { aboutWeights } from './attentions.js';

/** @import { Given, GivenQkv, GivenWeights, Numbers } from '../model/given.js' */
/** @import { Source } from './sources.js' */

/** @param {Given} given @returns {Record<string, string[]>} */
const namesIn = ({ tokens, keys }) => ({ ...(tokens && { queries: tokens }), ...(keys && { keys }) });

/** @param {string} name @param {GivenWeights & Given} given @returns {Source} */
export function weightsSource(name, given) {
  const { layers, causal, title = '' } = given;
  const [H, T, S] = layers[0].shape;
  const attentions = {
    name: title,
    part: '',
    layers: layers.length,
    heads: H,
    T,
    S,
    wholeT: T,
    wholeS: S,
    causal,
    nan: 0,
    read: async (/** @type {number} */ layer, /** @type {number} */ head) =>
      layers[layer].data.slice(head * T * S, (head + 1) * T * S),
  };
  return {
    about: aboutWeights(name, title, attentions, [], [attentions]),
    attentions: [attentions],
    tokens: namesIn(given),
  };
}

/**
 * Weights of queries and keys, by the core.
 * @param {any} hl
 * @param {string} name
 * @param {GivenQkv & Given} given
 * @returns {Source}
 */
function layerSource(hl, name, given) {
  const { query, key, value, causal } = given;
  const [H, T, D] = query.shape;
  const [G, S] = key.shape;
  const batched = (/** @type {Numbers} */ { data, shape }) => ({ data, shape: [1, ...shape] });
  const made = hl.scope(() => {
    const options = { causal, weights: true, scores: 'masked' };
    const { output, weights, scores } = hl.attention(batched(query), batched(key), batched(value), options);
    return { output: output.copy(), weights: weights.copy(), scores: scores.copy() };
  });
  const layer = { data: made.weights, shape: [H, T, S] };
  const source = weightsSource(name, { ...given, kind: 'weights', layers: [layer], causal });
  const width = value.shape[2];
  const ofHead = (/** @type {Float32Array} */ data, /** @type {number} */ head, /** @type {number} */ size) =>
    data.subarray(head * size, (head + 1) * size);
  return {
    ...source,
    about: { ...source.about, kind: 'layer', width: D },
    values: (_, head) => {
      const shared = Math.floor(head / (H / G));
      return {
        layer: 0,
        head,
        width: D,
        valueWidth: width,
        query: ofHead(query.data, head, T * D),
        key: ofHead(key.data, shared, S * D),
        value: ofHead(value.data, shared, S * width),
        scores: ofHead(made.scores, head, T * S),
        mixture: ofHead(made.output, head, T * width),
        labels: Array.from({ length: T }, () => ({ id: -1, text: '' })),
        directions: null,
      };
    },
  };
}

/** What is said of weights. @param {Source} source @param {Given} given */
export const toldOf = ({ attentions = [] }, { tokens }) => ({
  kind: 'weights',
  parts: attentions.map((part) => ({ ...part, read: undefined })),
  named: tokens !== undefined,
  unused: [],
  problems: [],
});

/**
 * @param {any} hl
 * @param {string} name
 * @param {Given} given
 * @param {(read: number, total: number) => void} onProgress
 * @returns {Promise<{ source: Source, told: any }>}
 */
export async function openGiven(hl, name, given, onProgress) {
  if (given.kind === 'weights') {
    const source = weightsSource(name, given);
    return { source, told: toldOf(source, given) };
  }
  if (given.kind === 'qkv') {
    const source = layerSource(hl, name, given);
    return { source, told: { ...toldOf(source, given), kind: 'layer' } };
  }
  const { openFiles, openFolder } = await import('./opened.js');
  const { title } = given;
  if (given.kind === 'folder')
    return { source: await openFolder(hl, name, given.url, { title, onProgress }), told: null };
  const signal = new AbortController().signal;
  return openFiles(hl, name, given.files, { title: title ?? '', signal, onProgress });
}
