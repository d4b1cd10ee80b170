// Sources of what a program has handed over: see programInput.js.

import { sumsOf } from '../../features/open/rowSums.js';
import { pieceOf } from '../modelInput.js';
import { aboutWeights, tokensFor } from './attentionWeights.js';

/** @import { Given, GivenParts, GivenQkv, GivenWeights, Numbers } from './programInput.js' */
/** @import { Source } from './sources.js' */

/** @param {Given} given @returns {Record<string, string[]>} */
const namesIn = ({ tokens, keys, source, target }) => ({
  ...(tokens && { queries: tokens }),
  ...(keys && { keys }),
  ...(source && { source }),
  ...(target && { target }),
});

/** @param {string} name @param {import('./programInput.js').Layers & { part?: string }} given */
function attentionsOf(name, { layers, causal, part = '' }) {
  const [H, T, S] = layers[0].shape;
  return {
    name,
    part,
    layers: layers.length,
    batch: 1,
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
}

/** @param {string} name @param {(GivenWeights | GivenParts) & Given} given @returns {Source} */
export function weightsSource(name, given) {
  const { title = '' } = given;
  const parts = 'parts' in given ? given.parts : [];
  const attentions = parts.length > 0 ? parts.map((one) => attentionsOf(one.part, one)) : [attentionsOf(title, given)];
  const names = parts.map(({ part }) => part);
  return {
    about: aboutWeights(name, title, attentions[0], names, attentions),
    attentions,
    tokens: namesIn(given),
  };
}

/** Heads may share keys and values: each is given its own. @param {Numbers} all @param {number} H @returns {Numbers} */
function forEach({ data, shape: [G, S, D] }, H) {
  if (G === H) return { data, shape: [G, S, D] };
  const own = new Float32Array(H * S * D);
  for (let h = 0; h < H; h++) {
    const shared = Math.floor(h / (H / G));
    own.set(data.subarray(shared * S * D, (shared + 1) * S * D), h * S * D);
  }
  return { data: own, shape: [H, S, D] };
}

/**
 * Heads of queries, keys and values: see attentionOnly.js.
 * @param {string} name
 * @param {GivenQkv & Given} given
 */
async function layerSource(name, given) {
  const { aboutHeads } = await import('./attentionOnly.js');
  const { query, key, value, causal, title } = given;
  const [H, T, D] = query.shape;
  const S = key.shape[1];
  const source = /** @type {any} */ ({
    about: aboutHeads(name, { title, heads: H, context: Math.max(T, S), reads: 'nothing', causal }),
    tokens: namesIn(given),
    pose() {
      const names = tokensFor(source.tokens, T, S);
      const pieces = Array.from({ length: T }, (_, t) => pieceOf(names.queries?.[t] ?? String(t)));
      const layers = [{ q: query, k: forEach(key, H), v: forEach(value, H) }];
      if (T === S && !given.keys) return { pieces, layers };
      return { pieces, layers, keys: Array.from({ length: S }, (_, s) => pieceOf(names.keys?.[s] ?? String(s))) };
    },
  });
  const told = { kind: 'layer', T, S, width: D, projected: false, batch: 1, named: given.tokens !== undefined };
  return { source, told };
}

/** The summary of weights. @param {Source} source @param {Given} given */
export const toldOf = ({ attentions = [] }, { tokens, source, target, ...weights }) => ({
  kind: 'weights',
  sums: 'layers' in weights ? sumsOf(/** @type {any} */ (weights).layers) : 'rows',
  parts: attentions.map((part) => ({ ...part, read: undefined })),
  named: (tokens ?? source ?? target) !== undefined,
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
  if (given.kind === 'qkv') return layerSource(name, given);
  const { openFiles, openFolder } = await import('./userFiles.js');
  const { title } = given;
  if (given.kind === 'folder')
    return { source: await openFolder(hl, name, given.url, { title, onProgress }), told: null };
  const signal = new AbortController().signal;
  return openFiles(hl, name, given.files, { title: title ?? '', signal, onProgress });
}
