// Makes a source from the input of the program that embeds the page: see programInput.js.

import { sumsOf } from '../../features/open/rowSums.js';
import { numberedPieces } from '../run/modelInput.js';
import { aboutWeights, tokensFor } from './attentionWeights.js';

/** @import { LayerSummary, Summary, WeightsSummary } from '../../store/protocol.js' */
/** @import { Attentions } from './attentionWeights.js' */
/** @import { PartsInput, ProgramInput, QkvInput, Texts, WeightsInput } from './programInput.js' */
/** @import { InputNumbers, LayerWeights } from './programInput.js' */
/** @import { HeadsSource, Hl, OnProgress, Source, WeightsSource } from './types.js' */
/** @typedef {{ source: Source, summary: Summary | null }} Opened */

/** @param {Texts} texts @returns {Record<string, string[]>} */
const tokensIn = ({ tokens, keys, source, target }) => ({
  ...(tokens && { queries: tokens }),
  ...(keys && { keys }),
  ...(source && { source }),
  ...(target && { target }),
});

/** @param {string} name @param {LayerWeights & { part?: string }} weights @returns {Attentions} */
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
    read: async (layer, head) => layers[layer].data.slice(head * T * S, (head + 1) * T * S),
  };
}

/** @param {string} name @param {(WeightsInput | PartsInput) & Texts} input @returns {WeightsSource} */
export function weightsSource(name, input) {
  const { title = '' } = input;
  const parts = 'parts' in input ? input.parts : [];
  const attentions = parts.length > 0 ? parts.map((one) => attentionsOf(one.part, one)) : [attentionsOf(title, input)];
  const names = parts.map(({ part }) => part);
  return {
    about: aboutWeights(name, title, attentions[0], names, attentions),
    attentions,
    tokens: tokensIn(input),
  };
}

/** Copies shared keys or values for each of H query heads. @param {InputNumbers} all @param {number} H */
function forEachHead({ data, shape: [G, S, D] }, H) {
  if (G === H) return { data, shape: [G, S, D] };
  const own = new Float32Array(H * S * D);
  for (let h = 0; h < H; h++) {
    const shared = Math.floor(h / (H / G));
    own.set(data.subarray(shared * S * D, (shared + 1) * S * D), h * S * D);
  }
  return { data: own, shape: [H, S, D] };
}

/**
 * Makes a source of heads from queries, keys and values: see attentionOnly.js.
 * @param {string} name
 * @param {QkvInput & Texts} input
 * @returns {Promise<{ source: HeadsSource, summary: LayerSummary }>}
 */
async function qkvSource(name, input) {
  const { aboutHeads } = await import('./attentionOnly.js');
  const { query, key, value, causal, title } = input;
  const [H, T, D] = query.shape;
  const S = key.shape[1];
  /** @type {HeadsSource} */
  const source = {
    about: aboutHeads(name, { title, heads: H, context: Math.max(T, S), reads: 'nothing', causal }),
    tokens: tokensIn(input),
    headInputs() {
      const names = tokensFor(source.tokens ?? {}, T, S);
      const pieces = numberedPieces(T, names.queries);
      const layers = [{ q: query, k: forEachHead(key, H), v: forEachHead(value, H) }];
      if (T === S && !input.keys) return { pieces, layers };
      return { pieces, layers, keys: numberedPieces(S, names.keys) };
    },
  };
  const summary = { T, S, width: D, projected: false, batch: 1, named: input.tokens !== undefined };
  return { source, summary: { kind: 'layer', ...summary } };
}

/** @param {WeightsSource} source @param {WeightsInput & Texts} input @returns {WeightsSummary} */
export const summaryOfWeights = ({ attentions }, { tokens, source, target, layers }) => ({
  kind: 'weights',
  sums: sumsOf(layers),
  parts: attentions.map(({ read: _, ...sizes }) => sizes),
  named: (tokens ?? source ?? target) !== undefined,
  unused: [],
  problems: [],
});

/**
 * @param {Hl} hl
 * @param {string} name
 * @param {ProgramInput} input
 * @param {OnProgress} onProgress
 * @returns {Promise<Opened>}
 */
export async function openProgramInput(hl, name, input, onProgress) {
  if (input.kind === 'weights') {
    const source = weightsSource(name, input);
    return { source, summary: summaryOfWeights(source, input) };
  }
  if (input.kind === 'qkv') return qkvSource(name, input);
  const { title } = input;
  if (input.kind === 'folder') {
    const { openFolder } = await import('./checkpointFiles.js');
    return { source: await openFolder(hl, name, input.url, { title, hub: input.hub, onProgress }), summary: null };
  }
  const { openFiles } = await import('./userFiles.js');
  const { signal } = new AbortController();
  return openFiles(hl, name, input.files, { title: title ?? '', signal, onProgress });
}
