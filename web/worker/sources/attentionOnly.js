// Heads without a language model around them: queries, keys and values, and what attention makes of them. What if
// changes them as it changes those of a model.

import { tradeOf } from '../../features/heads/roles.js';
import { visible } from '../../features/mask/hiddenCells.js';
import { effective } from '../../features/whatif/edits.js';
import { runOf } from '../../store/runInput.js';
import { warmed } from '../scoreSteps.js';
import { MOST, POOLED, pooled, scoresHere } from './showWeights.js';

/** @import { Run, State } from '../../store/state.js' */
/** @import { Piece } from '../../features/prompt/tokens.js' */
/** @import { Pixels, Source } from './sources.js' */
/** @typedef {{ data: Float32Array, shape: readonly number[] }} Numbers */
/** @typedef {{ q: Numbers, k: Numbers, v: Numbers }} Heads each (H,N,D) */
/**
 * @typedef {object} Posed what there is to be shown of a text, a picture, or files
 * @property {Piece[]} pieces tokens that ask
 * @property {Piece[]} [keys] tokens that answer, where they are others
 * @property {boolean} [cut] there were more
 * @property {Heads[]} layers
 * @property {(string | null)[][]} [trades] names of heads, where they are known
 * @property {{ image: Pixels['image'], patch: { size: number, image: number[] } }} [seen] a picture
 * @property {number} [likeness] of two texts
 */

/** Rows of one head. @param {Numbers} all (H,N,D) @param {number} h */
function ofHead({ data, shape: [, N, D] }, h) {
  return { data: data.subarray(h * N * D, (h + 1) * N * D), shape: [1, 1, N, D] };
}

/**
 * One head, changed as the run says.
 * @param {any} hl
 * @param {Heads} heads
 * @param {Run} run
 * @param {number} layer
 * @param {number} head
 * @param {boolean} [causal] by itself
 */
export function attend(hl, { q, k, v }, run, layer, head, causal = false) {
  const [, T, D] = q.shape;
  const S = k.shape[1];
  const at = (/** @type {Record<string, any>} */ map, /** @type {any} */ ever) => effective(map, layer, head, ever);
  const [name, painted] = [at(run.mask, 'causal'), at(run.painted, '')];
  const hides = causal || name !== 'causal' || painted !== '';
  const scale = at(run.scale, 1);
  return hl.scope(() => {
    const { output, weights, scores } = hl.attention(ofHead(q, head), ofHead(k, head), ofHead(v, head), {
      scale: 1 / (Math.sqrt(D) * at(run.temperature, 1)),
      ...(hides && { mask: visible(painted, name, T, causal, S) }),
      weights: true,
      scores: 'masked',
    });
    const mixture = /** @type {Float32Array} */ (output.copy());
    if (scale !== 1) for (let i = 0; i < mixture.length; i++) mixture[i] *= scale;
    return { weights: weights.copy(), scores: scores.copy(), mixture };
  });
}

/**
 * @param {any} hl
 * @param {Source} source
 * @param {State} state
 * @param {{ say: (part: string, fields: object, transfer?: ArrayBuffer[]) => void, stale: () => Promise<boolean> }} how
 */
