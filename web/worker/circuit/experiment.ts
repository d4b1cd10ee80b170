// Prepares the measurement of a circuit: the run that is explained, the answers, and the values that cut edges carry.

import { logitDifference, meanContributions, probability } from '../../../src/js/analysis/analysis.ts';
import type { Model, Numbers } from '../../../src/js/analysis/arrays.ts';
import { edgesOf, type Node } from '../../../src/js/analysis/circuits/edges.ts';
import { type Contributions, type Off, offOf, runActive } from '../../../src/js/analysis/circuits/runEdges.ts';
import {
  capturedBy,
  type DifferentiableModel,
  measured,
  type PatchedResult,
} from '../../../src/js/analysis/patching/pairs.ts';
import type { Edit } from '../../../src/js/models/edits.ts';
import type { DifferentiateOptions } from '../../../src/js/models/gradients/differentiate.ts';
import type { ModelInput } from '../../../src/js/models/input.ts';
import { lineName } from '../../model/circuit/lineNames.ts';
import type { Carries } from '../../model/circuit/settings.ts';
import type { CircuitBegun, CircuitProblem, CircuitValue } from '../../model/protocol/circuitProtocol.ts';
import type { Run, State } from '../../model/protocol/protocol.ts';
import { runOf } from '../../model/runInput.ts';
import { idsOfAnswer } from '../../model/trace/measures.ts';
import { encodePassages, readDemoPassages } from '../atlas/passages.ts';
import { readRun } from '../run/modelInput.ts';
import { labelNames, likeliest, rowOf } from '../run/predictions.ts';
import { forward } from '../run/runModel.ts';
import { wordsOf } from '../run/tracedPair.ts';
import type { Hl, TransformerSource } from '../sources/types.ts';
import type { Reply, WorkerContext } from '../types.ts';

/** The name of the caller in error messages of the module. */
export const CALLER = 'circuit';
/** The number of passages for the mean, and the maximum tokens of each. */
const [PASSAGES, LENGTH] = [32, 64];

class NoCircuit extends Error {
  declare problem: CircuitProblem;
  declare fields: Partial<CircuitBegun>;

  constructor(problem: CircuitProblem, fields: Partial<CircuitBegun> = {}) {
    super(problem);
    this.problem = problem;
    this.fields = fields;
  }
}
/** Thrown between two runs if the request was cancelled. */
export const CANCELLED = new Error('cancelled');

/** place: index of the predicting token; values: captured without cuts; off: the values that cut edges carry */
export type Experiment = {
  begun: CircuitBegun;
  graph: Graph;
  /** with the changes of the page */
  model: DifferentiableModel;
  input: ModelInput;
  place: number;
  metrics: Metrics;
  values: Record<string, Numbers>;
  off: Off;
  /** returns the text of a label */
  name: (id: number) => string;
};
export async function prepare(
  source: TransformerSource,
  state: State,
  worker: WorkerContext,
  reply: Reply,
): Promise<{ begun: CircuitBegun; experiment: Experiment | null }> {
  const hl = await worker.core();
  const { pieces } = readRun(source, runOf(state));
  const nothing: CircuitBegun = {
    ...{ layers: source.about.layers, heads: source.about.heads, perGroup: perGroupOf(source), pieces },
    ...{ answers: [], paired: false, carries: 'mean', whole: { value: 0, both: [] }, total: 0, problem: null },
  };
  try {
    const given = runsOf(hl, source, state, worker);
    const graph = graphOf(source);
    const { ids, answers, paired } = answersOf(hl, source, state, given);
    const carries = carriesOf(source, state, given);
    const metrics = metricsOf(ids, paired);
    const model = changedModel(source, given);
    const { input } = given[0];
    const values = capturedBy(CALLER, model, input, graph.edges.capture);
    const whole = measured(model.forward(input, {}), metrics.read);
    const begun = { ...nothing, answers, paired, carries, whole, total: graph.names.size };
    reply.send('circuit', { begun });
    const cut = await cutOf(carries, { source, worker, reply, model, given });
    const off = offOf(CALLER, model, graph.edges, cut, values.embed);
    const [place, name] = [pieces.length - 1, labelNames(source)];
    return { begun, experiment: { begun, graph, model, input, place, metrics, values, off, name } };
  } catch (error) {
    if (!(error instanceof NoCircuit)) throw error;
    const begun = { ...nothing, ...error.fields, problem: error.problem };
    reply.send('circuit', { begun });
    return { begun, experiment: null };
  }
}

const perGroupOf = ({ model: { options } }: TransformerSource) =>
  options.numHeads / (options.kvHeads ?? options.numHeads);

export type Given = { ids: number[]; input: ModelInput; edits: Edit[]; text: string };

/** Returns the run of the sentence, and the pinned run if its tokens differ. */
function runsOf(hl: Hl, source: TransformerSource, state: State, worker: WorkerContext): Given[] {
  const { pinned } = state;
  const runs = [runOf(state), ...(pinned ? [{ ...pinned, patch: {} }] : [])];
  const given = runs.map((run: Run, i) => {
    const { ids, input } = readRun(source, run);
    if (ids.length === 0) throw new NoCircuit('noPlace');
    const edits = worker.runs.edits(hl, source, run, { layer: 0, pinned: i === 0 ? pinned : null, T: ids.length });
    return { ids, input, edits, text: run.text };
  });
  return given.filter(({ ids }, i) => i === 0 || String(ids) !== String(given[0].ids));
}

