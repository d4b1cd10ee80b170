// Measures the grid of a trace, with one run for each place. For several pairs of sentences it takes the mean.

import { patchGrid } from '../../../src/js/analysis/analysis.ts';
import type { PatchedModel } from '../../../src/js/analysis/patching/pairs.ts';
import type { GridPlace } from '../../../src/js/analysis/patching/patchGrid.ts';

import type { Edit } from '../../../src/js/models/edits.ts';
import type { ModelInput } from '../../../src/js/models/input.ts';
import type { ValueName } from '../../../src/js/models/valueName.ts';
import type { TraceControl, TracedCell, TraceRuns } from '../../model/protocol/traceProtocol.ts';
import { partnersOf } from '../../model/trace/alignWords.ts';
import { type AnswerIds, type Measure, measuresOf } from '../../model/trace/measures.ts';
import type { TransformerSource } from '../sources/types.ts';
import type { Reply } from '../types.ts';
import type { TracedPair } from './tracedPair.ts';

/** Milliseconds between two messages to the page, and between two checks whether a paused trace was resumed. */
const [SENDING, LOOKING] = [40, 60];
/** Thrown between two runs if the request was cancelled. */
const CANCELLED = new Error('cancelled');

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export async function measureGrid(
  source: TransformerSource,
  pairs: TracedPair[],
  { by, control, reply }: { by: Measure; control: TraceControl; reply: Reply },
) {
  const sums = createSums();
  const outbox = createOutbox(reply);
  try {
    for (const [i, pair] of pairs.entries()) {
      await measurePair(source, pair, by, {
        onRuns({ same, total }) {
          outbox.expect(pairs.length * total, i * total);
          if (i === 0) reply.send('traceRuns', { ...pair.runs, same, total: pairs.length * total });
          forEachSame(same, pair.runs, (place, cell) => void sums.add(place, cell));
        },
        async next() {
          while (control.paused && !reply.isCancelled()) await wait(LOOKING);
          if (await reply.checkCancelled()) throw CANCELLED;
          return control.place ?? undefined;
        },
        onCell: (place, cell) => outbox.add(sums.add(place, cell)),
      });
    }
    outbox.flush();
  } catch (error) {
    if (error !== CANCELLED) throw error;
  }
}

export type Cell = Pick<TracedCell, 'share' | 'value' | 'a' | 'b'>;

async function measurePair(
  { model }: TransformerSource,
  { reads, edits, runs }: TracedPair,
  by: Measure,
  {
    onRuns,
    next,
    onCell,
  }: {
    onRuns: (runs: { same: TraceRuns['same']; total: number }) => void;
    next: () => Promise<GridPlace | undefined>;
    onCell: (place: GridPlace, cell: Cell) => void;
  },
) {
  const [upper, lower] = reads.map(({ input }) => input);
  // Texts of equal length need no alignment. If the lengths differ, even the values before the first different word
  // differ in their last bits, so the tokens before this word get no partner.
  const align = reads[0].ids.length === reads[1].ids.length ? undefined : partnersOf(runs.columns, runs.first);
  let isUpper = true;
  let last: ReturnType<typeof measuresOf>;
  const changed = {
    options: model.options,
    forward(input: ModelInput, options: { capture?: ValueName[]; edit?: Edit[] }) {
      isUpper = input === upper;
      const own = edits[isUpper ? 0 : 1];
      return model.forward(input, { ...options, edit: [...own, ...(options.edit ?? [])] });
    },
  } as unknown as PatchedModel;
  const metric = ({ logits }: { logits: { data: Float32Array; shape: readonly number[] } }) => {
    const size = logits.shape[logits.shape.length - 1];
    const place = runs.places[isUpper ? 0 : 1];
    last = measuresOf(logits.data.subarray(place * size, (place + 1) * size), runs.ids as AnswerIds);
    return last[by];
  };
  await patchGrid(changed, upper, lower, metric, {
    ...(align && { align }),
    next,
    onRuns({ grids }) {
      const same = Object.fromEntries(Object.entries(grids).map(([part, grid]) => [part, grid.same.data.slice()]));
      const total = Object.values(same).reduce((sum, list) => sum + list.filter((is) => is === 0).length, 0);
      onRuns({ same, total });
    },
    onProgress: ({ part, layer, place, value, recovered }) =>
      onCell({ part, layer, place }, { share: recovered, value, a: last.both[0], b: last.both[1] }),
  });
}

/** Calls a function for each place whose value is the same in both runs, so that patching it restores nothing. */
function forEachSame(
  same: TraceRuns['same'],
  { heads, lower }: TraceRuns,
  each: (place: GridPlace, cell: Cell) => void,
) {
  const [a, b] = lower.both;
  for (const [part, list] of Object.entries(same)) {
    const count = part === 'head' ? heads : lower.pieces.length;
    list.forEach((is, i) => {
      const place = { part, layer: Math.floor(i / count), place: i % count } as GridPlace;
      if (is) each(place, { share: 0, value: lower.value, a, b });
    });
  }
}

/** Makes a function that computes, for each place, the mean over the pairs that have been measured at that place. */
function createSums() {
  const sums: Map<string, Cell & { count: number }> = new Map();
  return {
    /** Returns the mean so far. */
    add(place: GridPlace, cell: Cell): TracedCell {
      const key = `${place.part} ${place.layer} ${place.place}`;
      const old = sums.get(key) ?? { share: 0, value: 0, a: 0, b: 0, count: 0 };
      const count = old.count + 1;
      const { share, value, a, b } = cell;
      const sum = { share: old.share + share, value: old.value + value, a: old.a + a, b: old.b + b, count };
      sums.set(key, sum);
      return { ...place, share: sum.share / count, value: sum.value / count, a: sum.a / count, b: sum.b / count };
    },
  };
}

function createOutbox(reply: Reply) {
  let waiting: TracedCell[] = [];
  let [done, total, before] = [0, 0, 0];
  let sent = performance.now();
  const started = sent;
  const flush = () => {
    const now = performance.now();
    const left = done > 0 ? ((now - started) / 1000 / done) * (total - done) : null;
    if (total > 0) reply.send('traceCells', { cells: waiting, done, total, left });
    waiting = [];
    sent = now;
  };
  return {
    flush,
    /** Must be called when a pair begins. `all`: places of all pairs; `earlier`: places measured for earlier pairs. */
    expect(all: number, earlier: number) {
      total = all;
      before = earlier;
      done = before;
    },
    add(cell: TracedCell) {
      waiting.push(cell);
      done++;
      if (performance.now() - sent >= SENDING) flush();
    },
  };
}
