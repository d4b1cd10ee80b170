// Searches for a circuit: adds up scores of edges over several pairs of inputs, and runs the model with the strongest
// edges.

import { HeadlightError } from '../../check/errors.ts';
import { capturedBy, type DifferentiableModel, type Metric, measured, readMetric } from '../patching/pairs.ts';
import { connectedEdges } from './connectedEdges.ts';
import { cutScores, type Run } from './cutScores.ts';
import type { Edges } from './edges.ts';
import type { Circuit, CircuitOptions, CircuitPair, CircuitPoint } from './findCircuit.ts';
import { checkSingle, type Off, offOf, runActive } from './runEdges.ts';

export class CircuitSearch {
  #caller: string;
  #model: DifferentiableModel;
  #edges: Edges;
  #run: Run;
  #pairs: { input: any; metric: Metric; off: Off }[] = [];
  /** Scores of the edges (U,V), summed over pairs; NaN where there is no edge. */
  #sums: Float64Array;
  #order: number[] = [];
  /** Mean metric over the pairs, by number of active edges. */
  #values: Map<number, number> = new Map();

  constructor(caller: string, model: DifferentiableModel, edges: Edges, run: Run) {
    this.#caller = caller;
    this.#model = model;
    this.#edges = edges;
    this.#run = run;
    this.#sums = new Float64Array(edges.sources.length * edges.targets.length);
  }

  /**
   * Adds the scores of a pair's edges. `shares`: interpolation factors, 0 for the values of cut edges, 1 for the clean
   * run.
   */
  async add(
    { clean, corrupted, metric }: CircuitPair,
    cut: NonNullable<CircuitOptions['cut']>,
    shares: readonly number[],
  ) {
    const [caller, model, edges] = [this.#caller, this.#model, this.#edges];
    const { values, off } = await this.#run(() => {
      const values = capturedBy(caller, model, clean, edges.capture);
      checkSingle(caller, 'clean', values.embed);
      return { values, off: offOf(caller, model, edges, cut === 'corrupted' ? { run: corrupted } : cut, values.embed) };
    });
    const experiment = { input: clean, metric, values, off, shares };
    const { scores } = await cutScores(caller, model, edges, experiment, this.#run);
    scores.forEach((score, i) => void (this.#sums[i] += score));
    this.#pairs.push({ input: clean, metric, off });
  }

  sort(places: [source: number, target: number][]) {
    const size = (i: number) => Math.abs(this.#sums[i]);
    this.#order = places.map(([u, v]) => u * this.#edges.targets.length + v).sort((a, b) => size(b) - size(a) || a - b);
  }

  async #valueOf(active: Uint8Array) {
    let sum = 0;
    for (const { input, metric, off } of this.#pairs)
      sum += await this.#run(() =>
        measured(runActive(this.#caller, this.#model, this.#edges, input, active, off), (result) =>
          readMetric(this.#caller, metric, result),
        ),
      );
    return sum / this.#pairs.length;
  }

  /** Returns the mask (U,V) of the edges with the largest absolute scores. */
  #first(count: number) {
    const active = new Uint8Array(this.#sums.length);
    for (const i of this.#order.slice(0, count)) active[i] = 1;
    return active;
  }

  /** Runs all pairs with this number of edges. The caller measures 0 edges and all edges before other numbers. */
  async measure(count: number) {
    this.#values.set(count, await this.#valueOf(this.#first(count)));
    const rounding = 1e-6 * (Math.abs(this.#whole) + Math.abs(this.#empty));
    if (this.#values.size === 2 && Math.abs(this.#whole - this.#empty) <= rounding)
      throw new HeadlightError('ARGUMENT', `${this.#caller}: the metric is the same with and without all edges`, {
        parameter: 'pairs',
      });
  }

  get #whole() {
    return Number(this.#values.get(this.#order.length));
  }

  get #empty() {
    return Number(this.#values.get(0));
  }

  #faithfulness(value: number) {
    return (value - this.#empty) / (this.#whole - this.#empty);
  }

  get #curve(): CircuitPoint[] {
    return [...this.#values]
      .map(([edges, value]) => ({ edges, value, faithfulness: this.#faithfulness(value) }))
      .sort((a, b) => a.edges - b.edges);
  }

  /** Returns the smallest number of edges with at least this faithfulness, between two measured numbers. */
  async bisect(share: number) {
    const curve = this.#curve;
    const first = curve.findIndex(({ faithfulness }) => faithfulness >= share);
    let [least, most] = [curve[first - 1]?.edges ?? 0, curve[first].edges];
    while (most - least > 1) {
      const middle = Math.floor((least + most) / 2);
      await this.measure(middle);
      if (this.#faithfulness(Number(this.#values.get(middle))) >= share) most = middle;
      else least = middle;
    }
    return most;
  }

  /**
   * Starts from the `count` strongest edges, without those that cannot change the logits. An edge is left out if the
   * circuit without it has at least the faithfulness `share`, which may be Infinity.
   */
  async circuit(count: number, fromEmbedding: boolean, share: number): Promise<Circuit> {
    const { sources, targets } = this.#edges;
    const connected = (active: Uint8Array) => connectedEdges(this.#edges, active, fromEmbedding);
    let active = connected(this.#first(count));
    let value = await this.#valueOf(active);
    if (share < Infinity)
      for (const i of this.#order.slice(0, count).reverse()) {
        if (active[i] === 0) continue;
        const fewer = active.slice();
        fewer[i] = 0;
        const without = connected(fewer);
        const trial = await this.#valueOf(without);
        if (this.#faithfulness(trial) >= share) [active, value] = [without, trial];
      }
    const scores = Float32Array.from(this.#sums, (sum) => sum / this.#pairs.length);
    const shape = [sources.length, targets.length];
    const V = targets.length;
    return {
      ...{ whole: this.#whole, empty: this.#empty, sources, targets, curve: this.#curve },
      scores: { data: scores, shape },
      edges: this.#order
        .filter((i) => active[i] === 1)
        .map((i) => ({ source: Math.floor(i / V), target: i % V, score: scores[i] })),
      active: { data: Float32Array.from(active), shape },
      value,
      faithfulness: this.#faithfulness(value),
    };
  }
}