/** Returns the graph of a model, and the indices u·V + v of the edges by name. */
function graphOf({ model, about }: TransformerSource) {
  let edges;
  try {
    edges = edgesOf(CALLER, model as unknown as Model);
  } catch {
    throw new NoCircuit('refused', { cause: about.family ?? about.title ?? about.name });
  }
  if ([...model.weights.values()].some(({ packed }) => packed && !/^B?F16$/.test(packed.kind)))
    throw new NoCircuit('packed');
  const { sources, targets, before } = edges;
  const names: Map<string, number> = new Map();
  sources.forEach((from, u) => {
    targets.forEach((to, v) => {
      if (u < before(v)) names.set(lineName(from, to), u * targets.length + v);
    });
  });
  return { edges, names, size: sources.length * targets.length };
}
export type Graph = ReturnType<typeof graphOf>;

export function endsOf({ edges: { sources, targets } }: Graph, line: number): { from: Node; to: Node } {
  return { from: sources[Math.floor(line / targets.length)], to: targets[line % targets.length] };
}

/** Returns the answers: the likeliest words after the sentence and after the other sentence, or the visitor's words. */
function answersOf(hl: Hl, source: TransformerSource, { trace }: State, given: Given[]) {
  const rows = given.map(({ input, ids, edits }) => rowOf(forward(hl, source, input, edits, []), ids.length - 1));
  const name = labelNames(source);
  const tops = rows.map((row) => likeliest(row, 1)[0]);
  // The visitor's words were entered for a trace, which lists the answer to the other sentence first.
  const wanted = given.length > 1 && trace.answers ? [trace.answers[1], trace.answers[0]] : null;
  const ids = wanted
    ? wanted.map((word) => {
        const all = idsOfAnswer(wordsOf(source), given[0].text, word);
        if (all.length === 0) throw new NoCircuit('noAnswer', { cause: word });
        return all.reduce((best, id) => (rows[0][id] > rows[0][best] ? id : best));
      })
    : tops;
  const paired = ids.length > 1 && ids[0] !== ids[1];
  const shown = paired ? ids : ids.slice(0, 1);
  return { ids: shown, paired, answers: wanted?.slice(0, shown.length) ?? shown.map((id) => name(id).trim()) };
}

function carriesOf({ about }: TransformerSource, { circuit }: State, given: Given[]): Carries {
  const lengths = given.map(({ ids }) => ids.length);
  // A mean over passages of text has no meaning for a model of another task.
  const alone = about.words && !about.trained ? 'mean' : 'zero';
  const wanted = circuit?.carries ?? (lengths.length > 1 && lengths[0] === lengths[1] ? 'other' : alone);
  if (wanted === 'mean') return alone;
  if (wanted === 'zero' || lengths[0] === lengths[1]) return wanted;
  if (lengths.length === 1) return alone;
  throw new NoCircuit('length', { lengths });
}

/**
 * Returns a circuit's metrics. `read` measures the first logit minus the second, or the only answer's probability. The
 * gradient of `ordering` orders the edges; it is a logit, as the gradient of a probability near 1 is almost 0.
 */
function metricsOf(ids: number[], paired: boolean) {
  const ordering = paired ? logitDifference(ids[0], ids[1]) : logitDifference(ids[0]);
  const each = ids.map((id) => probability(id));
  const value = paired ? ordering : each[0];
  return {
    ordering,
    read: (result: PatchedResult): CircuitValue => ({
      value: value(result),
      both: each.map((metric) => metric(result)),
    }),
  };
}

export type Metrics = ReturnType<typeof metricsOf>;

function changedModel({ model }: TransformerSource, given: Given[]): DifferentiableModel {
  const withEdits = (input: ModelInput, options?: { edit?: Edit[] }) => {
    const own = given.find((one) => one.input === input)?.edits ?? [];
    return own.length > 0 ? { ...options, edit: [...own, ...(options?.edit ?? [])] } : options;
  };
  return {
    options: model.options,
    parameters: model.parameters,
    stateDict: () => model.stateDict(),
    valuesOf: (name: string, caller: string) => model.valuesOf(name, caller),
    forward: (input: ModelInput, options?: { edit?: Edit[] }) => model.forward(input, withEdits(input, options)),
    differentiate: (input: ModelInput, options?: { edit?: Edit[] }) =>
      model.differentiate(input, withEdits(input, options) as DifferentiateOptions),
  } as unknown as DifferentiableModel;
}

/** For each model, the mean contributions over passages. */
const means: WeakMap<object, Contributions> = new WeakMap();

async function cutOf(
  carries: Carries,
  {
    source,
    worker,
    reply,
    model,
    given,
  }: {
    source: TransformerSource;
    worker: WorkerContext;
    reply: Reply;
    model: DifferentiableModel;
    given: Given[];
  },
) {
  if (carries === 'zero') return 'zero' as const;
  if (carries === 'other') return { run: given[1].input };
  const known = means.get(source.model);
  if (known) return { mean: known };
  const texts = (await readDemoPassages(worker)).slice(0, PASSAGES);
  const { ids } = await encodePassages(source, texts, LENGTH, reply);
  const abort = new AbortController();
  const mean = await meanContributions(
    model,
    ids.filter(({ length }) => length > 0).map((list) => Array.from(list)),
    {
      signal: abort.signal,
      onProgress({ done, total }) {
        reply.send('circuit', { work: { stage: 'corpus', done, total, left: null } });
        if (reply.isCancelled()) abort.abort(CANCELLED);
      },
    },
  );
  means.set(source.model, mean);
  return { mean };
}

/** Measures a run in which only the `active` edges (U,V) are. `look`: called with the result of the run. */
export function runLines(
  { model, graph: { edges }, input, off, metrics }: Experiment,
  active: Uint8Array,
  capture: string[] = [],
  look: (result: PatchedResult) => void = () => {},
): CircuitValue {
  return measured(runActive(CALLER, model, edges, input, active, off, capture), (result) => {
    look(result);
    return metrics.read(result);
  });
}
