// Measures a circuit: the order of the edges, the cost of each edge, and how much of the prediction remains if only
// some edges are kept.

import { cutScores } from '../../../src/js/analysis/circuits/cutScores.ts';
import { sharesOf } from '../../../src/js/analysis/circuits/edgeScores.ts';
import { neededLines } from '../../model/circuit/neededLines.ts';
import { MAX_LINES } from '../../model/circuit/settings.ts';
import { inOrder } from '../../model/circuit/shownLines.ts';
import type { CircuitValue, CircuitWork, CurvePoint, MeasuredLine } from '../../model/protocol/circuitProtocol.ts';
import type { Reply } from '../types.ts';
import { CALLER, CANCELLED, type Experiment, endsOf, runLines } from './experiment.ts';

/** The number of gradients from which the order of the edges is computed. */
const STEPS = 5;
/** Milliseconds between two messages to the page, and milliseconds of runs after which the page's messages are read. */
const [SENDING, AT_ONCE] = [40, 20];
/** Minimum difference between the values with all edges and without any. Below it, the curve would be only noise. */
const MIN_DIFFERENCE = 1e-3;

/** The progress of the measurement of one circuit. It is kept so that a stopped measurement can continue. */
export type Progress = {
  /** edges to measure, the largest estimate first */
  order: { name: string; line: number; terms: number[] }[];
  lines: MeasuredLine[];
  /** names of edges that together keep most of the prediction */
  needed: string[] | null;
  points: CurvePoint[];
  /** the value with all edges cut */
  empty: number | null;
};
export const startProgress = (): Progress => ({ order: [], lines: [], needed: null, points: [], empty: null });

/** Returns numbers of edges for the curve. Powers of two are measured before the others. */
function countsUpTo(most: number) {
  const doublings = Array.from({ length: Math.ceil(Math.log2(most + 1)) }, (_, i) => 2 ** i);
  const others = Array.from({ length: most }, (_, i) => i + 1).filter((n) => !doublings.includes(n));
  return { doublings, others };
}

export async function measureCircuit(experiment: Experiment, progress: Progress, reply: Reply) {
  const outbox = createOutbox(reply, progress);
  try {
    let yielded = performance.now();
    const step = async () => {
      // Messages are not read after each run, because reading them takes longer than a run of a small model.
      const late = performance.now() - yielded > AT_ONCE;
      if (late ? await reply.checkCancelled() : reply.isCancelled()) throw CANCELLED;
      if (late) yielded = performance.now();
    };
    outbox.stage('order', 0, STEPS);
    if (progress.order.length === 0) progress.order = await orderOf(experiment, outbox, step);
    await measureLines(experiment, progress, outbox, step);
    const keep = await keeper(experiment, progress, step);
    if (keep) {
      await measureNeeded(experiment, progress, outbox, keep);
      await measureCurve(experiment, progress, outbox, keep);
    } else outbox.send('circuit', { begun: { ...experiment.begun, problem: 'close' } });
    outbox.stage('done', 1, 1);
  } catch (error) {
    if (error !== CANCELLED) throw error;
  }
  outbox.flush();
}

/** Returns the edges with the largest estimated costs. */
async function orderOf(
  { model, graph, input, metrics, values, off }: Experiment,
  outbox: Outbox,
  step: () => Promise<void>,
) {
  let done = 0;
  const cut = { input, metric: metrics.ordering, values, off, shares: sharesOf(STEPS, 'right') };
  const { scores, terms, tokens } = await cutScores(CALLER, model, graph.edges, cut, async (run) => {
    await step();
    const result = run();
    outbox.stage('order', ++done, STEPS);
    return result;
  });
  return [...graph.names]
    .sort(([, a], [, b]) => Math.abs(scores[b]) - Math.abs(scores[a]) || a - b)
    .slice(0, MAX_LINES)
    .map(([name, line]) => ({ name, line, terms: [...terms.subarray(line * tokens, (line + 1) * tokens)] }));
}

