// Heads without a model: their attention is computed from queries, keys and values. They can be changed like the heads
// of a model.

import { effective } from '../../model/modelEdits.ts';
import type { About, HeadValues, Run, State } from '../../model/protocol/protocol.ts';
import { runOf } from '../../model/runInput.ts';
import type { ScoredHeads } from '../run/headScores.ts';
import { temperatureStep } from '../run/scoreSteps.ts';
import type { Reply } from '../types.ts';
import { type Attended, attend, rowsOfHead } from './headMath.ts';
import { MAX_WEIGHTS, POOLED, pooled, scoreWeights } from './showWeights.ts';
import type { HeadInputs, HeadsSource, Hl, LayerHeads } from './types.ts';

export async function showHeads(
  hl: Hl,
  source: HeadsSource,
  state: State,
  reply: Pick<Reply, 'send' | 'checkCancelled'>,
) {
  const run = runOf(state);
  const inputs = await source.headInputs(hl, run, state.entry);
  const { pieces, keys, layers, cut = false, picture, likeness } = inputs;
  const heads = layers[0]?.q.shape[0] ?? source.about.heads;
  const about = { ...source.about, layers: layers.length || source.about.layers, heads };
  reply.send('source', { about });
  const [layer, head] = [Math.min(state.layer, about.layers - 1), Math.min(state.head, heads - 1)];
  const [T, S] = [pieces.length, (keys ?? pieces).length];
  const shared = { ...picture, pieces, keys, cut, likeness, T, S, layer, head };
  if (T === 0) return reply.send('run', { ...shared, weights: new Float32Array(0) });
  if (await reply.checkCancelled()) return;
  const attended = (l: number, h: number) => attend(hl, layers[l], run, l, h, source.about.causal);
  const shown = attended(layer, head);
  const values = valuesOf(layers[layer], shown, run, layer, head);
  if (layers.length * heads * T * S > MAX_WEIGHTS) {
    reply.send('run', { ...shared, large: true, values, weights: shown.weights, scores: null });
    reply.send('roles', { roles: inputs.roles ?? null, weights: null });
    return sendPooled(about, T, S, (l, h) => attended(l, h).weights, reply);
  }
  const weights = new Float32Array(layers.length * heads * T * S);
  for (let l = 0; l < layers.length; l++)
    for (let h = 0; h < heads; h++) {
      const one = l === layer && h === head ? shown : attended(l, h);
      weights.set(one.weights, (l * heads + h) * T * S);
    }
  if (await reply.checkCancelled()) return;
  const scored = scoresIn(inputs, weights, { layers: layers.length, heads, T, causal: about.causal });
  reply.send('run', { ...shared, values, weights, scores: scored?.scores ?? null }, [weights.buffer]);
  // The roles of handmade heads are known, because their weights are made for them.
  const known = inputs.roles && { roles: inputs.roles, weights: null };
  reply.send('roles', known ?? scored?.named ?? { roles: null, weights: null });
}

/** Sends small pictures of all heads, one after another. */
async function sendPooled(
  { layers, heads }: About,
  T: number,
  S: number,
  weightsOf: (layer: number, head: number) => Float32Array,
  reply: Pick<Reply, 'send' | 'checkCancelled'>,
) {
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++) {
      if (await reply.checkCancelled()) return;
      reply.send('pooled', { layer, head, ...pooled(weightsOf(layer, head), T, S, POOLED) });
    }
}

/** Computes the scores of all heads. Null unless queries and keys are the same tokens of a text. */
function scoresIn(
  { pieces, keys, picture }: HeadInputs,
  weights: Float32Array,
  sizes: { layers: number; heads: number; T: number; causal: boolean },
): ScoredHeads | null {
  if (keys || picture) return null;
  const names = pieces.map(({ name }) => name.toLowerCase());
  return scoreWeights(weights, sizes, names);
}

function valuesOf(
  { q, k, v }: LayerHeads,
  { scores, mixture }: Attended,
  run: Run,
  layer: number,
  head: number,
): HeadValues {
  const T = q.shape[1];
  return {
    width: q.shape[2],
    valueWidth: v.shape[2],
    query: rowsOfHead(q, head).data.slice(),
    key: rowsOfHead(k, head).data.slice(),
    value: rowsOfHead(v, head).data.slice(),
    scores,
    steps: [
      { kind: 'scale', scale: 1 / Math.sqrt(q.shape[2]) },
      ...temperatureStep(effective(run.temperature, layer, head, 1)),
    ],
    sink: null,
    mixture,
    labels: Array.from({ length: T }, () => ({ id: -1, text: '' })),
    directions: null,
    scale: effective(run.scale, layer, head, 1),
    patched: false,
  };
}

export const aboutHeads = (name: string, own: Partial<About>): About => ({
  name,
  kind: 'layer',
  layers: 1,
  heads: 1,
  width: 0,
  context: 64,
  causal: false,
  predicts: false,
  guess: null,
  writes: false,
  edits: true,
  sums: false,
  mask: null,
  parts: [],
  bytes: 0,
  reads: 'text',
  ...own,
});
