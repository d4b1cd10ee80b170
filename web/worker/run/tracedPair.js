// Prepares the two runs of a trace: their tokens in columns, their answers, and the reason if nothing can be measured.

import { alignWords } from '../../features/trace/alignWords.js';
import { idsOfAnswer, measuresOf, problemOf } from '../../features/trace/measures.js';
import { runOf } from '../../store/runInput.js';
import { readRun } from './modelInput.js';
import { labelNames, likeliest, rowOf } from './predictions.js';
import { forward } from './runModel.js';

/** @import { Edit } from '../../../src/js/models/edits.js' */
/** @import { AnswerIds, Words } from '../../features/trace/measures.js' */
/** @import { Pair } from '../../features/trace/tasks.js' */
/** @import { Run, State } from '../../store/protocol.js' */
/** @import { TraceProblem, TraceRuns } from '../../store/traceProtocol.js' */
/** @import { Hl, TransformerSource } from '../sources/types.js' */
/** @import { Read } from './modelInput.js' */
/**
 * The upper and the lower run. edits: the edits of each run, without patches.
 * @typedef {{ reads: Read[], edits: Edit[][], runs: TraceRuns }} TracedPair
 */

/** @param {TransformerSource} source @returns {Words} */
export const wordsOf = ({ tokenizer, about }) => ({
  encode: (text) => tokenizer.encode(text).ids,
  decode: (id) => tokenizer.decode([id], { skipSpecial: false }),
  idOf: (token) => tokenizer.idOf(token),
  mask: about.mask,
});

/** @param {Hl} hl @param {TransformerSource} source @param {Read} read @param {Edit[]} edit */
const predicted = (hl, source, { input, place }, edit) =>
  rowOf(forward(hl, source, input, edit, []), /** @type {number} */ (place));

/**
 * Returns true if the model prefers, after each sentence of a pair, the answer of this sentence to that of the other.
 * @param {Hl} hl @param {TransformerSource} source @param {Pair} pair
 */
export function hasEffect(hl, source, { upper, lower, answers }) {
  const ids = /** @type {AnswerIds} */ (answers.map((answer) => idsOfAnswer(wordsOf(source), upper, answer)));
  const [a, b] = [upper, lower].map((text) => {
    const { score } = measuresOf(predicted(hl, source, readRun(source, /** @type {Run} */ ({ text })), []), ids);
    return { score, value: score };
  });
  return a.score > b.score && problemOf(a, b) === null;
}

/**
 * @param {Hl} hl
 * @param {TransformerSource} source
 * @param {State} state
 * @param {(run: Run, T: number) => Edit[]} editsFor
 * @returns {TracedPair}
 */
export function traceRuns(hl, source, state, editsFor) {
  const { about } = source;
  const given = [/** @type {Run} */ (state.pinned), runOf(state)];
  const reads = given.map((run) => readRun(source, run));
  const edits = given.map((run, i) => (about.edits ? editsFor(run, reads[i].ids.length) : []));
  const [upper, lower] = reads;
  const { columns, first } = alignWords(upper.pieces, lower.pieces);
  const sides = reads.map(({ pieces }) => ({
    pieces,
    value: 0,
    both: /** @type {[number, number]} */ ([0, 0]),
    guess: '',
  }));
  /** @type {TraceRuns} */
  const bare = {
    layers: about.layers,
    heads: about.heads,
    upper: sides[0],
    lower: sides[1],
    answers: state.trace.answers ?? ['', ''],
    ids: [[], []],
    places: [upper.place ?? -1, lower.place ?? -1],
    columns,
    first: about.causal ? first : 0,
    same: {},
    total: 0,
    problem: null,
  };
  /** @param {TraceProblem} problem */
  const nothing = (problem) => ({ reads, edits, runs: { ...bare, problem } });
  if (first === columns.length) return nothing('same');
  if (upper.place === null || lower.place === null) return nothing('noPlace');
  const rows = reads.map((read, i) => predicted(hl, source, read, edits[i]));
  return { reads, edits, runs: { ...bare, ...answersOf(source, state, rows, bare) } };
}

/**
 * Returns the answers, and the measures and predictions of both runs.
 * @param {TransformerSource} source
 * @param {State} state
 * @param {Float32Array[]} rows the logits of both predictions
 * @param {TraceRuns} bare
 * @returns {Partial<TraceRuns>}
 */
function answersOf(source, { text, trace: { answers: wanted, by } }, rows, { upper, lower }) {
  const name = labelNames(source);
  const tops = rows.map((row) => likeliest(row, 1)[0]);
  const answers = wanted ?? /** @type {[string, string]} */ (tops.map((id) => name(id).trim()));
  const ids = /** @type {AnswerIds} */ (
    wanted ? wanted.map((word) => idsOfAnswer(wordsOf(source), text, word)) : tops.map((id) => [id])
  );
  const guesses = tops.map(name);
  if (ids.some((list) => list.length === 0))
    return {
      answers,
      ids,
      upper: { ...upper, guess: guesses[0] },
      lower: { ...lower, guess: guesses[1] },
      problem: 'noAnswer',
    };
  const [a, b] = rows.map((row) => measuresOf(row, ids));
  return {
    answers,
    ids,
    upper: { ...upper, value: a[by], both: a.both, guess: guesses[0] },
    lower: { ...lower, value: b[by], both: b.both, guess: guesses[1] },
    problem: problemOf({ score: a.score, value: a[by] }, { score: b.score, value: b[by] }),
  };
}
