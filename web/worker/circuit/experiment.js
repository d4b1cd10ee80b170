// Prepares the measurement of a circuit: the run that is explained, the answers, and the values that cut edges carry.

import { logitDifference, meanContributions, probability } from '../../../src/js/analysis/analysis.js';
import { edgesOf } from '../../../src/js/analysis/edges.js';
import { capturedBy, measured } from '../../../src/js/analysis/pairs.js';
import { offOf, runActive } from '../../../src/js/analysis/runEdges.js';
import { lineName } from '../../features/circuit/lineNames.js';
import { idsOfAnswer } from '../../features/trace/measures.js';
import { runOf } from '../../store/runInput.js';
import { encodePassages, readDemoPassages } from '../atlas/passages.js';
import { readRun } from '../run/modelInput.js';
import { labelNames, likeliest, rowOf } from '../run/predictions.js';
import { forward } from '../run/runModel.js';
import { wordsOf } from '../run/tracedPair.js';

/** @import { Edit } from '../../../src/js/models/edits.js' */
/** @import { Node } from '../../../src/js/analysis/edges.js' */
/** @import { Numbers } from '../../../src/js/analysis/arrays.js' */
/** @import { DifferentiableModel } from '../../../src/js/analysis/pairs.js' */
/** @import { Contributions, Off } from '../../../src/js/analysis/runEdges.js' */
/** @import { Carries } from '../../features/circuit/settings.js' */
/** @import { CircuitBegun, CircuitProblem, CircuitValue } from '../../store/circuitProtocol.js' */
/** @import { Run, State } from '../../store/protocol.js' */
/** @import { Hl, TransformerSource } from '../sources/types.js' */
/** @import { Reply, WorkerContext } from '../types.js' */

/** The name of the caller in error messages of the module. */
export const CALLER = 'circuit';
/** The number of passages for the mean, and the maximum tokens of each. */
const [PASSAGES, LENGTH] = [32, 64];

/** The error that reports why a model or sentences have no circuit. */
class NoCircuit extends Error {
  /** @param {CircuitProblem} problem @param {Partial<CircuitBegun>} [fields] */
  constructor(problem, fields = {}) {
    super(problem);
    this.problem = problem;
    this.fields = fields;
  }
}
/** Thrown between two runs if the request was cancelled. */
export const CANCELLED = new Error('cancelled');

/**
 * place: index of the token whose logits are the prediction. values: the values captured in the run without cuts. off:
 * the values that cut edges carry.
 * @typedef {object} Experiment
 * @property {CircuitBegun} begun
 * @property {Graph} graph
 * @property {DifferentiableModel} model with the changes of the page
 * @property {any} input
 * @property {number} place
 * @property {Metrics} metrics
 * @property {Record<string, Numbers>} values
 * @property {Off} off
 * @property {(id: number) => string} name returns the text of a label
 */
/**
 * @param {TransformerSource} source
 * @param {State} state
 * @param {WorkerContext} worker
 * @param {Reply} reply
 * @returns {Promise<{ begun: CircuitBegun, experiment: Experiment | null }>} null if `begun` has a problem
 */
