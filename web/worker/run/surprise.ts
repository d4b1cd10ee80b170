// Measures the probability of each token of the text, in the run that is shown and in the other run. A model that
// predicts the next token needs one run for all tokens. A model that predicts masked tokens needs a run for each token,
// in which that token is masked.

import type { ModelInput } from '../../../src/js/models/input.ts';
import { otherCase } from '../../model/modelEdits.ts';
import type { Run, State } from '../../model/protocol/protocol.ts';
import type { OtherKind, SurprisedToken } from '../../model/protocol/surpriseProtocol.ts';
import { runOf } from '../../model/runInput.ts';
import { writtenFrom } from '../../model/written.ts';
import type { Hl, TransformerSource } from '../sources/types.ts';
import type { Reply, WorkerContext } from '../types.ts';
import { readRun } from './modelInput.ts';
import { labelNames, likeliest, probabilities, rowOf } from './predictions.ts';
import { partnersIn } from './runCache.ts';
import { forward } from './runModel.ts';
/** One of the two runs. logits: returns the logits that predict token t of the run's text. */
export type Side = { ids: number[]; logits: (t: number) => Float32Array };

/** The number of predictions that are listed for a token. */
const TOP = 5;
/** Milliseconds between two messages to the page, and milliseconds of work after which the page's messages are read. */
const [SENDING, WORKING] = [80, 12];

export async function measureSurprise(
  hl: Hl,
  source: TransformerSource,
  state: State,
  reply: Reply,
  worker: Pick<WorkerContext, 'runs'>,
) {
  const { about } = source;
  const run = runOf(state);
  const { pieces } = readRun(source, run);
  const isWhole = state.view === 'text';
  const other = isWhole ? otherOf(source, state) : null;
  const masked = about.guess === 'masked';
  const silent = pieces.flatMap(({ start, end, name }, t) =>
    (masked ? end <= start || name === about.mask : t === 0) ? [t] : [],
  );
  const from = isWhole ? 0 : writtenFrom(state, { pieces });
  const places = pieces.map((_, t) => t).filter((t) => t >= from && !silent.includes(t));
  const total = places.length * (other ? 2 : 1);
  reply.send('surpriseText', { text: run.text, pieces, masked, kind: other?.kind ?? null, silent, total });
  if (places.length === 0) return;
  // If each token needs a run, messages of the page are read after each run.
  const pace = new Pace(reply, masked ? 0 : WORKING);
  const how = { layer: Math.min(state.layer, about.layers - 1), pinned: state.pinned };
  const now = sideOf(hl, source, run, how, worker);
  const name = labelNames(source);
  const listed: Map<number, number[]> = new Map();
  for (const t of places) {
    const all = probabilities(now.logits(t));
    const top = likeliest(all, TOP);
    const id = now.ids[t];
    if (!top.includes(id)) top[TOP - 1] = id;
    listed.set(t, top);
    pace.add('now', tokenOf(t, id, all, top, name));
    if (await pace.isCancelled()) return;
  }
  pace.flush();
  if (!other) return;
  const there = sideOf(hl, source, other.run, how, worker);
  const partners = partnersIn(source, run, other.run);
  for (const t of places) {
    const [s, id] = [partners[t], now.ids[t]];
    // If the other text has another token at this position, the other run does not predict this token.
    if (s >= 0 && there.ids[s] === id && (masked || s > 0))
      pace.add('other', tokenOf(t, id, probabilities(there.logits(s)), listed.get(t) ?? [], name));
    else pace.skip();
    if (await pace.isCancelled()) return;
  }
  pace.flush();
}

/** Returns the run to compare with. Returns null if no run is pinned and the model cannot be changed. */
function otherOf({ about }: TransformerSource, state: State): { kind: OtherKind; run: Run } | null {
  const layer = Math.min(state.layer, about.layers - 1);
  const head = Math.min(state.head, about.heads - 1);
  const other = otherCase({ ...state, layer, head });
  return about.edits || other.kind === 'pinned' ? other : null;
}

function sideOf(
  hl: Hl,
  source: TransformerSource,
  run: Run,
  how: { layer: number; pinned: Run | null },
  { runs }: Pick<WorkerContext, 'runs'>,
): Side {
  const { about, tokenizer } = source;
  const { ids, input } = readRun(source, run);
  if (about.guess !== 'masked') {
    const values = runs.values(hl, source, run, how);
    return { ids, logits: (t) => rowOf(values, t - 1) };
  }
  const mask = tokenizer.idOf(about.mask as string) as number;
  const edit = about.edits ? runs.edits(hl, source, run, { ...how, T: ids.length }) : [];
  return { ids, logits: (t) => rowOf(forward(hl, source, withMask(input, ids, t, mask), edit, []), t) };
}

const withMask = (input: ModelInput, ids: number[], t: number, mask: number): ModelInput => ({
  ...(input as object),
  ids: { data: Int32Array.from(ids).fill(mask, t, t + 1), shape: [1, ids.length] },
});

const tokenOf = (
  t: number,
  id: number,
  all: Float64Array,
  listed: number[],
  name: (id: number) => string,
): SurprisedToken => ({
  t,
  id,
  probability: all[id],
  first: likeliest(all, 1)[0] === id,
  guesses: listed.map((guess) => ({ id: guess, text: name(guess), now: all[guess] })),
});

class Pace {
  #reply: Reply;
  #working: number;
  #which: 'now' | 'other' = 'now';
  #waiting: SurprisedToken[] = [];
  #done = 0;
  #sent = performance.now();
  #yielded = performance.now();

  /** `working`: milliseconds of work after which newer messages are read. */
  constructor(reply: Reply, working: number) {
    this.#reply = reply;
    this.#working = working;
  }
  add(which: 'now' | 'other', token: SurprisedToken) {
    this.#which = which;
    this.#waiting.push(token);
    this.#done++;
  }
  /** Counts a token as done that the other run does not contain. */
  skip() {
    this.#which = 'other';
    this.#done++;
  }
  flush() {
    this.#reply.send('surprised', { which: this.#which, tokens: this.#waiting, done: this.#done });
    this.#waiting = [];
    this.#sent = performance.now();
  }
  /** Sends waiting tokens if it is time; returns true once the request was cancelled. */
  async isCancelled(): Promise<boolean> {
    if (performance.now() - this.#sent >= SENDING) this.flush();
    if (performance.now() - this.#yielded < this.#working) return false;
    const cancelled = await this.#reply.checkCancelled();
    this.#yielded = performance.now();
    return cancelled;
  }
}
