// Makes a source from the input of the program that embeds the page: see programInput.ts.

import type {
  InputNumbers,
  LayerWeights,
  PartsInput,
  ProgramInput,
  QkvInput,
  Texts,
  WeightsInput,
} from '../../model/protocol/programInput.ts';
import type { LayerSummary, Summary, WeightsSummary } from '../../model/protocol/protocol.ts';
import { sumsOf } from '../../model/rowSums.ts';
import { numberedPieces } from '../run/modelInput.ts';
import { type Attentions, aboutWeights, tokensFor } from './attentionWeights.ts';
import type { HeadsSource, Hl, OnProgress, Source, WeightsSource } from './types.ts';
export type Opened = { source: Source; summary: Summary | null };

const tokensIn = ({ tokens, keys, source, target }: Texts): Record<string, string[]> => ({
  ...(tokens && { queries: tokens }),
  ...(keys && { keys }),
  ...(source && { source }),
  ...(target && { target }),
});

function attentionsOf(name: string, { layers, causal, part = '' }: LayerWeights & { part?: string }): Attentions {
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

export function weightsSource(name: string, input: (WeightsInput | PartsInput) & Texts): WeightsSource {
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

/** Copies shared keys or values for each of H query heads. */
function forEachHead({ data, shape: [G, S, D] }: InputNumbers, H: number) {
  if (G === H) return { data, shape: [G, S, D] };
  const own = new Float32Array(H * S * D);
  for (let h = 0; h < H; h++) {
    const shared = Math.floor(h / (H / G));
    own.set(data.subarray(shared * S * D, (shared + 1) * S * D), h * S * D);
  }
  return { data: own, shape: [H, S, D] };
}

/** Makes a source of heads from queries, keys and values: see attentionOnly.ts. */
async function qkvSource(
  name: string,
  input: QkvInput & Texts,
): Promise<{ source: HeadsSource; summary: LayerSummary }> {
  const { aboutHeads } = await import('./attentionOnly.ts');
  const { query, key, value, causal, title } = input;
  const [H, T, D] = query.shape;
  const S = key.shape[1];
  const source: HeadsSource = {
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

export const summaryOfWeights = (
  { attentions }: WeightsSource,
  { tokens, source, target, layers }: WeightsInput & Texts,
): WeightsSummary => ({
  kind: 'weights',
  sums: sumsOf(layers),
  parts: attentions.map(({ read: _, ...sizes }) => sizes),
  named: (tokens ?? source ?? target) !== undefined,
  unused: [],
  problems: [],
});

export async function openProgramInput(
  hl: Hl,
  name: string,
  input: ProgramInput,
  onProgress: OnProgress,
): Promise<Opened> {
  if (input.kind === 'weights') {
    const source = weightsSource(name, input);
    return { source, summary: summaryOfWeights(source, input) };
  }
  if (input.kind === 'qkv') return qkvSource(name, input);
  const { title } = input;
  if (input.kind === 'folder') {
    const { openFolder } = await import('./checkpointFiles.ts');
    return { source: await openFolder(hl, name, input.url, { title, hub: input.hub, onProgress }), summary: null };
  }
  const { openFiles } = await import('./userFiles.ts');
  const { signal } = new AbortController();
  return openFiles(hl, name, input.files, { title: title ?? '', signal, onProgress });
}
