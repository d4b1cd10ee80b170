// Sends the answer to `show` for attention weights that were computed elsewhere. If there are too many weights to send
// at once, it sends the weights of the chosen head, and then small pictures of all heads.

import type { HeadPlace, ShownRun, State } from '../../model/protocol/protocol.ts';
import { scoreHeads } from '../run/headScores.ts';
import { numberedPieces } from '../run/modelInput.ts';
import type { Reply } from '../types.ts';
import { type Attentions, tokensFor } from './attentionWeights.ts';
import type { WeightsSource } from './types.ts';

/** Maximum weights that are sent at once, which are 24 MB. */
export const MAX_WEIGHTS = 6e6;
/** Maximum length of the longer side of a small picture. */
export const POOLED = 96;

/**
 * Makes a picture, `size` on the longer side, of maxima of weights (T,S), as means would hide stripes. `causal`:
 * weights of later keys are zero.
 */
export function pooled(weights: Float32Array, T: number, S: number, size: number, causal = false) {
  const share = Math.min(size / Math.max(T, S), 1);
  const [rows, columns] = [Math.max(Math.round(T * share), 1), Math.max(Math.round(S * share), 1)];
  const data = new Float32Array(rows * columns);
  const starts = Array.from({ length: columns + 1 }, (_, c) => Math.ceil((c * S) / columns));
  for (let t = 0; t < T; t++) {
    const row = Math.floor((t * rows) / T) * columns;
    for (let c = 0; c < columns && !(causal && starts[c] > t); c++)
      data[row + c] = largest(weights, t * S + starts[c], t * S + starts[c + 1], data[row + c]);
  }
  return { data, rows, columns };
}

/** Returns the largest of some numbers and of another one; NaN if one of them is NaN. */
function largest(numbers: Float32Array, from: number, to: number, other: number) {
  let most = other;
  for (let i = from; i < to && !Number.isNaN(most); i++) {
    const x = numbers[i];
    if (!(x <= most)) most = x;
  }
  return most;
}

export async function showWeights(source: WeightsSource, state: State, reply: Pick<Reply, 'send' | 'checkCancelled'>) {
  const { about, attentions, tokens = {} } = source;
  const index = Math.max(about.parts.indexOf(state.part), 0);
  const attention = attentions[index];
  const { layers, batch, heads, T, S, causal, wholeT, wholeS } = attention;
  reply.send('source', { about: { ...about, layers, heads, batch, causal } });
  const entry = Math.min(state.entry, batch - 1);
  const [layer, head] = [Math.min(state.layer, layers - 1), Math.min(state.head, heads - 1)];
  const names = tokensFor(tokens, T, S, about.parts[index]);
  const large = layers * heads * T * S > MAX_WEIGHTS;
  const shared = {
    pieces: numberedPieces(T, names.queries),
    keys: numberedPieces(S, names.keys),
    cut: wholeT > T || wholeS > S,
    T,
    S,
    layer,
    head,
    large,
    named: names.queries !== null,
  };
  if (!large) return sendAll(attention, entry, shared, names.queries, reply);
  const shown = await attention.read(layer, head, entry);
  if (await reply.checkCancelled()) return;
  reply.send('run', { ...shared, weights: shown, scores: null }, [shown.buffer as ArrayBuffer]);
  reply.send('roles', { roles: null, weights: null });
  await sendPooled(source, index, entry, reply);
}

const allHeads = ({ layers, heads }: { layers: number; heads: number }): HeadPlace[] =>
  Array.from({ length: layers * heads }, (_, i) => ({ layer: Math.floor(i / heads), head: i % heads }));

/** `names`: of the queries. */
async function sendAll(
  attention: Attentions,
  entry: number,
  shared: Omit<ShownRun, 'weights'>,
  names: string[] | null,
  reply: Pick<Reply, 'send' | 'checkCancelled'>,
) {
  const { layers, heads, T, S } = attention;
  const weights = new Float32Array(layers * heads * T * S);
  for (const { layer, head } of allHeads(attention))
    weights.set(await attention.read(layer, head, entry), (layer * heads + head) * T * S);
  if (await reply.checkCancelled()) return;
  const scored = T === S ? scoreWeights(weights, { layers, heads, T, causal: attention.causal }, names) : null;
  reply.send('run', { ...shared, weights, scores: scored?.scores ?? null }, [weights.buffer]);
  reply.send('roles', scored?.named ?? { roles: null, weights: null });
}

/** `index`: of the attention. */
async function sendPooled(
  source: WeightsSource,
  index: number,
  entry: number,
  reply: Pick<Reply, 'send' | 'checkCancelled'>,
) {
  const { T, S, read } = source.attentions[index];
  source.pooled ??= new Map();
  for (const { layer, head } of allHeads(source.attentions[index])) {
    if (await reply.checkCancelled()) return;
    const key = `${index}.${entry}.${layer}.${head}`;
    const picture = source.pooled.get(key) ?? pooled(await read(layer, head, entry), T, S, POOLED);
    source.pooled.set(key, picture);
    reply.send('pooled', { layer, head, ...picture });
  }
}

/** Computes the scores of heads. Tokens with the same name are treated like tokens with the same id. */
export function scoreWeights(
  weights: Float32Array,
  { layers, heads, T, causal }: { layers: number; heads: number; T: number; causal: boolean },
  names: string[] | null,
) {
  const numbers: Map<string, number> = new Map();
  for (const name of names ?? []) if (!numbers.has(name)) numbers.set(name, numbers.size);
  const ids = Array.from({ length: T }, (_, t) => (names ? (numbers.get(names[t]) as number) : t));
  const size = heads * T * T;
  const all = Array.from({ length: layers }, (_, l) => ({
    data: weights.subarray(l * size, (l + 1) * size),
    shape: [1, heads, T, T],
  }));
  return scoreHeads(all, { data: ids, shape: [T] }, causal);
}
