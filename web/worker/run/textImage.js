// Computes how well sentences match a picture in a model for texts and pictures, with the changes of a run.

import { probabilitiesOf, similarities, unitRows } from '../../../src/js/models/textImage/vectors.js';
import { sentencesOf } from '../../features/textImage/sentences.js';
import { runOf } from '../../store/runInput.js';
import { readRun } from './modelInput.js';
import { forward } from './runModel.js';

/** @import { Comparison, Run, State } from '../../store/protocol.js' */
/** @import { Hl, Numbers, Towers, TransformerSource } from '../sources/types.js' */
/** @import { Reply, WorkerContext } from '../types.js' */
/** @import { Values } from './runModel.js' */
/** @typedef {{ hl: Hl, runs: WorkerContext['runs'], towers: Towers, pinned: Run | null }} Context */
/** @typedef {'text' | 'vision'} Tower */
/** @typedef {{ probability: number, cosine: number }} Match null for a sentence without tokens */

/**
 * Maximum number of vectors of sentences and pictures that are kept. A change in a tower needs new vectors; this
 * number suffices for eight sentences and a few such changes.
 */
const MAX_VECTORS = 64;
const FIELDS = /** @type {const} */ (['temperature', 'mask', 'painted', 'scale', 'patch']);

/**
 * Returns a run with only the changes of one tower. Changes at single tokens are kept for the chosen sentence only.
 * @param {Run} run
 * @param {Tower} tower
 * @param {string} sentence
 * @returns {Run}
 */
function runOfTower(run, tower, sentence) {
  const isOther = tower === 'text' && sentence !== run.text;
  const maps = FIELDS.map((name) => {
    const places = Object.entries(run[name] ?? {}).filter(([place]) => place.startsWith('v') === (tower === 'vision'));
    return [name, isOther && (name === 'painted' || name === 'patch') ? {} : Object.fromEntries(places)];
  });
  return runOf({ ...run, ...Object.fromEntries(maps), text: tower === 'text' ? sentence : '', second: '' });
}

/** @param {Context} context @param {Tower} tower @param {Run} run of the tower */
function keyOf({ towers, pinned }, tower, run) {
  const patched = Object.keys(run.patch).length > 0 ? pinned : null;
  return JSON.stringify([tower, towers[tower].version, run, patched]);
}

/**
 * @param {Context} context @param {string} key @param {Numbers | undefined} pooled (1,D)
 */
function keep({ towers: { vectors } }, key, pooled) {
  const { data, shape } = /** @type {Numbers} */ (pooled);
  const [vector] = unitRows(data, shape[1]);
  vectors.delete(key);
  vectors.set(key, vector);
  for (const old of [...vectors.keys()].slice(0, -MAX_VECTORS)) vectors.delete(old);
  return vector;
}

/**
 * Returns the vector of a sentence or of the picture; null for a sentence without tokens.
 * @param {Context} context
 * @param {Tower} tower
 * @param {Run} run
 * @param {string} [sentence]
 */
function vectorOf(context, tower, run, sentence = '') {
  const { hl, runs, towers, pinned } = context;
  const own = runOfTower(run, tower, sentence);
  const key = keyOf(context, tower, own);
  const known = towers.vectors.get(key);
  if (known) return known;
  const source = towers[tower];
  const { ids, input } = readRun(source, own);
  if (ids.length === 0) return null;
  const edits = runs.edits(hl, source, own, { layer: 0, pinned, T: ids.length });
  return keep(context, key, forward(hl, source, input, edits, []).pooled);
}

/**
 * @param {Context} context
 * @param {Run} run
 * @param {readonly string[]} sentences
 * @returns {(Match | null)[]}
 */
export function matchesOf(context, run, sentences) {
  const { similarity } = context.towers.pair;
  const picture = /** @type {Float64Array} */ (vectorOf(context, 'vision', run));
  const vectors = sentences.map((text) => (text.trim() ? vectorOf(context, 'text', run, text) : null));
  const known = vectors.flatMap((vector) => vector ?? []);
  const probabilities = probabilitiesOf(similarities([picture], known, similarity), similarity);
  const cosines = similarities([picture], known, { scale: 1, bias: 0 });
  let next = 0;
  return vectors.map((vector) => vector && { probability: probabilities[next], cosine: cosines[next++] });
}

/**
 * Sends the probability of each sentence in the shown run and in the other run.
 * @param {Context & { source: TransformerSource, state: State, now: Values | null }} shown
 * @param {{ kind: Comparison['kind'], run: Run }} other
 * @param {Reply} reply
 */
export async function sendRanking({ source, state, now, ...context }, other, reply) {
  const run = runOf(state);
  const { sentences } = sentencesOf(state);
  const tower = /** @type {Tower} */ (source.part);
  if (now) keep(context, keyOf(context, tower, runOfTower(run, tower, state.text)), now.pooled);
  // Each sentence needs a run, so a newer request may have come in the meantime.
  for (const sentence of sentences) {
    if (sentence.trim()) vectorOf(context, 'text', run, sentence);
    if (await reply.checkCancelled()) return;
  }
  const matches = matchesOf(context, run, sentences);
  const { image } = /** @type {NonNullable<TransformerSource['pixels']>} */ (context.towers.vision.pixels);
  const ranking = { kind: other.kind, image, sentences: sentences.map((text, i) => ({ text, ...matches[i] })) };
  // The probabilities are sent before the other run, which takes as long again.
  if (other.kind === 'without') reply.send('ranking', { ...ranking, other: null });
  if (await reply.checkCancelled()) return;
  const before = sentencesOf(other.run).sentences;
  const others = matchesOf(context, other.run, other.kind === 'pinned' ? before : sentences);
  const indices = sentences.map((text, i) => (other.kind === 'pinned' ? before.indexOf(text) : i));
  reply.send('ranking', { ...ranking, other: indices.map((i) => others[i]?.probability ?? null) });
}

/**
 * Returns the probability of the chosen sentence, and a function that computes it in other runs; NaN for a sentence
 * without tokens.
 * @param {Context} context
 * @param {State} state
 */
export function sentenceMeasured(context, state) {
  const { sentences, chosen } = sentencesOf(state);
  const of = (/** @type {Run} */ run) => matchesOf(context, run, sentences)[chosen]?.probability ?? Number.NaN;
  return { measure: /** @type {const} */ ('probability'), text: state.text, before: of(runOf(state)), of };
}