export async function showHeads(hl, source, state, { say, stale }) {
  const run = runOf(state);
  const posed = /** @type {Posed} */ (await /** @type {any} */ (source).pose(hl, run, state.entry));
  const { pieces, keys, layers, cut = false, seen, likeness } = posed;
  const heads = layers[0]?.q.shape[0] ?? source.about.heads;
  const about = { ...source.about, layers: layers.length || source.about.layers, heads };
  say('source', { about });
  const [layer, head] = [Math.min(state.layer, about.layers - 1), Math.min(state.head, heads - 1)];
  const [T, S] = [pieces.length, (keys ?? pieces).length];
  const shared = { ...seen, pieces, keys, cut, likeness, T, S, layer, head };
  if (T === 0) return say('run', { ...shared, weights: new Float32Array(0) });
  if (await stale()) return;
  const attended = (/** @type {number} */ l, /** @type {number} */ h) =>
    attend(hl, layers[l], run, l, h, source.about.causal);
  const shown = attended(layer, head);
  const values = valuesOf(layers[layer], shown, head, {
    scale: effective(run.scale, layer, head, 1),
    temperature: effective(run.temperature, layer, head, 1),
  });
  const size = T * S;
  if (layers.length * heads * size > MOST) {
    say('run', { ...shared, large: true, values, weights: shown.weights, scores: null });
    say('trades', { trades: posed.trades ?? null });
    for (let l = 0; l < layers.length; l++)
      for (let h = 0; h < heads; h++) {
        if (await stale()) return;
        say('pooled', { layer: l, head: h, ...pooled(attended(l, h).weights, T, S, POOLED) });
      }
    return;
  }
  const weights = new Float32Array(layers.length * heads * size);
  for (let l = 0; l < layers.length; l++)
    for (let h = 0; h < heads; h++) {
      const one = l === layer && h === head ? shown : attended(l, h);
      weights.set(one.weights, (l * heads + h) * size);
    }
  if (await stale()) return;
  const names = pieces.map(({ name }) => name.toLowerCase());
  const scores = keys || seen ? null : scoresHere(weights, { layers: layers.length, heads, T }, names);
  say('run', { ...shared, values, weights, scores }, [weights.buffer]);
  say('trades', { trades: posed.trades ?? scores?.map((row) => row.map(tradeOf)) ?? null });
}

/**
 * @param {Heads} heads
 * @param {ReturnType<typeof attend>} shown
 * @param {number} head
 * @param {{ scale: number, temperature: number }} changed
 */
function valuesOf({ q, k, v }, { scores, mixture }, head, { scale, temperature }) {
  const T = q.shape[1];
  return {
    width: q.shape[2],
    valueWidth: v.shape[2],
    query: ofHead(q, head).data.slice(),
    key: ofHead(k, head).data.slice(),
    value: ofHead(v, head).data.slice(),
    scores,
    steps: [{ kind: 'scale', scale: 1 / Math.sqrt(q.shape[2]) }, ...warmed(temperature)],
    sink: null,
    mixture,
    labels: Array.from({ length: T }, () => ({ id: -1, text: '' })),
    directions: null,
    scale,
    patched: false,
  };
}

/**
 * (N,C) · weightᵀ + bias, (N,out): by the core, as the scores of x before the rows of the weight.
 * @param {any} hl
 * @param {Numbers} x
 * @param {{ data: any, shape: readonly number[] }} weight
 * @param {{ data: any } | null} [bias]
 * @returns {Numbers}
 */
export function project(hl, { data, shape: [N, C] }, weight, bias) {
  const out = weight.shape[0];
  return hl.scope(() => {
    const nothing = { data: new Float32Array(0), shape: [1, 1, out, 0] };
    const keys = { data: weight.data, shape: [1, 1, out, C] };
    const { scores } = hl.attention({ data, shape: [1, 1, N, C] }, keys, nothing, { scores: 'raw', scale: 1 });
    const sums = scores.copy();
    if (bias) for (let i = 0; i < sums.length; i++) sums[i] += bias.data[i % out];
    return { data: sums, shape: [N, out] };
  });
}

/** (N,heads·D) as (heads,N,D). @param {Numbers} x @param {number} heads @returns {Numbers} */
export function splitHeads({ data, shape: [N, C] }, heads) {
  const D = C / heads;
  const to = new Float32Array(data.length);
  for (let n = 0; n < N; n++)
    for (let h = 0; h < heads; h++) to.set(data.subarray(n * C + h * D, n * C + (h + 1) * D), (h * N + n) * D);
  return { data: to, shape: [heads, N, D] };
}

/** What every source of this kind says of itself. @param {string} name @param {object} own */
export const aboutHeads = (name, own) => ({
  name,
  kind: /** @type {const} */ ('layer'),
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
  reads: /** @type {const} */ ('text'),
  ...own,
});
