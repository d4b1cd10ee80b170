// Finds a circuit, a small set of edges that keeps a share of a metric when all other edges are cut.

import { checkOptions, readBoolean, readNumber, readWord } from '../../check/arguments.ts';
import { argumentError } from '../../check/errors.ts';
import { type Numbers, requireModel } from '../arrays.ts';
import { checkGradient, checkLogits, type DifferentiableModel, type Metric } from '../patching/pairs.ts';
import { type Progress, readSteps } from '../steps.ts';
import { CircuitSearch } from './circuitSearch.ts';
import type { Run } from './cutScores.ts';
import { placesOf, RULES, type Rule, sharesOf } from './edgeScores.ts';
import { edgesOf, type Node } from './edges.ts';
import type { Contributions } from './runEdges.ts';

/**
 * Two inputs of one sequence each, of equal length. The clean input is run with cut edges. `corrupted` is only needed
 * if cut edges carry its values. The metric needs a gradient.
 */
export type CircuitPair = { clean: any; corrupted?: any; metric: Metric };
export type CircuitOptions = {
  /** the faithfulness that the circuit keeps; default 0.9 */
  share?: number | undefined;
  /** the values that cut edges carry; default 'corrupted' */
  cut?: 'corrupted' | 'zero' | { mean: Contributions } | undefined;
  /** number of gradients from which the order of the edges is computed, as in edgeAttribution; default 5 */
  steps?: number | undefined;
  /** default 'right' */
  rule?: Rule | undefined;
  /** numbers of edges with which the model is run; default: 1, 2, 4, 8 … */
  counts?: readonly number[] | undefined;
  /** try to leave out each edge of the circuit, the weakest first */
  refine?: boolean | undefined;
  /** total is an upper bound, until the circuit is known */
  onProgress?: ((progress: Progress) => unknown) | undefined;
  signal?: AbortSignal | undefined;
};
/** value: mean metric over all pairs; faithfulness: value, scaled to 0 with all edges cut and 1 without cuts. */
export type CircuitPoint = { edges: number; value: number; faithfulness: number };
/** An edge of the graph. source and target are indices in the lists of nodes. */
export type Edge = { source: number; target: number; score: number };
export type Circuit = {
  /** the mean metric without cuts */
  whole: number;
  /** the mean metric with all edges cut */
  empty: number;
  sources: Node[];
  targets: Node[];
  /** (U,V), the means of the scores of edges over all pairs, with NaN where there is no edge */
  scores: Numbers;
  /** measured numbers of edges, ascending; the active edges are those with the largest absolute scores */
  curve: CircuitPoint[];
  /** of the circuit, the largest score first, without those that cannot change the logits */
  edges: Edge[];
  /** (U,V): 1 for an edge of the circuit; runEdges accepts it as its argument */
  active: Numbers;
  /** the mean metric of the circuit */
  value: number;
  faithfulness: number;
};

const OPTIONS = ['share', 'cut', 'steps', 'rule', 'counts', 'refine', 'onProgress', 'signal'];

/**
 * Orders the edges of a model by their absolute scores (see edgeAttribution), averaged over pairs of inputs. Runs the
 * clean inputs with more and more of these edges active and all others cut, and finds the smallest number of edges
 * whose faithfulness is at least `share` (Hanna et al. 2024, "Have Faith in Faithfulness"). With one edge less, the
 * faithfulness is below `share`, but as the curve need not rise everywhere, a still smaller number may reach it.
 * @param model a decoder with norms before attention and feed-forward
 */
export async function findCircuit(
  model: DifferentiableModel,
  pairs: readonly CircuitPair[],
  options: CircuitOptions = {},
): Promise<Circuit> {
  const caller = 'findCircuit';
  requireModel(caller, model);
  checkOptions(caller, options, OPTIONS);
  const steps = readSteps(caller, options);
  const { share = 0.9, cut = 'corrupted', steps: count = 5, rule = 'right' } = options;
  readNumber(caller, 'share', share, { least: 0, most: 1 });
  readNumber(caller, 'steps', count, { integer: true, least: 0 });
  readWord(caller, 'rule', rule, RULES);
  const refine = readBoolean(caller, 'refine', options.refine ?? false);
  if (typeof cut === 'string') readWord(caller, 'cut', cut, ['corrupted', 'zero']);
  readPairs(caller, pairs, cut === 'corrupted');
  checkLogits(caller, model);
  const edges = edgesOf(caller, model);
  const places = placesOf(edges);
  const counts = readCounts(caller, options.counts, places.length);
  steps.check();

  const shares = count === 0 && cut !== 'corrupted' ? [1] : sharesOf(count, rule);
  let done = 0;
  let total = pairs.length * (1 + shares.length + counts.length + bisections(counts));
  const run: Run = async (step) => {
    const result = await steps.run(step);
    await steps.report({ done: ++done, total });
    return result;
  };
  const search = new CircuitSearch(caller, model, edges, run);
  for (const pair of pairs) await search.add(pair, cut, shares);
  search.sort(places);
  for (const n of [0, places.length, ...counts.slice(1, -1)]) await search.measure(n);
  const smallest = await search.bisect(share);
  total = done + pairs.length * (refine ? smallest + 1 : 1);
  return search.circuit(smallest, cut === 'corrupted', refine ? share : Infinity);
}

/** Returns the largest number of measurements that bisect can need. */
const bisections = (counts: readonly number[]) =>
  Math.max(0, ...counts.slice(1).map((n, i) => Math.ceil(Math.log2(Math.max(n - counts[i], 1)))));

function readPairs(caller: string, pairs: readonly CircuitPair[], needsCorrupted: boolean) {
  if (!Array.isArray(pairs) || pairs.length === 0)
    throw argumentError(caller, 'pairs', pairs, 'a list of { clean, corrupted, metric }, at least one');
  pairs.forEach((pair, i) => {
    checkOptions(caller, pair, ['clean', 'corrupted', 'metric'], `pairs[${i}]`);
    if (needsCorrupted && pair.corrupted === undefined)
      throw argumentError(caller, `pairs[${i}].corrupted`, pair.corrupted, 'an input, whose values cut edges carry');
    checkGradient(caller, pair.metric, `pairs[${i}].metric`);
  });
}

/** Returns the numbers of edges in ascending order, including 0 and `all`. */
function readCounts(caller: string, counts: readonly number[] | undefined, all: number) {
  if (counts !== undefined && !Array.isArray(counts))
    throw argumentError(caller, 'counts', counts, 'a list of numbers');
  const powers = Array.from({ length: Math.ceil(Math.log2(all + 1)) }, (_, i) => 2 ** i);
  const list = (counts ?? powers).map((n) => readNumber(caller, 'counts', n, { integer: true, least: 0, most: all }));
  return [...new Set([0, ...list, all])].sort((a, b) => a - b);
}