async function measureLines(experiment: Experiment, progress: Progress, outbox: Outbox, step: () => Promise<void>) {
  const { order, lines } = progress;
  for (const { name, line, terms } of order.slice(lines.length)) {
    await step();
    const active = new Uint8Array(experiment.graph.size).fill(1);
    active[line] = 0;
    lines.push({ name, terms, ...endsOf(experiment.graph, line), ...runLines(experiment, active) });
    outbox.stage('lines', lines.length, order.length);
  }
}

/**
 * Measures the value without any edge. Returns a function to the value with some edges and its share of the value with
 * all; null if the two values are too close for a share.
 */
async function keeper(experiment: Experiment, progress: Progress, step: () => Promise<void>) {
  const { graph, begun } = experiment;
  const keep = (lines: readonly number[]) => {
    const active = new Uint8Array(graph.size);
    for (const line of lines) active[line] = 1;
    return runLines(experiment, active);
  };
  await step();
  const empty = (progress.empty ??= keep([]).value);
  const way = begun.whole.value - empty;
  if (Math.abs(way) < MIN_DIFFERENCE) return null;
  return async (lines: readonly number[]) => {
    await step();
    const found = keep(lines);
    return { kept: (found.value - empty) / way, ...found };
  };
}
export type Keep = (lines: readonly number[]) => Promise<CircuitValue & { kept: number }>;

async function measureNeeded({ graph }: Experiment, progress: Progress, outbox: Outbox, keep: Keep) {
  const { lines } = progress;
  let done = 0;
  progress.needed ??= (
    await neededLines(inOrder({ lines, needed: [] }), async (some) => {
      const { kept } = await keep(some.map(({ name }) => Number(graph.names.get(name))));
      outbox.stage('needed', ++done, Math.max(lines.length, done));
      return kept;
    })
  ).map(({ name }) => name);
  outbox.needed(progress.needed);
}

async function measureCurve({ graph }: Experiment, { lines, needed, points }: Progress, outbox: Outbox, keep: Keep) {
  const ordered = inOrder({ lines, needed: needed ?? [] }).map(({ name }) => Number(graph.names.get(name)));
  const { doublings, others } = countsUpTo(ordered.length);
  const mixed = shuffled([...graph.names.values()]);
  const wanted = [...doublings, ...others].flatMap((count) => [
    { count, random: false },
    ...(doublings.includes(count) ? [{ count, random: true }] : []),
  ]);
  for (const { count, random } of wanted.slice(points.length)) {
    points.push({ count, random, ...(await keep((random ? mixed : ordered).slice(0, count))) });
    outbox.stage('curve', points.length, wanted.length);
  }
}

/** Shuffles a list in a fixed way, so that the curve is the same each time. */
function shuffled(list: number[]) {
  let seed = 1;
  for (let i = list.length - 1; i > 0; i--) {
    // A linear congruential generator (Numerical Recipes).
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((seed / 2 ** 32) * (i + 1));
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list;
}

/** Makes functions that send new edges and points in groups. */
function createOutbox(reply: Reply, progress: Progress) {
  let [lines, points] = [0, 0];
  let [sent, stageBegun] = [0, performance.now()];
  let work: CircuitWork = { stage: 'order', done: 0, total: 1, left: null };
  let first = 0;
  const flush = () => {
    reply.send('circuit', { work, lines: progress.lines.slice(lines), points: progress.points.slice(points) });
    [lines, points] = [progress.lines.length, progress.points.length];
    sent = performance.now();
  };
  return {
    flush,
    send: reply.send,
    needed: (needed: string[]) => reply.send('circuit', { needed }),
    stage(stage: CircuitWork['stage'], done: number, total: number) {
      if (stage !== work.stage) [stageBegun, first] = [performance.now(), done - 1];
      const seconds = (performance.now() - stageBegun) / 1000;
      const left = done > first ? (seconds / (done - first)) * (total - done) : null;
      work = { stage, done, total, left };
      if (performance.now() - sent >= SENDING) flush();
    },
  };
}
export type Outbox = ReturnType<typeof createOutbox>;
