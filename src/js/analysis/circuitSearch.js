// Searches for a circuit: adds up scores of edges over several pairs of inputs, and runs the model with the strongest
// edges.

import { HeadlightError } from '../check/errors.js';
import { connectedEdges } from './connectedEdges.js';
import { cutScores } from './cutScores.js';
import { capturedBy, measured, readMetric } from './pairs.js';
import { checkSingle, offOf, runActive } from './runEdges.js';

/** @import { Run } from './cutScores.js' */
/** @import { Edges } from './edges.js' */
/** @import { Circuit, CircuitOptions, CircuitPair, CircuitPoint } from './findCircuit.js' */
/** @import { DifferentiableModel, Metric } from './pairs.js' */
/** @import { Off } from './runEdges.js' */

export class CircuitSearch {
  #caller;
  #model;
  #edges;
  #run;
  /** @type {{ input: any, metric: Metric, off: Off }[]} */
  #pairs = [];
  /** Scores of the edges (U,V), summed over pairs; NaN where there is no edge. @type {Float64Array} */
  #sums;
  /** Indices of the edges in (U,V), the largest absolute score first. @type {number[]} */
  #order = [];
  /** Mean metric over the pairs, by number of active edges. @type {Map<number, number>} */
  #values = new Map();

  /** @param {string} caller @param {DifferentiableModel} model @param {Edges} edges @param {Run} run */
  constructor(caller, model, edges, run) {
    this.#caller = caller;
    this.#model = model;
    this.#edges = edges;
    this.#run = run;
    this.#sums = new Float64Array(edges.sources.length * edges.targets.length);
  }

  /**
   * Adds the edge scores of a pair. A score is the difference between the value that an edge carries and the value that
   * it carries when cut, times the gradient.
   * @param {CircuitPair} pair
   * @param {NonNullable<CircuitOptions['cut']>} cut
   * @param {readonly number[]} shares interpolation factors at which gradients are computed; 0 is the embedding that
   *   cut edges carry, 1 is the clean embedding
   */
  async add({ clean, corrupted, metric }, cut, shares) {
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

  /** Orders the edges by the absolute values of their scores. @param {[source: number, target: number][]} places */
  sort(places) {
    const size = (/** @type {number} */ i) => Math.abs(this.#sums[i]);
    this.#order = places.map(([u, v]) => u * this.#edges.targets.length + v).sort((a, b) => size(b) - size(a) || a - b);
  }

  /** Runs all pairs with some edges active and returns the mean metric. @param {Uint8Array} active (U,V) */
  async #valueOf(active) {
    let sum = 0;
    for (const { input, metric, off } of this.#pairs)
      sum += await this.#run(() =>
        measured(runActive(this.#caller, this.#model, this.#edges, input, active, off), (result) =>
          readMetric(this.#caller, metric, result),
        ),
      );
    return sum / this.#pairs.length;
  }

  /** Returns the mask (U,V) of the edges with the largest absolute scores. @param {number} count */
  #first(count) {
    const active = new Uint8Array(this.#sums.length);
    for (const i of this.#order.slice(0, count)) active[i] = 1;
    return active;
  }

  /**
   * Runs all pairs with this number of edges. The caller measures 0 edges and all edges before other numbers.
   * @param {number} count
   */
  async measure(count) {
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

  /** @param {number} value */
  #faithfulness(value) {
    return (value - this.#empty) / (this.#whole - this.#empty);
  }

  /** @returns {CircuitPoint[]} */
  get #curve() {
    return [...this.#values]
      .map(([edges, value]) => ({ edges, value, faithfulness: this.#faithfulness(value) }))
      .sort((a, b) => a.edges - b.edges);
  }

  /**
   * Returns the smallest number of edges with at least this faithfulness. Searches between the smallest measured number
   * of edges that reaches it and the next smaller measured number.
   * @param {number} share
   */
  async bisect(share) {
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
   * @param {number} count number of edges with the largest absolute scores; those of them that cannot change the logits
   *   are left out
   * @param {boolean} fromEmbedding true if cut edges carry the values of another run
   * @param {number} share an edge is left out if the circuit without it has at least this faithfulness; with Infinity,
   *   no edge is left out
   * @returns {Promise<Circuit>}
   */
  async circuit(count, fromEmbedding, share) {
    const { sources, targets } = this.#edges;
    const connected = (/** @type {Uint8Array} */ active) => connectedEdges(this.#edges, active, fromEmbedding);
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
