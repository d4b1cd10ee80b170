// Measures how much of the next token's probability a model keeps if only the strongest edges of its graph are active.
// All other edges carry their mean over passages, as in the circuit view of the page.

import { meanContributions } from 'headlight-attention/analysis';
import { cutScores } from '../../js/analysis/cutScores.js';
import { sharesOf } from '../../js/analysis/edgeScores.js';
import { edgesOf } from '../../js/analysis/edges.js';
import { logitDifference, probability } from '../../js/analysis/metrics.js';
import { capturedBy, measured } from '../../js/analysis/pairs.js';
import { offOf, runActive } from '../../js/analysis/runEdges.js';

const CALLER = 'circuitLines';
/** Number of gradients of the estimate, and number of edges that are measured one by one. */
const [GRADIENTS, MEASURED] = [5, 64];

/**
 * Returns the share of the probability of a token that is kept with 1, 2, … `most` edges; 1 is the share with all edges
 * and 0 the share with none.
 * @param {any} model
 * @param {number[]} ids of the text
 * @param {number} guess id of the token that follows
 * @param {readonly number[][]} passages ids of the texts over which the means are computed
 * @param {number} most
 * @returns {Promise<number[]>}
 */
export async function keptShares(model, ids, guess, passages, most) {
  const edges = edgesOf(CALLER, model);
  const { sources, targets, before } = edges;
  const input = { ids };
  const values = capturedBy(CALLER, model, input, edges.capture);
  const off = offOf(CALLER, model, edges, { mean: await meanContributions(model, passages) }, values.embed);
  const read = probability(guess);
  const keep = (/** @type {Uint8Array} */ active) =>
    measured(runActive(CALLER, model, edges, input, active, off), read);
  const all = targets.flatMap((_, v) => sources.flatMap((_, u) => (u < before(v) ? [u * targets.length + v] : [])));
  const experiment = { input, metric: logitDifference(guess), values, off, shares: sharesOf(GRADIENTS, 'right') };
  const { scores } = await cutScores(CALLER, model, edges, experiment, async (run) => run());
  const size = sources.length * targets.length;
  const costs = all
    .sort((a, b) => Math.abs(scores[b]) - Math.abs(scores[a]) || a - b)
    .slice(0, MEASURED)
    .map((line) => {
      const active = new Uint8Array(size).fill(1);
      active[line] = 0;
      return { line, left: keep(active) };
    })
    .sort((a, b) => a.left - b.left);
  const [none, whole] = [keep(new Uint8Array(size)), measured(model.forward(input, {}), read)];
  const active = new Uint8Array(size);
  return costs.slice(0, most).map(({ line }) => {
    active[line] = 1;
    return (keep(active) - none) / (whole - none);
  });
}
