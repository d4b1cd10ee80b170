// Measures the grid of a trace, with one run for each place. For several pairs of sentences it takes the mean.

import { patchGrid } from '../../../src/js/analysis/analysis.js';
import { partnersOf } from '../../features/trace/alignWords.js';
import { measuresOf } from '../../features/trace/measures.js';

/** @import { Edit } from '../../../src/js/models/edits.js' */
/** @import { ModelInput } from '../../../src/js/models/input.js' */
/** @import { ValueName } from '../../../src/js/models/valueName.js' */
/** @import { PatchedModel } from '../../../src/js/analysis/pairs.js' */
/** @import { GridPlace } from '../../../src/js/analysis/patchGrid.js' */
/** @import { AnswerIds, Measure } from '../../features/trace/measures.js' */
/** @import { TraceControl, TracedCell, TraceRuns } from '../../store/traceProtocol.js' */
/** @import { TransformerSource } from '../sources/types.js' */
/** @import { Reply } from '../types.js' */
/** @import { TracedPair } from './tracedPair.js' */

/** Milliseconds between two messages to the page, and between two checks whether a paused trace was resumed. */
const [SENDING, LOOKING] = [40, 60];
/** Thrown between two runs if the request was cancelled. */
const CANCELLED = new Error('cancelled');

const wait = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * @param {TransformerSource} source
 * @param {TracedPair[]} pairs
 * @param {{ by: Measure, control: TraceControl, reply: Reply }} how
 */
export async function measureGrid(source, pairs, { by, control, reply }) {
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

/** @typedef {Pick<TracedCell, 'share' | 'value' | 'a' | 'b'>} Cell */

/**
 * @param {TransformerSource} source
 * @param {TracedPair} pair
 * @param {Measure} by
 * @param {object} listeners
 * @param {(runs: { same: TraceRuns['same'], total: number }) => void} listeners.onRuns
 * @param {() => Promise<GridPlace | undefined>} listeners.next
 * @param {(place: GridPlace, cell: Cell) => void} listeners.onCell
 */
async function measurePair({ model }, { reads, edits, runs }, by, { onRuns, next, onCell }) {
  const [upper, lower] = reads.map(({ input }) => input);
  // Texts of equal length need no alignment. If the lengths differ, even the values before the first different word
  // differ in their last bits, so the tokens before this word get no partner.
  const align = reads[0].ids.length === reads[1].ids.length ? undefined : partnersOf(runs.columns, runs.first);
  let isUpper = true;
  /** @type {ReturnType<typeof measuresOf>} */
  let last;
  const changed = /** @type {PatchedModel} */ (
    /** @type {unknown} */ ({
      options: model.options,
      forward(/** @type {ModelInput} */ input, /** @type {{ capture?: ValueName[], edit?: Edit[] }} */ options) {
        isUpper = input === upper;
        const own = edits[isUpper ? 0 : 1];
        return model.forward(input, { ...options, edit: [...own, ...(options.edit ?? [])] });
      },
    })
  );
  const metric = (/** @type {{ logits: { data: Float32Array, shape: readonly number[] } }} */ { logits }) => {
    const size = logits.shape[logits.shape.length - 1];
    const place = runs.places[isUpper ? 0 : 1];
    last = measuresOf(logits.data.subarray(place * size, (place + 1) * size), /** @type {AnswerIds} */ (runs.ids));
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

/**
 * Calls a function for each place whose value is the same in both runs, so that patching it restores nothing.
 * @param {TraceRuns['same']} same
 * @param {TraceRuns} runs
 * @param {(place: GridPlace, cell: Cell) => void} each
 */
function forEachSame(same, { heads, lower }, each) {
  const [a, b] = lower.both;
  for (const [part, list] of Object.entries(same)) {
    const count = part === 'head' ? heads : lower.pieces.length;
    list.forEach((is, i) => {
      const place = /** @type {GridPlace} */ ({ part, layer: Math.floor(i / count), place: i % count });
      if (is) each(place, { share: 0, value: lower.value, a, b });
    });
  }
}

/** Makes a function that computes, for each place, the mean over the pairs that have been measured at that place. */
function createSums() {
  /** @type {Map<string, Cell & { count: number }>} */
  const sums = new Map();
  return {
    /** @param {GridPlace} place @param {Cell} cell @returns {TracedCell} the mean so far */
    add(place, cell) {
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

/** Makes functions that send cells in groups. @param {Reply} reply */
function createOutbox(reply) {
  /** @type {TracedCell[]} */
  let waiting = [];
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
    /**
     * Must be called when a pair begins.
     * @param {number} all the number of places of all pairs
     * @param {number} earlier places that were measured for earlier pairs
     */
    expect(all, earlier) {
      total = all;
      before = earlier;
      done = before;
    },
    /** @param {TracedCell} cell */
    add(cell) {
      waiting.push(cell);
      done++;
      if (performance.now() - sent >= SENDING) flush();
    },
  };
}
