// Prepares the two runs of a trace: their tokens in columns, their answers, and the reason if nothing can be measured.

import type { Edit } from '../../../src/js/models/edits.ts';
import type { Run, State } from '../../model/protocol/protocol.ts';
import type { TraceProblem, TraceRuns } from '../../model/protocol/traceProtocol.ts';
import { runOf } from '../../model/runInput.ts';
import { alignWords } from '../../model/trace/alignWords.ts';
import { type AnswerIds, idsOfAnswer, measuresOf, problemOf, type Words } from '../../model/trace/measures.ts';
import type { Pair } from '../../model/trace/tasks.ts';
import type { Hl, TransformerSource } from '../sources/types.ts';
import { type Read, readRun } from './modelInput.ts';
import { labelNames, likeliest, rowOf } from './predictions.ts';
import { forward } from './runModel.ts';
/** The upper and the lower run. edits: the edits of each run, without patches. */
export type TracedPair = { reads: Read[]; edits: Edit[][]; runs: TraceRuns };

export const wordsOf = ({ tokenizer, about }: TransformerSource): Words => ({
  encode: (text) => tokenizer.encode(text).ids,
  decode: (id) => tokenizer.decode([id], { skipSpecial: false }),
  idOf: (token) => tokenizer.idOf(token),
  mask: about.mask,
});

const predicted = (hl: Hl, source: TransformerSource, { input, place }: Read, edit: Edit[]) =>
  rowOf(forward(hl, source, input, edit, []), place as number);

/**
 * Returns true if the model prefers, after each sentence of a pair, the answer of this sentence to that of the other.
 */
export function hasEffect(hl: Hl, source: TransformerSource, { upper, lower, answers }: Pair) {
  const ids = answers.map((answer) => idsOfAnswer(wordsOf(source), upper, answer)) as AnswerIds;
  const [a, b] = [upper, lower].map((text) => {
    const { score } = measuresOf(predicted(hl, source, readRun(source, { text } as Run), []), ids);
    return { score, value: score };
  });
  return a.score > b.score && problemOf(a, b) === null;
}

export function traceRuns(
  hl: Hl,
  source: TransformerSource,
  state: State,
  editsFor: (run: Run, T: number) => Edit[],
): TracedPair {
  const { about } = source;
  const given = [state.pinned as Run, runOf(state)];
  const reads = given.map((run) => readRun(source, run));
  const edits = given.map((run, i) => (about.edits ? editsFor(run, reads[i].ids.length) : []));
  const [upper, lower] = reads;
  const { columns, first } = alignWords(upper.pieces, lower.pieces);
  const sides = reads.map(({ pieces }) => ({
    pieces,
    value: 0,
    both: [0, 0] as [number, number],
    guess: '',
  }));
  const bare: TraceRuns = {
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
  const nothing = (problem: TraceProblem) => ({ reads, edits, runs: { ...bare, problem } });
  if (first === columns.length) return nothing('same');
  if (upper.place === null || lower.place === null) return nothing('noPlace');
  const rows = reads.map((read, i) => predicted(hl, source, read, edits[i]));
  return { reads, edits, runs: { ...bare, ...answersOf(source, state, rows, bare) } };
}

/** Returns the answers, and the measures and predictions of both runs. `rows`: both logits. */
function answersOf(
  source: TransformerSource,
  { text, trace: { answers: wanted, by } }: State,
  rows: Float32Array[],
  { upper, lower }: TraceRuns,
): Partial<TraceRuns> {
  const name = labelNames(source);
  const tops = rows.map((row) => likeliest(row, 1)[0]);
  const answers = wanted ?? (tops.map((id) => name(id).trim()) as [string, string]);
  const ids = (
    wanted ? wanted.map((word) => idsOfAnswer(wordsOf(source), text, word)) : tops.map((id) => [id])
  ) as AnswerIds;
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
