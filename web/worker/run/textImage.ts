// Computes how well sentences match a picture in a model for texts and pictures, with the changes of a run.

import { probabilitiesOf, similarities, unitRows } from '../../../src/js/models/textImage/vectors.ts';
import type { Comparison, Run, State } from '../../model/protocol/protocol.ts';
import { runOf } from '../../model/runInput.ts';
import { sentencesOf } from '../../model/sentences.ts';
import type { Hl, Numbers, Towers, TransformerSource } from '../sources/types.ts';
import type { Reply, WorkerContext } from '../types.ts';
import { readRun } from './modelInput.ts';
import { forward, type Values } from './runModel.ts';
export type Context = { hl: Hl; runs: WorkerContext['runs']; towers: Towers; pinned: Run | null };
export type Tower = 'text' | 'vision';
/** null for a sentence without tokens */
export type Match = { probability: number; cosine: number };

/** Maximum number of kept vectors, enough for eight sentences and a few changes in a tower, which need new ones. */
const MAX_VECTORS = 64;
const FIELDS = ['temperature', 'mask', 'painted', 'scale', 'patch'] as const;

/** Returns a run with only the changes of one tower. Changes at single tokens are kept for the chosen sentence only. */
function runOfTower(run: Run, tower: Tower, sentence: string): Run {
  const isOther = tower === 'text' && sentence !== run.text;
  const maps = FIELDS.map((name) => {
    const places = Object.entries(run[name] ?? {}).filter(([place]) => place.startsWith('v') === (tower === 'vision'));
    return [name, isOther && (name === 'painted' || name === 'patch') ? {} : Object.fromEntries(places)];
  });
  return runOf({ ...run, ...Object.fromEntries(maps), text: tower === 'text' ? sentence : '', second: '' });
}

/** `run`: of the tower. */
function keyOf({ towers, pinned }: Context, tower: Tower, run: Run) {
  const patched = Object.keys(run.patch).length > 0 ? pinned : null;
  return JSON.stringify([tower, towers[tower].version, run, patched]);
}

/** `pooled`: (1,D). */
function keep({ towers: { vectors } }: Context, key: string, pooled: Numbers | undefined) {
  const { data, shape } = pooled as Numbers;
  const [vector] = unitRows(data, shape[1]);
  vectors.delete(key);
  vectors.set(key, vector);
  for (const old of [...vectors.keys()].slice(0, -MAX_VECTORS)) vectors.delete(old);
  return vector;
}

/** Returns the vector of a sentence or of the picture; null for a sentence without tokens. */
function vectorOf(context: Context, tower: Tower, run: Run, sentence = '') {
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

export function matchesOf(context: Context, run: Run, sentences: readonly string[]): (Match | null)[] {
  const { similarity } = context.towers.pair;
  const picture = vectorOf(context, 'vision', run) as Float64Array;
  const vectors = sentences.map((text) => (text.trim() ? vectorOf(context, 'text', run, text) : null));
  const known = vectors.flatMap((vector) => vector ?? []);
  const probabilities = probabilitiesOf(similarities([picture], known, similarity), similarity);
  const cosines = similarities([picture], known, { scale: 1, bias: 0 });
  let next = 0;
  return vectors.map((vector) => vector && { probability: probabilities[next], cosine: cosines[next++] });
}

/** Sends the probability of each sentence in the shown run and in the other run. */
export async function sendRanking(
  { source, state, now, ...context }: Context & { source: TransformerSource; state: State; now: Values | null },
  other: { kind: Comparison['kind']; run: Run },
  reply: Reply,
) {
  const run = runOf(state);
  const { sentences } = sentencesOf(state);
  const tower = source.part as Tower;
  if (now) keep(context, keyOf(context, tower, runOfTower(run, tower, state.text)), now.pooled);
  // Each sentence needs a run, so a newer request may have come in the meantime.
  for (const sentence of sentences) {
    if (sentence.trim()) vectorOf(context, 'text', run, sentence);
    if (await reply.checkCancelled()) return;
  }
  const matches = matchesOf(context, run, sentences);
  const { image } = context.towers.vision.pixels as NonNullable<TransformerSource['pixels']>;
  const ranking = { kind: other.kind, image, sentences: sentences.map((text, i) => ({ text, ...matches[i] })) };
  // The probabilities are sent before the other run, which takes as long again.
  if (other.kind === 'without') reply.send('ranking', { ...ranking, other: null });
  if (await reply.checkCancelled()) return;
  const before = sentencesOf(other.run).sentences;
  const others = matchesOf(context, other.run, other.kind === 'pinned' ? before : sentences);
  const indices = sentences.map((text, i) => (other.kind === 'pinned' ? before.indexOf(text) : i));
  reply.send('ranking', { ...ranking, other: indices.map((i) => others[i]?.probability ?? null) });
}

/** Returns the chosen sentence's probability, and a function for other runs; NaN for a sentence without tokens. */
export function sentenceMeasured(context: Context, state: State) {
  const { sentences, chosen } = sentencesOf(state);
  const of = (run: Run) => matchesOf(context, run, sentences)[chosen]?.probability ?? Number.NaN;
  return { measure: 'probability' as const, text: state.text, before: of(runOf(state)), of };
}