export async function prepare(source, state, worker, reply) {
  const hl = await worker.core();
  const { pieces } = readRun(source, runOf(state));
  /** @type {CircuitBegun} */
  const nothing = {
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

const perGroupOf = (/** @type {TransformerSource} */ { model: { options } }) =>
  options.numHeads / (options.kvHeads ?? options.numHeads);

/** @typedef {{ ids: number[], input: any, edits: Edit[], text: string }} Given */

/**
 * Returns the run of the sentence, and the pinned run if its tokens differ.
 * @param {Hl} hl @param {TransformerSource} source @param {State} state @param {WorkerContext} worker
 * @returns {Given[]}
 */
function runsOf(hl, source, state, worker) {
  const { pinned } = state;
  const runs = [runOf(state), ...(pinned ? [{ ...pinned, patch: {} }] : [])];
  const given = runs.map((/** @type {Run} */ run, i) => {
    const { ids, input } = readRun(source, run);
    if (ids.length === 0) throw new NoCircuit('noPlace');
    const edits = worker.runs.edits(hl, source, run, { layer: 0, pinned: i === 0 ? pinned : null, T: ids.length });
    return { ids, input, edits, text: run.text };
  });
  return given.filter(({ ids }, i) => i === 0 || String(ids) !== String(given[0].ids));
}

/** Returns the graph of a model, and the indices u·V + v of the edges by name. @param {TransformerSource} source */
function graphOf({ model, about }) {
  let edges;
  try {
    edges = edgesOf(CALLER, /** @type {any} */ (model));
  } catch {
    throw new NoCircuit('refused', { cause: about.family ?? about.title ?? about.name });
  }
  if ([...model.weights.values()].some(({ packed }) => packed && !/^B?F16$/.test(packed.kind)))
    throw new NoCircuit('packed');
  const { sources, targets, before } = edges;
  /** @type {Map<string, number>} */
  const names = new Map();
  sources.forEach((from, u) => {
    targets.forEach((to, v) => {
      if (u < before(v)) names.set(lineName(from, to), u * targets.length + v);
    });
  });
  return { edges, names, size: sources.length * targets.length };
}
/** @typedef {ReturnType<typeof graphOf>} Graph */

/** Returns the two nodes of an edge. @param {Graph} graph @param {number} line @returns {{ from: Node, to: Node }} */
export function endsOf({ edges: { sources, targets } }, line) {
  return { from: sources[Math.floor(line / targets.length)], to: targets[line % targets.length] };
}

/**
 * Returns the answers: the likeliest words after the sentence and after the other sentence, or the visitor's words.
 * @param {Hl} hl @param {TransformerSource} source @param {State} state @param {Given[]} given
 */
function answersOf(hl, source, { trace }, given) {
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

/** @param {TransformerSource} source @param {State} state @param {Given[]} given @returns {Carries} */
function carriesOf({ about }, { circuit }, given) {
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
 * Returns the metrics of a circuit. `read` measures the logit of the first answer minus that of the second, or the
 * probability of the only answer. The gradient of `ordering` determines the order of the edges. `ordering` is a logit
 * instead of a probability, because the gradient of a probability near 1 is almost 0.
 * @param {number[]} ids @param {boolean} paired
 */
function metricsOf(ids, paired) {
  const ordering = paired ? logitDifference(ids[0], ids[1]) : logitDifference(ids[0]);
  const each = ids.map((id) => probability(id));
  const value = paired ? ordering : each[0];
  return {
    ordering,
    /** @param {any} result @returns {CircuitValue} */
    read: (result) => ({ value: value(result), both: each.map((metric) => metric(result)) }),
  };
}

/** @typedef {ReturnType<typeof metricsOf>} Metrics */

/**
 * Returns the model with the changes of the page in each of its runs.
 * @param {TransformerSource} source
 * @param {Given[]} given
 * @returns {DifferentiableModel}
 */
function changedModel({ model }, given) {
  const withEdits = (/** @type {any} */ input, /** @type {any} */ options) => {
    const own = given.find((one) => one.input === input)?.edits ?? [];
    return own.length > 0 ? { ...options, edit: [...own, ...(options?.edit ?? [])] } : options;
  };
  return /** @type {DifferentiableModel} */ (
    /** @type {unknown} */ ({
      options: model.options,
      parameters: model.parameters,
      stateDict: () => model.stateDict(),
      valuesOf: (/** @type {string} */ name, /** @type {string} */ caller) => model.valuesOf(name, caller),
      forward: (/** @type {any} */ input, /** @type {any} */ options) =>
        model.forward(input, withEdits(input, options)),
      differentiate: (/** @type {any} */ input, /** @type {any} */ options) =>
        model.differentiate(input, withEdits(input, options)),
    })
  );
}

/** For each model, the mean contributions over passages. @type {WeakMap<object, Contributions>} */
const means = new WeakMap();

/**
 * @param {Carries} carries
 * @param {object} from
 * @param {TransformerSource} from.source
 * @param {WorkerContext} from.worker
 * @param {Reply} from.reply
 * @param {DifferentiableModel} from.model
 * @param {Given[]} from.given
 */
async function cutOf(carries, { source, worker, reply, model, given }) {
  if (carries === 'zero') return /** @type {const} */ ('zero');
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

/**
 * Measures a run in which only some edges are active.
 * @param {Experiment} experiment
 * @param {Uint8Array} active (U,V)
 * @param {string[]} [capture]
 * @param {(result: any) => void} [look] called with the result of the run
 * @returns {CircuitValue}
 */
export function runLines({ model, graph: { edges }, input, off, metrics }, active, capture = [], look = () => {}) {
  return measured(runActive(CALLER, model, edges, input, active, off, capture), (result) => {
    look(result);
    return metrics.read(result);
  });
}
